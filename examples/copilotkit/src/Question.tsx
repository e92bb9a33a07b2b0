import { QuestionForm, UntrustedText } from '@adk-stream/client/react/parts';
import type { Interrupt } from '@copilotkit/react-core/v2';

type Props = {
  interrupt: Interrupt;
  onAnswer: (payload: unknown, interruptId: string) => unknown;
  onDecline: (interruptId: string) => unknown;
};

/** A question that asks for data: the answer is the data and nothing else. */
export function Question({ interrupt, onAnswer, onDecline }: Props) {
  const { id, message, metadata, responseSchema = {} } = interrupt;
  return (
    <fieldset data-consent="card">
      <legend data-consent="shown">
        <UntrustedText text={message ?? ''} />
        <span data-consent="end" />
      </legend>
      <QuestionForm
        schema={responseSchema}
        shown={String(metadata?.digest)}
        onAnswer={given => ('answer' in given ? onAnswer(given.answer, id) : onDecline(id))}
      />
    </fieldset>
  );
}
