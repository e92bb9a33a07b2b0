/** The journal, as the server keeps it: the parts that the page shows. */

export interface Entry {
  seq: number;
  at: number;
  /** Who caused it: a principal's name, `@agent`, `@tool/NAME`, `@clock` or `@server`. */
  actor: string;
  events: JournalEvent[];
}

/** The name to show of the actor of an entry; none where there was no actor. */
export function nameOf(actor: string, agent: string): string {
  if (actor === '@clock' || actor === '@server') {
    return '';
  }
  if (actor === '@agent') {
    return agent;
  }
  return actor.startsWith('@tool/') ? actor.slice('@tool/'.length) : actor.replace(/^@@/, '@');
}

export interface Call {
  id: string;
  tool: string;
  input: unknown;
  place: 'server' | 'client' | 'agent';
  /** Ours holds the agents from the first to the one that made the call. */
  providerMetadata?: { adkStream?: { path?: unknown } };
}

const UNKNOWN_REASONS = [
  'server-stopped',
  'turn-stopped',
  'answer-unclear',
  'connection-cut',
  'agent-failed',
  'no-result',
  'answer-lost',
  'unsaid',
] as const;

/** Why the outcome of a call is unknown. */
export type UnknownReason = (typeof UNKNOWN_REASONS)[number];

/** The reason of an unknown outcome, if the page knows it. In old journals the server always meant itself. */
export function unknownReasonOf(outcome: Outcome | undefined): UnknownReason {
  const reason = outcome?.outcome === 'unknown' ? (outcome.reason ?? 'server-stopped') : undefined;
  return UNKNOWN_REASONS.find(known => known === reason) ?? 'unsaid';
}

export type StepPart =
  | { part: 'text'; text: string }
  | { part: 'reasoning'; text: string }
  | ({ part: 'call' } & Call)
  | { part: 'file' | 'source' | 'data' };

export type Outcome = {
  outcome: 'output' | 'error' | 'invalid' | 'denied' | 'unknown' | 'pending';
  output?: unknown;
  error?: string;
  /** Why it was refused; of an unknown outcome an `UnknownReason`, and none in old journals. */
  reason?: string;
};

export type Decision = {
  decision: 'approved' | 'denied' | 'output' | 'failed' | 'timed-out' | 'superseded' | 'cancelled';
  reason?: string;
  input?: unknown;
  output?: unknown;
  error?: string;
};

export interface Gate {
  id: string;
  call: string;
  kind:
    | { kind: 'approval'; question: string; within?: boolean }
    | { kind: 'question'; question: string; schema: Record<string, unknown> }
    | { kind: 'client-call' };
  expires?: number;
  /** What an agent that asks wants back: it takes no other input than the one that it asks about. */
  token?: unknown;
}

interface JournaledMessage {
  parts: { type: string; text?: string }[];
}

export type JournalEvent =
  | { event: 'chat-opened'; owner: string }
  | {
      event: 'turn-opened';
      turn: string;
      messageId: string;
      cause:
        | { cause: 'message'; message: JournaledMessage }
        | ({ cause: 'result'; call: string; tool: string } & { outcome: Outcome });
    }
  | {
      event: 'message-queued';
      turn: string;
      message: JournaledMessage;
      placement: 'queue' | 'inject';
    }
  | { event: 'message-injected' | 'message-withdrawn'; turn: string; message: string }
  | { event: 'branch-selected'; turn: string }
  | { event: 'step-ended'; turn: string; parts: StepPart[] }
  | { event: 'call-nested'; turn: string; call: Call }
  | { event: 'gate-opened'; turn: string; gate: Gate }
  | ({ event: 'gate-closed'; turn: string; gate: string } & Decision)
  | { event: 'call-started'; turn: string; call: string }
  | { event: 'call-recorded'; turn: string; call: string; name: string; value: unknown }
  | ({ event: 'call-settled'; turn: string; call: string } & Outcome)
  | ({ event: 'turn-ended'; turn: string } & {
      end: 'finished' | 'failed' | 'stopped';
      code?: string;
      message?: string;
    });
