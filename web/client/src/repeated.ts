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
  const asking = new Map<string | undefined, Call>();
  for (const call of (parts as readonly object[]).filter(isCall).filter(isAsking)) {
    const before = asking.get(call.approval?.id);
    // At its own call, or else where it was repeated last: an answer is sent from there.
    if (before === undefined || isRepeat(before)) {
      asking.set(call.approval?.id, call);
    }
  }
  return parts.filter(
    part => !isCall(part) || !isRepeat(part) || asking.get(part.approval?.id) === (part as Call),
  );
}

const isCall = (part: object): part is Call => 'toolCallId' in part && 'state' in part;

function isRepeat({ toolCallId, callProviderMetadata }: Call): boolean {
  const ours = callProviderMetadata?.adkStream;
  const proxied = isRecord(ours) ? ours.proxyFor : undefined;
  return isRecord(proxied) ? 'approvalId' in proxied : isUnsaid.test(toolCallId);
}

/**
 * The id of a repeated question without `proxyFor`: in messages of older servers, and, in the shared
 * profile, for a page's call that is not announced yet.
 */
const isUnsaid = /^gate_[^~]+~\d+$/;

const isAsking = ({ state }: Call) => state.startsWith('approval-');
