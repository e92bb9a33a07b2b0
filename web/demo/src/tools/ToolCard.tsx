import {
  type Answered,
  type ApprovalAnswer,
  type QuestionAnswer,
  questionOf,
} from '@adk-stream/client';
import {
  BookOpenText,
  CloudSun,
  LoaderCircle,
  type LucideIcon,
  MapPin,
  MessageCircleQuestionMark,
  Music2,
  Plane,
  SwatchBook,
  Utensils,
  WalletCards,
  Wrench,
} from 'lucide-react';
import { memo, useContext } from 'react';
import { RawJson } from '../app/Raw.tsx';
import { MESSAGE_FIELD } from '../chat/messageField.ts';
import { nameOf } from '../journal/entry.ts';
import type { Question } from '../journal/journal.ts';
import { useCall, useOutcome, useQuestions, useResult } from '../journal/journal.ts';
import { LanguageContext, useWords } from '../language/language.ts';
import { timeOf } from '../language/time.ts';
import { pathOf } from './asker.ts';
import { type BadgeKind, DecisionBadge } from './DecisionBadge.tsx';
import { exactOf } from './exactValue.ts';
import { wordFor } from './fieldWords.ts';
import { intent } from './intent.ts';
import { OpenApproval } from './OpenApproval.tsx';
import { OpenQuestion } from './OpenQuestion.tsx';
import { isRecord, label, newFields, shown } from './output.ts';
import { escaped } from './spoofing.ts';
import { type ToolPart, toolName } from './toolParts.ts';
import { type CallContext, toolState, type Word } from './toolState.ts';

interface Props extends CallContext {
  part: ToolPart;
  onAnswer: (approvalId: string, answer: ApprovalAnswer | QuestionAnswer) => Promise<Answered>;
}

const icons = new Map<string, LucideIcon>([
  ['process_payment', WalletCards],
  ['get_weather', CloudSun],
  ['get_location', MapPin],
  ['change_bgm', Music2],
  ['book_flight', Plane],
  ['book_table', Utensils],
  ['ask_user', MessageCircleQuestionMark],
  ['set_mood', SwatchBook],
  ['write_report', BookOpenText],
]);

