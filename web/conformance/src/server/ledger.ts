/** The wallets of ADK's example, which it keeps as a list of payments. */
import { existsSync, readFileSync } from 'node:fs';
import type { Payment, Wallet } from './api.ts';

const start = 1000;

/** A line of the ledger: the tool has run once. */
type Entry = Payment & { user: string };

/** What somebody has paid; `calls` are our names of calls by ADK's. */
export function walletIn(ledger: string, user: string, calls: Map<string, string>): Wallet {
  const lines = existsSync(ledger) ? readFileSync(ledger, 'utf8').split('\n') : [];
  const payments = lines
    .filter(line => line !== '')
    .map(line => JSON.parse(line) as Entry)
    .filter(entry => entry.user === user)
    .map(({ toolCallId, transactionId, amount, recipient }) => ({
      transactionId,
      toolCallId: calls.get(toolCallId) ?? toolCallId,
      amount,
      recipient,
    }));
  const cents = payments.reduce((sum, { amount }) => sum + Math.round(amount * 100), 0);
  return { balance: (start * 100 - cents) / 100, currency: 'USD', payments };
}
