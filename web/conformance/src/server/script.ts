/**
 * What happened between one client and the server, in order, for our own checker to judge.
 *
 * A window is where it was asked for, so what a page does while a window is open follows it.
 */
import type { UIMessage } from 'ai-7';
import type { Profile } from '../schema-sdks.ts';
import type { Major } from '../sdk.ts';
import type { Json } from '../stream.ts';

export type Act =
  | { say: string }
  /** The page sent by hand, about the message of this id. */
  | { sendAbout: string }
  | { answer: { approvalId: string; approved: boolean; reason?: string } }
  | { output: { toolCallId: string; output: Json } }
  | { outputError: { toolCallId: string; errorText: string } }
  /** The page dropped the texts and thoughts of the message of this id that were cut off. */
  | { dropUnfinished: string }
  /**
   * From here on the client has these messages and has forgotten all else: a page that was loaded,
   * a history that was cut by an edit or a regeneration.
   */
  | { messages: UIMessage[] };

export type ScriptLine = Act | { window: string } | { resume: string };

/** One line of the checker's input. */
export type CheckRequest = {
  sdk: Major;
  profile: Profile;
  clientTools: string[];
  script: ScriptLine[];
};

/** The place of a window, kept from the moment at which it was asked for. */
export class WindowRecord {
  text = '';
  /** It is cut where the connection was closed before the end of the body. */
  state: 'open' | 'ended' | 'cut' = 'open';
  /** When the server first said something to it, as `performance.now()` has it. */
  heardAt: number | undefined;

  constructor(readonly kind: 'window' | 'resume') {}

  responded(): void {
    this.heardAt ??= performance.now();
  }

  asLine(): ScriptLine {
    return this.kind === 'window' ? { window: this.text } : { resume: this.text };
  }
}

export class Script {
  readonly #lines: (Act | WindowRecord)[] = [];

  note(act: Act): void {
    this.#lines.push(act);
  }

  open(kind: WindowRecord['kind']): WindowRecord {
    const window = new WindowRecord(kind);
    this.#lines.push(window);
    return window;
  }

  /** There was no window after all: the request was refused, or there was nothing to resume. */
  drop(window: WindowRecord): void {
    this.#lines.splice(this.#lines.indexOf(window), 1);
  }

  /** The windows in the order in which they were asked for. */
  get windows(): WindowRecord[] {
    return this.#lines.filter(line => line instanceof WindowRecord);
  }

  /** What happened, each time from where the client began again. */
  get sessions(): ScriptLine[][] {
    const sessions: ScriptLine[][] = [];
    for (const line of this.#lines) {
      if (sessions.length === 0 || 'messages' in line) {
        sessions.push([]);
      }
      sessions.at(-1)?.push(line instanceof WindowRecord ? line.asLine() : line);
    }
    return sessions;
  }

  /** The lines for a person to read, an event a line. */
  get story(): string {
    return this.#lines
      .map(line =>
        line instanceof WindowRecord
          ? `${line.kind}, ${line.state}:\n  ${line.text.trim().replace(/\n+/g, '\n  ')}`
          : JSON.stringify(line),
      )
      .join('\n');
  }
}
