import { Chat } from '@ai-sdk/svelte';
import type { AbstractChat, UIMessage } from 'ai';
import { onMount } from 'svelte';
import { type Durable, type DurableChatOptions, makeDurableChat } from '../durable-chat.ts';
import { watched } from './watched.ts';

export type DurableChat<UI_MESSAGE extends UIMessage = UIMessage> = Readonly<
  Pick<
    AbstractChat<UI_MESSAGE>,
    | 'id'
    | 'messages'
    | 'status'
    | 'error'
    | 'sendMessage'
    | 'regenerate'
    | 'addToolOutput'
    | 'addToolApprovalResponse'
    | 'clearError'
  > &
    Durable<UI_MESSAGE> & {
      /** The SDK's own chat below. */
      chat: AbstractChat<UI_MESSAGE>;
    }
>;

/**
 * A chat of `@ai-sdk/svelte` that the server keeps: it loads the chat, follows its running turn,
 * follows what other tabs do, and shows no half of an answer as if it were all. Call it while a component
 * is made, and read its fields where they are shown: taken apart, they do not change any more.
 */
export function useDurableChat<UI_MESSAGE extends UIMessage = UIMessage>(
  options: DurableChatOptions<UI_MESSAGE>,
): DurableChat<UI_MESSAGE> {
  const { chat, follower, start, shown, state, actions } = makeDurableChat<UI_MESSAGE>(
    // The release of the SDK that comes with it may be another one than the page's own.
    init => new Chat(init as never) as unknown as AbstractChat<UI_MESSAGE>,
    () => options,
  );
  const followed = watched(state);
  onMount(start);
  return {
    id: chat.id,
    chat,
    get messages() {
      followed();
      return shown(chat.messages);
    },
    get status() {
      return chat.status;
    },
    get error() {
      return chat.error;
    },
    get isLoaded() {
      return followed().isLoaded;
    },
    get isMissing() {
      return followed().isMissing;
    },
    get loadError() {
      return followed().loadError;
    },
    get failure() {
      return followed().failure;
    },
    get queued() {
      followed();
      return follower.queued;
    },
    clearError: chat.clearError,
    ...actions,
  };
}
