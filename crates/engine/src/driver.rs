//! What a server does with one chat, without doing it: inputs come in, actions go out.
//!
//! The driver knows no clock, no task and no store. It reads, claims, decides, appends and tries again
//! by asking for one [`Operation`] at a time and being told what came of it ([`Input::Stored`]). What it
//! wants done in the world it says as [`Action`]s, in the order in which they are to be done. The task
//! of a chat ([`crate::actor`]) carries them out with tokio; the crash simulator carries them out with
//! dice.
//!
//! # How to drive it
//!
//! 1. [`Driver::handle`] takes an input, and gives actions.
//! 2. One of them may be [`Action::Store`]. Until [`Input::Stored`] brings its result, no other input
//!    may come: see [`Driver::is_busy`].
//! 3. What may be shown is [`Driver::shown`]; windows are opened as [`Opening`] says.
//!
//! # Layout
//!
//! - `journal`: the chat is read, claimed and appended to; a conflict is a bounded loop.
//! - `commands`: what clients ask for; `work`: what the agent and tools bring.
//! - `running`: which runs of the agent and of tools are listened to.

mod commands;
mod journal;
mod running;
mod work;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use agents::Heard;
use serde_json::Value;
use store::{Appended, Closed, Lease, NewEntry, StoreError};
use turn::agent::{Said, StepRequest};
use turn::call::Outcome;
use turn::gate::Decision;
use turn::input::Ids;
use turn::turn::Recorded;
use turn::{At, CallId, Chat, ChatId, Entry, GateId, Principal, Status, Turn, TurnId};
use view::{Closing, Line, ShownChat};
use wire::Message;

use self::commands::Asking;
use self::journal::Wait;
use self::running::Running;
use self::work::Agent;
use crate::command::{CommandKind, View};
use crate::error::EngineError;
use crate::stream::Speech;
use crate::tools::Tools;
use crate::work::Ask;

/// How often in a row a decision is made again because somebody else wrote to the journal.
pub const CONFLICTS: usize = 16;

/// What the drivers of all chats of a server share.
pub struct Settings {
    /// The tools that the agent may call, and their policies.
    pub tools: Tools,
    /// Whether the agent understands speech.
    pub hears: bool,
    /// How long somebody is asked for an agent that runs its tools by itself and says nothing of it.
    pub approval_timeout: Option<Duration>,
    /// How long a page has for a call that says nothing of it.
    pub client_timeout: Option<Duration>,
    /// The name of this server, where there are others.
    pub server: Option<String>,
    /// How often in a row a decision is made again: [`CONFLICTS`].
    pub conflicts: usize,
    /// Gives ids that nobody had before.
    pub ids: Box<dyn Fn() -> Ids + Send + Sync>,
}

/// Something that reaches a chat.
#[derive(Debug)]
pub enum Input {
    /// Somebody gives a command, and waits for [`Action::Reply`].
    Command {
        /// Who.
        principal: Principal,
        /// What is to be done.
        kind: CommandKind,
    },
    /// A gate's time is up.
    TimedOut {
        /// The gate.
        gate: GateId,
    },
    /// Somebody has to look after the chat: it is read, and taken up.
    Wake,
    /// The chat is another server's now.
    Lost,
    /// Somebody else may have written to the journal.
    Compare,
    /// The server is about to end: the chat is let go as soon as nothing of it is at work.
    Leave,
    /// Nothing has happened for a while: the chat's lease is given back. The driver is done with then.
    Retire,
    /// What the agent said in one go, and whether its stream has ended.
    Agent {
        /// Which of the chat's model calls says it: one that was let go is not heard.
        run: u64,
        /// What.
        said: Vec<Said>,
        /// Whether that is all.
        is_over: bool,
    },
    /// A tool does something.
    Tool {
        /// Which of the chat's runs of tools: one that was let go is not heard.
        run: u64,
        /// The call that it runs for.
        call: CallId,
        /// What it does.
        does: ToolDoes,
    },
    /// A long-running call is done.
    Result {
        /// The call.
        call: CallId,
        /// What came of it.
        outcome: Outcome,
    },
    /// What came of the operation that the driver waits for.
    Stored(Result<Stored, StoreError>),
}

