/**
 * The real `ai` packages that judge the streams. Nothing else in this package imports them for
 * their behaviour, so what a verdict rests on can be seen here at a glance.
 */
import * as ai6 from 'ai-6';
import * as ai60 from 'ai-6-0-0';
import * as ai7 from 'ai-7';
import * as ai70 from 'ai-7-0-0';

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

/** The part of a package that says which chunks and messages it accepts. */
export type SchemaSdk = {
  uiMessageChunkSchema: () => {
    validate?: (value: unknown) => Validation | PromiseLike<Validation>;
  };
  validateUIMessages: (options: { messages: unknown }) => Promise<unknown>;
};

export type Validation = { success: true; value: unknown } | { success: false; error: Error };

/** The first and the newest client of each major: old pages stay open for a long time. */
export const schemaSdks = {
  'ai-6-0-0': ai60 as unknown as SchemaSdk,
  'ai-6': ai6 as unknown as SchemaSdk,
  'ai-7-0-0': ai70 as unknown as SchemaSdk,
  'ai-7': ai7 as unknown as SchemaSdk,
} as const;

export type SchemaSdkName = keyof typeof schemaSdks;

/** The packages that must accept what is meant for a profile. */
export const profiles = {
  shared: ['ai-6-0-0', 'ai-6', 'ai-7-0-0', 'ai-7'],
  v7: ['ai-7'],
} as const satisfies Record<string, readonly SchemaSdkName[]>;

export type Profile = keyof typeof profiles;
