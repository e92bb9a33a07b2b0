import { Chat } from '@ai-sdk/vue';
import type { AbstractChat, UIMessage } from 'ai';
import { type ComputedRef, computed } from 'vue';
import {
  type Durable,
  type DurableActions,
  type DurableChatOptions,
  makeDurableChat,
} from '../durable-chat.ts';
import { fromReadable, whileMounted } from './from-readable.ts';

type Values<UI_MESSAGE extends UIMessage> = Omit<
  Durable<UI_MESSAGE>,
  keyof DurableActions<UI_MESSAGE>
> & {
  messages: UI_MESSAGE[];
  status: AbstractChat<UI_MESSAGE>['status'];
  error: Error | undefined;
};

export type UseDurableChat<UI_MESSAGE extends UIMessage = UIMessage> = Pick<
  AbstractChat<UI_MESSAGE>,
  'sendMessage' | 'regenerate' | 'addToolOutput' | 'addToolApprovalResponse' | 'clearError'
> &
  DurableActions<UI_MESSAGE> & {
    [NAME in keyof Values<UI_MESSAGE>]: ComputedRef<Values<UI_MESSAGE>[NAME]>;
  } & {
    readonly id: string;
    /** The SDK's own chat below. */
    readonly chat: AbstractChat<UI_MESSAGE>;
  };

/**
 * A chat of `@ai-sdk/vue` that the server keeps: it loads the chat, follows its running turn,
 * follows what other tabs do, and shows no half of an answer as if it were all. Give a component that
 * shows another chat another `key`.
 */
export function useDurableChat<UI_MESSAGE extends UIMessage = UIMessage>(
  options: DurableChatOptions<UI_MESSAGE>,
): UseDurableChat<UI_MESSAGE> {
  const { chat, follower, start, shown, state, actions } = makeDurableChat<UI_MESSAGE>(
    // The release of the SDK that comes with it may be another one than the page's own.
    init => new Chat(init as never) as unknown as AbstractChat<UI_MESSAGE>,
    () => options,
  );
  const followed = fromReadable(state);
  whileMounted(start);
  return {
    id: chat.id,
    chat,
    messages: computed(() => {
      // Read, so that it is computed again when a stream begins or ends.
      void followed.value;
      return shown(chat.messages);
    }),
    status: computed(() => chat.status),
    error: computed(() => chat.error),
    isLoaded: computed(() => followed.value.isLoaded),
    isMissing: computed(() => followed.value.isMissing),
    loadError: computed(() => followed.value.loadError),
    failure: computed(() => followed.value.failure),
    queued: computed(() => {
      void followed.value;
      return follower.queued;
    }),
    clearError: chat.clearError,
    ...actions,
  };
}
