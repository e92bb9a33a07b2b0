import type { ReactNode, Ref } from 'react';

interface Props {
  label: string;
  className: string;
  ref?: Ref<HTMLElement>;
  children: ReactNode;
}

/** Something that scrolls, by keyboard too. */
export function Scrolling({ label, className, ref, children }: Props) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: only what has the focus scrolls by keyboard
    <section ref={ref} className={className} tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}
