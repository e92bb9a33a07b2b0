import { Check, Copy } from 'lucide-react';
import { type ComponentProps, memo, useMemo, useRef, useState } from 'react';
import Markdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';
import remend from 'remend';
import { Raw } from '../app/Raw.tsx';
import { Scrolling } from '../app/Scrolling.tsx';
import { useWords } from '../language/language.ts';
import { blocks } from './blocks.ts';

interface Props {
  text: string;
  isStreaming: boolean;
}

/** What the agent says, in Markdown, as it comes. */
export const Prose = memo(function Prose({ text, isStreaming }: Props) {
  // A text that is still coming has marks that are not closed yet.
  const parts = useMemo(() => blocks(isStreaming ? remend(text) : text), [text, isStreaming]);
  const isJapanese = /[\u3040-\u30ff\u4e00-\u9fff]/.test(text);
  return (
    <div className="prose" {...(isJapanese && { lang: 'ja' })}>
      {parts.map((part, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: blocks are only ever added at the end
        <Block key={index} text={part} />
      ))}
    </div>
  );
});

const plugins = [remarkGfm];

const components: Components = {
  a: ({ node: _, children, ...rest }) => (
    <a {...rest} target="_blank" rel="noreferrer">
      {children}
    </a>
  ),
  // A picture of another site would let that site know who reads here: it is a link instead.
  img: ({ src, alt }) => (
    <a href={typeof src === 'string' ? src : undefined} target="_blank" rel="noreferrer">
      {alt || String(src)}
    </a>
  ),
  pre: ({ node: _, ...rest }) => <Code {...rest} />,
  table: ({ node: _, ...rest }) => (
    <Scrolling className="overflow-x-auto" label="table">
      <table {...rest} />
    </Scrolling>
  ),
};

const Block = memo(function Block({ text }: { text: string }) {
  return (
    <Markdown remarkPlugins={plugins} components={components}>
      {text}
    </Markdown>
  );
});

function Code(props: ComponentProps<'pre'>) {
  const words = useWords();
  const box = useRef<HTMLPreElement>(null);
  const [isCopied, setIsCopied] = useState(false);
  const copy = async () => {
    // Not there on a page that did not come securely.
    await navigator.clipboard?.writeText(box.current?.textContent ?? '');
    setIsCopied(true);
    window.setTimeout(() => setIsCopied(false), 2_000);
  };
  return (
    <div className="relative">
      <Raw {...props} ref={box} />
      <button
        type="button"
        className="icon-button small absolute top-1 right-1"
        aria-label={isCopied ? words.copied : words.copy}
        onClick={() => void copy()}
      >
        {isCopied ? <Check aria-hidden="true" /> : <Copy aria-hidden="true" />}
      </button>
    </div>
  );
}
