import type { ReactElement } from 'react';
import type { QuestionAnswer } from '../approval.ts';
import { ASK_USER } from '../question.ts';
import { Card, type CardProps, type ShownApproval } from './approval-card.tsx';
import { Boundary } from './boundary.tsx';
import { type DeliveryOptions, useDelivery } from './delivery.ts';
import { QuestionForm } from './question-form.tsx';
import { UnshownCard } from './unshown-card.tsx';

export type QuestionCardProps = CardProps &
  DeliveryOptions<QuestionAnswer> & {
    approval: Omit<ShownApproval, 'toolName' | 'input' | 'inputText' | 'within' | 'editable'> & {
      schema?: Record<string, unknown>;
    };
  };

const anything = {};

/** A question that asks a person for data: the card of an approval, with a form in the place of yes and no. */
export function QuestionCard(props: QuestionCardProps): ReactElement {
  const { approvalId } = props.approval;
  const instead = <UnshownCard {...props} toolName={ASK_USER} denial={{ declined: true }} />;
  return (
    <Boundary of={approvalId} instead={instead}>
      <ShownQuestionCard {...props} />
    </Boundary>
  );
}

function ShownQuestionCard(props: QuestionCardProps): ReactElement {
  const { approval, isShown = true } = props;
  const { question, digest, schema = anything } = approval;
  const { delivery, errors, answer } = useDelivery(props);
  return (
    <Card {...props} approval={{ ...approval, toolName: ASK_USER, input: {} }} isWithin>
      <QuestionForm
        schema={schema}
        isShown={isShown}
        shown={JSON.stringify([question, schema, digest])}
        errors={errors}
        delivery={delivery}
        onAnswer={given => void answer(digest === undefined ? given : { ...given, digest })}
      />
      {props.children}
    </Card>
  );
}
