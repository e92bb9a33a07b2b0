import type { ApprovalAnswer } from '@adk-stream/client';
import { type KeyboardEvent, type ReactNode, useRef } from 'react';
import { useWords } from '../language/language.ts';
import { ApprovalForm } from './ApprovalForm.tsx';
import { Seal } from './Seal.tsx';
import { useHeadline } from './useHeadline.ts';
import { useTimeLeft } from './useTimeLeft.ts';

interface Props {
  tool: string;
  input: unknown;
  /** What the server asks, where that is known. */
  question: string | undefined;
  /** Who asks. */
  asker: string;
  askedAt: number | undefined;
  expiresAt: number | undefined;
  /** Whether the tool itself asks, in the middle of its work. */
  isWithin: boolean;
  /** Whether another input may be put in place of the model's. */
  isEditable: boolean;
  onAnswer: (answer: ApprovalAnswer) => Promise<string | undefined>;
  /** More to say below. */
  children?: ReactNode;
}

/** Nobody has read a question in less: a key that was on its way is not an answer to it. */
const READING_MS = 400;

/** A question to a person: what will happen, who asks, how long there is, and the answers. */
export function Slip(props: Props) {
  const { tool, input, question, asker, askedAt, expiresAt, isWithin, children } = props;
  const words = useWords();
  const headline = useHeadline({ tool, input, question, isWithin });
  const left = useTimeLeft(expiresAt);
  const seen = useRef(0);
  const whole = expiresAt === undefined ? undefined : (expiresAt - (askedAt ?? expiresAt)) / 1000;

  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const { target, currentTarget, key } = event;
    const isRead = performance.now() - seen.current > READING_MS;
    if (key === 'Enter' && target === currentTarget && isRead && !event.repeat) {
      event.preventDefault();
      currentTarget.querySelector<HTMLElement>('[data-approve]')?.click();
    } else if (key === 'Escape') {
      event.stopPropagation();
      currentTarget.querySelector<HTMLElement>('[data-deny]')?.click();
    }
  };

  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset can't be laid out like this everywhere
    <div
      role="group"
      className="slip"
      aria-label={`${tool}: ${words.tool.asked}`}
      data-slip="open"
      tabIndex={-1}
      onFocus={event => {
        if (event.target === event.currentTarget) {
          seen.current = performance.now();
        }
      }}
      onKeyDown={onKeyDown}
    >
      <div className="flex items-start justify-between gap-4">
        <div className="min-w-0 flex-1">
          <p className="text-sm text-soft">
            {words.approval.asks(asker)} · <code>{tool}</code>
            {isWithin && ` · ${words.approval.within}`}
          </p>
          <h2 className="mt-0.5 font-display text-[1.35rem] leading-snug text-balance">
            {headline}
          </h2>
          <p className="text-sm text-soft tabular-nums">
            {left === undefined ? words.approval.forever : words.approval.expires(left)}
          </p>
        </div>
        <Seal kind="open" left={share(left, whole)} />
      </div>
      <ApprovalForm input={input} isEditable={props.isEditable} onAnswer={props.onAnswer} />
      {children}
    </div>
  );
}

function share(left: number | undefined, whole: number | undefined): number | undefined {
  return left === undefined || whole === undefined || whole <= 0
    ? undefined
    : Math.min(1, left / whole);
}
