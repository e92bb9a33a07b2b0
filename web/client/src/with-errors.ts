/** Errors of the SDK's own transports, which hand over a text. */
import type { ChatTransport, UIMessage } from 'ai';
import { AdkStreamError, readDetails, readErrorText, throwErrors } from './adk-stream-error.ts';
import { isRecord, parseJson } from './chunk.ts';

/**
 * The error that a chat was given, as the server said it. The SDK's own transports hand over its text:
 * the body of a refusal, or `code: message`.
 */
export function toAdkStreamError(error: unknown): AdkStreamError {
  if (error instanceof AdkStreamError) {
    return error;
  }
  const text = error instanceof Error ? error.message : String(error);
  const body = parseJson(text);
  const details = isRecord(body) ? readDetails(body.error) : undefined;
  return new AdkStreamError(details ?? readErrorText(text));
}

/** A transport of the SDK's, whose failures are {@link AdkStreamError}s. */
export function withErrors<UI_MESSAGE extends UIMessage>(
  transport: ChatTransport<UI_MESSAGE>,
): ChatTransport<UI_MESSAGE> {
  const refused = (error: unknown) => {
    // What the network or the page itself did stays as it is.
    throw error instanceof TypeError || isAbort(error) ? error : toAdkStreamError(error);
  };
  return {
    // The SDK reads it off the transport: a resumed stream begins the message again.
    resumeStreamIsReplay: transport.resumeStreamIsReplay ?? false,
    sendMessages: async options => {
      const stream = await transport.sendMessages(options).catch(refused);
      return stream.pipeThrough(throwErrors());
    },
    reconnectToStream: async options => {
      const stream = await transport.reconnectToStream(options).catch(refused);
      return stream?.pipeThrough(throwErrors()) ?? null;
    },
  };
}

const isAbort = (error: unknown) => error instanceof Error && error.name === 'AbortError';
