import type { ShallowRef } from 'vue';
import type { ConnectionState } from '../connection.ts';
import type { Readable } from '../store.ts';
import { fromReadable } from './from-readable.ts';

/** The state of a transport's connection, for a light in the page. */
export function useConnection(transport: {
  readonly connection: Readable<ConnectionState>;
}): Readonly<ShallowRef<ConnectionState>> {
  return fromReadable(transport.connection);
}
