/** What a person sees of messages, so that a page's and the server's can be held side by side. */
import type { UIMessage } from 'ai-7';
import { type ToolPart, toolParts } from '../tool-part.ts';

export function shown(messages: UIMessage[]): unknown {
  const reduced = messages.map(message => {
    const tools = new Set<unknown>(toolParts(message));
    return {
      id: message.id,
      role: message.role,
      metadata: message.metadata,
      parts: message.parts.map(part =>
        tools.has(part)
          ? shownCall(part as ToolPart)
          : part.type === 'text' || part.type === 'reasoning'
            ? { type: part.type, text: part.text }
            : part,
      ),
    };
  });
  // What is undefined in a page is a missing key on the wire.
  return JSON.parse(JSON.stringify(reduced));
}

function shownCall(part: ToolPart) {
  const { type, toolCallId, state, input, rawInput, output, errorText, approval } = part;
  const call = {
    type,
    toolCallId,
    // The oldest clients want the key where there is nothing to say; version 6 keeps an input that
    // the tool did not take under another name.
    input: input ?? rawInput,
    approval: approval && {
      id: approval.id,
      approved: approval.approved,
      reason: approval.reason,
    },
  };
  // Progress is for viewers: it is in no journal.
  return part.preliminary === true
    ? { ...call, state: 'input-available' }
    : { ...call, state, output, errorText };
}
