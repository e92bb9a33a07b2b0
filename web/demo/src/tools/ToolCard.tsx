import type { ApprovalAnswer } from '@adk-stream/client';
import {
  BookOpenText,
  CloudSun,
  LoaderCircle,
  type LucideIcon,
  MapPin,
  Music2,
  Plane,
  SwatchBook,
  WalletCards,
  Wrench,
} from 'lucide-react';
import { memo, useContext } from 'react';
import { Raw } from '../app/Raw.tsx';
import type { Question } from '../journal/journal.ts';
import { useQuestions } from '../journal/journal.ts';
import { LanguageContext, useWords } from '../language/language.ts';
import { timeOf } from '../language/time.ts';
import { InfoContext } from '../server/info.ts';
import { intent } from './intent.ts';
import { isRecord, label, news, shown } from './output.ts';
import { Seal, type SealKind } from './Seal.tsx';
import { Slip } from './Slip.tsx';
import { type ToolPart, toolName } from './toolParts.ts';
import { type Standing, toolState, type Word } from './toolState.ts';

interface Props extends Standing {
  part: ToolPart;
  onAnswer: (approvalId: string, answer: ApprovalAnswer) => Promise<string | undefined>;
}

const icons: Record<string, LucideIcon> = {
  process_payment: WalletCards,
  get_weather: CloudSun,
  get_location: MapPin,
  change_bgm: Music2,
  book_flight: Plane,
  set_mood: SwatchBook,
  write_report: BookOpenText,
};

/** One call: what it does, how it stands, and the question that holds it, while it does. */
export const ToolCard = memo(function ToolCard({ part, onAnswer, ...standing }: Props) {
  const words = useWords();
  const language = useContext(LanguageContext);
  const { agent } = useContext(InfoContext);
  const questions = useQuestions(part.toolCallId).filter(isApproval);
  const tool = toolName(part);
  const title = intent(tool, part.input, words.intent, language);
  const asked = 'approval' in part ? part.approval : undefined;
  const question = questions.find(({ gate }) => gate.id === asked?.id) ?? questions.at(-1);
  const { word, note } = toolState(part, standing, question, words.tool);

  if (word === 'asked' && asked !== undefined) {
    return (
      <Slip
        // Another question about the same call is another slip.
        key={asked.id}
        tool={tool}
        input={part.input}
        question={questionOf(question) ?? described(asked)}
        asker={agent}
        askedAt={question?.askedAt}
        expiresAt={question?.gate.expires}
        isWithin={question?.gate.kind.kind === 'approval' && question.gate.kind.within === true}
        isEditable={part.providerExecuted !== true && question?.gate.token === undefined}
        onAnswer={answer => onAnswer(asked.id, answer)}
      />
    );
  }

  const Icon = icons[tool] ?? Wrench;
  const output = 'output' in part ? part.output : undefined;
  const results = news(output, part.input);
  const closed = question?.closed;
  const seal = sealOf(word, closed?.decision);
  const wasEdited = closed?.decision === 'approved' && closed.input !== undefined;
  return (
    // biome-ignore lint/a11y/useSemanticElements: it groups what belongs to a call, and no fields
    <div
      role="group"
      className={`call ${word.replace(' ', '-')}`}
      aria-label={`${tool}: ${words.tool[word]}`}
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
          <span className="font-medium">{title}</span>
          <span className="state">{words.tool[word]}</span>
          {closed !== undefined && (
            <span className="text-sm text-soft">
              {words.tool.by(closed.by, timeOf(closed.at, language))}
            </span>
          )}
        </p>
        {note !== undefined && <p className="text-sm text-soft">{note}</p>}
        {results.length > 0 && (
          <p className="text-sm text-soft wrap-anywhere">
            {results
              .slice(0, 5)
              .map(([name, value]) => `${words.fields[name] ?? label(name)} ${shown(value)}`)
              .join(' · ')}
          </p>
        )}
        {wasEdited && <p className="text-sm text-soft">{words.tool.edited}</p>}
        <details className="mt-1 text-sm">
          <summary className="text-soft">{words.tool.details}</summary>
          <Field name={words.tool.input} value={part.input} />
          {wasEdited && <Field name={words.tool.edited} value={closed.input} />}
          {output !== undefined && <Field name={words.tool.output} value={output} />}
        </details>
      </div>
      {seal !== undefined && <Seal kind={seal} />}
    </div>
  );
});

const isApproval = ({ gate }: Question) => gate.kind.kind === 'approval';

function questionOf(question: Question | undefined): string | undefined {
  return question?.gate.kind.kind === 'approval' ? question.gate.kind.question : undefined;
}

/** The newest clients are told the question itself. */
function described(approval: object): string | undefined {
  const descriptor = 'descriptor' in approval ? approval.descriptor : undefined;
  const question = isRecord(descriptor) ? descriptor.question : undefined;
  return typeof question === 'string' ? question : undefined;
}

function sealOf(word: Word, decision: string | undefined): SealKind | undefined {
  if (word === 'unknown') {
    return 'unknown';
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
      <Raw>{JSON.stringify(value, null, 2)}</Raw>
    </figure>
  );
}
