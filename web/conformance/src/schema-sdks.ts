/** The schemas of the real `ai` packages, the first and the newest of each major. */
import * as ai6 from 'ai-6';
import * as ai60 from 'ai-6-0-0';
import * as ai7 from 'ai-7';
import * as ai70 from 'ai-7-0-0';

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
