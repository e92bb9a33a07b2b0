import { StrictMode, useEffect, useState } from 'react';
import { createRoot } from 'react-dom/client';
import type { DurableChatOptions } from '../../src/durable-chat.ts';
import { useDurableChat } from '../../src/react.ts';
import type { Mount } from './page.ts';

function Page({
  options,
  onShown,
}: {
  options: DurableChatOptions;
  onShown: Parameters<Mount>[1];
}) {
  // Made again with every render, as pages do.
  const chat = useDurableChat({ ...options });
  // StrictMode unmounts everything once, and what was begun before that is closed.
  const [isMounted, setMounted] = useState(false);
  useEffect(() => setMounted(true), []);
  if (isMounted) {
    onShown(chat, chat as never);
  }
  return null;
}

/** In strict mode, where everything is mounted twice. */
export const mountReact: Mount = (options, onShown) => {
  const root = createRoot(document.createElement('main'));
  root.render(
    <StrictMode>
      <Page options={options} onShown={onShown} />
    </StrictMode>,
  );
  return () => root.unmount();
};
