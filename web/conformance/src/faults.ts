/** What is wrong with the messages that a stream produced, although no client complained. */
import type { UIMessage } from 'ai-7';
import type { ChatSdk } from './sdk.ts';
import type { Wrong } from './stream.ts';
import { toolParts } from './tool-part.ts';

export async function faultsOf(messages: UIMessage[], sdk: ChatSdk): Promise<Wrong[]> {
  const faults: Wrong[] = [];
  if (await isInvalid(messages, sdk)) {
    faults.push('invalid');
  }
  if (messages.some(hasPartTwice)) {
    faults.push('part-twice');
  }
  if (isSplit(messages)) {
    faults.push('split');
  }
  if (messages.some(isUnfinished)) {
    faults.push('unfinished');
  }
  return faults;
}

async function isInvalid(messages: UIMessage[], sdk: ChatSdk): Promise<boolean> {
  if (messages.length === 0) {
    // Refused by the check, and yet how every chat begins.
    return false;
  }
  try {
    // As a server receives them: a field that is undefined here is a missing key there.
    await sdk.validateUIMessages({ messages: JSON.parse(JSON.stringify(messages)) });
    return false;
  } catch {
    return true;
  }
}

function hasPartTwice(message: UIMessage): boolean {
  const ids = toolParts(message).map(part => part.toolCallId);
  return new Set(ids).size < ids.length;
}

function isSplit(messages: UIMessage[]): boolean {
  return messages.some(
    (message, index) => message.role === 'assistant' && messages[index + 1]?.role === 'assistant',
  );
}

function isUnfinished(message: UIMessage): boolean {
  return (
    toolParts(message).some(part => part.state === 'input-streaming') ||
    message.parts.some(
      part => (part.type === 'text' || part.type === 'reasoning') && part.state === 'streaming',
    )
  );
}
