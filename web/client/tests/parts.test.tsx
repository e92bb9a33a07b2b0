// @vitest-environment happy-dom
/** The unstyled parts of React, as a page puts them together. */
import { type ReactNode, StrictMode } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { until } from '../../conformance/src/server/until.ts';
import { ApiError } from '../src/api-error.ts';
import { type Approval, ApprovalChangedError } from '../src/approval.ts';
import type { UseApprovals } from '../src/react.ts';
import {
  ApprovalCard,
  ConnectionStatus,
  englishLabels,
  Inbox,
  PartsProvider,
  QuestionCard,
} from '../src/react-parts.ts';

let root: Root;
let page: HTMLElement;

beforeEach(() => {
  page = document.body.appendChild(document.createElement('main'));
  root = createRoot(page);
  vi.stubGlobal(
    'IntersectionObserver',
    class {
      observe() {}
      unobserve() {}
      disconnect() {}
    },
  );
});

afterEach(() => {
  root.unmount();
  page.remove();
  vi.unstubAllGlobals();
});

const draw = (node: ReactNode) => root.render(<StrictMode>{node}</StrictMode>);

const shows = (words: string) =>
  until(`the page shows ${words}`, () => page.textContent?.includes(words));

const button = (name: string) =>
  until(`there is a button ${name}`, () =>
    [...page.querySelectorAll('button')].find(({ textContent }) => textContent === name),
  );

const part = (name: string) => page.querySelector(`[data-part="${name}"]`);

const payment: Approval = {
  approvalId: 'gate_1',
  chatId: 'chat',
  toolCallId: 'call_1',
  toolName: 'process_payment',
  input: { amount: 12345678901234567000, recipient: 'Sam\u202e' },
  inputText: '{"amount":12345678901234567890,"recipient":"Sam\u202e"}',
  question: 'Send it?',
  digest: 'd1',
  askedAt: 0,
  path: ['root', 'payments'],
};

const table: Approval = {
  ...payment,
  approvalId: 'gate_2',
  kind: 'question',
  question: 'When?',
  schema: {
    type: 'object',
    properties: { people: { type: 'integer', title: 'People' } },
    required: ['people'],
  },
};

const decision = { approvalId: 'gate_1', approved: false, decidedAt: 1, decidedBy: 'ann' };

describe('an approval card', () => {
  const card = (over: Partial<Parameters<typeof ApprovalCard>[0]> = {}) => {
    const onAnswer = vi.fn(async () => ({ isOurs: true, decision }));
    const read = vi.fn(async () => undefined);
    draw(<ApprovalCard approval={payment} onAnswer={onAnswer} read={read} {...over} />);
    return { onAnswer, read };
  };

  test('shows who asks, the question, and every digit and hidden character of the input', async () => {
    card();
    await shows('Send it?');
    expect(page.textContent).toContain('root › payments asks');
    expect(page.textContent).toContain('12345678901234567890');
    expect(part('hidden-character')?.textContent).toContain('202E');
    expect(part('card')?.getAttribute('aria-label')).toBe('process_payment: asked');
  });

  test('says no with a reason, bound to what is shown', async () => {
    const { onAnswer } = card();
    (await button('Deny')).click();
    const field = await until('there is a field', () => page.querySelector('input') ?? undefined);
    // As the browser does it: React listens at the property of the element itself.
    const value = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value');
    value?.set?.call(field, 'too much');
    field.dispatchEvent(new Event('input', { bubbles: true }));
    (await button('Deny it')).click();
    await until('it was answered', () => onAnswer.mock.calls.length > 0);
    expect(onAnswer).toHaveBeenCalledWith({ approved: false, reason: 'too much', digest: 'd1' });
  });

  test('takes no press for a yes that came before anybody could read it', async () => {
    const { onAnswer } = card();
    const approve = await button('Approve');
    await until('it says that this was too soon', () => {
      approve.click();
      return page.textContent?.includes(englishLabels.approval.tooSoon);
    });
    expect(onAnswer).not.toHaveBeenCalled();
  });

  test('says who was first, and what is asked by now', async () => {
    card({ onAnswer: async () => ({ isOurs: false, decision }) });
    (await button('Deny')).click();
    (await button('Deny it')).click();
    await shows('ann has answered this already.');

    const changed = vi.fn();
    const onAnswer = async () => {
      throw new ApprovalChangedError(409, {}, { ...payment, question: 'Send more?' });
    };
    root.unmount();
    root = createRoot(page);
    card({ onAnswer, onChanged: changed });
    (await button('Deny')).click();
    (await button('Deny it')).click();
    await until('it has changed', () => changed.mock.calls.length > 0);
    expect(changed.mock.calls[0]?.[0]).toMatchObject({ question: 'Send more?' });
  });

  test('asks the server what was decided when nobody responds, and does not send again', async () => {
    const onAnswer = vi.fn(async () => {
      throw new TypeError('fetch failed');
    });
    const decided = vi.fn();
    const read = vi.fn(async () => ({ ...payment, decision }));
    card({ onAnswer, read, onDecided: decided });
    (await button('Deny')).click();
    (await button('Deny it')).click();
    await until('it is decided', () => decided.mock.calls.length > 0);
    expect(onAnswer).toHaveBeenCalledTimes(1);
  });

  test('speaks the words and wears the classes of its page', async () => {
    const approval = { ...englishLabels.approval, approve: '承認', asked: '確認' };
    draw(
      <PartsProvider
        labels={{ ...englishLabels, approval }}
        classNames={{ card: 'my-card' }}
        wordFor={name => (name === 'recipient' ? '送金先' : undefined)}
      >
        <ApprovalCard
          approval={payment}
          onAnswer={async () => ({ isOurs: true, decision })}
          read={async () => undefined}
        />
      </PartsProvider>,
    );
    await button('承認');
    expect(part('card')?.className).toBe('my-card');
    expect(part('card')?.getAttribute('aria-label')).toBe('process_payment: 確認');
    expect(page.textContent).toContain('送金先 recipient');
  });
});

