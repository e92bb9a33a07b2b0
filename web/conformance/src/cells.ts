/**
 * The matrix: which flows of `tests/turn` run where. A cell is a transport and an agent; a flow names
 * what it needs. Where a cell can't do that, the flow is not generated there, and the reason is here.
 */
import type { Sends, Transport } from './server/connection.ts';
import type { Agent } from './server/server.ts';

/** What a flow may need, beyond what every cell can do. */
export type Capability =
  /** The agent asks about all calls of a step at once. */
  | 'parallel-questions'
  /** The agent asks one question after the other. */
  | 'sequential-questions'
  /** An answer takes effect while other questions of its step are open. */
  | 'partial-answers'
  /** A page runs its tool while somebody is asked about another call of the step. */
  | 'page-tool-beside-question'
  /** The approver may change the input. */
  | 'edited-input'
  /** The result of a long-running call opens a turn of its own. */
  | 'late-result'
  /** A tool shows how far it is before it ends. */
  | 'preliminary-output'
  /** A question outlives the server that asked it. */
  | 'question-outlives-server'
  /** A tool asks a person or a page in the middle of its work. */
  | 'asking-tool'
  /** A tool that asks or waits in the middle of its work outlives its server. */
  | 'tool-outlives-server'
  /** All calls that a message asks for reach the server, at once or one after the other. */
  | 'several-calls'
  /** The agent says by a code why it fails. */
  | 'named-failure'
  /** An agent that is asked too often says when to try again. */
  | 'retry-time'
  /** What a page runs without a question waits for the agent's own question of its step, or does not end it. */
  | 'page-tool-after-question'
  /** The agent says that a call failed, and not only in words. */
  | 'failed-call'
  /** A client can ask for the stream of a turn that runs. */
  | 'resume'
  /** A client can name the profile of the SDK that it is spoken to in. */
  | 'profile'
  /** Requests are HTTP requests, with statuses and bodies. */
  | 'http'
  /** A request names the message that it is about. */
  | 'message-id'
  /** Pages send by the predicates of the clients, so that our checker foresees their requests. */
  | 'foreseen-requests'
  /** A message that comes while a turn is open is given to the agent before its next step. */
  | 'injection'
  /** Recordings of models that ask one question after the other can be played. */
  | 'live-recordings';

type Reasons = Partial<Record<Capability, string>>;

/** Files of `tests/turn`, each with the reason why a cell does not run it. */
type LeftOut = Readonly<Record<string, string>>;

export interface Cell {
  transport: Transport;
  agent: Agent;
  /** What it can't do, and why. */
  cannot: Reasons;
  /** What its pages send of a chat, if not all of it. */
  sends?: Sends;
  /** Files of `tests/turn` that it leaves to other cells, and why. */
  without?: LeftOut;
  /**
   * The files that `make test` runs of it, if not all: none where other cells cover both of its halves, a few
   * where it is slow. `make test-long` runs all.
   */
  shortRun?: readonly string[];
}

const atOnce: Reasons = {
  'sequential-questions': 'it asks about all calls of a step at once',
};

const oneCallAtATime = 'it makes one call at a time';

/** A live model, by whichever server. */
const noRetryTime: Reasons = {
  'retry-time': "Gemini's live wire has no place for it, and so ADK's has none",
};

const inTurn: Reasons = {
  'parallel-questions': oneCallAtATime,
  'partial-answers': oneCallAtATime,
  'page-tool-beside-question': oneCallAtATime,
};

const socket: Reasons = {
  http: 'a socket is refused at its handshake or closed with a code, which crates/server/tests shows',
};

const legacy: Reasons = {
  ...socket,
  resume:
    'no frame asks for a turn that runs: a page that comes back reads the chat by HTTP, and gets only what follows its next answer',
  profile: 'no frame names a profile: every page is sent chunks that all clients know',
  'message-id': 'no frame names the message that it answers',
  'foreseen-requests':
    'a plain page sends by itself, without the predicates of the clients, which our checker knows',
};

const noInjection: Reasons = {
  injection:
    'it keeps the history itself, or is sent it once: what comes meanwhile opens a turn of its own',
};

