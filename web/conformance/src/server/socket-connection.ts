/**
 * A page that reaches the server through one WebSocket: version 7 with its own transport, version 6
 * with that of our client package.
 */
import type { ChatTransport, UIMessage } from 'ai-7';
import { WebSocket } from 'ws';
import { AdkStreamChatTransport } from '../../../client/src/transport.ts';
import { done } from '../event-stream.ts';
import type { Profile } from '../schema-sdks.ts';
import { type Major, OfficialSocketTransport } from '../sdk.ts';
import type { Api } from './api.ts';
import { Connection } from './connection.ts';
import { type ReceivedFrame, refusalIn, requestIn, type SentFrame } from './frame.ts';
import type { Script, WindowRecord } from './script.ts';

/** Nobody is there: the server changes its address when it is started again, a page does not. */
const page = 'http://page.invalid';

export type SocketOptions = {
  /** Whose transport it is; that of the major version's pages if nothing is said. */
  client?: SocketClient;
  profile: Profile;
  /** Where sockets are opened, if not at the server itself. */
  origin: () => string;
  /** Up to where the chat was loaded, if it is to be said when a stream is resumed. */
  seq?: number;
  /** What the page adds to each request. */
  body: Record<string, unknown>;
};

/** The SDK's own transport, or that of our client package. */
export type SocketClient = 'official' | 'ours';

/** An open window: whether it resumes another, and its close callback. */
type OpenWindow = { window: WindowRecord; isContinued: boolean; close: () => void };

export class SocketConnection extends Connection {
  readonly transport: ChatTransport<UIMessage>;

  /** Whose transport it is. */
  readonly client: SocketClient;
  /** The sockets that were opened, in order. */
  readonly sockets: WebSocket[] = [];

  readonly #windows = new Map<string, OpenWindow>();

  constructor(major: Major, api: Api, script: Script, options: SocketOptions) {
    super(script);
    const { client = major === '7' ? 'official' : 'ours', profile, origin, seq, body } = options;
    this.client = client;
    const note = (socket: WebSocket) => this.#note(socket);
    const webSocket = class extends WebSocket {
      constructor(url: string | URL) {
        const { pathname, search } = new URL(url);
        super(new URL(`${pathname}${search}`, origin().replace(/^http/, 'ws')));
        note(this);
      }
    };
    const ticket = () => {
      const given = api.ticket();
      this.hold(given);
      return given;
    };
    this.transport =
      client === 'official'
        ? new OfficialSocketTransport<UIMessage>({
            url: `${page}/api/chat/live`,
            params: async () => ({ ticket: await ticket() }),
            // Its types are those of a browser's socket.
            webSocket: webSocket as never,
            body: profile === 'v7' ? { ...body, profile } : body,
            prepareReconnectToStreamRequest: request => ({
              body: seq === undefined ? request.body : { ...request.body, after: seq },
            }),
          })
        : (new AdkStreamChatTransport<UIMessage>({
            api: `${page}/api/chat`,
            ticket,
            webSocket: webSocket as never,
            fetch: (url, init) => api.fetch(String(url).slice(page.length), init),
            profile,
            body,
            seqOf: () => seq,
            reconnect: { minDelayMs: 4, maxDelayMs: 64 },
          }) as unknown as ChatTransport<UIMessage>);
  }

  /** Sends something on the socket that the client does not know of: sound, as text or as bytes. */
  sound(data: object | Uint8Array): void {
    const socket = this.sockets.at(-1);
    if (socket === undefined) {
      throw new Error('no socket was opened');
    }
    const frame = data instanceof Uint8Array ? data : JSON.stringify(data);
    WebSocket.prototype.send.call(socket, frame, {});
  }

  #note(socket: WebSocket): void {
    this.sockets.push(socket);
    this.hold(
      new Promise<void>(resolve => {
        socket.once('open', resolve).once('close', () => resolve());
      }),
    );
    const requests = new Set<string>();
    const send = socket.send.bind(socket);
    socket.send = ((text: string) => {
      const frame = JSON.parse(text) as SentFrame;
      requests.add(frame.requestId);
      this.#sent(frame);
      send(text);
    }) as typeof socket.send;
    socket.on('message', data => this.#received(JSON.parse(String(data)) as ReceivedFrame));
    socket.on('close', () => {
      for (const request of requests) {
        this.#close(request, 'cut');
      }
    });
  }

  #sent(frame: SentFrame): void {
    this.activity++;
    switch (frame.type) {
      case 'send':
        this.#open(frame.requestId, this.noteRequest(requestIn(frame)));
        break;
      case 'resume':
        this.#resume(frame);
        break;
      case 'abort':
        this.#close(frame.requestId, 'cut');
    }
  }

  #received(frame: ReceivedFrame): void {
    this.activity++;
    const window = this.#windows.get(frame.requestId)?.window;
    if (window === undefined) {
      return;
    }
    window.responded();
    switch (frame.type) {
      case 'chunk':
        window.text += `data: ${JSON.stringify(frame.chunk)}\n\n`;
        break;
      case 'end':
        window.text += `data: ${done}\n\n`;
        this.#close(frame.requestId, 'ended');
        break;
      case 'no-active':
        this.nothingToResume++;
        this.#drop(frame.requestId, window);
        break;
      case 'error':
        this.refusals.push({ body: refusalIn(frame) });
        this.#drop(frame.requestId, window);
    }
  }

  #open(requestId: string, window: WindowRecord, isContinued = false): void {
    this.hold(
      new Promise<void>(close => {
        this.#windows.set(requestId, { window, isContinued, close });
      }),
    );
  }

  /** By position, the window that was cut goes on: to the client it is one stream. */
  #resume({ requestId, messageId, lastSequence }: SentFrame & { type: 'resume' }): void {
    const cut = this.script.windows.findLast(
      ({ state, text }) =>
        state === 'cut' && text.includes(JSON.stringify({ messageId }).slice(1, -1)),
    );
    if (lastSequence === undefined || cut === undefined) {
      this.#open(requestId, this.script.open('resume'));
      return;
    }
    cut.state = 'open';
    this.#open(requestId, cut, true);
  }

  #close(requestId: string, state: WindowRecord['state']): void {
    const open = this.#windows.get(requestId);
    if (open !== undefined) {
      this.#windows.delete(requestId);
      open.window.state = state;
      open.close();
    }
  }

  /** There was no window after all. */
  #drop(requestId: string, window: WindowRecord): void {
    if (this.#windows.get(requestId)?.isContinued !== true) {
      this.script.drop(window);
    }
    this.#close(requestId, 'cut');
  }
}
