/** Binds the answers of a chat to what was shown. */
import type { UIMessage } from 'ai';
import { isRecord } from './chunk.ts';

/**
 * The messages with the digest of each approval that they answer, `approval.digest`: the server
 * refuses an answer to another question or another input than the ones of the digest.
 *
 * `digestOf` knows what the page has shown, as `approvals().digestOf` does; without it, the digest is
 * taken from the descriptor that newer streams bring.
 */
export function withDigests<UI_MESSAGE extends UIMessage>(
  messages: UI_MESSAGE[],
  digestOf: (approvalId: string) => string | undefined = () => undefined,
): UI_MESSAGE[] {
  return messages.map(message => {
    const parts = message.parts.map(part => withDigest(part, digestOf));
    const isSame = parts.every((part, index) => part === message.parts[index]);
    return isSame ? message : { ...message, parts };
  });
}

function withDigest<PART extends object>(
  part: PART,
  digestOf: (approvalId: string) => string | undefined,
): PART {
  const approval = 'approval' in part ? part.approval : undefined;
  const isAnswered = 'state' in part && part.state === 'approval-responded';
  if (!isAnswered || !isRecord(approval) || approval.digest !== undefined) {
    return part;
  }
  const { id, descriptor } = approval;
  const described = isRecord(descriptor) ? descriptor.digest : undefined;
  const digest = (typeof id === 'string' ? digestOf(id) : undefined) ?? described;
  return typeof digest === 'string' ? { ...part, approval: { ...approval, digest } } : part;
}
