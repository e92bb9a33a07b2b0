/** The messages of a page beside those of the server. */
import type { UIMessage } from 'ai';
import { expect, test } from 'vitest';
import { replaced, replacedBy, stillQueued } from '../src/served-messages.ts';

const message = (id: string, text = id): UIMessage => ({
  id,
  role: id.startsWith('u') ? 'user' : 'assistant',
  parts: [{ type: 'text', text }],
});

test('a message that was edited under its id is another, however long it is', () => {
  const ours = [message('u1', 'Pay Sam 20'), message('a1')];
  const theirs = [message('u1', 'Pay Ann 30'), message('a1')];
  const [edited, kept] = replaced(ours, theirs) ?? [];
  expect(edited?.parts).toEqual(theirs[0]?.parts);
  expect(kept).toBe(ours[1]);
  expect(replaced(ours, [message('u1', 'Pay Sam 20'), message('a1')])).toBeUndefined();
});

test('a message that follows less than the page had takes a place', () => {
  const [u1, a1, u2, a2, u3] = ['u1', 'a1', 'u2', 'a2', 'u3'].map(id => message(id));
  const before = [u1, a1, u2, a2] as UIMessage[];
  const place = (...messages: unknown[]) => replacedBy(messages as UIMessage[], before);
  expect(place(u3)).toBe('u1');
  expect(place(u1, a1, u3)).toBe('u2');
  expect(place(u1, a1, u2, a2, u3)).toBeUndefined();
  // What was said here and the server has not, and a history of another branch.
  expect(place(u1, a1, u2, a2, message('u4'), u3)).toBeUndefined();
  expect(place(message('u9'), message('a9'), u3)).toBeUndefined();
  // The same message once more, and a continuation.
  expect(place(u1)).toBeUndefined();
  expect(place(u1, a1)).toBeUndefined();
  expect(replacedBy([u3 as UIMessage], [])).toBeUndefined();
});

test('a message waits until it is shown, as a turn of its own or in the middle of one', () => {
  const waiting = [message('u2'), message('u3')].map(message => ({
    whileRunning: 'queue' as const,
    message,
  }));
  const injected: UIMessage = {
    ...message('a1'),
    parts: [{ type: 'data-user-message', id: 'u3', data: message('u3') }],
  };
  const left = (...messages: UIMessage[]) =>
    stillQueued(waiting, messages).map(({ message }) => message.id);
  expect(left(message('u1'))).toEqual(['u2', 'u3']);
  expect(left(message('u1'), injected)).toEqual(['u2']);
  expect(left(message('u1'), message('a1'), message('u2'))).toEqual(['u3']);
});
