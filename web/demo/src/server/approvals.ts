/** Approvals that this page reads and answers, one by one; the inbox has a list of its own. */
import { approvals } from '@adk-stream/client';
import { fetchWithKey } from './api.ts';

export const approvalStore = approvals({ fetch: fetchWithKey, pollMs: 0 });