test('a question has a field for each property, and the server’s errors at them', async () => {
  const body = {
    error: {
      code: 'invalid_answer',
      message: 'The answer does not fit.',
      fields: [{ path: '/people', message: '0 is less than 1' }],
    },
  };
  const onAnswer = vi.fn(async () => {
    throw new ApiError(422, body);
  });
  draw(<QuestionCard approval={table} onAnswer={onAnswer} read={async () => undefined} />);
  await shows('When?');
  expect(page.querySelector('label')?.textContent).toBe('People');
  (await button('Decline')).click();
  (await button('Decline it')).click();
  await shows('0 is less than 1');
  expect(page.querySelector('[aria-invalid="true"]')?.getAttribute('aria-describedby')).toBe(
    page.querySelector('[role=alert]')?.id,
  );
  expect(onAnswer).toHaveBeenCalledWith({ declined: true, digest: 'd1' });
});

test('an inbox has a card for each question of every chat, and answers by its own route', async () => {
  const answer = vi.fn(async () => ({ isOurs: true, decision }));
  const inbox = {
    approvals: [payment, table],
    isLoaded: true,
    error: undefined,
    answer,
    read: async () => undefined,
    refresh: async () => undefined,
  } as unknown as UseApprovals;
  const onAnswered = vi.fn();
  draw(<Inbox inbox={inbox} onAnswered={onAnswered} footer={({ chatId }) => `in ${chatId}`} />);
  await shows('When?');
  expect(page.querySelectorAll('[data-part="card"]')).toHaveLength(2);
  expect(page.textContent).toContain('in chat');
  (await button('Deny')).click();
  (await button('Deny it')).click();
  await until('it was answered', () => onAnswered.mock.calls.length > 0);
  expect(answer).toHaveBeenCalledWith('gate_1', { approved: false, digest: 'd1' });

  draw(<Inbox inbox={{ ...inbox, approvals: [] }} />);
  await shows('Nothing waits for you, in any chat.');
});

describe('what can’t be drawn', () => {
  const deep: Approval = {
    ...payment,
    inputText: `{"note":${'{"a":'.repeat(300)}1${'}'.repeat(300)}}`,
  };

  test('can only be denied, and answers', async () => {
    const onAnswer = vi.fn(async () => ({ isOurs: true, decision }));
    draw(
      <>
        <p>the page</p>
        <ApprovalCard approval={deep} onAnswer={onAnswer} read={async () => undefined} />
      </>,
    );
    await shows('This question can’t be shown');
    expect(page.textContent).toContain('the page');
    expect([...page.querySelectorAll('button')].map(it => it.textContent)).toEqual(['Deny']);
    (await button('Deny')).click();
    await until('it was answered', () => onAnswer.mock.calls.length > 0);
    expect(onAnswer).toHaveBeenCalledExactlyOnceWith({ approved: false });
  });

  test('takes nothing else of an inbox with it, nor does what the page adds to it', async () => {
    const answer = vi.fn(async () => ({ isOurs: true, decision }));
    const inbox = {
      approvals: [deep, table, { ...payment, approvalId: 'gate_3', question: 'And this?' }],
      isLoaded: true,
      error: undefined,
      answer,
      read: async () => undefined,
      refresh: async () => undefined,
    } as unknown as UseApprovals;
    const footer = ({ approvalId }: Approval) => {
      if (approvalId === 'gate_2') {
        throw new Error('no footer');
      }
      return 'a footer';
    };
    draw(<Inbox inbox={inbox} footer={footer} />);
    await shows('And this?');
    expect(page.textContent?.match(/This question can’t be shown/g)).toHaveLength(2);
    expect(page.textContent).not.toContain('When?');
    const [first, second] = [...page.querySelectorAll<HTMLElement>('[data-part="deny"]')];
    first?.click();
    second?.click();
    await until('both were answered', () => answer.mock.calls.length === 2);
    expect(answer.mock.calls).toEqual([
      ['gate_1', { approved: false }],
      ['gate_2', { declined: true }],
    ]);
  });
});

test('a connection says its state to people who see it and to screen readers', async () => {
  draw(<ConnectionStatus state="away" />);
  await shows('Server is away');
  expect(page.querySelector('[role=status]')?.getAttribute('data-state')).toBe('away');
});
