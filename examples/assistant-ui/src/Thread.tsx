import { ConsentButton } from '@adk-stream/client/react/parts';
import {
  ActionBarPrimitive,
  BranchPickerPrimitive,
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
  const { toolName, args, approval, result, isError, status, respondToApproval } = call;
  if (approval !== undefined && approval.approved === undefined && result === undefined) {
    return (
      <fieldset data-consent="card">
        <legend data-consent="shown">{approval.prompt}</legend>
        <pre data-consent="shown">{JSON.stringify(args, null, 2)}</pre>
        <ConsentButton
          isReady
          shown={approval.id}
          onConsent={() => void respondToApproval({ approved: true })}
          onTooSoon={() => undefined}
        >
          Approve
        </ConsentButton>
        <button type="button" onClick={() => void respondToApproval({ approved: false })}>
          Deny
        </button>
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
