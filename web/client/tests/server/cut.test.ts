/** The network is cut at every frame, on the real server: nothing is lost and nothing is done twice. */
import { describe, expect, test } from 'vitest';
import { isLongRun } from '../../../conformance/src/cells.ts';
import { shown } from '../../../conformance/src/server/shown.ts';
import { isVersion7 } from '../support/major.ts';
import type { MemoryChat } from '../support/memory-chat.ts';
import { serve, Visitor } from './visitor.ts';

type Conversation = {
  name: string;
  say: string;
  acts: ((chat: MemoryChat) => Promise<void>)[];
  outline: string[];
  runs: number;
  payments: number;
};

const approve = (chat: MemoryChat) => chat.answer(true);
const deny = (chat: MemoryChat) => chat.answer(false, 'not him');

const conversations: Conversation[] = [
  {
    name: 'an approval that is given',
    say: 'Send $20 to Sam',
    acts: [approve],
    outline: ['process_payment: output-available'],
    runs: 0,
    payments: 1,
  },
  {
    name: 'an approval that is denied',
    say: 'Send $20 to Sam',
    acts: [deny],
    outline: ['process_payment: output-denied'],
    runs: 0,
    payments: 0,
  },
  {
    name: 'a tool of the page behind an approval',
    say: 'Where am I?',
    acts: [approve],
    outline: ['get_location: output-available'],
    runs: 1,
    payments: 0,
  },
  {
    name: 'a tool of the page in the middle of another',
    say: 'Set the mood for Tokyo',
    acts: [],
    outline: ['set_mood: output-available', 'change_bgm: output-available'],
    runs: 1,
    payments: 0,
  },
  {
    name: 'two questions of one tool',
    say: 'Book a flight to Oslo',
    acts: [approve, approve],
    outline: ['book_flight: output-available'],
    runs: 0,
    payments: 1,
  },
];

let chats = 0;

async function talk(visitor: Visitor, { say, acts }: Conversation): Promise<MemoryChat> {
  const chat = visitor.chat(`cut-${++chats}`);
  await chat.say(say);
  for (const act of acts) {
    await act(chat);
  }
  return chat;
}

/** What is shown, but for the ids that the server makes up. */
function anonymous(chat: MemoryChat): unknown {
  const text = JSON.stringify(shown(chat.messages as never));
  const ids = /\b(cut-|msg_|call_|gate_|txn_|seat_)\w+|"timestamp":"[^"]*"/g;
  return JSON.parse(text.replaceAll(ids, found => (found.startsWith('"') ? '"timestamp":""' : '')));
}

/** How many at once: each waits more than it computes. */
const atOnce = 8;

async function atEach(cuts: number[], run: (cut: number) => Promise<void>): Promise<void> {
  const worker = async () => {
    for (let cut = cuts.shift(); cut !== undefined; cut = cuts.shift()) {
      await run(cut);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

/** `parity` is which frames are cut at in a short run: every other one, and all in one circumstance or another. */
type Circumstance = { pace: number; profile: 'shared' | 'v7'; parity: 0 | 1 };

/** The frames at which a conversation is cut: the last always, since nothing has to be fetched after it. */
function cutsIn(frames: number, parity: 0 | 1): number[] {
  const all = Array.from({ length: frames }, (_, frame) => frame);
  return all.filter(frame => isLongRun || frame % 2 === parity || frame === frames - 1);
}

// At once, most turns are over when the client is back; in small steps, they still run.
const circumstances: Circumstance[] = [
  { pace: 0, profile: 'shared', parity: 0 },
  { pace: 2, profile: 'shared', parity: 1 },
  // Only version 7 knows what its own profile says.
  ...(isVersion7 ? [{ pace: 2, profile: 'v7', parity: 0 } as const] : []),
];

describe.each(circumstances)(
  'with $pace ms a word, profile $profile',
  ({ pace, profile, parity }) => {
    const server = serve({ pace });

    test.each(conversations)('$name', async conversation => {
      const undisturbed = await Visitor.come(server(), { profile });
      const whole = await talk(undisturbed, conversation);
      await undisturbed.expectServed(whole);
      expect(whole.outline).toEqual(conversation.outline);
      const frames = undisturbed.frames.delivered.length;
      await undisturbed.leave();

      await atEach(cutsIn(frames, parity), async cut => {
        const where = `cut at frame ${cut}`;
        const visitor = await Visitor.come(server(), { profile });
        visitor.cutAt(cut);
        const chat = await talk(visitor, conversation);

        await visitor.expectServed(chat, 'finished', where);
        expect(anonymous(chat), where).toEqual(anonymous(whole));
        expect(visitor.ran, where).toHaveBeenCalledTimes(conversation.runs);
        const { payments } = await visitor.api.wallet();
        expect(payments, where).toHaveLength(conversation.payments);
        // With the last finish the chat has all there is: nobody comes back for the end of a window.
        expect(visitor.frames.sockets, where).toBe(cut === frames - 1 ? 1 : 2);
        await visitor.leave();
      });
    });
  },
);
