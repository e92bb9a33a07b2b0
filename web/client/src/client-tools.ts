/** Tools that the page runs. */
import { CallMemory, type CallStorage, type ToolRun, tabStorage } from './call-memory.ts';

export type ClientToolContext = {
  /** Fires when the output is no longer needed. */
  signal: AbortSignal;
  toolCallId: string;
};

/** Runs a call; what it throws is sent to the model. */
export type RunClientTool = (input: never, context: ClientToolContext) => unknown;

export type ClientTool =
  | RunClientTool
  | {
      run: RunClientTool;
      /**
       * Whether it may run again when the page was reloaded while it ran. If not, the model gets an error
       * that the outcome is unknown.
       */
      isIdempotent?: boolean;
      /** In place of that of all tools. */
      timeoutMs?: number;
    };

export type ClientToolSet = Readonly<Record<string, ClientTool>>;

export type ClientToolsOptions = {
  /** How long a tool may take, 30 seconds if nothing is said; `Infinity` is for ever. */
  timeoutMs?: number;
  /** Where calls are remembered across a reload: the tab's `sessionStorage`, where there is one. */
  storage?: CallStorage | undefined;
};

/** The part of a chat that takes outputs; what `useChat` returns, or a `Chat`. */
export type OutputTaker = { addToolOutput: (output: never) => unknown };

/** A call, as `onToolCall` gets it. */
export type AnnouncedCall = { toolCallId: string; toolName: string; input?: unknown };

export type ClientTools = {
  /** For the option of `useChat` with the same name. */
  onToolCall: (announced: { toolCall: AnnouncedCall }) => void;
  /** Names the chat that takes the outputs. Cheap: call it with every render. */
  bind: (chat: OutputTaker) => void;
};

type AddToolOutput = (
  output:
    | { tool: string; toolCallId: string; output: unknown }
    | { tool: string; toolCallId: string; state: 'output-error'; errorText: string },
) => unknown;

const interrupted = 'The page was reloaded while the tool ran: whether it took effect is unknown.';

/**
 * Runs each call once, whatever announces it again, and gives its output to the chat.
 *
 * Calls of tools that are not named here are left alone: they are somebody else's.
 */
export function clientTools(
  tools: ClientToolSet | (() => ClientToolSet),
  { timeoutMs = 30_000, storage = tabStorage() }: ClientToolsOptions = {},
): ClientTools {
  const memory = new CallMemory(storage);
  let chat: OutputTaker | undefined;

  const give = ({ toolName: tool, toolCallId }: AnnouncedCall, run: ToolRun): void => {
    if (chat === undefined) {
      throw new Error('clientTools: bind(chat) was never called, so that nobody takes the output');
    }
    const addToolOutput = chat.addToolOutput as AddToolOutput;
    const call = { tool, toolCallId };
    // Not awaited: inside `onToolCall` the chat would wait for itself.
    void addToolOutput(
      'errorText' in run
        ? { ...call, state: 'output-error', errorText: run.errorText }
        : { ...call, output: run.output },
    );
  };

  const start = async (call: AnnouncedCall, tool: Exclude<ClientTool, RunClientTool>) => {
    const { toolCallId } = call;
    memory.set(toolCallId, 'running');
    const run = await runTool(call, tool.run, tool.timeoutMs ?? timeoutMs);
    memory.set(toolCallId, run);
    give(call, run);
  };

  return {
    bind: taker => {
      chat = taker;
    },
    onToolCall: ({ toolCall }) => {
      const { toolName, toolCallId } = toolCall;
      const set = typeof tools === 'function' ? tools() : tools;
      const named = Object.hasOwn(set, toolName) ? set[toolName] : undefined;
      const remembered = memory.get(toolCallId);
      // One that runs gives its output when it has it.
      if (named === undefined || remembered === 'running') {
        return;
      }
      const tool = typeof named === 'function' ? { run: named } : named;
      if (remembered === undefined || (remembered === 'started' && tool.isIdempotent === true)) {
        void start(toolCall, tool);
      } else {
        // The chat has begun the message again, and forgot what it was given.
        const run = remembered === 'started' ? { errorText: interrupted } : remembered;
        memory.set(toolCallId, run);
        give(toolCall, run);
      }
    },
  };
}

async function runTool(
  { input, toolCallId, toolName }: AnnouncedCall,
  run: RunClientTool,
  timeoutMs: number,
): Promise<ToolRun> {
  const control = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    // Longer than a timer can count is for ever.
    if (timeoutMs < 2 ** 31) {
      timer = setTimeout(() => {
        reject(new Error(`${toolName} gave no output within ${timeoutMs / 1000} s.`));
        control.abort();
      }, timeoutMs);
    }
  });
  try {
    const context = { signal: control.signal, toolCallId };
    // A tool that fails before it returns a promise fails like any other.
    const output = await Promise.race([(async () => run(input as never, context))(), timeout]);
    // JSON has no undefined, and an output there must be.
    return { output: output ?? null };
  } catch (error) {
    return { errorText: error instanceof Error ? error.message : String(error) };
  } finally {
    clearTimeout(timer);
  }
}
