/**
 * An error in words.
 *
 * Before a stream the server answers with JSON, `{"error":{"code","message"}}`, which `useChat` hands
 * over as it came; inside of a stream with `code: message`. Codes are for programs.
 */
export function problemWords(error: Error): string {
  if (error instanceof TypeError) {
    // What fetch throws is worded by the browser, each in its own way.
    return 'The server can’t be reached.';
  }
  const message = jsonMessage(error.message) ?? error.message;
  return message.replace(/^[a-z]+(?:_[a-z]+)+: /, '') || 'The server gave no reason.';
}

function jsonMessage(text: string): string | undefined {
  try {
    const message: unknown = JSON.parse(text)?.error?.message;
    return typeof message === 'string' ? message : undefined;
  } catch {
    return undefined;
  }
}
