/** How pages of the legacy dialect answer: four shapes of the same yes or no, and the output of a call. */
import type { UIMessage } from 'ai-7';
import type { ToolRun } from '../page.ts';
import { type ToolPart, toolName, toolParts } from '../tool-part.ts';

export type AnswerForm =
  /** A user message that answers ADK's confirmation, and holds nothing else. */
  | 'confirmation'
  /** A user message with the call's own part, and nothing else. */
  | 'call'
  /** The assistant message itself, after all that was said before it. */
  | 'message'
  /** ADR 0003: a user message whose content is the result of the call. */
  | 'result';

export const answerForms: readonly AnswerForm[] = ['confirmation', 'call', 'message', 'result'];

export type Yes = { approved: boolean; reason?: string | undefined };

/**
 * The messages of the frame that answers. An output goes into the same message, as a page of
 * the legacy dialect does it for a tool that it runs when it was allowed to.
 */
export function answerMessages(
  form: AnswerForm,
  messages: UIMessage[],
  part: ToolPart,
  { approved, reason }: Yes,
  run?: ToolRun,
): unknown[] {
  const { toolCallId } = part;
  const id = part.approval?.id ?? '';
  const approval = { id, approved, ...(reason !== undefined && { reason }) };
  const beside = run === undefined ? [] : [resultPart(part, run)];
  switch (form) {
    case 'confirmation': {
      const name = 'adk_request_confirmation';
      const parts = [
        {
          type: `tool-${name}`,
          toolCallId: id,
          toolName: name,
          state: 'approval-responded',
          approval,
        },
        ...beside,
      ];
      return [{ role: 'user', parts }];
    }
    case 'call': {
      const parts = [
        { type: part.type, toolCallId, state: 'approval-responded', approval },
        ...beside,
      ];
      return [{ role: 'user', parts }];
    }
    case 'result': {
      const result = { approved, ...(reason !== undefined && { user_message: reason }) };
      const content = [
        { type: 'tool-result', toolCallId, toolName: toolName(part), result },
        ...beside,
      ];
      return [{ id: `fr-${id}`, role: 'user', content }];
    }
    case 'message':
      return withPart(messages, part, asked => ({
        ...asked,
        approval,
        ...(run === undefined
          ? { state: 'approval-responded' }
          : 'output' in run
            ? { state: 'output-available', output: run.output }
            : { state: 'output-error', errorText: run.errorText }),
      }));
  }
}

/** The messages that say why a page could not run a call: `tool_result` has no word for that. */
export function failureMessages(part: ToolPart, errorText: string): unknown[] {
  const { type, toolCallId, input } = part;
  return [{ role: 'user', parts: [{ type, toolCallId, input, state: 'output-error', errorText }] }];
}

/** The output of a call, as a part of a message. */
export function resultPart(part: ToolPart, run: ToolRun): object {
  const { type, toolCallId } = part;
  return 'output' in run
    ? { type: 'tool-result', toolCallId, result: run.output }
    : { type, toolCallId, state: 'output-error', errorText: run.errorText };
}

/** The history up to the message of a part, with that part changed. */
function withPart(
  messages: UIMessage[],
  part: ToolPart,
  change: (part: ToolPart) => ToolPart,
): UIMessage[] {
  const isOwn = ({ toolCallId }: ToolPart) => toolCallId === part.toolCallId;
  const index = messages.findIndex(message => toolParts(message).some(isOwn));
  return messages.slice(0, index + 1).map((message, place) => ({
    ...message,
    parts: message.parts.map(own =>
      place === index && 'toolCallId' in own && isOwn(own as ToolPart)
        ? (change(own as ToolPart) as UIMessage['parts'][number])
        : own,
    ),
  }));
}
