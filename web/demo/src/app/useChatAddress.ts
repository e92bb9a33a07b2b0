import { useCallback, useEffect, useState } from 'react';

/** A chat, as the page's address names it. */
export interface ChatAddress {
  id: string;
  /** Whether the address named it, so that the server may know it. */
  isNamed: boolean;
}

/**
 * The chat that the address names, or a new one.
 *
 * A new chat is named in the address once something was said in it: before that there is nothing to
 * come back to.
 */
export function useChatAddress() {
  const [chat, setChat] = useState(read);

  useEffect(() => {
    const onMove = () => setChat(read());
    window.addEventListener('popstate', onMove);
    return () => window.removeEventListener('popstate', onMove);
  }, []);

  const keep = useCallback(() => {
    window.history.replaceState(null, '', hash(chat.id));
    setChat({ id: chat.id, isNamed: true });
  }, [chat.id]);

  const open = useCallback((id: string | undefined) => {
    const { pathname, search } = window.location;
    const address = id === undefined ? pathname + search : hash(id);
    if (window.location.hash !== (id === undefined ? '' : address)) {
      // Back leads to the chat that was left.
      window.history.pushState(null, '', address);
    }
    setChat(read());
  }, []);

  return { chat, keep, open };
}

const hash = (id: string) => `#chat=${encodeURIComponent(id)}`;

function read(): ChatAddress {
  const named = new URLSearchParams(window.location.hash.slice(1)).get('chat');
  return named ? { id: named, isNamed: true } : { id: newId(), isNamed: false };
}

/** A unique name; `randomUUID` is there only on pages that came securely. */
function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map(byte => byte.toString(16).padStart(2, '0')).join('');
}
