/** The journal in words: who did what. */
import type { Words } from '../language/en.ts';
import { wordFor } from '../tools/fieldWords.ts';
import { failure, isPlain, isRecord, label, shown } from '../tools/output.ts';
import {
  type Call,
  type Decision,
  type Entry,
  type Gate,
  type JournalEvent,
  nameOf,
  type Outcome,
  unknownReasonOf,
} from './entry.ts';

export type Kind = 'said' | 'step' | 'asked' | 'yes' | 'no' | 'ran' | 'trouble' | 'end';

/** One thing that happened. */
export interface Line {
  kind: Kind;
  /** Who did it: a person, the agent, the page or the server. */
  who: string;
  what: string;
  /** In whose words, or with what. */
  detail?: string | undefined;
}

/** What the lines of an entry are made with. */
export interface Known {
  calls: ReadonlyMap<string, Call>;
  gates: ReadonlyMap<string, Gate>;
  agent: string;
  words: Words['journal'];
  /** The names of fields in the page's language. */
  fields: Words['fields'];
}

/** What the page itself does under the name of its user. */
export function lines(entry: Entry, known: Known): Line[] {
  const actor = nameOf(entry.actor, known.agent);
  return entry.events.flatMap(event => line(event, actor, known) ?? []);
}

function line(event: JournalEvent, actor: string, known: Known): Line | Line[] | undefined {
  const { words, agent, fields } = known;
  const tool = (call: string) => known.calls.get(call)?.tool ?? call;
  switch (event.event) {
    case 'chat-opened':
      return { kind: 'said', who: event.owner, what: words.opened };
    case 'turn-opened':
      return event.cause.cause === 'message'
        ? {
            kind: 'said',
            who: actor,
            what: words.said,
            detail: textOf(event.cause.message),
          }
        : { kind: 'ran', who: agent, what: words.result(event.cause.tool) };
    case 'message-queued':
      return {
        kind: 'said',
        who: actor,
        what: words.queued[event.placement],
        detail: textOf(event.message),
      };
    case 'message-injected':
      return { kind: 'step', who: agent, what: words.injected };
    case 'message-withdrawn':
      return { kind: 'no', who: actor, what: words.withdrawn };
    case 'branch-selected':
      return { kind: 'said', who: actor, what: words.selected };
    case 'step-ended':
      return event.parts.flatMap((part): Line[] => {
        if (part.part === 'text') {
          return [{ kind: 'step', who: agent, what: words.step, detail: part.text }];
        }
        return part.part === 'call'
          ? [
              {
                kind: 'step',
                who: agent,
                what: words.called(part.tool),
                detail: short(fields, part.input),
              },
            ]
          : [];
      });
    case 'call-nested':
      return { kind: 'step', who: agent, what: words.nested(event.call.tool) };
    case 'gate-opened':
      return event.gate.kind.kind !== 'client-call'
        ? { kind: 'asked', who: agent, what: words.gate, detail: event.gate.kind.question }
        : { kind: 'step', who: agent, what: words.client(tool(event.gate.call)) };
    case 'gate-closed': {
      const call = known.gates.get(event.gate)?.call ?? '';
      return decided(event, actor, tool(call), known);
    }
    case 'call-started':
      return { kind: 'ran', who: agent, what: words.started(tool(event.call)) };
    case 'call-recorded':
      return {
        kind: 'ran',
        who: tool(event.call),
        what: words.recorded(event.name),
        detail: short(fields, event.value),
      };
    case 'call-settled':
      return settled(event, tool(event.call), known);
    case 'turn-ended':
      switch (event.end) {
        case 'finished':
          return { kind: 'end', who: agent, what: words.finished };
        case 'failed':
          return { kind: 'trouble', who: agent, what: words.turnFailed, detail: event.message };
        case 'stopped':
          return { kind: 'no', who: actor, what: words.stopped };
      }
  }
}

function textOf({ parts }: { parts: { text?: string }[] }): string {
  return parts.map(part => part.text ?? '').join('');
}

function decided(
  { decision, reason, input, output, error }: Decision,
  actor: string,
  tool: string,
  { words, fields }: Known,
): Line {
  switch (decision) {
    case 'approved':
      return input === undefined
        ? { kind: 'yes', who: actor, what: words.approved, detail: reason }
        : { kind: 'yes', who: actor, what: words.approvedEdited, detail: short(fields, input) };
    case 'denied':
      return { kind: 'no', who: actor, what: words.denied, detail: reason };
    case 'output':
      return { kind: 'ran', who: actor, what: words.output(tool), detail: short(fields, output) };
    case 'failed':
      return { kind: 'trouble', who: actor, what: words.clientFailed(tool), detail: error };
    case 'timed-out':
      return { kind: 'no', who: '', what: words.timedOut };
    case 'superseded':
      return { kind: 'no', who: actor, what: words.superseded };
    case 'cancelled':
      return { kind: 'no', who: actor, what: words.cancelled };
  }
}

function settled(settled: Outcome, tool: string, { words, fields }: Known): Line {
  const { outcome, output, error, reason } = settled;
  switch (outcome) {
    case 'output':
      return failure(output) === undefined
        ? { kind: 'ran', who: '', what: words.settled(tool), detail: short(fields, output) }
        : { kind: 'trouble', who: '', what: words.failed(tool), detail: short(fields, output) };
    case 'pending':
      return { kind: 'ran', who: '', what: words.pending(tool) };
    case 'denied':
      return { kind: 'no', who: '', what: words.refused(tool), detail: reason };
    case 'unknown':
      return {
        kind: 'trouble',
        who: '',
        what: words.unknown(tool),
        detail: words.unknownReason[unknownReasonOf(settled)],
      };
    case 'error':
    case 'invalid':
      return { kind: 'trouble', who: '', what: words.failed(tool), detail: error };
  }
}

/** A value in a line: its plain fields, as people read them. */
function short(fields: Words['fields'], value: unknown): string | undefined {
  if (!isRecord(value)) {
    return shown(value);
  }
  const plain = Object.entries(value).filter(([, it]) => it !== '' && isPlain(it));
  return plain
    .map(([name, it]) => `${wordFor(fields, name) ?? label(name)} ${shown(it)}`)
    .join(' · ');
}
