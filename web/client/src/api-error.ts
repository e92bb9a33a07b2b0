/** A request that the server answered with a refusal. */
import { AdkStreamError, readDetails } from './adk-stream-error.ts';
import { isRecord } from './chunk.ts';

export class ApiError extends AdkStreamError {
  override readonly name = 'ApiError';
  readonly status: number;
  /** All that the server said. */
  readonly body: unknown;

  constructor(status: number, body: unknown, retryAfterMs?: number) {
    const details = readDetails(isRecord(body) ? body.error : undefined);
    super({
      code: details?.code ?? '',
      message: details?.message || `the server answered ${status}`,
      retryAfterMs: details?.retryAfterMs ?? retryAfterMs,
    });
    this.status = status;
    this.body = body;
  }
}

/** The body of a response as JSON; throws an {@link ApiError} where it is a refusal. */
export async function readJson(response: Response): Promise<unknown> {
  if (!response.ok) {
    throw await readRefusal(response);
  }
  return response.json().catch(() => undefined);
}

/** A response that is a refusal, as an error. */
export async function readRefusal(response: Response): Promise<ApiError> {
  const body: unknown = await response.json().catch(() => undefined);
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return new ApiError(response.status, body, Number.isFinite(seconds) ? seconds * 1000 : undefined);
}