/// What a tool does while it runs.
#[derive(Debug)]
pub enum ToolDoes {
    /// It asks somebody, and waits for [`Action::Decided`], or at the gate of [`Action::Wait`].
    Ask {
        /// The gate, if it was opened before the tool was run again.
        gate: Option<GateId>,
        /// Whom, and what.
        ask: Ask,
    },
    /// It records a step, and waits for [`Action::Recorded`].
    Record {
        /// The step's name.
        name: String,
        /// Its result.
        value: Value,
    },
    /// It shows how far it has come.
    Progress {
        /// An output that is not final.
        output: Value,
    },
    /// It is done.
    Return {
        /// What came of it.
        outcome: Outcome,
    },
}

/// Something to be done in the world.
#[derive(Debug)]
pub enum Action {
    /// Ask the store, and bring what came of it.
    Store(Operation),
    /// Tell whoever gave the command.
    Reply(Result<Reply, EngineError>),
    /// Give the command again once the turn does not run any more: what came with it goes first.
    Postpone(CommandKind),
    /// Tell the tool that asked what was decided.
    Decided(Decision),
    /// Have the tool that asked wait at a gate, in the place of whoever waited there before.
    Wait(GateId),
    /// Tell who waits at a gate what was decided.
    Answer {
        /// The gate.
        gate: GateId,
        /// What was decided.
        decision: Decision,
    },
    /// Tell the tool that its step is recorded.
    Recorded,
    /// Ask the agent for a step. An earlier one is not listened to any more.
    CallModel {
        /// The number under which its words are to be brought.
        run: u64,
        /// What it is asked.
        request: Box<StepRequest>,
    },
    /// Run a tool.
    RunTool(Box<ToolRun>),
    /// End what runs for a call.
    EndTool(CallId),
    /// End the agent's step and all tools; nobody waits at gates any more.
    StopWork,
    /// Bring [`Input::TimedOut`] at a time, unless the gate is closed before.
    SetDeadline {
        /// The gate.
        gate: GateId,
        /// When.
        at: At,
    },
    /// Show something to those who watch just now.
    Signal {
        /// What kind of thing.
        name: String,
        /// What.
        data: Value,
    },
    /// Let the agent hear what somebody says.
    Hear(Heard),
    /// The chat was let go: its windows close.
    LetGo {
        /// The current turn, and all of it that may be shown.
        shown: Option<(TurnId, Vec<Line>)>,
        /// What windows close with, if anything is to be said.
        closing: Option<Closing>,
    },
    /// Bring [`Input::Wake`] in a while: the store failed in the middle of something.
    WakeLater,
    /// Nobody waits to hear of it: it goes into the log.
    Failed(EngineError),
    /// Nothing of the chat is at work any more, and the server leaves.
    Left,
}

/// Something to be asked of the store, for this chat.
#[derive(Debug)]
pub enum Operation {
    /// Its lease.
    Lease,
    /// All its entries.
    Read,
    /// To append an entry behind the last one that was seen.
    Append {
        /// Its place.
        expected: u64,
        /// The entry.
        entry: NewEntry,
    },
    /// To take the lease.
    Hold {
        /// The epoch of this server's claim.
        epoch: u64,
    },
    /// Whether its journal ends elsewhere than at a place.
    Compare {
        /// The place.
        seq: u64,
    },
    /// To forget it.
    Delete,
    /// To end the lease, so that others take the chat up at once.
    GiveBack {
        /// The epoch of this server's claim.
        epoch: u64,
    },
    /// To drop the lease.
    Release,
}

/// What the store answers.
#[derive(Debug)]
pub enum Stored {
    /// To [`Operation::Lease`].
    Lease(Option<Lease>),
    /// To [`Operation::Read`].
    Entries(Vec<Entry>),
    /// To [`Operation::Append`].
    Appended(Appended),
    /// To [`Operation::Hold`]: whether it was to be had.
    Held(bool),
    /// To [`Operation::Compare`]: whether it does.
    Outdated(bool),
    /// To all others.
    Done,
}

/// The reply to a command, before windows are opened.
#[derive(Debug)]
pub enum Reply {
    /// A window is to be opened; none, where there is nothing to see.
    Window(Option<Opening>),
    /// Whether there was a turn to stop.
    Stopped(bool),
    /// The chat as a page shows it.
    View(View),
    /// What an agent's question came to.
    Asked(Asked),
    /// This command closed an approval.
    Closed(Closed),
    /// Whether an output counts: nobody else was first.
    Taken(bool),
    /// It is done, and there is nothing to say of it.
    Done,
}

/// What an agent's question came to.
#[derive(Debug)]
pub enum Asked {
    /// It was decided.
    Decided(Decision),
    /// It waits at a gate, in the place of whoever waited there before.
    Waits(GateId),
    /// Nobody was asked: it is to be asked again.
    Again,
}

