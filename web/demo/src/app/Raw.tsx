import type { ComponentProps } from 'react';

/** Text as it is, which may scroll to the side. */
export function Raw(props: ComponentProps<'pre'>) {
  // biome-ignore lint/a11y/noNoninteractiveTabindex: only what has the focus scrolls by keyboard
  return <pre {...props} className="raw" tabIndex={0} />;
}
