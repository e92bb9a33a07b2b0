import { Chat, type UseChatHelpers, useChat } from '@ai-sdk/react';
import type { AbstractChat, UIMessage } from 'ai';
import { useEffect, useMemo, useRef, useSyncExternalStore } from 'react';
import { type Durable, type DurableChatOptions, makeDurableChat } from '../durable-chat.ts';

export type UseDurableChatOptions<UI_MESSAGE extends UIMessage = UIMessage> =
  DurableChatOptions<UI_MESSAGE> & {
    /** The shortest time between two drawings of a text that streams, in milliseconds. */
    throttle?: number;
  };

export type UseDurableChat<UI_MESSAGE extends UIMessage = UIMessage> = Omit<
  UseChatHelpers<UI_MESSAGE>,
  'stop'
> &
  Durable<UI_MESSAGE>;

/**
 * `useChat` for a chat that the server keeps: it loads the chat, resumes its running turn, follows
 * what other tabs do, and shows no half of an answer as if it were all.
 */
export function useDurableChat<UI_MESSAGE extends UIMessage = UIMessage>(
  options: UseDurableChatOptions<UI_MESSAGE>,
): UseDurableChat<UI_MESSAGE> {
  const { id, chats, throttle } = options;
  const latest = useRef(options);
  latest.current = options;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another id or server is another chat
  const { chat, follower, start, shown, state, actions } = useMemo(
    () =>
      makeDurableChat<UI_MESSAGE>(
        // The release of the SDK that comes with its hooks may be another one than the page's own.
        init => new Chat(init as never) as unknown as AbstractChat<UI_MESSAGE>,
        () => latest.current,
      ),
    [id, chats],
  );
  useEffect(start, [start]);
  const { held: _, ...followed } = useSyncExternalStore(state.subscribe, state.get, state.get);
  const helpers = useChat<UI_MESSAGE>({
    chat: chat as unknown as Chat<UI_MESSAGE>,
    ...(throttle !== undefined && { experimental_throttle: throttle }),
  });
  return {
    ...helpers,
    ...followed,
    // Typed by the page's release of the SDK, and not by that of its hooks.
    ...(actions as unknown as Pick<UseDurableChat<UI_MESSAGE>, keyof typeof actions>),
    id,
    queued: follower.queued,
    setMessages: messages => {
      helpers.setMessages(messages);
      follower.placed();
    },
    // As the chat has them now: what the hook draws next may be older than what was held back.
    messages: shown(chat.messages),
  };
}
