import type { ConnectionState } from '../connection.ts';
import type { Readable } from '../store.ts';
import { watched } from './watched.ts';

/** The state of a transport's connection, for a light in the page. */
export function useConnection(transport: { readonly connection: Readable<ConnectionState> }): {
  readonly current: ConnectionState;
} {
  const state = watched(transport.connection);
  return {
    get current() {
      return state();
    },
  };
}
