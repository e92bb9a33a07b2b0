// Wallets with a thousand dollars each, kept as a list of payments in a file.
//
// Every run of the tool is a line of its own, so that a payment which was made twice shows.

import { randomBytes } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const START_CENTS = 100_000;
const LEDGER = process.env.ASSISTANT_LEDGER ?? join(tmpdir(), 'assistant-ledger');

interface Payment {
  amount: number;
  recipient: string;
  currency: string;
  description: string;
}

interface Entry {
  user: string;
  amount: number;
}

/** Pays, or says why not: both are results, which the model can read. */
export function pay(user: string, call: string, payment: Payment) {
  const cents = Math.round(payment.amount * 100);
  const balance = START_CENTS - spent(user);
  const problem = problemOf(payment, cents, balance);
  if (problem) {
    const wallet_balance = balance / 100;
    return { success: false, error: problem, transaction_id: null, wallet_balance };
  }
  const transaction = `txn_${randomBytes(6).toString('hex')}`;
  const { amount, recipient, description } = payment;
  const entry = { user, transactionId: transaction, toolCallId: call, amount, recipient, description };
  appendFileSync(LEDGER, `${JSON.stringify({ ...entry, at: Date.now() })}\n`, { flush: true });
  return {
    success: true,
    transaction_id: transaction,
    amount,
    currency: 'USD',
    recipient,
    description,
    wallet_balance: (balance - cents) / 100,
    timestamp: new Date().toISOString(),
  };
}

function spent(user: string): number {
  const lines = existsSync(LEDGER) ? readFileSync(LEDGER, 'utf8').split('\n') : [];
  const entries: Entry[] = lines.filter(line => line !== '').map(line => JSON.parse(line));
  const own = entries.filter(entry => entry.user === user);
  return own.reduce((sum, entry) => sum + Math.round(entry.amount * 100), 0);
}

function problemOf({ amount, currency }: Payment, cents: number, balance: number) {
  if (currency !== 'USD') return 'The wallet holds USD only.';
  if (!(amount > 0)) return 'The amount must be more than nothing.';
  if (Math.abs(amount * 100 - cents) > 1e-6) return 'The amount must not be finer than a cent.';
  if (cents > balance) return 'Insufficient funds';
  return undefined;
}
