/** One approval as the server gives it, and an answer as it takes it. */
import { ApiError } from './api-error.ts';
import { isRecord, parseJson } from './chunk.ts';
import { type ExactJson, exactField, readExactJson } from './exact-json.ts';

/** A question that is open. */
export type Approval = {
  /** Asks for data that fits `schema`; without it, for a yes or a no. */
  kind?: 'question';
  schema?: Record<string, unknown>;
  approvalId: string;
  chatId: string;
  toolCallId: string;
  toolName: string;
  input: unknown;
  /** The input as the server wrote it, in JSON: with numbers that JavaScript would round. */
  inputText?: string;
  question: string;
  /** A digest of the question and the input; an answer that brings it is given to these alone. */
  digest?: string;
  /** Whether the tool itself asks, in the middle of its work. */
  within?: boolean;
  /** Milliseconds since 1970. */
  askedAt: number;
  expiresAt?: number;
  /** Whether another input may be put in place of the model's. An agent that runs its own tools takes none. */
  editable?: boolean;
  /** Who asks, where agents have others inside: their names, from the first agent to the one that asks. */
  path?: string[];
};

export type ApprovalAnswer = {
  approved: boolean;
  /** Sent to the model. */
  reason?: string;
  /** What to run the tool with in place of what was asked; only with a yes. */
  input?: unknown;
  /** The same in JSON, sent as it is: for numbers that JavaScript would round. */
  inputText?: string;
  /** What was shown; if nothing is said, what `digestOf` of the store knows of this approval. */
  digest?: string;
};

/** An answer to a question that asks for data. */
export type QuestionAnswer = {
  /** What was shown; if nothing is said, what `digestOf` of the store knows of this question. */
  digest?: string;
} & (
  | { answer: unknown }
  | {
      declined: true;
      /** Sent to the tool that asks. */
      reason?: string;
    }
);

/** What was decided, by whom and when. */
export type ApprovalDecision = {
  approvalId: string;
  /** Missing without an answer: then `decision` names the outcome. */
  approved?: boolean;
  decision?: 'timed-out' | 'superseded' | 'cancelled';
  reason?: string;
  input?: unknown;
  /** The data that was given. */
  answer?: unknown;
  /** Whether somebody declined to give it. */
  declined?: boolean;
  decidedBy?: string;
  decidedAt: number;
};

/** An approval that may be answered already. */
export type ApprovalRecord = Approval & { decision?: ApprovalDecision };

/** Somebody answered another question than the one that is asked now. Nothing was decided. */
export class ApprovalChangedError extends ApiError {
  constructor(
    status: number,
    body: unknown,
    /** What is asked now, to be shown again. */
    readonly approval: Approval | undefined,
  ) {
    super(status, body);
  }
}

/** What the server answered: as JavaScript reads it, and as it was written. */
export type Served = { body: unknown; exact: ExactJson | undefined };

export async function readServed(response: Response): Promise<Served> {
  const text = await response.text();
  const served = { body: parseJson(text), exact: exactOf(text) };
  if (response.ok) {
    return served;
  }
  const { body, exact } = served;
  const refusal = new ApiError(response.status, body);
  if (refusal.code !== 'approval_changed') {
    throw refusal;
  }
  const current = isRecord(body) ? body.approval : undefined;
  const approval = approvalOf(current, exactField(exact, 'approval'));
  throw new ApprovalChangedError(response.status, body, approval);
}

/** What is nested too deeply to be read exactly is left without its text. */
function exactOf(text: string): ExactJson | undefined {
  try {
    return readExactJson(text);
  } catch {
    return undefined;
  }
}

/** The whole list, page by page. An approval may move between pages while they are read. */
export async function readAll(request: (path: string) => Promise<Served>): Promise<Approval[]> {
  const list = new Map<string, Approval>();
  const cursors = new Set<unknown>();
  for (let path: string | undefined = ''; path !== undefined; ) {
    const { body, exact } = await request(path);
    const texts = exactField(exact, 'approvals');
    const items = texts?.kind === 'array' ? texts.items : [];
    const page: unknown[] = isRecord(body) && Array.isArray(body.approvals) ? body.approvals : [];
    for (const [index, it] of page.entries()) {
      const approval = approvalOf(it, items[index]);
      if (approval !== undefined) {
        list.set(approval.approvalId, approval);
      }
    }
    const next = isRecord(body) ? body.nextCursor : undefined;
    const isMore = typeof next === 'string' && !cursors.has(next);
    cursors.add(next);
    path = isMore ? `?limit=200&cursor=${encodeURIComponent(next)}` : undefined;
  }
  return [...list.values()];
}

export function approvalOf<T extends Approval>(
  body: unknown,
  exact: ExactJson | undefined,
): T | undefined {
  if (!isRecord(body) || typeof body.approvalId !== 'string') {
    return undefined;
  }
  const inputText = exactField(exact, 'input')?.text;
  return { ...body, ...(inputText !== undefined && { inputText }) } as T;
}

/** An input that was given as text is sent as it is. */
export function bodyOf(given: ApprovalAnswer | QuestionAnswer): string {
  if (!('approved' in given)) {
    return JSON.stringify(given);
  }
  const { inputText, ...answer } = given;
  const body = JSON.stringify(answer);
  return inputText === undefined ? body : `${body.slice(0, -1)},"input":${inputText}}`;
}