const anyAdk: Reasons = {
  ...atOnce,
  ...noInjection,
  'edited-input':
    'ADK 2.13.0 runs a confirmed call with the input of the model, whatever the confirmation says',
  'late-result':
    'ADK 2.13.0 waits for the result of a long-running call in the turn that made it: it opens none of its own',
  'preliminary-output': 'a tool of ADK 2.13.0 has no way to report progress',
  'tool-outlives-server':
    'ADK 2.13.0 cancels a tool that is at work when the client of its run is gone',
};

const adk: Reasons = {
  ...anyAdk,
  'partial-answers':
    'ADK 2.13.0 takes all answers of a step together: given one, an app that is not resumable asks the model at once',
  'page-tool-beside-question':
    'the client does not see what ADK runs by itself, and would send the output for ever',
  'live-recordings': 'ADK 2.13.0 asks over SSE about all calls of a step at once',
};

const adkLive: Reasons = {
  ...anyAdk,
  ...socket,
  ...noRetryTime,
  'page-tool-beside-question':
    'the tool at ADK asks the page, whose client sends the output at once; the question is then asked again',
  'question-outlives-server':
    'ADK 2.13.0 cancels a tool that is at work when the client of its run is gone',
};

const noAskingTool =
  'a tool of AI SDK 6.0.326 and 7.0.169 has no way to ask in the middle of its work';

const aiSdk: Reasons = {
  ...atOnce,
  ...noInjection,
  'edited-input':
    'streamText of AI SDK 6.0.326 and 7.0.169 runs an approved call with the input of the model',
  'late-result':
    'a tool of the AI SDK has no result beyond its output: long-running calls are unknown to it',
  'preliminary-output':
    'a step is journaled with its calls; what they show before they end is not taken over',
  'partial-answers':
    'streamText of AI SDK 6.0.326 and 7.0.169 calls the model with whatever answers it has: all are sent together',
  'page-tool-beside-question':
    'the client does not see what the route runs by itself, and would send the output for ever',
  'asking-tool': noAskingTool,
  'tool-outlives-server': noAskingTool,
  'named-failure': 'a stream of the AI SDK says of a failure only one sentence, without a code',
};

/** An agent behind adk-stream that speaks AG-UI: pydantic-ai 2.66.0, whose adapter is its own. */
const agUiAgent: Reasons = {
  ...atOnce,
  ...noInjection,
  'edited-input':
    'AG-UI 1.0 has no field for an edited input: pydantic-ai takes `editedArgs`, which others do not',
  'late-result':
    'a call of AG-UI 1.0 has one result, which belongs to the run that made the call or to the next',
  'preliminary-output': 'a call of AG-UI 1.0 has one result, and nothing before it',
  'partial-answers': 'a run of AG-UI 1.0 takes all answers to the run before it together',
  'page-tool-beside-question':
    'the client does not see what the agent runs by itself, and would send the output for ever',
  'asking-tool':
    'a tool of pydantic-ai 2.66.0 asks before it runs, and not in the middle of its work',
  'tool-outlives-server':
    'a tool of pydantic-ai 2.66.0 asks before it runs, and not in the middle of its work',
  'page-tool-after-question':
    'a tool that the agent was offered is decided on here: the page is shown its call with the step, and the question after it, by a proxy call',
  'failed-call':
    'TOOL_CALL_RESULT of AG-UI 1.0 has no field for it: the text of an error is an output',
  'named-failure':
    'RUN_ERROR of pydantic-ai 2.66.0 has the text of the exception, and no code that others share',
};

const joinsCalls =
  'by the Messages API, LiteLLM 1.103.7 joins the inputs of calls that are made at once into one text';

/** A model that is asked through LiteLLM. */
const behindLitellm: Reasons = {
  'retry-time': 'LiteLLM 1.103.7 drops the time with which Gemini refuses a request',
};

const anthropic: Reasons = {
  ...behindLitellm,
  'several-calls': joinsCalls,
  'parallel-questions': joinsCalls,
  'sequential-questions': joinsCalls,
  'partial-answers': joinsCalls,
  'page-tool-beside-question': joinsCalls,
};

