/** Approvals that this page reads and answers, one by one; the inbox has a list of its own. */
import { chats } from './transport.ts';

export const approvalStore = chats.approvals;