/// How a window is to be opened.
#[derive(Debug, Clone)]
pub struct Opening {
    /// The turn.
    pub turn: TurnId,
    /// In which words.
    pub speech: Speech,
    /// Up to where the client has seen the transcript; nothing, if it wants the whole message.
    pub position: Option<usize>,
    /// The message as the client shows it, where that may differ.
    pub seen: Option<Box<Message>>,
}

/// A tool, ready to be run.
#[derive(Debug)]
pub struct ToolRun {
    /// The number under which what it does is to be brought.
    pub run: u64,
    /// The call.
    pub call: CallId,
    /// The tool.
    pub tool: String,
    /// Its input.
    pub input: Value,
    /// Who is speaking.
    pub principal: Principal,
    /// What earlier runs recorded and asked.
    pub recorded: Recorded,
}

/// What the driver is in the middle of.
struct Job {
    task: Task,
    /// Whether somebody else was first.
    has_conflicted: bool,
    /// Whether what was to be written last is written, and when, if there was anything to write.
    wrote: Option<Option<At>>,
}

impl Job {
    fn new(task: Task) -> Self {
        Self {
            task,
            has_conflicted: false,
            wrote: None,
        }
    }
}

/// What is to be done with the chat.
enum Task {
    Command {
        principal: Principal,
        asking: Box<Asking>,
    },
    TimedOut {
        gate: GateId,
    },
    Wake,
    Compare,
    Agent(Agent),
    Tool {
        run: u64,
        call: CallId,
        does: ToolDoes,
        /// The last gate before the tool asked.
        before: Option<Option<GateId>>,
    },
    OpenResults,
    GiveBack,
    Release,
}

/// What a task does next.
#[expect(
    clippy::large_enum_variant,
    reason = "it is looked at at once, and nearly always something to write"
)]
enum Next {
    /// Decides on an input, and makes that durable.
    Write {
        input: turn::Input,
        by: Option<turn::Actor>,
    },
    /// Asks the store for something else.
    Ask(Operation, Wait),
    /// Reads the chat first.
    Load,
    /// Nothing more.
    Done(Result<Reply, EngineError>),
    /// Nothing more before the turn has come to rest.
    Postpone(CommandKind),
}

/// Drives one chat.
pub struct Driver {
    id: ChatId,
    settings: Arc<Settings>,
    /// The chat, while it is at hand.
    chat: Option<ShownChat>,
    /// The turn, by its place, and how much of its transcript may be shown.
    shown: (usize, usize),
    /// Whether this server has the chat's lease.
    is_held: bool,
    running: Running,
    /// Tools that are to be started once whoever is to be answered was.
    due: Vec<ToolRun>,
    /// Results of long-running calls that wait for the turn to end.
    results: VecDeque<(CallId, Outcome)>,
    /// How often in a row somebody else was first.
    conflicts: usize,
    is_leaving: bool,
    /// Whether somebody waits to hear that nothing is at work.
    is_awaited: bool,
    job: Option<Job>,
    wait: Option<Wait>,
    now: At,
    actions: Vec<Action>,
}

impl Driver {
    /// For a chat that nothing is known of yet.
    pub fn new(id: ChatId, settings: Arc<Settings>, is_leaving: bool) -> Self {
        Self {
            id,
            settings,
            chat: None,
            shown: (0, 0),
            is_held: false,
            running: Running::default(),
            due: Vec::new(),
            results: VecDeque::new(),
            conflicts: 0,
            is_leaving,
            is_awaited: false,
            job: None,
            wait: None,
            now: At(0),
            actions: Vec::new(),
        }
    }

    /// Takes an input, and says what is to be done.
    pub fn handle(&mut self, input: Input, now: At) -> Vec<Action> {
        self.now = now;
        match input {
            Input::Stored(stored) => self.stored(stored),
            Input::Lost => {
                self.evict(Some(moved()));
                self.rest();
                self.go_on();
            }
            Input::Leave => {
                (self.is_leaving, self.is_awaited) = (true, true);
                self.rest();
                self.go_on();
            }
            Input::Result { call, outcome } => {
                self.running.later.remove(&call);
                self.results.push_back((call, outcome));
                self.begin(Task::OpenResults);
            }
            Input::Command { principal, kind } => {
                let asking = Box::new(Asking::new(kind));
                self.begin(Task::Command { principal, asking });
            }
            Input::TimedOut { gate } => self.begin(Task::TimedOut { gate }),
            Input::Wake => self.begin(Task::Wake),
            Input::Compare if self.chat.is_none() => {}
            Input::Compare => self.begin(Task::Compare),
            Input::Retire => self.begin(Task::Release),
            Input::Agent { run, said, is_over } => {
                self.begin(Task::Agent(Agent::new(run, said, is_over)));
            }
            Input::Tool { run, call, does } => {
                if let ToolDoes::Return {
                    outcome: Outcome::Pending { .. },
                } = does
                {
                    self.running.later.insert(call.clone());
                }
                self.begin(Task::Tool {
                    run,
                    call,
                    does,
                    before: None,
                });
            }
        }
        std::mem::take(&mut self.actions)
    }