/**
 * What AG-UI's own clients can't do, whose flows are in `tests/ag-ui`: `@ag-ui/client` 1.0.0, and 0.0.59, on
 * which CopilotKit 1.74.0 depends.
 */
export const agUi: Reasons = {
  'partial-answers':
    'the client throws unless a run answers all interrupts of the run before; over REST each can be answered alone',
  'page-tool-beside-question':
    'a run has one outcome: a call of the page is shown when no interrupt is open, since the client takes no run without answers to those',
  'edited-input':
    'an answer to an interrupt has no field for it that clients agree on: another input than the one asked about is refused, and REST takes it',
  'preliminary-output':
    'a call has one result: what a tool shows before it ends is an event of the application’s own, CUSTOM tool-progress',
  profile: 'a client says by protocolVersion what it understands',
};

/** The same reason for several files. */
const each = (files: readonly string[], reason: string): LeftOut =>
  Object.fromEntries(files.map(file => [file, reason]));

const withoutPages: LeftOut = {
  checker: 'it plays recorded streams to the checker, and drives no page',
  routes: 'it sends raw requests, and drives no page',
};

const withOwnAgents = each(
  ['one-at-a-time', 'recorded'],
  'it names its agents itself, and would run the same in every cell',
);

const beforeTheAgent = each(
  ['closed-connection', 'local', 'old-turn', 'principal', 'profile', 'refusal'],
  "what it is about is decided before an agent is asked: the demo's cells are enough",
);

const queueInTask: LeftOut = {
  queue:
    "a message waits in the chat's task, and an agent of this kind takes it as the demo does: its cells are enough",
};

const races: LeftOut = {
  race: "answers race in the chat's task, before a model is asked again: the cells of the demo and of agents behind HTTP race",
};

const notAtAdk: LeftOut = {
  ...withoutPages,
  'one-at-a-time': 'it names its agents itself, and would run the same in every cell',
  'long-running-tool':
    'ADK 2.13.0 waits for the result of a long-running call in the turn that made it',
  question: "ADK's example agents have no tool that asks for data",
  ...beforeTheAgent,
};

const noLaterResult =
  'no tool of this agent asks a person or a page while it works, or has a result later';

const behindHttp: LeftOut = {
  ...notAtAdk,
  'long-running-tool': noLaterResult,
  question: noLaterResult,
  'blocking-tool': noLaterResult,
  'nested-client-call': noLaterResult,
  recorded: 'it names its agents itself, and would run the same in every cell',
};

const notAtAiSdk = behindHttp;

const notAtAgUi = behindHttp;

/** What no test with AG-UI's own clients drives. */
export const notWithAgUi: LeftOut = {
  ...withoutPages,
  ...withOwnAgents,
  local: 'it is about the identity of a server that has no keys, and sends as any page does',
  profile: 'a client says by protocolVersion what it understands, and names no profile',
  queue:
    'a run has no field by which it could wait for another: one that brings a message interrupts',
};

/** What every client of a model's API has to do: text, a payment, a denial, a tool of the page. */
const modelBasics = ['payment', 'client-tool', 'approved-client-tool'];

/**
 * What depends on how an agent works: its calls, its questions, how it fails, and what it outlives. The rest of a
 * slow cell is shown by others with its transport, or with the same agent over SSE.
 */
const agentAtWork = [
  ...modelBasics,
  ...['blocking-tool', 'failure', 'mixed-step', 'nested-client-call', 'payments'],
  ...['restart', 'sequential', 'stop', 'timeout', 'typed-over'],
];

const ownAgentsOnly: LeftOut = { ...withoutPages, ...withOwnAgents, ...beforeTheAgent };

const agentsOnly: LeftOut = { ...ownAgentsOnly, ...queueInTask };

