import { type ReactElement, useId, useState } from 'react';
import type { ExactJson } from '../exact-json.ts';
import { emptiness, pretty, sizeOf, textOf } from './exact-value.ts';
import { useParts } from './parts-context.tsx';
import { ScrollBox } from './scroll-box.tsx';
import { FieldName, UntrustedText } from './untrusted-text.tsx';

/** A value that is longer is folded: what it pushes away may matter more. */
const LONG = { characters: 160, lines: 3 };

export type InputFieldsProps = {
  /** As `readExactJson` reads it: to the last digit. */
  input: ExactJson;
};

/** The input of a call, field by field, as on a form: all of it, the short fields first. */
export function InputFields({ input }: InputFieldsProps): ReactElement {
  const { part, labels } = useParts();
  const words = labels.approval;
  if (input.kind === 'object' && input.entries.length === 0) {
    return <p {...part('no-input')}>{words.noInput}</p>;
  }
  if (input.kind !== 'object') {
    return (
      <ScrollBox name="fields" label={words.fields} isConsentedTo>
        <div {...part('whole-value')}>
          <Value value={input} />
        </div>
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
    <ScrollBox name="fields" label={words.fields} isConsentedTo>
      <dl {...part('field-list')}>
        {sorted.map(({ name, value, index }) => (
          <div key={index} {...(isLong[index] && part('long-field'))}>
            <dt>
              <FieldName name={name} />
            </dt>
            <dd>
              <Value value={value} />
            </dd>
          </div>
        ))}
      </dl>
    </ScrollBox>
  );
}

function isFolded(value: ExactJson): boolean {
  const text = textOf(value);
  return text.length > LONG.characters || text.split('\n', LONG.lines + 1).length > LONG.lines;
}

/** One value as it will be used: to the last digit, with what it hides. */
function Value({ value }: { value: ExactJson }) {
  const { part, labels } = useParts();
  const empty = emptiness(value);
  if (empty !== undefined) {
    return <span {...part('empty-value')}>{labels.approval.empty(empty)}</span>;
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
  const { part } = useParts();
  return (
    <span {...part('json')}>
      {pretty(value)
        .split('\n')
        .map((line, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the same value has the same lines
          <span key={index} {...part('json-line')}>
            {/^ */.exec(line)?.[0]}
            <UntrustedText text={line.trimStart()} />
          </span>
        ))}
    </span>
  );
}

/** The beginning of a value, and all of it in a box that scrolls, if somebody wants to. */
function LongValue({ value }: { value: ExactJson }) {
  const { part, labels } = useParts();
  const words = labels.approval;
  const id = useId();
  const [isOpen, setIsOpen] = useState(false);
  const text = textOf(value);
  return (
    <>
      {isOpen ? (
        <ScrollBox id={id} name="long-value" label={words.whole}>
          {value.kind === 'string' ? (
            <UntrustedText text={text} hasLines />
          ) : (
            <Json value={value} />
          )}
        </ScrollBox>
      ) : (
        <span id={id} {...part('folded-value')}>
          <UntrustedText text={startOf(text)} />…
        </span>
      )}
      <button
        type="button"
        {...part('fold')}
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
