/** The page's words in English; those of the cards are the package's own. */
import { englishLabels } from '@adk-stream/client/react/parts';

export interface Suggestion {
  /** What it shows, which also chooses its picture. */
  kind: 'pay' | 'two' | 'weather' | 'location' | 'music' | 'flight' | 'mood' | 'report';
  text: string;
  note: string;
}

const suggestions: Suggestion[] = [
  { kind: 'pay', text: 'Send $20 to Sam', note: 'asks you first' },
  { kind: 'two', text: 'Send $30 to Alice and $40 to Bob', note: 'two questions at once' },
  { kind: 'location', text: 'Where am I?', note: 'asks, then this page looks' },
  { kind: 'music', text: 'Play track 1', note: 'this page plays' },
  { kind: 'weather', text: 'What is the weather in Tokyo?', note: 'runs on the server' },
  { kind: 'flight', text: 'Book a flight to Oslo', note: 'asks twice as it works' },
  { kind: 'mood', text: 'Set the mood for London', note: 'server and page together' },
  { kind: 'report', text: 'Write a report about tea', note: 'comes back later' },
];

const seconds = (count: number) => `${count} ${count === 1 ? 'second' : 'seconds'}`;

/** A span of time in a few letters. */
const span = (count: number) =>
  count < 100
    ? `${count} s`
    : count < 5400
      ? `${Math.round(count / 60)} min`
      : `${Math.round(count / 3600)} h`;

