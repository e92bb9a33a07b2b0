/**
 * The real `ai` packages that judge the streams. Nothing else in this package but `schema-sdks.ts` imports
 * them for their behaviour, so what a verdict rests on can be seen here at a glance.
 */
import * as ai6 from 'ai-6';
import * as ai7 from 'ai-7';

/** A major version of the AI SDK, as the corpus names it. */
export type Major = '6' | '7';

export const majors: readonly Major[] = ['6', '7'];

/** The part of a package that drives a chat; its shape is the same in both majors. */
export type ChatSdk = Pick<
  typeof ai7,
  | 'AbstractChat'
  | 'DefaultChatTransport'
  | 'lastAssistantMessageIsCompleteWithApprovalResponses'
  | 'lastAssistantMessageIsCompleteWithToolCalls'
  | 'readUIMessageStream'
  | 'validateUIMessages'
>;

/** The newest client of each major: a stream's verdict is measured on these. */
export const chatSdks: Readonly<Record<Major, ChatSdk>> = {
  // The types of the two majors differ in what they add, not in what is used here.
  '6': ai6 as unknown as ChatSdk,
  '7': ai7,
};

/** The transport that version 7 brings for sockets; version 6 has none. */
export const OfficialSocketTransport = ai7.WebSocketChatTransport;
