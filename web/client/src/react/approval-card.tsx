import {
  type KeyboardEvent,
  type ReactElement,
  type ReactNode,
  useLayoutEffect,
  useMemo,
  useRef,
} from 'react';
import type { Approval, ApprovalAnswer } from '../approval.ts';
import { escapeUntrusted } from '../untrusted-text.ts';
import { ApprovalForm } from './approval-form.tsx';
import { Boundary } from './boundary.tsx';
import { type DeliveryOptions, useDelivery } from './delivery.ts';
import { exactInput } from './exact-value.ts';
import { useParts } from './parts-context.tsx';
import { ScrollBox } from './scroll-box.tsx';
import { useTimeLeft } from './time-left.ts';
import { UnshownCard } from './unshown-card.tsx';
import { UntrustedText } from './untrusted-text.tsx';

/** What a card shows of an approval. Before the server's record was read, its question may be missing. */
export type ShownApproval = Pick<
  Approval,
  'approvalId' | 'toolName' | 'input' | 'inputText' | 'digest' | 'within' | 'editable' | 'path'
> & {
  question: string | undefined;
  askedAt?: number | undefined;
  expiresAt?: number | undefined;
};

export type CardProps = {
  /** Whether question and input are as the server has them: before, nobody can say yes. */
  isShown?: boolean;
  /** Whether it was asked again, as something else, since it was shown here. */
  hasChanged?: boolean;
  /** Who asks, where the approval has no path of agents. */
  agent?: string;
  /** What time it is where that is not now: in a chat that is played again. */
  now?: number | undefined;
  /** The id of the element that gets the focus when the card goes with it. */
  focusAfter?: string;
  /** In the head, after the question; it gets the share of the time that is left, from 1 to 0. */
  aside?: (left: number | undefined) => ReactNode;
  /** Below the question: what helps to read it. */
  help?: ReactNode;
  /** More to say below. */
  children?: ReactNode;
};

export type ApprovalCardProps = CardProps &
  DeliveryOptions<ApprovalAnswer> & { approval: ShownApproval };

/**
 * A question to a person: what will happen, who asks, how long there is, and the answers. The yes is a
 * {@link ConsentButton}, and the answer is bound to what is shown. It never takes the focus: what is
 * typed while it comes up was meant for something else. One that can't be drawn can only be denied.
 */
export function ApprovalCard(props: ApprovalCardProps): ReactElement {
  const { approvalId, toolName } = props.approval;
  const instead = <UnshownCard {...props} toolName={toolName} denial={{ approved: false }} />;
  return (
    <Boundary of={approvalId} instead={instead}>
      <ShownApprovalCard {...props} />
    </Boundary>
  );
}

function ShownApprovalCard(props: ApprovalCardProps): ReactElement {
  const { approval, isShown = true } = props;
  const { digest, question } = approval;
  const input = useMemo(() => exactInput(approval), [approval]);
  const { delivery, answer } = useDelivery(props);
  return (
    <Card {...props} isWithin={approval.within === true}>
      <ApprovalForm
        input={input}
        isShown={isShown}
        shown={JSON.stringify([question, input.text, digest])}
        isEditable={approval.editable !== false}
        delivery={delivery}
        onAnswer={given => void answer(digest === undefined ? given : { ...given, digest })}
      />
      {props.children}
    </Card>
  );
}

type Props = Omit<CardProps, 'isShown'> & { approval: ShownApproval; isWithin: boolean };

/** What every question has; its answers are inside. */
export function Card({ approval, isWithin, agent = 'Agent', ...props }: Props): ReactElement {
  const { toolName, question, askedAt, expiresAt, path = [] } = approval;
  const { part, labels } = useParts();
  const words = labels.approval;
  const card = useRef<HTMLDivElement>(null);
  const left = useTimeLeft(expiresAt, props.now);
  const whole = expiresAt === undefined ? undefined : (expiresAt - (askedAt ?? expiresAt)) / 1000;
  useFocusAfter(card, props.focusAfter);

  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    if (event.key === 'Escape') {
      event.stopPropagation();
      event.currentTarget.querySelector<HTMLElement>('[data-deny]')?.click();
    }
  };

  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset can't be laid out like this everywhere
    <div
      ref={card}
      role="group"
      {...part('card')}
      data-consent="card"
      aria-label={`${escapeUntrusted(toolName)}: ${words.asked}`}
      onKeyDown={onKeyDown}
    >
      <div {...part('head')}>
        <div {...part('head-text')}>
          <p {...part('asker')}>
            {words.asks(
              path.length === 0 ? agent : path.map(it => escapeUntrusted(it)).join(' › '),
            )}{' '}
            ·{' '}
            <code>
              <UntrustedText text={toolName} />
            </code>
            {isWithin && ` · ${words.within}`}
          </p>
          <ScrollBox name="question" label={words.question} isConsentedTo>
            <h2 dir="auto" lang={languageOf(question ?? '')}>
              {question === undefined ? words.reading : <UntrustedText text={question} />}
            </h2>
          </ScrollBox>
          {props.help}
          <p {...part('time')}>{left === undefined ? words.forever : words.expires(left)}</p>
        </div>
        {props.aside?.(share(left, whole))}
      </div>
      {props.hasChanged === true && (
        <p {...part('changed')} role="alert">
          {words.changed}
        </p>
      )}
      {props.children}
    </div>
  );
}

/** The language of a question, as far as its letters say it. */
function languageOf(text: string): string | undefined {
  if (/[\u3040-\u30ff\u4e00-\u9fff]/.test(text)) {
    return 'ja';
  }
  return /[a-z]/i.test(text) ? 'en' : undefined;
}

/** Keyboard focus moves on after an answer; a card that goes by itself takes no focus along. */
function useFocusAfter(card: { current: HTMLElement | null }, id: string | undefined): void {
  useLayoutEffect(() => {
    const element = card.current;
    return () => {
      const hasFocus = element?.contains(document.activeElement) === true;
      if (id !== undefined && hasFocus && window.matchMedia('(pointer: fine)').matches) {
        requestAnimationFrame(() => document.getElementById(id)?.focus({ preventScroll: true }));
      }
    };
  }, [card, id]);
}

function share(left: number | undefined, whole: number | undefined): number | undefined {
  return left === undefined || whole === undefined || whole <= 0
    ? undefined
    : Math.min(1, left / whole);
}
