/** How a page makes the parts its own: words, classes, and what it puts into them. */
import { createContext, type ReactElement, type ReactNode, useContext, useMemo } from 'react';
import { englishLabels, type PartLabels } from './labels.ts';

/** The elements of the parts: each has its name in `data-part`, and the class that a page gives it. */
export type PartName =
  | 'card'
  | 'head'
  | 'head-text'
  | 'asker'
  | 'question'
  | 'time'
  | 'changed'
  | 'unshown'
  | 'end'
  | 'form'
  | 'actions'
  | 'approve'
  | 'deny'
  | 'edit'
  | 'button'
  | 'deny-now'
  | 'reason'
  | 'reason-field'
  | 'status'
  | 'no-input'
  | 'fields'
  | 'field-list'
  | 'whole-value'
  | 'long-field'
  | 'empty-value'
  | 'json'
  | 'json-line'
  | 'long-value'
  | 'folded-value'
  | 'fold'
  | 'editor'
  | 'edited-fields'
  | 'edited-field'
  | 'edited-label'
  | 'schema-field'
  | 'schema-label'
  | 'group'
  | 'legend'
  | 'control-box'
  | 'control'
  | 'checkbox'
  | 'preview'
  | 'about'
  | 'error'
  | 'untrusted'
  | 'hidden-character'
  | 'odd-word'
  | 'odd-note'
  | 'inbox'
  | 'inbox-title'
  | 'inbox-error'
  | 'inbox-empty'
  | 'connection'
  | 'connection-dot'
  | 'connection-text';

export type PartIcons = Partial<
  Record<'approve' | 'deny' | 'edit' | 'send' | 'decline' | 'empty', ReactNode>
>;

export type PartsConfig = {
  /** In place of the English words. */
  labels?: PartLabels;
  classNames?: Partial<Record<PartName, string>>;
  icons?: PartIcons;
  /** A word of the page's for the name of a field: shown before the name, never instead of it. */
  wordFor?: (field: string) => string | undefined;
  /** The language of the labels, for the names of scripts: `en` if nothing is said. */
  language?: string;
};

type Parts = Required<Pick<PartsConfig, 'labels' | 'icons' | 'wordFor' | 'language'>> & {
  /** What every element has: its name, and its class. */
  part: (name: PartName) => { 'data-part': PartName; className?: string };
};

const partsOf = (config: PartsConfig): Parts => {
  const { labels = englishLabels, classNames = {}, icons = {}, language = 'en' } = config;
  return {
    labels,
    icons,
    language,
    wordFor: config.wordFor ?? (() => undefined),
    part: name => {
      const className = classNames[name];
      return { 'data-part': name, ...(className !== undefined && { className }) };
    },
  };
};

const PartsContext = createContext<Parts>(partsOf({}));

/** Gives the parts inside of it the words and looks of a page. */
export function PartsProvider({
  children,
  labels,
  classNames,
  icons,
  wordFor,
  language,
}: PartsConfig & { children: ReactNode }): ReactElement {
  const parts = useMemo(
    () =>
      partsOf({
        ...(labels !== undefined && { labels }),
        ...(classNames !== undefined && { classNames }),
        ...(icons !== undefined && { icons }),
        ...(wordFor !== undefined && { wordFor }),
        ...(language !== undefined && { language }),
      }),
    [labels, classNames, icons, wordFor, language],
  );
  return <PartsContext.Provider value={parts}>{children}</PartsContext.Provider>;
}

export function useParts(): Parts {
  return useContext(PartsContext);
}
