/** Questions that ask a person for data, as a page finds them among its tool calls. */
import { ApiError } from './api-error.ts';
import { isRecord } from './chunk.ts';
import type { OutputTaker } from './client-tools.ts';

/** The tool of the calls that hold such a question. */
export const ASK_USER = 'ask_user';

/** A question that asks for data. */
export type UserQuestion = {
  toolCallId: string;
  question: string;
  /** The JSON Schema that an answer has to fit. */
  schema: Record<string, unknown>;
  /** `open` until it is answered; `closed` where nobody gave an answer: `errorText` says why. */
  state: 'open' | 'answered' | 'closed';
  answer?: unknown;
  errorText?: string;
  /** For an answer by `/api/approvals/{approvalId}`, which says field by field what is wrong with it. */
  approvalId?: string;
  /** A digest of the question and the schema; an answer that brings it is given to these alone. */
  digest?: string;
  /** Milliseconds since 1970. */
  expiresAt?: number;
  /** Who asks, where agents have others inside: their names, from the first agent to the one that asks. */
  path?: string[];
};

/** What is wrong with one field of an answer. */
export type FieldError = {
  /** Where it is in the answer, as a JSON pointer; empty for the answer itself. */
  path: string;
  message: string;
};

/** The question that a part of a message asks, if it asks for data. */
export function questionOf(part: unknown): UserQuestion | undefined {
  if (!isRecord(part) || typeof part.toolCallId !== 'string' || nameOf(part) !== ASK_USER) {
    return undefined;
  }
  const { input, state, toolCallId } = part;
  if (!isRecord(input) || typeof input.question !== 'string' || !isRecord(input.schema)) {
    return undefined;
  }
  const asked = { toolCallId, question: input.question, schema: input.schema, ...notedIn(part) };
  switch (state) {
    case 'input-available':
      return { ...asked, state: 'open' };
    case 'output-available':
      return { ...asked, state: 'answered', answer: part.output };
    case 'output-error': {
      const errorText = typeof part.errorText === 'string' ? part.errorText : '';
      return { ...asked, state: 'closed', errorText };
    }
    default:
      return undefined;
  }
}

/** Gives the answer to a question in the chat that asks it. The server checks it against the schema. */
export function answerQuestion(chat: OutputTaker, asked: UserQuestion, answer: unknown): void {
  give(chat, { tool: ASK_USER, toolCallId: asked.toolCallId, output: answer });
}

/** Declines to answer a question. The reason is sent to the tool that asks. */
export function declineQuestion(chat: OutputTaker, asked: UserQuestion, reason = ''): void {
  const { toolCallId } = asked;
  // As the server writes it to other tabs.
  const errorText = reason === '' ? 'Declined' : `Declined: ${reason}`;
  give(chat, { tool: ASK_USER, toolCallId, state: 'output-error', errorText });
}

/** What is wrong with an answer that the server refused, field by field; nothing for any other error. */
export function fieldErrorsOf(error: unknown): FieldError[] {
  if (!(error instanceof ApiError) || error.code !== 'invalid_answer' || !isRecord(error.body)) {
    return [];
  }
  const detail = error.body.error;
  const fields: unknown[] = isRecord(detail) && Array.isArray(detail.fields) ? detail.fields : [];
  return fields.filter(
    (it): it is FieldError =>
      isRecord(it) && typeof it.path === 'string' && typeof it.message === 'string',
  );
}

function give(chat: OutputTaker, output: object): void {
  // Not awaited: inside a callback of the chat's it would wait for itself.
  void (chat.addToolOutput as (output: object) => unknown)(output);
}

function nameOf(part: Record<string, unknown>): string | undefined {
  const { type, toolName } = part;
  if (type === 'dynamic-tool') {
    return typeof toolName === 'string' ? toolName : undefined;
  }
  return typeof type === 'string' && type.startsWith('tool-') ? type.slice(5) : undefined;
}

type Noted = Pick<UserQuestion, 'approvalId' | 'digest' | 'expiresAt' | 'path'>;

/** What the server says of it beside what it asks. */
function notedIn(part: Record<string, unknown>): Noted {
  const metadata = part.callProviderMetadata;
  const ours = isRecord(metadata) ? metadata.adkStream : undefined;
  const noted = isRecord(ours) ? ours.question : undefined;
  if (!isRecord(noted)) {
    return {};
  }
  const { approvalId, digest, expiresAt, path } = noted;
  return {
    ...(typeof approvalId === 'string' && { approvalId }),
    ...(typeof digest === 'string' && { digest }),
    ...(typeof expiresAt === 'number' && { expiresAt }),
    ...(Array.isArray(path) && { path: path.filter(it => typeof it === 'string') }),
  };
}
