/** What a durable chat is made of, whichever framework shows it. */
import {
  type AbstractChat,
  type ChatInit,
  type ChatTransport,
  type FileUIPart,
  generateId,
  type UIMessage,
} from 'ai';
import { type ApprovalAnswer, ApprovalChangedError, type QuestionAnswer } from './approval.ts';
import type { Answered } from './approvals.ts';
import type { WhileRunning } from './chat-api.ts';
import { ChatFollower, type FollowState } from './chat-follower.ts';
import { type ClientToolSet, type ClientToolsOptions, clientTools } from './client-tools.ts';
import { withDigests } from './digests.ts';
import type { DurableChats } from './durable-chats.ts';
import { inOneTab } from './one-tab.ts';
import { RecentMap } from './recent-map.ts';
import { sendAutomaticallyWhen } from './send-automatically.ts';
import { ShownDigests } from './shown-digests.ts';
import { toAdkStreamError } from './with-errors.ts';

type Callbacks<UI_MESSAGE extends UIMessage> = Pick<
  ChatInit<UI_MESSAGE>,
  'onToolCall' | 'onData' | 'onFinish' | 'onError' | 'sendAutomaticallyWhen'
>;

export type DurableChatOptions<UI_MESSAGE extends UIMessage = UIMessage> = Callbacks<UI_MESSAGE> & {
  id: string;
  chats: DurableChats<UI_MESSAGE>;
  /** Whether the id was just made, so that there is nothing to load. */
  isNew?: boolean;
  /** The tools that the page runs: each call once, in one of its tabs. */
  tools?: ClientToolSet;
  toolOptions?: ClientToolsOptions;
  /** In place of the transport of `chats`. */
  transport?: ChatTransport<UI_MESSAGE>;
};

/** What a person says, as `sendMessage` takes it. */
export type NewMessage<UI_MESSAGE extends UIMessage = UIMessage> =
  | { text: string; files?: FileUIPart[] }
  | { parts: UI_MESSAGE['parts']; metadata?: UI_MESSAGE['metadata'] };

/** What a durable chat has beside what the SDK's chats have. */
export type Durable<UI_MESSAGE extends UIMessage = UIMessage> = Omit<
  FollowState<UI_MESSAGE>,
  'held'
> & {
  /** Stops the turn on the server. Nothing else does: not to leave the page, and not to close it. */
  stop: () => Promise<void>;
  /**
   * Answers an approval or a question by its own route: it is decided when this returns, bound to what
   * was shown. The chat then reads on.
   */
  answer: (approvalId: string, answer: ApprovalAnswer | QuestionAnswer) => Promise<Answered>;
  /**
   * Says something while a turn is open, and does not stop it: the message waits for the turn's end
   * (`queue`, if nothing is said), or is given to the agent before its next step (`inject`). The server has
   * it when this returns.
   */
  enqueue: (message: NewMessage<UI_MESSAGE>, whileRunning?: WhileRunning) => Promise<void>;
  /** Goes to the branch of a message that an edit or another try cut off; see `chats.branches`. */
  selectBranch: (messageId: string) => Promise<void>;
  /** Looks now how the server has the chat. */
  refresh: () => Promise<void>;
};

/** What can be done with a durable chat, which is the same for every framework. */
export type DurableActions<UI_MESSAGE extends UIMessage = UIMessage> = Pick<
  Durable<UI_MESSAGE>,
  'stop' | 'answer' | 'enqueue' | 'selectBranch' | 'refresh'
>;

/** Old calls are forgotten: their chats are long past them. */
const MAX_OUTPUTS = 200;

/**
 * Makes a chat and what keeps it as the server has it. The options are asked for again each time one is
 * needed, since components make them again with every render.
 */
