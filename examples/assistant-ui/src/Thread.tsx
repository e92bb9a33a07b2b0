import { questionOf } from '@adk-stream/client';
import {
  ActionBarPrimitive,
  BranchPickerPrimitive,
  ComposerPrimitive,
  MessagePrimitive,
  ThreadPrimitive,
  type ToolCallMessagePartProps,
} from '@assistant-ui/react';
import { useContext } from 'react';
import { ChatContext } from './ChatContext.ts';
import { Question } from './Question.tsx';

export function Thread() {
  return (
    <ThreadPrimitive.Root>
      <ThreadPrimitive.Messages
        components={{ UserMessage, AssistantMessage, UserEditComposer: EditComposer }}
      />
      <ComposerPrimitive.Root>
        <ComposerPrimitive.Input aria-label="Message" />
        <ComposerPrimitive.Send>Send</ComposerPrimitive.Send>
      </ComposerPrimitive.Root>
    </ThreadPrimitive.Root>
  );
}

function UserMessage() {
  return (
    <MessagePrimitive.Root>
      <article aria-label="user">
        <MessagePrimitive.Parts />
        <ActionBarPrimitive.Edit>Edit</ActionBarPrimitive.Edit>
        <Versions />
      </article>
    </MessagePrimitive.Root>
  );
}

function EditComposer() {
  return (
    <ComposerPrimitive.Root>
      <ComposerPrimitive.Input aria-label="Edited message" />
      <ComposerPrimitive.Send>Say this instead</ComposerPrimitive.Send>
    </ComposerPrimitive.Root>
  );
}

function AssistantMessage() {
  return (
    <MessagePrimitive.Root>
      <article aria-label="assistant">
        <MessagePrimitive.Parts components={{ tools: { Fallback: ToolCall } }} />
        <ActionBarPrimitive.Reload>Answer again</ActionBarPrimitive.Reload>
        <Versions />
      </article>
    </MessagePrimitive.Root>
  );
}

/** The versions of a message that was edited or regenerated; the chat continues from the one shown. */
function Versions() {
  return (
    <BranchPickerPrimitive.Root hideWhenSingleBranch aria-label="Versions">
      <BranchPickerPrimitive.Previous>Previous</BranchPickerPrimitive.Previous>
      <BranchPickerPrimitive.Number /> of <BranchPickerPrimitive.Count />
      <BranchPickerPrimitive.Next>Next</BranchPickerPrimitive.Next>
    </BranchPickerPrimitive.Root>
  );
}

function ToolCall(call: ToolCallMessagePartProps) {
  const { toolName, toolCallId, approval, result, isError, status } = call;
  const chat = useContext(ChatContext);
  const asked = chat?.messages
    .flatMap(({ parts }) => parts.map(questionOf))
    .find(it => it?.toolCallId === toolCallId && it.state === 'open');
  const isAsked = approval !== undefined && approval.approved === undefined && result === undefined;
  const approvalId = isAsked ? approval.id : asked?.approvalId;
  if (chat !== null && approvalId !== undefined) {
    return <Question approvalId={approvalId} approvals={chat.approvals} onAnswer={chat.answer} />;
  }
  const outcome = approval?.approved === false ? 'denied' : isError ? 'failed' : 'done';
  return (
    <p>
      <code>{toolName}</code>: {result === undefined ? status.type : outcome}
    </p>
  );
}
