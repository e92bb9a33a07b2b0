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
  providerExecuted?: boolean;
};

export function toolParts(message: UIMessage): ToolPart[] {
  return message.parts.filter(
    part => part.type === 'dynamic-tool' || part.type.startsWith('tool-'),
  ) as ToolPart[];
}

export function toolName(part: ToolPart & { toolName?: string }): string {
  return part.toolName ?? part.type.slice('tool-'.length);
}

/**
 * The calls of a message, each once. A tool at ADK that has the page do its work is shown as what it
 * is and as what the page does; and a question that a page's call superseded is asked by another call.
 */
export function callsOf(message: UIMessage): ToolPart[] {
  const all = toolParts(message);
  const asks = (part: ToolPart) => part.state.startsWith('approval-');
  const own = all.filter(part => !isProxyCall(part));
  const asked = new Set(own.filter(asks).map(approvalOf));
  const proxies = all.filter(
    part => isProxyCall(part) && asks(part) && !asked.has(approvalOf(part)),
  );
  const inPage = new Set(own.filter(part => part.providerExecuted !== true).map(toolName));
  const shown = own.filter(part => part.providerExecuted !== true || !inPage.has(toolName(part)));
  return shown.map(part => {
    const isSuperseded = part.state === 'input-available';
    const other = isSuperseded && proxies.find(other => toolName(other) === toolName(part));
    return other || part;
  });
}

const isProxyCall = (part: ToolPart) => part.toolCallId.includes('~');

const approvalOf = (part: ToolPart) => part.approval?.id;
