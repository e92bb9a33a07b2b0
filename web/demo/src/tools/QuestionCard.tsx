import { ASK_USER, type FieldError, type QuestionAnswer, readExactJson } from '@adk-stream/client';
import type { ReactNode } from 'react';
import { ApprovalCard } from './ApprovalCard.tsx';
import { QuestionForm } from './QuestionForm.tsx';
import type { Delivery } from './useDelivery.ts';

interface Props {
  question: string;
  schema: Record<string, unknown>;
  /** Whether question and schema are as the server has them: before, nobody can answer. */
  isShown: boolean;
  /** Identifies what is shown. */
  shown: string;
  hasChanged: boolean;
  asker: string;
  askedAt: number | undefined;
  expiresAt: number | undefined;
  errors: readonly FieldError[];
  delivery: Delivery;
  onAnswer: (answer: QuestionAnswer) => void;
  focusAfter: string;
  children?: ReactNode;
}

/** A question that asks a person for data: the card of an approval, with a form in the place of yes and no. */
export function QuestionCard({ schema, errors, onAnswer, ...card }: Props) {
  const { isShown, shown, delivery } = card;
  return (
    <ApprovalCard
      {...card}
      tool={ASK_USER}
      input={readExactJson('{}')}
      isWithin
      isEditable={false}
      onAnswer={() => undefined}
      form={
        <QuestionForm
          schema={schema}
          isShown={isShown}
          shown={shown}
          errors={errors}
          delivery={delivery}
          onAnswer={onAnswer}
        />
      }
    />
  );
}
