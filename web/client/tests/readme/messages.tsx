/** Shows a chat: texts, calls with their states, and a button for each thing that can be done. */
import type { useChat } from '@ai-sdk/react';

/** What is said at a click on the button of the same name. */
export const prompts = ['Play track 2', 'Send $20 to Sam', 'take your time'];

export function Messages({ chat }: { chat: ReturnType<typeof useChat> }) {
  return (
    <>
      <p>{`status: ${chat.status}`}</p>
      {prompts.map(text => (
        <button key={text} type="button" onClick={() => void chat.sendMessage({ text })}>
          {text}
        </button>
      ))}
      {chat.messages.flatMap(({ id, parts }) =>
        parts.map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts are only ever appended
          <p key={`${id} ${index}`}>
            {part.type === 'text' ? part.text : ''}
            {'state' in part ? `${part.type}: ${part.state}` : ''}
          </p>
        )),
      )}
    </>
  );
}
