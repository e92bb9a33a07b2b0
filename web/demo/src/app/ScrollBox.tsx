import { type ReactNode, useEffect, useRef, useState } from 'react';

interface Props {
  label: string;
  className: string;
  id?: string;
  children: ReactNode;
}

/** Something that may scroll; where it does, it can be reached and scrolled by keyboard. */
export function ScrollBox({ label, className, id, children }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const [isScrolling, setIsScrolling] = useState(false);

  useEffect(() => {
    const element = box.current;
    if (element === null) {
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
      className={className}
      {...(isScrolling && { role: 'group', tabIndex: 0, 'aria-label': label })}
    >
      {children}
    </div>
  );
}
