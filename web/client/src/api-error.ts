/** A request that the server answered with a refusal. */
import { isRecord } from './chunk.ts';

export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  /** The server's own code, which never changes its meaning; empty where it gave none. */
  readonly code: string;
  /** All that the server said. */
  readonly body: unknown;

  constructor(status: number, body: unknown) {
    const error = isRecord(body) && isRecord(body.error) ? body.error : {};
    super(typeof error.message === 'string' ? error.message : `the server answered ${status}`);
    this.status = status;
    this.code = typeof error.code === 'string' ? error.code : '';
    this.body = body;
  }
}

/** The body of a response as JSON; throws an {@link ApiError} where it is a refusal. */
export async function readJson(response: Response): Promise<unknown> {
  const body: unknown = await response.json().catch(() => undefined);
  if (!response.ok) {
    throw new ApiError(response.status, body);
  }
  return body;
}
