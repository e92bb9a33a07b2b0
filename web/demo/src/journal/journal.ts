/** A chat's journal as far as it was read, and what it says of calls and questions. */
import { createContext, useContext, useSyncExternalStore } from 'react';
import { readJournal } from '../server/api.ts';
import type { Call, Decision, Entry, Gate, Outcome } from './entry.ts';

/** What was asked about a call, and what was decided. */
export interface Question {
  gate: Gate;
  /** Who is asked: the owner of the chat. */
  askedAt: number;
  closed?: Decision & { by: string; at: number };
}

export interface JournalState {
  entries: readonly Entry[];
  calls: ReadonlyMap<string, Call>;
  /** By call, the newest question last. */
  questions: ReadonlyMap<string, readonly Question[]>;
  /** By call, the outcome of those that continued by themselves. */
  results: ReadonlyMap<string, Outcome>;
  /** By call, the outcome of it. */
  outcomes: ReadonlyMap<string, Outcome>;
}

const nothing: JournalState = {
  entries: [],
  calls: new Map(),
  questions: new Map(),
  results: new Map(),
  outcomes: new Map(),
};

export class Journal {
  #state = nothing;
  #reading: Promise<boolean> | undefined;
  /** The reading after the one that is under way, if somebody wants it. */
  #next: Promise<boolean> | undefined;
  readonly #listeners = new Set<() => void>();

  constructor(readonly chatId: string) {}

  /** A journal that ends with the given entries: the past, as it was. */
  static of(chatId: string, entries: readonly Entry[]): Journal {
    const journal = new Journal(chatId);
    journal.#state = folded(nothing, entries);
    return journal;
  }

  readonly get = (): JournalState => this.#state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /**
   * Reads on, and returns whether there was anything new. A reading that is under way may have left the
   * server before what happened now: another one follows it.
   */
  refresh(): Promise<boolean> {
    if (this.#reading === undefined) {
      this.#reading = this.#read().finally(() => {
        this.#reading = undefined;
      });
      return this.#reading;
    }
    const again = () => {
      this.#next = undefined;
      return this.refresh();
    };
    this.#next ??= this.#reading.then(again, again);
    return this.#next;
  }

  async #read(): Promise<boolean> {
    const last = this.#state.entries.at(-1)?.seq ?? 0;
    const added = await readJournal(this.chatId, last);
    if (added.length === 0) {
      return false;
    }
    this.#state = folded(this.#state, added);
    for (const listener of this.#listeners) {
      listener();
    }
    return true;
  }
}

function folded(before: JournalState, added: readonly Entry[]): JournalState {
  const calls = new Map(before.calls);
  const questions = new Map(before.questions);
  const results = new Map(before.results);
  const outcomes = new Map(before.outcomes);
  for (const { actor, at, events } of added) {
    for (const event of events) {
      switch (event.event) {
        case 'turn-opened':
          if (event.cause.cause === 'result') {
            results.set(event.cause.call, event.cause.outcome);
          }
          break;
        case 'step-ended':
          for (const part of event.parts) {
            if (part.part === 'call') {
              calls.set(part.id, part);
            }
          }
          break;
        case 'call-nested':
          calls.set(event.call.id, event.call);
          break;
        case 'call-settled':
          outcomes.set(event.call, event);
          break;
        case 'gate-opened': {
          const asked = questions.get(event.gate.call) ?? [];
          questions.set(event.gate.call, [...asked, { gate: event.gate, askedAt: at }]);
          break;
        }
        case 'gate-closed':
          for (const [call, asked] of questions) {
            if (asked.some(({ gate }) => gate.id === event.gate)) {
              const closed = { ...event, by: actor, at };
              questions.set(
                call,
                asked.map(question =>
                  question.gate.id === event.gate ? { ...question, closed } : question,
                ),
              );
            }
          }
          break;
      }
    }
  }
  return { entries: [...before.entries, ...added], calls, questions, results, outcomes };
}

export const JournalContext = createContext<Journal>(new Journal(''));

export function useJournal(): JournalState {
  const journal = useContext(JournalContext);
  return useSyncExternalStore(journal.subscribe, journal.get);
}

const none: readonly Question[] = [];

/** What was asked about one call. Changes only when that does. */
export function useQuestions(callId: string): readonly Question[] {
  const journal = useContext(JournalContext);
  const of = () => journal.get().questions.get(callId) ?? none;
  return useSyncExternalStore(journal.subscribe, of);
}

/** A call as the journal has it: its input to the last digit. */
export function useCall(callId: string): Call | undefined {
  const journal = useContext(JournalContext);
  return useSyncExternalStore(journal.subscribe, () => journal.get().calls.get(callId));
}

/** The outcome of a call that continued by itself; nothing until then. */
export function useResult(callId: string): Outcome | undefined {
  const journal = useContext(JournalContext);
  return useSyncExternalStore(journal.subscribe, () => journal.get().results.get(callId));
}

/** The outcome of a call; nothing until then. */
export function useOutcome(callId: string): Outcome | undefined {
  const journal = useContext(JournalContext);
  return useSyncExternalStore(journal.subscribe, () => journal.get().outcomes.get(callId));
}
