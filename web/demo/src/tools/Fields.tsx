import type { ExactJson } from '@adk-stream/client';
import { useId, useState } from 'react';
import { ScrollBox } from '../app/ScrollBox.tsx';
import { useWords } from '../language/language.ts';
import { END } from './consentPlaces.ts';
import { emptiness, pretty, sizeOf, textOf } from './exactValue.ts';
import { FieldName } from './FieldName.tsx';
import { UntrustedText } from './UntrustedText.tsx';

interface Props {
  input: ExactJson;
}

/** A value that is longer is folded: what it pushes away may matter more. */
const LONG = { characters: 160, lines: 3 };

/** The input of a call, field by field, as on a form: all of it, the short fields first. */
export function Fields({ input }: Props) {
  const words = useWords().approval;
  if (input.kind === 'object' && input.entries.length === 0) {
    return <p className="text-sm text-soft">{words.noInput}</p>;
  }
  if (input.kind !== 'object') {
    return (
      <ScrollBox className="ledger-box" label={words.fields}>
        <div className="ledger whole">
          <Value value={input} />
        </div>
        <span className={END} />
      </ScrollBox>
    );
  }
  const isLong = input.entries.map(([, value]) => isFolded(value));
  const fields = input.entries.map(([name, value], index) => ({ name, value, index }));
  const sorted = [
    ...fields.filter(({ index }) => !isLong[index]),
    ...fields.filter(({ index }) => isLong[index]),
  ];
  return (
    <ScrollBox className="ledger-box" label={words.fields}>
      <dl className="ledger">
        {sorted.map(({ name, value, index }) => (
          <div key={index} className={isLong[index] ? 'long' : undefined}>
            <dt>
              <FieldName name={name} />
            </dt>
            <dd>
              <Value value={value} />
            </dd>
          </div>
        ))}
      </dl>
      <span className={END} />
    </ScrollBox>
  );
}

function isFolded(value: ExactJson): boolean {
  const text = textOf(value);
  return text.length > LONG.characters || text.split('\n', LONG.lines + 1).length > LONG.lines;
}

/** One value as it will be used: to the last digit, with what it hides. */
export function Value({ value }: { value: ExactJson }) {
  const words = useWords().approval;
  const empty = emptiness(value);
  if (empty !== undefined) {
    return <span className="text-soft">{words.empty(empty)}</span>;
  }
  if (isFolded(value)) {
    return <LongValue value={value} />;
  }
  if (value.kind === 'string') {
    return <UntrustedText text={value.value} />;
  }
  return value.kind === 'object' || value.kind === 'array' ? <Json value={value} /> : value.text;
}

function Json({ value }: { value: ExactJson }) {
  return (
    <span className="font-mono text-sm whitespace-pre-wrap">
      {pretty(value)
        .split('\n')
        .map((line, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same value has the same lines
          <span key={index} className="block">
            {/^ */.exec(line)?.[0]}
            <UntrustedText text={line.trimStart()} />
          </span>
        ))}
    </span>
  );
}

/** The beginning of a value, and all of it in a box that scrolls, if somebody wants to. */
function LongValue({ value }: { value: ExactJson }) {
  const words = useWords().approval;
  const id = useId();
  const [isOpen, setIsOpen] = useState(false);
  const text = textOf(value);
  return (
    <>
      {isOpen ? (
        <ScrollBox id={id} className="long-value" label={words.whole}>
          {value.kind === 'string' ? (
            <UntrustedText text={text} hasLines />
          ) : (
            <Json value={value} />
          )}
        </ScrollBox>
      ) : (
        <span id={id} className="folded-value">
          <UntrustedText text={startOf(text)} />…
        </span>
      )}
      <button
        type="button"
        className="button small mt-1"
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={() => setIsOpen(!isOpen)}
      >
        {isOpen ? words.showLess : words.showAll(sizeOf(text))}
      </button>
    </>
  );
}

/** Not cut in the middle of a character. */
function startOf(text: string): string {
  return [...text.slice(0, LONG.characters + 1)].slice(0, LONG.characters).join('').trimEnd();
}
