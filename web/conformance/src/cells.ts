/**
 * The matrix: which flows of `tests/turn` run where. A cell is a transport and an agent; a flow names
 * what it needs. Where a cell can't do that, the flow is not generated there, and the reason stands here.
 */
import type { Transport } from './server/connection.ts';
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
  /** A tool that asks or waits in the middle of its work outlives its server. */
  | 'tool-outlives-server'
  /** A client can ask for the stream of a turn that runs. */
  | 'resume'
  /** A client can name the profile of the SDK that it is spoken to in. */
  | 'profile'
  /** Requests are HTTP requests, with statuses and bodies. */
  | 'http';

type Reasons = Partial<Record<Capability, string>>;

export interface Cell {
  transport: Transport;
  agent: Agent;
  /** What it can't do, and why. */
  cannot: Reasons;
  /** Files of `tests/turn` that it leaves to other cells. */
  without?: readonly string[];
  /** Whether only `make test-long` runs it, since other cells cover both of its halves. */
  isLong?: true;
}

const atOnce: Reasons = {
  'sequential-questions': 'it asks about all calls of a step at once',
};

const oneCallAtATime = 'it makes one call at a time';

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
};

const anyAdk: Reasons = {
  ...atOnce,
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
};

const adkLive: Reasons = {
  ...anyAdk,
  ...socket,
  'page-tool-beside-question':
    'the tool at ADK asks the page, whose client sends the output at once; the question is then asked again',
  'question-outlives-server':
    'ADK 2.13.0 cancels a tool that is at work when the client of its run is gone',
};

/** They send raw requests, or play a recorded stream, and drive no page. */
const withoutPages = ['checker', 'routes'];

/** They name their agents themselves. */
const withOwnAgents = ['one-at-a-time', 'recorded'];

/** What they are about is decided before an agent is asked, so that the demo's cells are enough. */
const beforeTheAgent = ['closed-connection', 'local', 'principal', 'profile', 'refusal'];

/** What ADK can't do of a file is all of it. */
const notAtAdk = [...withoutPages, 'one-at-a-time', 'long-running-tool', ...beforeTheAgent];

const agentsOnly = [...withoutPages, ...withOwnAgents, ...beforeTheAgent];

export const cells = {
  sse: { transport: 'sse', agent: 'demo', cannot: atOnce },
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
    without: [...withoutPages, 'one-at-a-time', 'profile'],
  },
  'legacy-live': {
    transport: 'legacy',
    agent: 'demo-live',
    cannot: { ...inTurn, ...legacy },
    without: [...agentsOnly, 'race'],
  },
  live: {
    transport: 'socket',
    agent: 'demo-live',
    cannot: { ...inTurn, ...socket },
    without: agentsOnly,
    isLong: true,
  },
  gemini: { transport: 'sse', agent: 'gemini', cannot: atOnce, without: [...agentsOnly, 'race'] },
  'gemini-live': {
    transport: 'socket',
    agent: 'gemini-live',
    cannot: { ...inTurn, ...socket },
    without: [...agentsOnly, 'race'],
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
    isLong: true,
  },
  'adk-live': {
    transport: 'socket',
    agent: 'adk-live',
    cannot: adkLive,
    without: notAtAdk,
  },
} as const satisfies Record<string, Cell>;

export type CellName = keyof typeof cells;

/** Whether this is the long form of the suite, `make test-long`: every cell, and many repetitions. */
export const isLongRun = process.env.TEST_LONG === '1';
