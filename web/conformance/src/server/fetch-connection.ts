/** A page that reaches the server through `fetch`, with its stock transport. */
import type { ChatSdk } from '../sdk.ts';
import type { Api, Refusal } from './api.ts';
import { type ChatRequest, Connection, type Sends } from './connection.ts';
import type { Script, WindowRecord } from './script.ts';

type TransportOptions = NonNullable<ConstructorParameters<ChatSdk['DefaultChatTransport']>[0]>;

export type FetchOptions = {
  headers: Record<string, string>;
  /** What the page adds to each request. */
  body: Record<string, unknown>;
  sends?: Sends;
  /** Up to where its messages were loaded; said when a stream is resumed. */
  seq?: number;
};

export class FetchConnection extends Connection {
  readonly transport: InstanceType<ChatSdk['DefaultChatTransport']>;

  readonly #api: Api;
  readonly #headers: Record<string, string>;
  /** The last request with its whole history, where only a part of it is sent. */
  #whole?: ChatRequest;

  constructor(sdk: ChatSdk, api: Api, script: Script, options: FetchOptions) {
    super(script);
    const { headers, body, sends, seq } = options;
    this.#api = api;
    this.#headers = headers;
    this.transport = new sdk.DefaultChatTransport({
      fetch: this.#fetch,
      body,
      ...(sends === 'last-message' && this.#lastMessageAlone()),
      ...(seq !== undefined && {
        prepareReconnectToStreamRequest: ({ api, id }) => ({
          api: `${api}/${id}/stream?after=${seq}`,
        }),
      }),
    });
  }

  #lastMessageAlone(): Pick<TransportOptions, 'prepareSendMessagesRequest'> {
    const recipe: Required<Pick<TransportOptions, 'prepareSendMessagesRequest'>> = {
      prepareSendMessagesRequest: ({ id, messages, trigger, messageId }) => ({
        body: {
          id,
          trigger,
          messageId,
          // The last one, unless an earlier one is answered or edited.
          ...(trigger === 'submit-message' && {
            message: messages.find(message => message.id === messageId) ?? messages.at(-1),
          }),
        },
      }),
    };
    return {
      prepareSendMessagesRequest: options => {
        const { id, messages, trigger, messageId } = options;
        this.#whole = { id, messages, trigger, ...(messageId !== undefined && { messageId }) };
        return recipe.prepareSendMessagesRequest(options);
      },
    };
  }

  readonly #fetch: typeof globalThis.fetch = async (url, init) => {
    const exchange = this.#exchange(String(url), init);
    this.hold(exchange.then(({ end }) => end));
    return (await exchange).response;
  };

  async #exchange(url: string, init: RequestInit = {}) {
    const window = this.#open(init);
    const headers = { ...Object.fromEntries(new Headers(init.headers)), ...this.#headers };
    const response = await this.#api.fetch(url, { ...init, headers }).catch((error: unknown) => {
      this.script.drop(window);
      throw error;
    });
    const { status } = response;
    if (!response.ok) {
      this.script.drop(window);
      return { response, end: this.#noteRefusal(response.clone()) };
    }
    if (status === 204 || response.body === null) {
      this.script.drop(window);
      this.nothingToResume++;
      return { response, end: Promise.resolve() };
    }
    window.responded();
    const [theirs, ours] = response.body.tee();
    return {
      response: new Response(theirs, { status, headers: response.headers }),
      end: record(ours, window),
    };
  }

  async #noteRefusal(response: Response): Promise<void> {
    this.refusals.push({ status: response.status, body: (await response.json()) as Refusal });
  }

  #open(init: RequestInit): WindowRecord {
    return init.method === 'POST'
      ? this.noteRequest(this.#whole ?? (JSON.parse(String(init.body)) as ChatRequest))
      : this.script.open('resume');
  }
}

async function record(body: ReadableStream<Uint8Array>, window: WindowRecord): Promise<void> {
  const decoder = new TextDecoder();
  try {
    for await (const bytes of body) {
      window.text += decoder.decode(bytes, { stream: true });
    }
    window.state = 'ended';
  } catch {
    window.state = 'cut';
  }
}
