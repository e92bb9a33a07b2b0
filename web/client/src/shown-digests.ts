/** What a chat has shown of the questions in its stream, so that answers are bound to it. */
import type { UIMessage, UIMessageChunk } from 'ai';
import type { ApprovalRecord } from './approval.ts';
import { isRecord } from './chunk.ts';
import { questionOf } from './question.ts';
import { RecentMap } from './recent-map.ts';

/** For how many approvals of a chat digests are remembered. */
const MAX_DIGESTS = 200;

/**
 * The digest of each question that a chat shows. A stream of version 7 brings it. The shared profile has
 * no field for it: there the question is read from the server when it comes up, and what was read first
 * stays what was shown.
 */
export class ShownDigests {
  readonly #read: (approvalId: string) => Promise<ApprovalRecord | undefined>;
  readonly #digests = new RecentMap<string>(MAX_DIGESTS);
  readonly #reading = new Map<string, Promise<void>>();

  constructor(read: (approvalId: string) => Promise<ApprovalRecord | undefined>) {
    this.#read = read;
  }

  /** For `withDigests`. */
  readonly of = (approvalId: string): string | undefined => this.#digests.get(approvalId);

  /** Something is shown in place of what was; without a digest, nothing is known of it. */
  shown(approvalId: string, digest: string | undefined): void {
    if (digest === undefined) {
      this.#digests.delete(approvalId);
    } else {
      this.#digests.set(approvalId, digest);
    }
  }

  /** Notes the questions of a stream that passes through. */
  noted(): TransformStream<UIMessageChunk, UIMessageChunk> {
    return new TransformStream({
      transform: (chunk, controller) => {
        if (chunk.type === 'tool-approval-request') {
          const digest = digestIn(chunk);
          if (digest !== undefined) {
            this.shown(chunk.approvalId, digest);
          } else {
            // It is read again where it is answered, if that fails.
            void this.#know(chunk.approvalId).catch(() => undefined);
          }
        }
        controller.enqueue(chunk);
      },
    });
  }

  /**
   * Resolves when the digests of all answers are known that the last answer of the agent holds. Throws
   * where the server can't be reached, which an answer could not be sent to, either.
   */
  async ofAnswersIn(messages: readonly UIMessage[]): Promise<void> {
    await Promise.all(unboundIn(messages).map(({ id }) => this.#know(id)));
  }

  /** Forgets what was shown of what these messages answer: the chat shows them again. */
  forgetAnswersIn(messages: readonly UIMessage[]): void {
    for (const { id } of answersIn(messages)) {
      this.#digests.delete(id);
    }
    void this.ofAnswersIn(messages).catch(() => undefined);
  }

  /** The digest of one question, whether it asks for a yes or for data. */
  async read(approvalId: string, messages: readonly UIMessage[]): Promise<string | undefined> {
    const shown = this.of(approvalId) ?? digestOf(approvalId, messages);
    if (shown === undefined) {
      await this.#know(approvalId);
    }
    return shown ?? this.of(approvalId);
  }

  /** Reads a question once, unless it is known. */
  #know(approvalId: string): Promise<void> {
    if (this.#digests.has(approvalId)) {
      return Promise.resolve();
    }
    const reading =
      this.#reading.get(approvalId) ??
      this.#read(approvalId)
        .then(record => {
          // What was shown meanwhile is newer.
          if (record?.digest !== undefined && !this.#digests.has(approvalId)) {
            this.#digests.set(approvalId, record.digest);
          }
        })
        .finally(() => this.#reading.delete(approvalId));
    this.#reading.set(approvalId, reading);
    return reading;
  }
}

/** The approvals that are answered in the last message of the agent. */
function answersIn(messages: readonly UIMessage[]): { id: string }[] {
  const last = messages.findLast(({ role }) => role === 'assistant');
  return (last?.parts ?? []).flatMap(part => {
    const isAnswered = 'state' in part && part.state === 'approval-responded';
    const approval = isAnswered && 'approval' in part ? part.approval : undefined;
    return approval === undefined ? [] : [approval];
  });
}

/** Those whose digest did not come with them. */
const unboundIn = (messages: readonly UIMessage[]) =>
  answersIn(messages).filter(approval => digestIn(approval) === undefined);

/** The digest that a message has of a question. */
function digestOf(approvalId: string, messages: readonly UIMessage[]): string | undefined {
  for (const part of messages.flatMap(({ parts }) => parts)) {
    const approval = 'approval' in part ? part.approval : undefined;
    if (approval?.id === approvalId) {
      return digestIn(approval);
    }
    const question = questionOf(part);
    if (question?.approvalId === approvalId) {
      return question.digest;
    }
  }
  return undefined;
}

/** What newer streams say of a question. */
function digestIn(asked: object): string | undefined {
  const descriptor = 'descriptor' in asked ? asked.descriptor : undefined;
  const digest = isRecord(descriptor) ? descriptor.digest : undefined;
  return typeof digest === 'string' ? digest : undefined;
}
