import { createSubscriber } from 'svelte/reactivity';
import type { Readable } from '../store.ts';

/** A value that can be watched, as a function that whatever reads it follows. */
export function watched<T>(readable: Readable<T>): () => T {
  const follow = createSubscriber(update => readable.subscribe(update));
  return () => {
    follow();
    return readable.get();
  };
}
