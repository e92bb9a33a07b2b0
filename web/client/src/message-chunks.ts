/**
 * A message that is over, as chunks: for a chat whose window was lost, and whose turn ended
 * before it could be opened again.
 */
import { type Chunk, isRecord, text } from './chunk.ts';
import type { Delivered } from './delivered.ts';

export function messageToChunks(message: Record<string, unknown>, delivered: Delivered): Chunk[] {
  const chunks: Chunk[] = [{ type: 'start', messageId: message.id }];
  const parts = Array.isArray(message.parts) ? message.parts.filter(isRecord) : [];
  let isInStep = false;
  let blocks = 0;
  for (const part of parts) {
    const type = text(part.type);
    if (type === 'step-start') {
      chunks.push(...(isInStep ? [{ type: 'finish-step' }] : []), { type: 'start-step' });
      isInStep = true;
    } else if (type === 'text' || type === 'reasoning') {
      // The server numbers the blocks of a message in the same way.
      chunks.push(...blockChunks(type, String(++blocks), text(part.text)));
    } else if (type === 'dynamic-tool' || type.startsWith('tool-')) {
      chunks.push(...callChunks(part, delivered));
    } else {
      chunks.push({ ...part, type });
    }
  }
  if (isInStep) {
    chunks.push({ type: 'finish-step' });
  }
  return chunks;
}

function blockChunks(type: string, id: string, delta: string): Chunk[] {
  return [
    { type: `${type}-start`, id },
    ...(delta === '' ? [] : [{ type: `${type}-delta`, id, delta }]),
    { type: `${type}-end`, id },
  ];
}

/** Its input comes as a delta: an announcement would make a page run what is over. */
function callChunks(part: Record<string, unknown>, delivered: Delivered): Chunk[] {
  const { toolCallId } = part;
  const isDynamic = part.type === 'dynamic-tool';
  const toolName = isDynamic ? part.toolName : text(part.type).slice('tool-'.length);
  const chunks: Chunk[] = [
    { type: 'tool-input-start', toolCallId, toolName, ...(isDynamic ? { dynamic: true } : {}) },
  ];
  const input = part.input ?? part.rawInput;
  if (input !== undefined) {
    chunks.push({ type: 'tool-input-delta', toolCallId, inputTextDelta: JSON.stringify(input) });
  }
  switch (part.state) {
    case 'output-available':
      chunks.push({ type: 'tool-output-available', toolCallId, output: part.output ?? null });
      break;
    case 'output-error':
      chunks.push({ type: 'tool-output-error', toolCallId, errorText: text(part.errorText) });
      break;
    case 'output-denied':
      chunks.push(denialChunk(part, delivered));
      break;
  }
  return chunks;
}

/** Clients accept a denial only of a call that they were asked about. */
function denialChunk(
  { toolCallId, approval }: Record<string, unknown>,
  delivered: Delivered,
): Chunk {
  const wasAsked = (delivered.calls.get(text(toolCallId))?.approvals.size ?? 0) > 0;
  if (wasAsked) {
    return { type: 'tool-output-denied', toolCallId };
  }
  const reason = isRecord(approval) ? text(approval.reason) : '';
  const errorText = reason === '' ? 'Denied' : `Denied: ${reason}`;
  return { type: 'tool-output-error', toolCallId, errorText };
}
