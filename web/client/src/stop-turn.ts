/** Stops a turn on the server. */
import { readJson } from './api-error.ts';
import { type ApiAccess, requestApi, unlessMissing } from './api-request.ts';
import { isRecord } from './chunk.ts';

/** Stops the turn of a chat, and returns whether there was one to stop. */
export async function stopTurn(access: ApiAccess, api: string, chatId: string): Promise<boolean> {
  const url = `${api}/${encodeURIComponent(chatId)}/stop`;
  const asked = requestApi(access, url, { method: 'POST' }).then(readJson);
  // A chat that was never begun has nothing to be stopped.
  const answer = await unlessMissing(asked);
  return isRecord(answer) && answer.stopped === true;
}
