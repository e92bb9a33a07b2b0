import type { ComponentProps } from 'react';
import { escaped } from '../tools/spoofing.ts';

/** Text as it is, which may scroll to the side. */
export function Raw(props: ComponentProps<'pre'>) {
  // biome-ignore lint/a11y/noNoninteractiveTabindex: only what has the focus scrolls by keyboard
  return <pre {...props} className="raw" tabIndex={0} />;
}

/** A value as JSON, with what it hides written out. */
export function RawJson({ value }: { value: unknown }) {
  const lines = (JSON.stringify(value, null, 2) ?? '').split('\n');
  return <Raw>{lines.map(written).join('\n')}</Raw>;
}

/** A line, whose indentation is the page's own. */
function written(line: string): string {
  const text = line.trimStart();
  return line.slice(0, line.length - text.length) + escaped(text);
}
