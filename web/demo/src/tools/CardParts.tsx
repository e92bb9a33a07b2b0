import { readExactJson } from '@adk-stream/client';
import {
  type PartLabels,
  type PartName,
  PartsProvider,
  type ShownApproval,
} from '@adk-stream/client/react/parts';
import { Check, Inbox, Pencil, Send, X } from 'lucide-react';
import { type ReactNode, useCallback, useContext, useMemo } from 'react';
import { LanguageContext, useWords } from '../language/language.ts';
import { problemOf } from '../server/problem.ts';
import { problemWords } from '../server/problemWords.ts';
import { DecisionBadge } from './DecisionBadge.tsx';
import { exactOf } from './exactValue.ts';
import { wordFor } from './fieldWords.ts';
import { intent, isKnown } from './intent.ts';

const classNames: Record<PartName, string> = {
  card: 'approval',
  head: 'head justify-between gap-4',
  'head-text': 'flex min-w-0 flex-1 flex-col',
  asker: 'text-sm text-soft wrap-anywhere',
  question: 'question',
  time: 'text-sm text-soft tabular-nums',
  changed: 'text-sm text-alert',
  unshown: 'text-alert',
  end: 'read-to-here',
  form: 'form',
  actions: 'flex flex-wrap items-center gap-2',
  approve: 'button primary consent',
  deny: 'button',
  edit: 'button quiet',
  button: 'button',
  'deny-now': 'button danger',
  reason: 'flex flex-wrap gap-2',
  'reason-field': 'field min-w-0 flex-1 basis-52',
  status: 'text-sm text-soft empty:hidden',
  'no-input': 'text-sm text-soft',
  fields: 'ledger-box',
  'field-list': 'ledger',
  'whole-value': 'ledger whole',
  'long-field': 'long',
  'empty-value': 'text-soft',
  json: 'font-mono text-sm whitespace-pre-wrap',
  'json-line': 'block',
  'long-value': 'long-value',
  'folded-value': 'folded-value',
  fold: 'button small mt-1',
  editor: 'editor flex flex-col gap-3',
  'edited-fields': 'edit-fields',
  'edited-field': 'grid gap-1 sm:grid-cols-[7rem_1fr] sm:items-center',
  'edited-label': 'text-sm text-soft',
  'schema-field': 'grid gap-1 sm:grid-cols-[7rem_1fr] sm:items-start',
  'schema-label': 'text-sm text-soft sm:pt-2',
  group: 'grid gap-3 border-l-2 border-line pl-3',
  legend: 'pb-1 text-sm font-medium',
  'control-box': 'min-w-0',
  control: 'field w-full',
  checkbox: 'my-2.5 size-5 accent-current',
  preview: 'long-value text-sm',
  about: 'text-sm text-soft',
  error: 'text-sm text-alert wrap-anywhere',
  untrusted: 'untrusted',
  'hidden-character': 'hidden-character',
  'odd-word': 'odd-word',
  'odd-note': 'odd-note',
  inbox: 'flex flex-col gap-4',
  'inbox-title': 'font-display text-lg',
  'inbox-error': 'text-sm text-alert',
  'inbox-empty': 'empty-note',
  connection: 'light',
  'connection-dot': 'dot',
  'connection-text': 'max-sm:sr-only',
};

const icons = {
  approve: <Check aria-hidden="true" />,
  deny: <X aria-hidden="true" />,
  edit: <Pencil aria-hidden="true" />,
  send: <Send aria-hidden="true" />,
  decline: <X aria-hidden="true" />,
  empty: <Inbox aria-hidden="true" />,
};

/** The words and looks of this page, for the parts of the package that it is built from. */
export function CardParts({ children }: { children: ReactNode }) {
  const words = useWords();
  const language = useContext(LanguageContext);
  const labels = useMemo<PartLabels>(
    () => ({
      approval: {
        ...words.approval,
        asked: words.tool.asked,
        failed: error => problemWords(problemOf(error), words.problem),
      },
      question: words.question,
      marks: words.marks,
      inbox: words.inbox,
      connection: words.transport,
    }),
    [words],
  );
  const word = useCallback((name: string) => wordFor(words.fields, name), [words]);
  return (
    <PartsProvider
      labels={labels}
      classNames={classNames}
      icons={icons}
      wordFor={word}
      language={language}
    >
      {children}
    </PartsProvider>
  );
}

/** The outline of the badge that a decision leaves, with the time that is left for it. */
export const openBadge = (left: number | undefined) => <DecisionBadge kind="open" left={left} />;

/**
 * The question in the language of the page, where the page knows how to say it: beside what was asked,
 * which is what is answered.
 */
export function ReadingHelp({ approval }: { approval: ShownApproval }) {
  const words = useWords();
  const language = useContext(LanguageContext);
  const { toolName, input, inputText, within } = approval;
  const exact = inputText === undefined ? exactOf(input) : readExactJson(inputText);
  return language === 'en' || within === true || !isKnown(toolName) ? null : (
    <p className="text-sm text-soft wrap-anywhere">
      {words.approval.readingHelp(intent(toolName, exact, words.intent, language))}
    </p>
  );
}