export function makeDurableChat<UI_MESSAGE extends UIMessage>(
  make: (init: ChatInit<UI_MESSAGE>) => AbstractChat<UI_MESSAGE>,
  latest: () => DurableChatOptions<UI_MESSAGE>,
) {
  const { id, chats, isNew = false, toolOptions } = latest();
  const transport = () => latest().transport ?? chats.transport;
  const tools = clientTools(() => latest().tools ?? {}, toolOptions);
  const isOpen = (toolCallId: string) =>
    chat.messages.some(({ parts }) =>
      parts.some(
        part =>
          'toolCallId' in part &&
          part.toolCallId === toolCallId &&
          part.state === 'input-available',
      ),
    );
  // Those that were given already: a call is announced again when it was approved and when its message is
  // begun again, and the SDK's chats then forget what they were given.
  const outputs = new RecentMap<never>(MAX_OUTPUTS);
  const digests = new ShownDigests(approvalId => chats.approvals.read(approvalId));
  const chat: AbstractChat<UI_MESSAGE> = make({
    id,
    transport: {
      get resumeStreamIsReplay() {
        return transport().resumeStreamIsReplay ?? false;
      },
      sendMessages: async options => {
        await digests.ofAnswersIn(options.messages);
        options.abortSignal?.throwIfAborted();
        const stream = await transport().sendMessages({
          ...options,
          messages: withDigests(options.messages, digests.of),
          // Only the page knows that it has cut off what the message takes the place of.
          messageId: options.messageId ?? follower.replacedBy(options.messages),
        });
        return stream.pipeThrough(digests.noted());
      },
      reconnectToStream: async options => {
        const stream = await follower.reconnect(transport(), options);
        return stream?.pipeThrough(digests.noted()) ?? null;
      },
    },
    sendAutomaticallyWhen: options =>
      (latest().sendAutomaticallyWhen ?? sendAutomaticallyWhen)(options),
    onToolCall: announced => {
      const { toolCallId, toolName } = announced.toolCall;
      const output = outputs.get(toolCallId);
      if (output !== undefined) {
        // Not awaited: the chat would wait for itself.
        void chat.addToolOutput(output);
        return;
      }
      if (Object.hasOwn(latest().tools ?? {}, toolName)) {
        inOneTab(
          toolCallId,
          () => tools.onToolCall(announced),
          () => isOpen(toolCallId),
        );
      }
      return latest().onToolCall?.(announced);
    },
    onData: part => latest().onData?.(part),
    onError: error => {
      if (toAdkStreamError(error).code === 'approval_changed') {
        digests.forgetAnswersIn(chat.messages);
      }
      return latest().onError?.(error);
    },
    onFinish: finished => {
      follower.settled();
      return latest().onFinish?.(finished);
    },
  });
  tools.bind(chat);
  const follower = new ChatFollower(chats, chat, { isNew });
  const { start, shown, state, whole, selectBranch } = follower;
  /** What a person does waits until the chat has all that the person sees. */
  const onceWhole = <ARGS extends unknown[], RESULT>(
    act: (...args: ARGS) => RESULT | PromiseLike<RESULT>,
  ) => {
    return async (...args: ARGS): Promise<RESULT> => {
      await whole();
      return act(...args);
    };
  };
  const addToolOutput = (output: never) => {
    outputs.set((output as { toolCallId: string }).toolCallId, output);
    return chat.addToolOutput(output);
  };
  /** Gives an answer, bound to what this chat has shown. */
  const giveBound = async (approvalId: string, answer: ApprovalAnswer | QuestionAnswer) => {
    const digest = answer.digest ?? (await digests.read(approvalId, chat.messages));
    try {
      const bound = digest === undefined ? answer : { ...answer, digest };
      return await chats.approvals.answer(approvalId, bound);
    } catch (error) {
      if (error instanceof ApprovalChangedError) {
        digests.shown(approvalId, error.approval?.digest);
      }
      throw error;
    }
  };
  const actions = {
    sendMessage: onceWhole(chat.sendMessage) as AbstractChat<UI_MESSAGE>['sendMessage'],
    regenerate: onceWhole(chat.regenerate) as AbstractChat<UI_MESSAGE>['regenerate'],
    addToolApprovalResponse: onceWhole(
      chat.addToolApprovalResponse,
    ) as AbstractChat<UI_MESSAGE>['addToolApprovalResponse'],
    addToolOutput: onceWhole(addToolOutput) as unknown as AbstractChat<UI_MESSAGE>['addToolOutput'],
    stop: async () => {
      await chats.stop(id);
      // Its stream may have been lost.
      await chat.stop();
      await follower.look();
    },
    answer: async (approvalId: string, answer: ApprovalAnswer | QuestionAnswer) => {
      const answered = await giveBound(approvalId, answer);
      // It is decided, whether the chat can be read on now or later.
      void follower.look().catch(() => undefined);
      return answered;
    },
    enqueue: (message: NewMessage<UI_MESSAGE>, whileRunning: WhileRunning = 'queue') =>
      follower.enqueue(messageOf(message), whileRunning),
    selectBranch,
    refresh: follower.look,
  };
  return { chat, follower, start, shown, state, actions };
}

function messageOf<UI_MESSAGE extends UIMessage>(said: NewMessage<UI_MESSAGE>): UI_MESSAGE {
  const given =
    'parts' in said ? said : { parts: [...(said.files ?? []), { type: 'text', text: said.text }] };
  return { id: generateId(), role: 'user', ...given } as UI_MESSAGE;
}