/** One call: what it does, its state, and the question that holds it, while it does. */
export const ToolCard = memo(function ToolCard({ part, onAnswer, ...context }: Props) {
  const words = useWords();
  const language = useContext(LanguageContext);
  const questions = useQuestions(part.toolCallId).filter(isQuestion);
  const call = useCall(part.toolCallId);
  const result = useResult(part.toolCallId);
  const outcome = useOutcome(part.toolCallId);
  const tool = toolName(part);
  const asked = 'approval' in part ? part.approval : undefined;
  const question = questions.find(({ gate }) => gate.id === asked?.id) ?? questions.at(-1);
  const given = call?.input ?? part.input;
  const { word, note } = toolState(part, context, { question, result, outcome }, words.tool);

  const data = questionOf(part);
  const { approvalId } = data ?? {};
  if (data?.state === 'open' && approvalId !== undefined && word === 'running') {
    if (question?.closed === undefined) {
      return (
        <OpenQuestion
          key={approvalId}
          asked={{ ...data, approvalId }}
          askedAt={question?.askedAt}
          onAnswer={onAnswer}
          focusAfter={MESSAGE_FIELD}
        />
      );
    }
  }

  if (word === 'asked' && asked !== undefined) {
    return (
      <OpenApproval
        // Another question about the same call is another card.
        key={asked.id}
        approvalId={asked.id}
        streamed={{
          tool,
          input: given,
          question: wordsOf(question) ?? described(asked),
          askedAt: question?.askedAt,
          expiresAt: question?.gate.expires,
          isWithin: question?.gate.kind.kind === 'approval' && question.gate.kind.within === true,
          isEditable: part.providerExecuted !== true && question?.gate.token === undefined,
          path: pathOf(call),
        }}
        onAnswer={onAnswer}
        focusAfter={MESSAGE_FIELD}
      />
    );
  }

  const Icon = icons.get(tool) ?? Wrench;
  const output = result?.output ?? ('output' in part ? part.output : undefined);
  const results = newFields(output, given);
  const closed = question?.closed;
  const badge = badgeOf(word, closed?.decision);
  const wasEdited = closed?.decision === 'approved' && closed.input !== undefined;
  // What ran, where that is not what was asked about.
  const ran = wasEdited ? closed.input : given;
  const title =
    data === undefined
      ? intent(tool, exactOf(ran), words.intent, language)
      : escaped(data.question);
  return (
    // biome-ignore lint/a11y/useSemanticElements: it groups what belongs to a call, and no fields
    <div
      role="group"
      className={`call ${word.replace(' ', '-')}`}
      aria-label={`${escaped(tool)}: ${words.tool[word]}`}
    >
      <span className="sign">
        {word === 'running' || word === 'answered' ? (
          <LoaderCircle aria-hidden="true" className="motion-safe:animate-spin" />
        ) : (
          <Icon aria-hidden="true" />
        )}
      </span>
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-baseline gap-x-2">
          <span className="min-w-0 font-medium wrap-anywhere">{title}</span>
          <span className="state">{words.tool[word]}</span>
          {closed !== undefined && Object.hasOwn(words.tool.decided, closed.decision) && (
            <span className="text-sm text-soft">
              {words.tool.decided[closed.decision as keyof typeof words.tool.decided](
                escaped(nameOf(closed.by, '')),
                timeOf(closed.at, language),
              )}
            </span>
          )}
        </p>
        {note !== undefined && <p className="text-sm text-soft wrap-anywhere">{escaped(note)}</p>}
        {closed !== undefined && wordsOf(question) !== undefined && (
          <p className="text-sm text-soft wrap-anywhere">
            {/* What was decided is what the server asked, and not what the page makes of the input. */}
            {words.tool.askedAbout(escaped(wordsOf(question) ?? ''))}
            {wasEdited && ` ${words.tool.inputChanged}`}
          </p>
        )}
        {results.length > 0 && (
          <p className="text-sm text-soft wrap-anywhere">
            {results
              .slice(0, 5)
              .map(
                ([name, value]) => `${wordFor(words.fields, name) ?? label(name)} ${shown(value)}`,
              )
              .map(escaped)
              .join(' · ')}
          </p>
        )}
        <details className="mt-1 text-sm">
          <summary className="text-soft">{words.tool.details}</summary>
          <Field name={words.tool.input} value={given} />
          {wasEdited && <Field name={words.tool.edited} value={closed.input} />}
          {output !== undefined && <Field name={words.tool.output} value={output} />}
        </details>
      </div>
      {badge !== undefined && <DecisionBadge kind={badge} />}
    </div>
  );
});

const isQuestion = ({ gate }: Question) => gate.kind.kind !== 'client-call';

function wordsOf(question: Question | undefined): string | undefined {
  return question?.gate.kind.kind === 'approval' ? question.gate.kind.question : undefined;
}

/** The newest clients get the question itself. */
function described(approval: object): string | undefined {
  const descriptor = 'descriptor' in approval ? approval.descriptor : undefined;
  const question = isRecord(descriptor) ? descriptor.question : undefined;
  return typeof question === 'string' ? question : undefined;
}

/** The outcome as a badge: an approval of a call that failed is not stamped as one. */
function badgeOf(word: Word, decision: string | undefined): BadgeKind | undefined {
  if (word === 'unknown') {
    return 'unknown';
  }
  if (word === 'failed') {
    return decision === 'approved' ? 'failed' : undefined;
  }
  if (word === 'timed out' || decision === 'timed-out') {
    return 'expired';
  }
  if (decision === 'approved') {
    return 'approved';
  }
  return word === 'denied' ? 'denied' : undefined;
}

function Field({ name, value }: { name: string; value: unknown }) {
  return (
    <figure className="mt-2">
      <figcaption className="text-xs text-soft">{name}</figcaption>
      <RawJson value={value} />
    </figure>
  );
}
