import {
  getCurrentInstance,
  getCurrentScope,
  onMounted,
  onScopeDispose,
  type ShallowRef,
  shallowRef,
} from 'vue';
import type { Readable } from '../store.ts';

/** A value that can be watched, as a ref that follows it while the component is mounted. */
export function fromReadable<T>(readable: Readable<T>): Readonly<ShallowRef<T>> {
  const value = shallowRef(readable.get());
  whileMounted(() => {
    value.value = readable.get();
    return readable.subscribe(() => {
      value.value = readable.get();
    });
  });
  return value;
}

/** Runs something until the scope ends; in a component not before it is mounted, and never on a server. */
export function whileMounted(start: () => () => void): void {
  let leave: (() => void) | undefined;
  const run = () => {
    leave = start();
  };
  if (getCurrentInstance() === null) {
    run();
  } else {
    onMounted(run);
  }
  if (getCurrentScope() !== undefined) {
    onScopeDispose(() => leave?.());
  }
}