export const en = {
  skip: 'Skip to the message field',
  language: 'Language',
  theme: { label: 'Appearance', system: 'As the system', light: 'Light', dark: 'Dark' },
  settings: 'Settings',
  newChat: 'New chat',
  close: 'Close',
  wallet: 'Wallet',
  walletBalance: 'Wallet balance',
  served: (agent: string, principal: string) => `${agent} answers ${principal}`,

  intro: {
    title: 'A turn is not a request',
    lead: 'The agent’s answer lives in a journal; a connection is only a window on it. Ask for something that needs a yes, and then reload, switch the transport, or kill the server. It waits.',
    try: 'Try one of these',
  },
  forgotten: 'The server does not know this chat. A new message starts it again.',
  suggestions,

  you: 'You',
  agent: 'Agent',
  conversation: 'Conversation',
  answering: 'The agent is answering',
  toEnd: 'To the newest',
  thought: 'Thought',
  thinking: 'Thinking…',
  stopped: 'Stopped.',
  silent: 'The agent said nothing.',
  unshown: 'A part of this conversation can’t be shown.',
  unshownPanel: 'This can’t be shown.',
  unshownPage: 'The page can’t be shown. Load it again.',
  waits: 'This turn is waiting. No connection is held open.',
  transcript: 'Transcript',
  file: 'File',
  copy: 'Copy',
  copied: 'Copied',

  composer: {
    field: 'Message',
    placeholder: 'Ask for something',
    send: 'Send',
    stop: 'Stop',
    attach: 'Attach files',
    remove: (name: string) => `Remove ${name}`,
    drop: 'Drop it here',
    tooLarge: (name: string) => `${name} is too large: 2 MB at most.`,
    tooMany: 'No more than four files at once.',
    typedOver: 'Sending this answers the open question with no.',
    enterAgain: 'A question is open. Press Enter again to answer it with no and send this.',
    denyAndSend: 'Deny and send',
  },

  queue: {
    label: 'Waiting messages',
    choice: 'The agent gets it',
    queue: 'After this answer',
    inject: 'At its next step',
    send: 'Send later',
    waits: {
      queue: 'Waits for the end of this answer.',
      inject: 'Waits for the agent’s next step.',
    },
    withdraw: 'Stop, and take it back',
    refused: (why: string) => `This can’t wait: ${why}`,
  },

  versions: {
    label: 'Versions',
    place: (place: number, count: number) => `${place} of ${count}`,
    previous: 'Previous version',
    next: 'Next version',
    rewrite: 'Say it differently',
    field: 'What you say instead',
    send: 'Say this instead',
    cancel: 'Leave it',
    again: 'Answer again',
    refused: (why: string) => `The other version can’t be shown: ${why}`,
  },

  transport: {
    label: 'Transport',
    sse: 'SSE',
    bidi: 'BIDI',
    sseNote: 'one HTTP response a window',
    bidiNote: 'one WebSocket for everything',
    ...englishLabels.connection,
  },

  tool: {
    asked: 'asked',
    answered: 'answered',
    running: 'running',
    done: 'done',
    denied: 'denied',
    failed: 'failed',
    'timed out': 'timed out',
    unknown: 'unknown',
    details: 'Input and output',
    input: 'Input',
    output: 'Output',
    unanswered: 'Left unanswered.',
    timedOut: 'Nobody answered in time, so it was not done.',
    outcomeUnknown: {
      'server-stopped':
        'The server stopped while this ran. It may or may not have happened: check before you ask again.',
      'turn-stopped':
        'It was stopped while this ran. It may or may not have happened: check before you ask again.',
      'answer-unclear':
        'The agent’s server can’t tell whether it has taken the answer. It may or may not have happened: check before you ask again.',
      'connection-cut':
        'The connection to the agent was cut while this ran. It may or may not have happened: check before you ask again.',
      'agent-failed':
        'The agent failed while this ran. It may or may not have happened: check before you ask again.',
      'no-result':
        'The agent gave no result of this. It may or may not have happened: check before you ask again.',
      'answer-lost':
        'This was sent, and the answer was lost. It may or may not have happened: check before you ask again.',
      unsaid: 'It may or may not have happened: check before you ask again.',
    },
    ended: 'The turn ended before this was done.',
    notReceived: 'Your answer may not have reached the server.',
    later: 'It continues in the background. The result comes as a new message.',
    held: 'Answered. The turn continues when the other questions are answered.',
    decided: {
      approved: (who: string, time: string) => `approved by ${who}, ${time}`,
      denied: (who: string, time: string) => `denied by ${who}, ${time}`,
      'timed-out': (_who: string, time: string) => `nobody answered in time, ${time}`,
      superseded: (who: string, time: string) => `${who} wrote something else instead, ${time}`,
      cancelled: (_who: string, time: string) => `the question was taken back, ${time}`,
    },
    askedAbout: (question: string) => `Asked: ${question}`,
    inputChanged: 'The input was changed by hand.',
    edited: 'The input was changed by hand.',
  },

  approval: {
    ...englishLabels.approval,
    readingHelp: (intent: string) => `In other words: ${intent}`,
    unshown: 'This question can’t be shown, so it can’t be approved here. It can be denied.',
    announced: (question: string) => `Approval needed: ${question} It waits in the conversation.`,
    badge: {
      approved: 'APPROVED',
      denied: 'DENIED',
      expired: 'EXPIRED',
      failed: 'FAILED',
      unknown: 'UNKNOWN',
    },
  },

  question: {
    ...englishLabels.question,
    announced: (question: string) =>
      `An answer is needed: ${question} It waits in the conversation.`,
  },

  marks: englishLabels.marks,

  intent: {
    process_payment: (amount: string, who: string) => `Send ${amount} to ${who}`,
    get_weather: (place: string) => `Look up the weather in ${place}`,
    get_location: 'Find out where you are',
    change_bgm: (track: string) => `Play track ${track}`,
    book_flight: (place: string) => `Book a flight to ${place}`,
    book_table: 'Book a table',
    set_mood: (place: string) => `Set the mood for ${place}`,
    write_report: (topic: string) => `Write a report about ${topic}`,
    other: (tool: string) => `Run ${tool}`,
  },
  fields: {} as Record<string, string>,

  music: {
    playing: (track: number) => `Playing track ${track}`,
    waiting: (track: number) => `Track ${track} waits for a click`,
    stopped: (track: number) => `Track ${track} is stopped`,
    start: 'Start music',
    stop: 'Stop music',
    none: (track: unknown) => `There is no track ${track}. There are 1 and 2.`,
    refused: 'The browser blocked the sound.',
  },
  location: {
    refused: 'The browser was not allowed to say where it is.',
    late: 'The browser did not find out in time where it is.',
    failed: 'The browser can’t find out where it is.',
  },

  problem: {
    retry: 'Retry',
    retryIn: (left: number) => `Retry in ${left} s`,
    load: 'Load the chat again',
    rate: (left: number) =>
      `The agent gets too many requests. It accepts requests again in ${seconds(left)}.`,
    rateOver: 'The agent got too many requests. It may accept requests again now.',
    network: 'The server can’t be reached.',
    unsent: 'What you wrote is kept: send it again when it is back.',
    unread: 'Retry when it is back, to continue from here.',
    refusedKey:
      'The agent’s provider does not accept the server’s key. Give the server a good one, start it again, and retry.',
    cut: 'The answer broke off in the middle. Ask for it again.',
    key: 'The server requires a key.',
    large: 'This is more than the server accepts. Send it without the files, or with smaller ones.',
    deleted: 'This chat was deleted. Start a new one.',
    outdated: 'The server knows another history of this chat than this page.',
    decided: 'Somebody else has answered this already.',
    store: 'The server can’t reach its journal, so nothing was done. Try again in a moment.',
    away: 'The server is shutting down. Try again in a moment.',
    said: (message: string) => `The server says: ${message}`,
    silent: 'The server gave no reason.',
    stop: (why: string) => `The turn could not be stopped, and may continue. ${why}`,
  },

  key: {
    title: 'This server requires a key',
    text: 'The operator can give you one. It is stored in this tab, and sent to this server only.',
    field: 'Key',
    refused: 'The server does not accept this key.',
    use: 'Use this key',
  },

  panel: { journal: 'Journal', inbox: 'Inbox', chats: 'Chats' },
  chats: {
    title: 'Your chats',
    search: 'Search titles',
    archived: 'Archived chats',
    empty: 'No chats here yet.',
    nothing: 'No title contains that.',
    error: 'The list can’t be read.',
    failed: 'That did not work. Try again.',
    more: 'More chats',
    untitled: 'Without a title',
    name: 'Title of the chat',
    save: 'Save',
    cancel: 'Cancel',
    rename: (title: string) => `Rename “${title}”`,
    archive: (title: string) => `Archive “${title}”`,
    unarchive: (title: string) => `Take “${title}” out of the archive`,
    delete: (title: string) => `Delete “${title}”`,
    confirm: 'Delete this chat for good, with its journal?',
    confirmed: 'Delete',
    waiting: (count: number) => `${count} waiting`,
    status: {
      running: 'running',
      parked: 'waits for an answer',
      finished: 'finished',
      failed: 'failed',
      stopped: 'stopped',
    },
  },
  inbox: {
    ...englishLabels.inbox,
    count: (count: number) => (count === 0 ? 'Inbox' : `Inbox, ${count} waiting`),
    open: 'Open its chat',
    here: 'in this chat',
    asked: (time: string) => `asked ${time}`,
  },
  journal: {
    title: 'The journal of this chat',
    empty: 'Every entry of this chat appears here: who said, decided and ran what, and when.',
    export: 'Export as JSON',
    replay: 'Replay',
    opened: 'opened the chat',
    said: 'said',
    queued: { queue: 'said for later', inject: 'said for the next step' },
    injected: 'was given what was said',
    withdrawn: 'took back what was said',
    selected: 'went to another version',
    result: (tool: string) => `${tool} came back`,
    step: 'answered',
    called: (tool: string) => `called ${tool}`,
    nested: (tool: string) => `asked the page for ${tool}`,
    gate: 'asked',
    client: (tool: string) => `handed ${tool} to the page`,
    approved: 'approved',
    approvedEdited: 'approved, with another input',
    denied: 'denied',
    output: (tool: string) => `gave the output of ${tool}`,
    clientFailed: (tool: string) => `could not run ${tool}`,
    timedOut: 'nobody answered in time',
    superseded: 'wrote something else instead',
    cancelled: 'took the question back',
    started: (tool: string) => `started ${tool}`,
    recorded: (name: string) => `recorded “${name}”`,
    settled: (tool: string) => `${tool} is done`,
    refused: (tool: string) => `${tool} was refused`,
    failed: (tool: string) => `${tool} failed`,
    unknown: (tool: string) => `the outcome of ${tool} is unknown`,
    unknownReason: {
      'server-stopped': 'the server stopped while it ran',
      'turn-stopped': 'the turn was stopped while it ran',
      'answer-unclear': 'the agent’s server can’t tell whether it has taken the answer',
      'connection-cut': 'the connection to the agent was cut while it ran',
      'agent-failed': 'the agent failed while it ran',
      'no-result': 'the agent gave no result',
      'answer-lost': 'the answer was lost',
      unsaid: undefined,
    },
    pending: (tool: string) => `${tool} continues in the background`,
    finished: 'ended the turn',
    turnFailed: 'the turn failed',
    stopped: 'stopped the turn',
    raw: 'As stored',
  },
  replay: {
    title: 'Replay',
    bar: 'Replay of this chat',
    play: 'Play',
    pause: 'Pause',
    step: 'Next entry',
    restart: 'From the start',
    speed: 'Speed',
    own: 'Own speed',
    fast: 'Fast',
    position: 'Position',
    leave: 'Back to the chat',
    over: 'That was all.',
    waiting: (left: number) => `waits ${span(left)}, as it did`,
    failed: 'The recording can’t be loaded.',
  },

  speech: {
    talk: 'Hold to talk',
    talking: 'Listening: release to send',
    denied: 'The browser does not let this page listen. Allow the microphone in its settings.',
    none: 'There is no microphone.',
    onlyBidi: 'Speech needs BIDI.',
    spoken: 'Spoken',
  },
};

/** What the cards ask of every page, and this page says in its own way. */
type CardLabel = 'asked' | 'failed';

export type Words = Omit<typeof en, 'approval'> & { approval: Omit<typeof en.approval, CardLabel> };
