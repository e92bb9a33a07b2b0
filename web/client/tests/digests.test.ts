/** Answers of a chat that are bound to what was shown. */
import type { UIMessage } from 'ai';
import { expect, test } from 'vitest';
import { withDigests } from '../src/digests.ts';

function message(approval: object, state = 'approval-responded'): UIMessage {
  const part = { type: 'tool-pay', toolCallId: 'c', state, input: {}, approval };
  return { id: 'm', role: 'assistant', parts: [{ type: 'text', text: 'a' }, part] } as UIMessage;
}

function approvalIn([first]: UIMessage[]): unknown {
  const part = first?.parts[1] as { approval?: unknown } | undefined;
  return part?.approval;
}

test('the digest that the page has shown goes with the answer', () => {
  const messages = [message({ id: 'a', approved: true })];
  const bound = withDigests(messages, id => (id === 'a' ? 'd1' : undefined));
  expect(approvalIn(bound)).toEqual({ id: 'a', approved: true, digest: 'd1' });
  expect(approvalIn(messages), 'the chat keeps its own').toEqual({ id: 'a', approved: true });
});

test('a stream that brought a descriptor knows it, too', () => {
  const descriptor = { question: 'Pay?', digest: 'd2' };
  const approval = { id: 'a', approved: false, descriptor };
  expect(approvalIn(withDigests([message(approval)]))).toEqual({ ...approval, digest: 'd2' });
});

test('what is not answered, or not known, stays the very same', () => {
  const asked = message({ id: 'a' }, 'approval-requested');
  const unknown = message({ id: 'b', approved: true });
  const user = { id: 'u', role: 'user', parts: [{ type: 'text', text: 'x' }] } as UIMessage;
  const messages = [asked, unknown, user];
  const bound = withDigests(messages, id => (id === 'a' ? 'd' : undefined));
  expect(bound.every((one, index) => one === messages[index])).toBe(true);
});