    /// Whether the driver waits for the store: no input but its answer may come.
    pub fn is_busy(&self) -> bool {
        self.wait.is_some()
    }

    /// Whether nothing of the chat goes on here.
    pub fn is_idle(&self) -> bool {
        // Cheap questions first: this is asked after every word.
        if !self.running.is_quiet() || self.is_busy() || !self.results.is_empty() {
            return false;
        }
        let turn = self.chat.as_deref().and_then(Chat::current);
        // Who asks for a tool at the agent waits for as long as the agent is listened to.
        !turn.is_some_and(|turn| {
            turn.status() == Status::Running || turn.is_asked_within_own_calls()
        })
    }

    /// Whether the chat's turn runs, as far as is known here.
    pub fn is_running(&self) -> bool {
        let chat = self.chat.as_deref();
        chat.and_then(Chat::status) == Some(Status::Running)
    }

    /// The chat, while it is at hand.
    pub fn chat(&self) -> Option<&ShownChat> {
        self.chat.as_ref()
    }

    /// How many bytes the chat takes, by estimate.
    pub fn weight(&self) -> usize {
        self.chat.as_ref().map_or(0, ShownChat::weight)
    }

    /// The epoch of this server's claim and how far it has seen the journal, while it has the lease.
    pub fn held(&self) -> Option<(u64, u64)> {
        let chat = self.chat.as_ref().filter(|_| self.is_held)?;
        Some((chat.epoch(), chat.seq()))
    }

    /// The current turn, its message, and what of it may be shown: what is decided and not stored yet
    /// may not.
    pub fn shown(&self) -> Option<(&TurnId, &str, &[Line])> {
        let chat = self.chat.as_ref()?;
        let (place, lines) = self.shown;
        let is_current = place + 1 == chat.turns().len();
        let shown = match is_current {
            true => chat.current_transcript(),
            false => chat.transcript(chat.turns().nth(place)?.id()),
        }?;
        let lines = shown.lines().get(..lines)?;
        Some((shown.turn(), shown.message_id(), lines))
    }

    /// Keeps of a turn that is over what those need who come to it later. Says whether there was
    /// anything to do: windows that are open read on in what they have.
    pub fn compact(&mut self) -> bool {
        let is_compacted = self.job.is_none() && self.chat.as_mut().is_some_and(ShownChat::compact);
        if is_compacted {
            self.show();
        }
        is_compacted
    }

    /// From now on, all that was said may be shown.
    fn show(&mut self) {
        if let Some(chat) = &self.chat {
            let lines = chat
                .current_transcript()
                .map_or(0, |shown| shown.lines().len());
            self.shown = (chat.turns().len().saturating_sub(1), lines);
        }
    }

    fn begin(&mut self, task: Task) {
        debug_assert!(self.job.is_none(), "one thing after the other");
        self.job = Some(Job::new(task));
        self.go_on();
    }

    /// Goes on with what is to be done, until the store is needed or nothing is left.
    fn go_on(&mut self) {
        while let Some(mut job) = self.job.take() {
            if self.chat.is_none() && self.is_needed_for(&job) {
                match self.load() {
                    Ok(()) => {
                        self.job = Some(job);
                        return;
                    }
                    Err(error) => {
                        self.finish(&job, Err(error));
                        continue;
                    }
                }
            }
            match self.next(&mut job) {
                Next::Write { input, by } => {
                    self.job = Some(job);
                    if self.write(input, by) {
                        return;
                    }
                }
                Next::Ask(operation, wait) => {
                    self.job = Some(job);
                    self.ask(operation, wait);
                    return;
                }
                Next::Load => self.job = Some(job),
                Next::Done(done) => self.finish(&job, done),
                Next::Postpone(kind) => {
                    self.actions.push(Action::Postpone(kind));
                    self.rest();
                }
            }
        }
    }

