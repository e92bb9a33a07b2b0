import { isToolUIPart } from 'ai';
import type { Message } from './server.ts';

/** A call, as a message shows it. */
export type ToolPart = Extract<Message['parts'][number], { toolCallId: string }>;

/** The calls of a message. */
export function toolParts(message: Message): ToolPart[] {
  return message.parts.filter(part => isToolUIPart(part));
}
