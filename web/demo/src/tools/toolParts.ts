import { withoutRepeats } from '@adk-stream/client';
import { type DynamicToolUIPart, getToolName, isToolUIPart, type ToolUIPart } from 'ai';
import type { Message } from '../server/api.ts';

export type ToolPart = ToolUIPart | DynamicToolUIPart;

export function toolParts(message: Message): ToolPart[] {
  return withoutRepeats(message.parts).filter(part => isToolUIPart(part));
}

export const toolName = (part: ToolPart): string => getToolName(part);
