/** Questions that are asked again. */
import type { UIMessage } from 'ai';
import { isRecord } from './chunk.ts';

type Parts = UIMessage['parts'];

type Call = {
  toolCallId: string;
  state: string;
  approval?: { id: string };
  callProviderMetadata?: Record<string, unknown>;
};

/**
 * The parts of a message to show, without the calls that repeat a question.
 *
 * The SDK sends an answer only from the last step of a message. A question that another step has left
 * behind is asked once more by a proxy call, of which the server says `proxyFor`. Both calls are answered
 * with the same approval; a page that shows both asks twice.
 */
export function withoutRepeats<Part extends Parts[number]>(parts: readonly Part[]): Part[] {
  const calls = (parts as readonly object[]).filter(isCall);
  const asked = new Set(
    calls.filter(call => !isRepeat(call) && isAsking(call)).map(call => call.approval?.id),
  );
  // The last of several repeats is where an answer is sent from.
  const last = new Map(
    calls.filter(call => isRepeat(call) && isAsking(call)).map(call => [call.approval?.id, call]),
  );
  return parts.filter(
    part =>
      !isCall(part) ||
      !isRepeat(part) ||
      (last.get(part.approval?.id) === (part as Call) && !asked.has(part.approval?.id)),
  );
}

const isCall = (part: object): part is Call => 'toolCallId' in part && 'state' in part;

function isRepeat({ toolCallId, callProviderMetadata }: Call): boolean {
  const ours = callProviderMetadata?.adkStream;
  const proxied = isRecord(ours) ? ours.proxyFor : undefined;
  return isRecord(proxied) ? 'approvalId' in proxied : isUnsaid.test(toolCallId);
}

/**
 * The id of a repeat of which it is not said: in messages that an older server wrote, and, to releases
 * that have no place for it, before a call that the page is to run is announced.
 */
const isUnsaid = /^gate_[^~]+~\d+$/;

const isAsking = ({ state }: Call) => state.startsWith('approval-');
