/** The state of a chat without a page: what `useChat` keeps in React, kept in plain fields. */
import type { ChatState, ChatStatus, UIMessage } from 'ai-7';

export class MemoryState implements ChatState<UIMessage> {
  /** Changes at every write, for tests that wait until the chat is idle. */
  activity = 0;

  readonly #onWrite: (message: UIMessage) => void;
  #messages: UIMessage[];
  #status: ChatStatus = 'ready';
  #error: Error | undefined;

  constructor(messages: UIMessage[], onWrite: (message: UIMessage) => void) {
    this.#messages = messages;
    this.#onWrite = onWrite;
  }

  get status(): ChatStatus {
    return this.#status;
  }

  set status(status: ChatStatus) {
    this.activity++;
    this.#status = status;
  }

  get error(): Error | undefined {
    return this.#error;
  }

  set error(error: Error | undefined) {
    this.activity++;
    this.#error = error;
  }

  get messages(): UIMessage[] {
    return this.#messages;
  }

  set messages(messages: UIMessage[]) {
    this.activity++;
    this.#messages = [...messages];
    messages.forEach(this.#onWrite);
  }

  // A pushed message is not copied, as in React's state: until it is replaced, parts that the
  // client adds without a write (a step's start) can be seen in it.
  readonly pushMessage = (message: UIMessage): void => {
    this.activity++;
    this.#messages = this.#messages.concat(message);
    this.#onWrite(message);
  };

  readonly popMessage = (): void => {
    this.activity++;
    this.#messages = this.#messages.slice(0, -1);
  };

  readonly replaceMessage = (index: number, message: UIMessage): void => {
    this.activity++;
    this.#messages = this.#messages.with(index, this.snapshot(message));
    this.#onWrite(message);
  };

  readonly snapshot = <T>(value: T): T => structuredClone(value);
}
