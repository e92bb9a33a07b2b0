/** The tools of the AI SDK route: what the demo can do, without what needs to ask in the middle of its work. */
import { randomBytes } from 'node:crypto';
import { appendFileSync } from 'node:fs';
import { z } from 'zod';
import { walletIn } from './ledger.ts';

const weather: Record<string, [number, string, number]> = {
  tokyo: [18, 'Cloudy', 65],
  'san francisco': [15, 'Foggy', 80],
  london: [12, 'Rainy', 85],
  'new york': [10, 'Sunny', 50],
};

type Payment = { amount: number; recipient: string; currency?: string; description?: string };

/** Pays once for every run, so that a payment which was made twice shows. */
function pay(ledger: string, user: string, toolCallId: string, payment: Payment) {
  const { amount, recipient, currency = 'USD', description = '' } = payment;
  const { balance } = walletIn(ledger, user, new Map());
  if (amount > balance) {
    const error = 'Insufficient funds';
    return { success: false, error, transaction_id: null, wallet_balance: balance };
  }
  const transactionId = `txn_${randomBytes(6).toString('hex')}`;
  const entry = { user, transactionId, toolCallId, amount, recipient, description };
  appendFileSync(ledger, `${JSON.stringify(entry)}\n`);
  return {
    success: true,
    transaction_id: transactionId,
    amount,
    currency,
    recipient,
    description,
    wallet_balance: balance - amount,
    timestamp: new Date().toISOString(),
  };
}

/** The tools for one person, in the form that both majors take. */
export function toolsFor(ledger: string, user: string, paid = async () => {}) {
  return {
    process_payment: {
      description: "Sends money from the user's wallet.",
      inputSchema: z.object({
        amount: z.number(),
        recipient: z.string(),
        currency: z.string().optional(),
        description: z.string().optional(),
      }),
      needsApproval: true,
      execute: async (payment: Payment, { toolCallId }: { toolCallId: string }) => {
        const result = pay(ledger, user, toolCallId, payment);
        await paid();
        return result;
      },
    },
    get_weather: {
      description: 'Tells the weather of a city.',
      inputSchema: z.object({ location: z.string() }),
      execute: ({ location }: { location: string }) => {
        const found = weather[location.toLowerCase()];
        const [temperature, condition, humidity] = found ?? [20, 'Unknown', 60];
        return { temperature, condition, humidity, location };
      },
    },
    // What has no `execute` the page runs.
    get_location: {
      description: 'Tells where the user is.',
      inputSchema: z.object({}),
      needsApproval: true,
    },
    change_bgm: {
      description: 'Changes the background music to track 1 or 2.',
      inputSchema: z.object({ track: z.number() }),
    },
  };
}

/** Those that the page runs. */
export const clientTools = ['get_location', 'change_bgm'];
