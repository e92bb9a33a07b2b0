/**
 * The flows of `tests/turn`, by file and title, each with the test in `tests/ag-ui` that drives it with
 * AG-UI's own clients, as `file: title`; or with the reason why none does.
 */
import type { Capability } from './cells.ts';

/** `cannot` names what AG-UI's clients can't do, of which `agUi` in `cells.ts` says why. */
export type NotDriven = { cannot: Capability } | { reason: string };

export type AgUiFlows = Readonly<Record<string, Readonly<Record<string, string | NotDriven>>>>;

const otherLanguage: NotDriven = {
  reason: 'what an agent understands is not changed by the page in front of it',
};

const overRest: NotDriven = {
  reason: 'it asks over REST alone, and no page has a part in it',
};

const oneAtATime: NotDriven = {
  reason:
    'it is for agents that ask one question after the other, and the agent of these tests asks at once',
};

const partialAnswers: NotDriven = { cannot: 'partial-answers' };

export const agUiFlows: AgUiFlows = {
  'approved-client-tool': {
    'it never runs before the answer': 'flows: a tool of the page behind an approval waits for it',
    'approved, it runs once': 'flows: a tool of the page behind an approval waits for it',
    'denied, it never runs': 'flows: a tool of the page that is denied is not run',
    'approved, and the page fails': 'flows: a page fails to run what was approved',
    'approved elsewhere, a page that comes back runs it':
      'elsewhere: a tool of the page that is approved elsewhere is run by a page that comes back',
    'approved elsewhere and not run yet, the chat is valid': {
      reason: 'it is about what the AI SDK takes for valid messages',
    },
  },
  'blocking-tool': {
    'yes and yes: it is done, and done once':
      'asking: two questions of a tool come after each other',
    'yes and no: it stops half way': 'asking: a no to the second ends the tool',
    'no: it stops at once': 'asking: a no to the first ends the tool at once',
    'the first question is answered elsewhere': 'asking: the first is answered elsewhere',
    'both questions are answered elsewhere': 'asking: both are answered elsewhere',
    'the second question is denied elsewhere': 'asking: both are answered elsewhere',
  },
  'client-tool': {
    "the page's output goes to the agent": 'flows: a tool of the page is run by the page',
    'a Japanese request is understood': otherLanguage,
    'a page that could not run it says why': 'asking: a page that could not run a tool says why',
    'a page that runs nothing leaves the turn parked':
      'asking: a call of a page that runs nothing stays open',
    'two pages run it, and one output counts':
      'asking: two pages run a tool, and one output counts',
  },
  'closed-connection': {
    'in the middle of a text': 'flows: a page that leaves does not stop the turn',
    'before the question, which is asked all the same':
      'resume: a page left before the question is asked',
    'after the answer, which counts': 'resume: a page left after its answer, which counts',
  },
  edit: {
    'what came after the message is gone':
      'flows: a first message is edited where the page says which',
    'the chat goes on from the edited message':
      'flows: a first message is edited where the page says which',
    'an open question goes with the history':
      'elsewhere: what another page has edited is asked no more',
  },
  elsewhere: {
    'the turn goes on though no window is open':
      'elsewhere: the turn goes on though no run is open',
    'the page says yes to what was denied': 'elsewhere: a page says yes to what was denied',
    'the page says no to what was approved': 'elsewhere: a page says no to what was approved',
    'two tabs answer a question each': partialAnswers,
  },
  failure: {
    'the chat shows the error': 'flows: a failure has its code, and the chat goes on',
    'the turn can be regenerated': 'again: a turn that failed is tried again',
    'the message can be said differently': 'again: a message that failed is said otherwise',
    'the chat can go on': 'flows: a failure has its code, and the chat goes on',
  },
  forgery: {
    '$name: is refused, and the honest answer still counts':
      'flows: what is forged is refused with a code',
    'a settled payment of another chat is nothing to this one': {
      reason: 'a page on AG-UI has one thread, and brings no history of another chat along',
    },
    'an approval of a call that was never asked about':
      'flows: what is forged is refused with a code',
    'a question that is settled: and is answered otherwise, gets the decision':
      'elsewhere: a page says no to what was approved',
    'a client output for a call that is not open: because nobody allowed it yet':
      'flows: what is forged is refused with a code',
    'a client output for a call that is not open: because it is settled':
      'stop: the output of a tool of the page comes too late',
    'a client output for a call that is not open: because it was never made':
      'flows: what is forged is refused with a code',
    'text and outputs of the history are the journal, not the page':
      'flows: connecting shows the chat, whatever is sent',
  },
  input: {
    'one that the tool does not take goes back to the model':
      'flows: an input that the tool does not take is its result',
    'one that the approver changed is the one that counts': { cannot: 'edited-input' },
    'another change of the same input is refused': { cannot: 'edited-input' },
    'a change that the tool does not take is refused': overRest,
  },
  'long-running-tool': {
    'the result comes as a message of its own':
      'asking: a result that comes later is there with the next run',
    'a page that does not know of it continues':
      'asking: a result that comes later is there with the next run',
    'it waits for a turn that is parked': {
      reason: 'when a result opens its turn is decided before a page is shown anything of it',
    },
  },
  'mixed-step': {
    'a payment beside a client tool that asks: $said':
      'flows: a question and a tool of the page come after each other',
    'a payment beside a client tool that asks nobody: %s':
      'flows: a question and a tool of the page come after each other',
    'a payment that is denied elsewhere while the page runs its tool': {
      cannot: 'page-tool-beside-question',
    },
  },
  'nested-client-call': {
    "the page's output comes back into the tool":
      'asking: a tool that works has the page run one of its own',
    'the tool learns that the page could not':
      'asking: a tool that works learns that the page could not',
    'until the page answers, the outer call is open': { cannot: 'preliminary-output' },
  },
  'old-turn': {
    'another tab …, and the old gate is answered':
      'elsewhere: what another page has edited is asked no more',
    'another tab edits, and an output comes late':
      'again: an output comes late, of what another page has edited',
  },
  payment: {
    'nothing is paid before the answer': 'flows: an approved payment is made once',
    'an approved payment is made once': 'flows: an approved payment is made once',
    'an approval may have a reason': 'flows: a yes may have a reason, and the chat goes on',
    'a denied payment is not made': 'flows: a question that is dismissed is a no',
    'a denial tells the agent why': 'flows: a denied payment is not made',
    'a Japanese request is understood': otherLanguage,
    'a payment that the wallet does not hold fails':
      'flows: what the wallet does not hold is not paid',
    'a chat goes on after a payment': 'flows: a yes may have a reason, and the chat goes on',
  },
  payments: {
    '$said: answered together': 'flows: one payment is approved and one denied',
    '$said: answered one by one in the page, each answer sent at once': partialAnswers,
    '$said: answered as they are asked': oneAtATime,
    '$said: answered elsewhere as they are asked': oneAtATime,
    '$said: answered one by one from elsewhere, and then in the page once more':
      'resume: one of two questions is settled',
  },
  principal: {
    'nobody else sees or answers a question': 'flows: the client reports what the server refuses',
    'without a key: nothing is served: %s': 'flows: who may not call /api/chat may not begin a run',
    'without a key: a key may come in a header of its own': {
      reason: 'the headers of a request are read before its route is looked at',
    },
  },
  question: {
    'what the page gives is the answer': 'questions: the data that was asked for is the answer',
    'an output error declines': 'questions: what is cancelled is declined, with its reason',
    'a page that leaves it alone finds it again': 'resume: a question for data is found again',
  },
  race: {
    'of two contrary answers one wins, the other gets the decision, and money moves once or not at all: both from elsewhere':
      overRest,
    'of two contrary answers one wins, the other gets the decision, and money moves once or not at all: one of them in a page':
      'elsewhere: a page and somebody elsewhere answer at once',
    'of two contrary answers one wins, the other gets the decision, and money moves once or not at all: both in pages':
      'elsewhere: two pages answer otherwise at once',
  },
  refusal: {
    'a body: with %s': 'flows: who may not call /api/chat may not begin a run',
    'a body: that is too large': {
      reason: 'the size of a body is limited before its route is looked at',
    },
    'the page shows why': 'flows: the client reports what the server refuses',
    'an answer: to a question that nobody asked': 'flows: what is forged is refused with a code',
    'an answer: that is none: %j': 'flows: what is forged is refused with a code',
  },
  regenerate: {
    'an answer is regenerated': 'flows: the last answer is given again where the page says so',
    'only the last answer is regenerated': 'again: only the last answer is given again',
    'an earlier answer is regenerated': 'again: an earlier answer is given again',
    'an open question is taken back and asked again':
      'again: an open question is taken back and asked again',
    'a text that is being said is broken off': 'again: a text is broken off and said again',
  },
  replay: {
    'a message opens one turn and asks one question': 'flows: the same run again is the same turn',
    'at the same time': 'again: the same run twice at once is one turn',
    'an answer counts once': 'again: an answer that is sent again counts once',
    'a message that was answered is not answered again':
      'flows: the same run again is the same turn',
  },
  restart: {
    'a payment waits for its answer': 'restart: a question is answered after its server was killed',
    'a denial after the restart': 'restart: a no counts after it, as one from elsewhere does',
    'an answer from elsewhere after the restart':
      'restart: a no counts after it, as one from elsewhere does',
    'a tool is between its two questions':
      'asking: a tool between its questions outlives its server',
    'a tool is before its first question': {
      reason: 'a tool that is at work is run again before a page is shown anything of it',
    },
    'one of two payments is answered': partialAnswers,
    'a tool waits for a page': 'restart: a tool of the page is waited for',
    'a chat that has ended is still there': 'restart: a chat that has ended is still there',
    'right after a yes, money moves once or the outcome is unknown': {
      reason: 'what runs after a restart is decided by the journal, whichever page has answered',
    },
    'a text that is being said is said again': 'restart: a text that was being said is said again',
    'a report that is being written is not forgotten': {
      reason: 'what runs after a restart is decided by the journal, whichever page has asked',
    },
  },
  resume: {
    'in the middle of a text, to its end, on both versions':
      'elsewhere: a page that comes into a text gets all of it',
    'any number of readers see the same': 'resume: any number of readers of a text see the same',
    'after it was left by the same client': 'resume: a text goes on for the page that left it',
    'a turn that ends after the page was loaded': {
      reason:
        'a run that brings nothing is sent the chat and follows it: nothing is loaded beside it',
    },
    'in the middle of a tool': 'resume: two readers in the middle of a tool see the same',
    'while a tool waits for a page': 'resume: a tool waits for a page',
    'while a question is open': 'flows: a page that comes back has all of it',
    'between two questions of a tool': 'resume: a tool is between its questions',
    'when some questions are settled and one is open': 'resume: one of two questions is settled',
    'there is nothing to resume once the turn has ended':
      'restart: a chat that has ended is still there',
    'there is nothing to resume where there is no chat': 'flows: a chat that nobody began is empty',
  },
  sequential: {
    'a call that asks follows one that does not':
      'asking: a call that asks follows one that does not',
    'a denial ends the sequence': 'flows: a denied payment is not made',
  },
  stop: {
    'in the middle of a text, the window closes': 'time: a turn that is stopped ends its run',
    "beside the client's own stop": "stop: beside the page's own",
    'with an open question, nothing loops afterwards':
      'elsewhere: what was stopped with its question runs nothing',
    'with an open question that is then denied': 'stop: its question is denied then',
    'while a page runs a tool, its output comes too late':
      'stop: the output of a tool of the page comes too late',
    'a tool that is in the middle of its work': 'stop: a tool is in the middle of its work',
    'right after a yes, the chat says what became of the money':
      'stop: right after a yes, the chat says what became of the money',
  },
  timeout: {
    'the turn goes on by itself': 'time: a question that timed out is over',
    'a yes that comes too late gets all that happened': {
      reason:
        'the clients send no yes to an interrupt that has expired: 1.0.0 cancels it, and 0.0.59 takes no run',
    },
    'a no that comes too late gets all that happened': 'time: a question that timed out is over',
    'an answer from elsewhere that comes too late is refused': overRest,
    'one question times out beside one that was answered':
      'time: one question times out beside one that was answered',
    "a tool's second question times out": "time: a tool's second question times out",
    'a client tool is not run when nobody allowed it':
      'time: a tool of the page that nobody allowed is not run',
  },
  'typed-over': {
    'the old question is denied, the new turn starts':
      'again: a new message denies the open question',
    'an answer to the old question gets the decision':
      'again: a new message denies the open question',
    'an answer in the page runs nothing and hinders nothing':
      'again: a page answers what another has typed over, and gets what was decided',
    'answers that were given go along with the new message':
      'flows: an answer that travels with a new message counts before it',
    'a client tool that waits for its answer is never run':
      'again: a tool of the page is never run then',
    'a client tool that no page ran is given up': 'asking: a tool that no page ran is given up',
    'a tool that asks in the middle of its work is ended':
      'again: a tool in the middle of its work is ended then',
    'the answer is sent by hand, and gets what was decided':
      'again: a page answers what another has typed over, and gets what was decided',
    'a text that is being said is broken off': 'again: a text is broken off by a new message',
    'two tabs speak at once, and both are answered':
      'again: two pages speak at once, and both are answered',
  },
  weather: {
    'a server tool runs and its result is shown': 'flows: a tool of the server runs within its run',
    'a Japanese question is understood': otherLanguage,
    'a message that asks for no tool is answered':
      'again: two pages speak at once, and both are answered',
    'one question follows another': 'again: only the last answer is given again',
  },
};