export const cells = {
  sse: { transport: 'sse', agent: 'demo', cannot: atOnce },
  'last-message': {
    transport: 'sse',
    agent: 'demo',
    cannot: atOnce,
    sends: 'last-message',
    without: {
      ...agentsOnly,
      forgery: 'it is about histories that pages send, and these pages send none',
      race: 'what answers race for is decided before a message is read, whatever a page sends of its chat',
      restart:
        'it is about what the journal has after a restart, whatever a page sends of its chat',
    },
  },
  socket: {
    transport: 'socket',
    agent: 'demo',
    cannot: { ...atOnce, ...socket },
    without: withoutPages,
  },
  legacy: {
    transport: 'legacy',
    agent: 'demo',
    cannot: { ...atOnce, ...legacy },
    without: {
      ...withoutPages,
      'one-at-a-time': 'no frame names the message that it answers',
      'old-turn': 'no frame names the message that it answers',
      profile: 'no frame names a profile',
      queue: 'no frame says what a message waits for',
    },
  },
  'legacy-live': {
    transport: 'legacy',
    agent: 'demo-live',
    cannot: { ...inTurn, ...legacy },
    without: { ...agentsOnly, ...races },
    shortRun: agentAtWork,
  },
  live: {
    transport: 'socket',
    agent: 'demo-live',
    cannot: { ...inTurn, ...socket },
    without: agentsOnly,
    shortRun: [],
  },
  gemini: {
    transport: 'sse',
    agent: 'gemini',
    cannot: atOnce,
    without: { ...agentsOnly, ...races },
  },
  'gemini-live': {
    transport: 'socket',
    agent: 'gemini-live',
    cannot: { ...inTurn, ...socket, ...noRetryTime, ...noInjection },
    without: { ...ownAgentsOnly, ...races },
  },
  openai: {
    transport: 'sse',
    agent: 'openai',
    cannot: { ...atOnce, ...behindLitellm },
    without: { ...agentsOnly, ...races },
    shortRun: [...modelBasics, 'payments', 'mixed-step'],
  },
  responses: {
    transport: 'sse',
    agent: 'responses',
    cannot: { ...atOnce, ...behindLitellm },
    without: { ...agentsOnly, ...races },
    shortRun: [...modelBasics, 'payments', 'mixed-step'],
  },
  anthropic: {
    transport: 'sse',
    agent: 'anthropic',
    cannot: anthropic,
    without: {
      ...agentsOnly,
      ...races,
      ...each(['payments', 'sequential', 'mixed-step'], joinsCalls),
    },
    shortRun: modelBasics,
  },
  adk: {
    transport: 'sse',
    agent: 'adk',
    cannot: adk,
    without: notAtAdk,
  },
  'adk-socket': {
    transport: 'socket',
    agent: 'adk',
    cannot: { ...adk, ...socket },
    without: notAtAdk,
    shortRun: [],
  },
  'ai-sdk': {
    transport: 'sse',
    agent: 'ai-sdk',
    cannot: aiSdk,
    without: notAtAiSdk,
  },
  'ai-sdk-socket': {
    transport: 'socket',
    agent: 'ai-sdk',
    cannot: { ...aiSdk, ...socket },
    without: notAtAiSdk,
    shortRun: [...modelBasics, 'payments'],
  },
  'ai-sdk-6': {
    transport: 'sse',
    agent: 'ai-sdk-6',
    cannot: aiSdk,
    without: notAtAiSdk,
    shortRun: [...modelBasics, 'payments'],
  },
  'ai-sdk-6-socket': {
    transport: 'socket',
    agent: 'ai-sdk-6',
    cannot: { ...aiSdk, ...socket },
    without: notAtAiSdk,
    shortRun: [],
  },
  // `ag-ui` is the name of the tests with AG-UI's own clients.
  'ag-ui-agent': {
    transport: 'sse',
    agent: 'ag-ui',
    cannot: agUiAgent,
    without: notAtAgUi,
    shortRun: [...modelBasics, 'payments', 'mixed-step', 'queue'],
  },
  'ag-ui-agent-socket': {
    transport: 'socket',
    agent: 'ag-ui',
    cannot: { ...agUiAgent, ...socket },
    without: notAtAgUi,
    shortRun: [...modelBasics, 'payments'],
  },
  'adk-live': {
    transport: 'socket',
    agent: 'adk-live',
    cannot: adkLive,
    without: notAtAdk,
    shortRun: agentAtWork,
  },
} as const satisfies Record<string, Cell>;

export type CellName = keyof typeof cells;

/** Whether this is the long form of the suite, `make test-long`: every cell, and many repetitions. */
export const isLongRun = process.env.TEST_LONG === '1';
