import type { Words } from '../language/en.ts';
import type { Problem } from './problem.ts';

/** What went wrong and what to do, in words. */
export function problemWords({ code, message }: Problem, words: Words['problem']): string {
  switch (code) {
    case 'network':
      return words.network;
    case 'rate_limited':
      return words.rateOver;
    case 'agent_unauthorized':
      return words.refusedKey;
    case 'agent_cut_off':
      return words.cut;
    case 'unauthorized':
      return words.key;
    case 'too_large':
      return words.large;
    case 'chat_deleted':
      return words.deleted;
    case 'unknown_call':
    case 'unknown_message':
    case 'unknown_approval':
    case 'unknown_chat':
      return words.outdated;
    case 'already_decided':
      return words.decided;
    case 'store_unavailable':
      return words.store;
    case 'shutting_down':
      return words.away;
    default:
      return message === '' ? words.silent : words.said(message);
  }
}

/** Whether only a chat that is read again can continue. */
export function needsReload({ code }: Problem): boolean {
  return code.startsWith('unknown_');
}
