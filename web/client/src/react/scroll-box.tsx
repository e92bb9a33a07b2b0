import { type ReactElement, type ReactNode, useEffect, useRef, useState } from 'react';
import { type PartName, useParts } from './parts-context.tsx';

type Props = {
  name: PartName;
  label: string;
  id?: string;
  /** Whether a person has to have it in sight to consent to it. */
  isConsentedTo?: boolean;
  children: ReactNode;
};

/** Something that may scroll; where it does, it can be reached and scrolled by keyboard. */
export function ScrollBox({ name, label, id, isConsentedTo, children }: Props): ReactElement {
  const { part } = useParts();
  const box = useRef<HTMLDivElement>(null);
  const [isScrolling, setIsScrolling] = useState(false);

  useEffect(() => {
    const element = box.current;
    if (element === null || typeof ResizeObserver === 'undefined') {
      return;
    }
    const measure = () => setIsScrolling(element.scrollHeight > element.clientHeight + 1);
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    for (const child of element.children) {
      observer.observe(child);
    }
    measure();
    return () => observer.disconnect();
  });

  return (
    <div
      ref={box}
      id={id}
      {...part(name)}
      {...(isConsentedTo === true && { 'data-consent': 'shown' })}
      {...(isScrolling && { role: 'group', tabIndex: 0, 'aria-label': label })}
    >
      {children}
      {isConsentedTo === true && <span {...part('end')} data-consent="end" />}
    </div>
  );
}
