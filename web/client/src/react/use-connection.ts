import { useSyncExternalStore } from 'react';
import type { ConnectionState } from '../connection.ts';
import type { Readable } from '../store.ts';

/** The state of a transport's connection, for a light in the page. */
export function useConnection(transport: {
  readonly connection: Readable<ConnectionState>;
}): ConnectionState {
  const { connection } = transport;
  return useSyncExternalStore(connection.subscribe, connection.get, connection.get);
}
