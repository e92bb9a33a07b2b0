import { useRef, useState } from 'react';
import {
  type ClientToolSet,
  type ClientTools,
  type ClientToolsOptions,
  clientTools,
} from '../client-tools.ts';

/**
 * `clientTools` for one chat of a component: the tools may be made again with every render, the
 * memory of what was run stays.
 */
export function useClientTools(
  tools: ClientToolSet,
  options: ClientToolsOptions = {},
): ClientTools {
  const latest = useRef(tools);
  latest.current = tools;
  const [state] = useState(() => clientTools(() => latest.current, options));
  return state;
}