    /// Whether a job can't go on without the chat.
    fn is_needed_for(&self, job: &Job) -> bool {
        match &job.task {
            Task::Command { asking, .. } => job.has_conflicted || !self.may_open_unread(asking),
            // What the agent and tools bring to a chat that was let go is not heard; but where it was
            // let go over that, somebody has to go on with it.
            Task::Agent(_) | Task::Tool { .. } => job.has_conflicted,
            Task::OpenResults => !self.results.is_empty(),
            Task::TimedOut { .. } | Task::Wake | Task::Compare => true,
            Task::GiveBack | Task::Release => false,
        }
    }

    fn next(&mut self, job: &mut Job) -> Next {
        let wrote = job.wrote.take();
        match &mut job.task {
            Task::Command { principal, asking } => self.obey(principal, asking, wrote),
            Task::TimedOut { gate } => match wrote {
                Some(_) => Next::done(),
                None => Next::Write {
                    input: turn::Input::TimedOut { gate: gate.clone() },
                    by: None,
                },
            },
            Task::Wake => Next::done(),
            Task::Compare => match wrote {
                Some(_) => Next::done(),
                None => self.compare(),
            },
            Task::Agent(agent) => self.agent_says(agent),
            Task::Tool {
                run,
                call,
                does,
                before,
            } => self.tool_does(*run, call, does, before, wrote),
            Task::OpenResults => self.open_result(wrote.is_some()),
            Task::GiveBack | Task::Release if wrote.is_some() => Next::done(),
            Task::GiveBack => self.give_back(),
            Task::Release => match std::mem::take(&mut self.is_held) {
                true => Next::Ask(Operation::Release, Wait::Other),
                false => Next::done(),
            },
        }
    }

    /// Whoever gave a command is told what came of it; then what waited for this to end goes on.
    fn finish(&mut self, job: &Job, done: Result<Reply, EngineError>) {
        match &job.task {
            Task::Command { .. } => self.actions.push(Action::Reply(done)),
            Task::OpenResults => {
                // Whoever has the chat now has called them unknown.
                if let Err(EngineError::Elsewhere(_)) = done {
                    self.results.clear();
                }
                self.note(done);
                return self.rest();
            }
            // If it can't be given back, it expires.
            Task::GiveBack => self.actions.push(Action::Left),
            Task::Release => {}
            _ => self.note(done),
        }
        match self.results.is_empty() || matches!(job.task, Task::Release | Task::GiveBack) {
            true => self.rest(),
            false => self.job = Some(Job::new(Task::OpenResults)),
        }
    }

    /// Nothing is to be done for now. Tools start only here, since who waits for an answer goes first.
    fn rest(&mut self) {
        let due = std::mem::take(&mut self.due);
        let due = due.into_iter().map(|due| Action::RunTool(Box::new(due)));
        self.actions.extend(due);
        if self.is_awaited && !self.is_at_work() {
            self.is_awaited = false;
            match self.is_held {
                true => self.job = Some(Job::new(Task::GiveBack)),
                false => {
                    self.evict(Some(moved()));
                    self.actions.push(Action::Left);
                }
            }
        }
    }

    /// What nobody waits to hear is at least written down, and tried again where that may help.
    fn note(&mut self, done: Result<Reply, EngineError>) {
        match done {
            Ok(_) => {}
            // Whoever has it, or takes it up, goes on with it.
            Err(EngineError::Elsewhere(_)) => {}
            Err(EngineError::Closed) if self.is_leaving => {}
            Err(error) => {
                if matches!(error, EngineError::Store(_)) {
                    self.actions.push(Action::WakeLater);
                }
                self.actions.push(Action::Failed(error));
            }
        }
    }

    /// Whether something would be lost if the server ended now. A tool that waits for an answer is run
    /// again when it comes; and a step is run again where another server can do that at once.
    fn is_at_work(&self) -> bool {
        let turn = self.chat.as_deref().and_then(Chat::current);
        let are_tools_running =
            !self.running.tools.is_empty() || turn.is_some_and(Turn::has_own_calls_at_work);
        let is_tool_at_work = self.is_running() && are_tools_running;
        let is_alone = self.settings.server.is_none();
        is_tool_at_work || !self.running.later.is_empty() || is_alone && self.running.is_speaking
    }
}

impl Next {
    fn done() -> Self {
        Self::Done(Ok(Reply::Done))
    }
}

/// Why windows close whose chat goes on in another server: their clients come back.
pub(crate) fn moved() -> Closing {
    Closing::failed("moved", "The chat goes on elsewhere; come back to it.")
}
