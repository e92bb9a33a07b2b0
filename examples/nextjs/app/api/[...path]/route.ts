/** Passes what the page asks on to adk-stream, also while streams are open. */
const server = process.env.ADK_STREAM_URL ?? 'http://127.0.0.1:8080';
/** The server's key stays here: give each of your users one, by the session that you know them by. */
const key = process.env.ADK_STREAM_KEY;

/** What the server reads of a request. Cookies and the like are not passed on. */
const passed = ['accept', 'content-type', 'last-event-id', 'x-adk-stream-profile'];

/** What a page reads of a response: also when to try again, and the id to ask the operator about. */
const returned = ['content-type', 'retry-after', 'x-request-id'];

async function handler(request: Request): Promise<Response> {
  // Other sites may not act for the people who look at them.
  const site = request.headers.get('sec-fetch-site');
  if (request.method !== 'GET' && site !== null && site !== 'same-origin') {
    return Response.json({ error: { code: 'foreign_origin', message: site } }, { status: 403 });
  }
  const { pathname, search } = new URL(request.url);
  const headers = new Headers(key === undefined ? {} : { authorization: `Bearer ${key}` });
  for (const name of passed) {
    const value = request.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  const hasBody = request.method !== 'GET' && request.method !== 'HEAD';
  const {
    status,
    headers: answered,
    body,
  } = await fetch(`${server}${pathname}${search}`, {
    method: request.method,
    headers,
    // A page that leaves closes its window, which stops no turn.
    signal: request.signal,
    cache: 'no-store',
    ...(hasBody && { body: await request.arrayBuffer() }),
  });
  // `no-transform` keeps Next.js from compressing streams, which would hold them back.
  const shown = new Headers({ 'cache-control': 'no-store, no-transform' });
  for (const name of returned) {
    const value = answered.get(name);
    if (value !== null) shown.set(name, value);
  }
  return new Response(body, { status, headers: shown });
}

export { handler as DELETE, handler as GET, handler as PATCH, handler as POST };
export const dynamic = 'force-dynamic';
