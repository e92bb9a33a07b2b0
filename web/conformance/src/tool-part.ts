/** What the judges read of a tool part, static or dynamic. */
import type { UIMessage } from 'ai-7';

export type ToolPart = {
  type: string;
  toolCallId: string;
  state: string;
  input?: unknown;
  rawInput?: unknown;
  approval?: { id: string; approved?: boolean; reason?: string };
  output?: unknown;
  errorText?: string;
  preliminary?: boolean;
};

export function toolParts(message: UIMessage): ToolPart[] {
  return message.parts.filter(
    part => part.type === 'dynamic-tool' || part.type.startsWith('tool-'),
  ) as ToolPart[];
}

export function toolName(part: ToolPart & { toolName?: string }): string {
  return part.toolName ?? part.type.slice('tool-'.length);
}
