import type { ApprovalAnswer, ExactJson } from '@adk-stream/client';
import { type KeyboardEvent, type ReactNode, useContext, useLayoutEffect, useRef } from 'react';
import { ScrollBox } from '../app/ScrollBox.tsx';
import { LanguageContext, useWords } from '../language/language.ts';
import { ApprovalForm } from './ApprovalForm.tsx';
import { CARD, END } from './consentPlaces.ts';
import { DecisionBadge } from './DecisionBadge.tsx';
import { intent, isKnown } from './intent.ts';
import { escaped } from './spoofing.ts';
import { UntrustedText } from './UntrustedText.tsx';
import type { Delivery } from './useDelivery.ts';
import { useTimeLeft } from './useTimeLeft.ts';

interface Props {
  tool: string;
  input: ExactJson;
  /** What the server asks, in its own words; missing until it was read. */
  question: string | undefined;
  /** Whether question and input are as the server has them: before, nobody can say yes. */
  isShown: boolean;
  /** Identifies what is shown. */
  shown: string;
  /** Whether it was asked again, as something else, since it was shown here. */
  hasChanged?: boolean;
  /** Who asks. */
  asker: string;
  askedAt: number | undefined;
  expiresAt: number | undefined;
  /** Whether the tool itself asks, in the middle of its work. */
  isWithin: boolean;
  /** Whether another input may be put in place of the model's. */
  isEditable: boolean;
  delivery: Delivery;
  onAnswer: (answer: ApprovalAnswer) => void;
  /** Where the focus goes when the card goes with it. */
  focusAfter: string;
  /** In the place of yes and no. */
  form?: ReactNode;
  /** More to say below. */
  children?: ReactNode;
}

/**
 * A question to a person: what will happen, who asks, how long there is, and the answers. It never takes
 * the focus: what is typed while it comes up was meant for something else.
 */
export function ApprovalCard(props: Props) {
  const { tool, input, question, asker, askedAt, expiresAt, isWithin, children } = props;
  const words = useWords();
  const card = useRef<HTMLDivElement>(null);
  const left = useTimeLeft(expiresAt);
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
      className={CARD}
      aria-label={`${escaped(tool)}: ${words.tool.asked}`}
      onKeyDown={onKeyDown}
    >
      <div className="head justify-between gap-4">
        <div className="flex min-w-0 flex-1 flex-col">
          <p className="text-sm text-soft wrap-anywhere">
            {words.approval.asks(asker)} ·{' '}
            <code>
              <UntrustedText text={tool} />
            </code>
            {isWithin && ` · ${words.approval.within}`}
          </p>
          <ScrollBox className="question" label={words.approval.question}>
            <h2 dir="auto" lang={languageOf(question ?? '')}>
              {question === undefined ? words.approval.reading : <UntrustedText text={question} />}
            </h2>
            <span className={END} />
          </ScrollBox>
          {!isWithin && <ReadingHelp tool={tool} input={input} />}
          <p className="text-sm text-soft tabular-nums">
            {left === undefined ? words.approval.forever : words.approval.expires(left)}
          </p>
        </div>
        <DecisionBadge kind="open" left={share(left, whole)} />
      </div>
      {props.hasChanged === true && (
        <p className="text-sm text-alert" role="alert">
          {words.approval.changed}
        </p>
      )}
      {props.form ?? (
        <ApprovalForm
          input={input}
          isShown={props.isShown}
          shown={props.shown}
          isEditable={props.isEditable}
          delivery={props.delivery}
          onAnswer={props.onAnswer}
        />
      )}
      {children}
    </div>
  );
}

/**
 * The question in the language of the page, where the page knows how to say it: beside what was asked,
 * which is what is answered.
 */
function ReadingHelp({ tool, input }: { tool: string; input: ExactJson }) {
  const words = useWords();
  const language = useContext(LanguageContext);
  return language === 'en' || !isKnown(tool) ? null : (
    <p className="text-sm text-soft wrap-anywhere">
      {words.approval.readingHelp(intent(tool, input, words.intent, language))}
    </p>
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
function useFocusAfter(card: { current: HTMLElement | null }, id: string): void {
  useLayoutEffect(() => {
    const element = card.current;
    return () => {
      const hasFocus = element?.contains(document.activeElement) === true;
      if (hasFocus && window.matchMedia('(pointer: fine)').matches) {
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
