/** The chats, and the two transports. Both have the same turns, so that a chat may change between them. */
import { AdkStreamChatTransport, durableChats, ticketFrom, withErrors } from '@adk-stream/client';
import { DefaultChatTransport } from 'ai';
import { setting } from '../app/setting.ts';
import { fetchWithKey, type Message, PROFILE } from './api.ts';
import { hasKey, keyHeaders } from './key.ts';

export type TransportName = 'sse' | 'bidi';

export const transportName = setting<TransportName>('transport', ['sse', 'bidi'], 'sse');

/**
 * The server has the history: it is sent what it is asked about and nothing older, so that a long chat
 * costs no more than a short one.
 */
function newest(messages: Message[], messageId: string | undefined): Message[] {
  const named = messages.find(({ id }) => id === messageId);
  const last = messages.at(-1);
  return [named, last].filter((message, index, all): message is Message => {
    return message !== undefined && all.indexOf(message) === index;
  });
}

export const chats = durableChats<Message>({
  fetch: fetchWithKey,
  transport: ({ prepareReconnectToStreamRequest }) =>
    withErrors(
      new DefaultChatTransport<Message>({
        fetch: fetchWithKey,
        headers: { 'x-adk-stream-profile': PROFILE },
        prepareSendMessagesRequest: ({ id, messages, messageId, trigger, body }) => ({
          body: { ...body, id, messages: newest(messages, messageId), trigger, messageId },
        }),
        prepareReconnectToStreamRequest,
      }),
    ),
});

export const bidi = new AdkStreamChatTransport<Message>({
  fetch: fetchWithKey,
  headers: keyHeaders,
  // Without a key none is needed, and to ask for one would cost a round trip.
  ticket: () => (hasKey() ? ticketFrom({ headers: keyHeaders })() : undefined),
  profile: PROFILE,
  seqOf: chats.seqOf,
  prepareSendMessagesRequest: ({ messages, messageId }) => ({
    messages: newest(messages, messageId),
  }),
});

export const transports = { sse: chats.transport, bidi };
