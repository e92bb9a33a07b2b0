import { expect, test, vi } from 'vitest';
import { ApiError } from '../src/api-error.ts';
import { answerQuestion, declineQuestion, fieldErrorsOf, questionOf } from '../src/question.ts';

const schema = { type: 'object', properties: { people: { type: 'integer' } } };

const part = {
  type: 'tool-ask_user',
  toolCallId: 'call-1',
  state: 'input-available',
  input: { question: 'For how many?', schema },
  callProviderMetadata: {
    adkStream: { question: { approvalId: 'gate-1', digest: 'ab', expiresAt: 5 } },
  },
};

const open = {
  toolCallId: 'call-1',
  question: 'For how many?',
  schema,
  state: 'open',
  approvalId: 'gate-1',
  digest: 'ab',
  expiresAt: 5,
};

test('a question is found among the calls, static or dynamic', () => {
  expect(questionOf(part)).toEqual(open);
  expect(questionOf({ ...part, type: 'dynamic-tool', toolName: 'ask_user' })).toEqual(open);
  for (const other of [
    undefined,
    { type: 'text', text: 'ask_user' },
    { ...part, type: 'tool-change_bgm' },
    { ...part, state: 'input-streaming' },
    { ...part, input: { question: 'For how many?' } },
    { ...part, input: undefined },
  ]) {
    expect(questionOf(other)).toBeUndefined();
  }
});

test('a closed question says what became of it', () => {
  const answered = { ...part, state: 'output-available', output: { people: 4 } };
  expect(questionOf(answered)).toMatchObject({ state: 'answered', answer: { people: 4 } });
  const closed = { ...part, state: 'output-error', errorText: 'Declined' };
  expect(questionOf(closed)).toMatchObject({ state: 'closed', errorText: 'Declined' });
});

test('it is answered and declined as a call of the page', () => {
  const asked = questionOf(part);
  if (asked === undefined) {
    throw new Error('no question');
  }
  const addToolOutput = vi.fn();
  answerQuestion({ addToolOutput }, asked, { people: 4 });
  declineQuestion({ addToolOutput }, asked, 'not now');
  const call = { tool: 'ask_user', toolCallId: 'call-1' };
  expect(addToolOutput.mock.calls).toEqual([
    [{ ...call, output: { people: 4 } }],
    [{ ...call, state: 'output-error', errorText: 'Declined: not now' }],
  ]);
});

test('a refused answer says which fields are wrong', () => {
  const fields = [{ path: '/people', message: 'This is required.' }];
  const refused = new ApiError(400, { error: { code: 'invalid_answer', message: 'no', fields } });
  expect(fieldErrorsOf(refused)).toEqual(fields);
  expect(fieldErrorsOf(new ApiError(400, { error: { code: 'bad_request' } }))).toEqual([]);
  expect(fieldErrorsOf(new Error('no'))).toEqual([]);
});
