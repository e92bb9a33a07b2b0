/** The part of a WebSocket that is used: the browser's, Node's and that of `ws` all have it. */
export type WebSocketLike = {
  readonly readyState: number;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  send(data: string): void;
  close(code?: number, reason?: string): void;
};

export type WebSocketConstructor = new (
  url: string,
  protocols?: string | string[],
) => WebSocketLike;

/** A page's own address, made one of a socket: relative to the page, `https` as `wss`. */
export function socketUrl(url: string, params: Record<string, string>): string {
  const page = globalThis.location?.href;
  if (page === undefined && !URL.canParse(url)) {
    throw new Error(`${url}: outside of a page, the address of a socket has to be absolute`);
  }
  const full = new URL(url, page);
  full.protocol = full.protocol.replace(/^http/, 'ws');
  full.hash = '';
  for (const [name, value] of Object.entries(params)) {
    full.searchParams.set(name, value);
  }
  return full.href;
}
