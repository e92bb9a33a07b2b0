import {
  ActionBarPrimitive,
  ComposerPrimitive,
  MessagePrimitive,
  ThreadPrimitive,
  type ToolCallMessagePartProps,
} from '@assistant-ui/react';

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
      </article>
    </MessagePrimitive.Root>
  );
}

function ToolCall(call: ToolCallMessagePartProps) {
  const { toolName, args, approval, result, isError, status, respondToApproval } = call;
  if (approval !== undefined && approval.approved === undefined && result === undefined) {
    return (
      <fieldset>
        <legend>{approval.prompt}</legend>
        <pre>{JSON.stringify(args, null, 2)}</pre>
        {[true, false].map(approved => (
          <button
            key={String(approved)}
            type="button"
            onClick={() => void respondToApproval({ approved })}
          >
            {approved ? 'Approve' : 'Deny'}
          </button>
        ))}
      </fieldset>
    );
  }
  const outcome = approval?.approved === false ? 'denied' : isError ? 'failed' : 'done';
  return (
    <p>
      <code>{toolName}</code>: {result === undefined ? status.type : outcome}
    </p>
  );
}
