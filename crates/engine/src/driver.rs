//! The state machine of one chat, without I/O: inputs come in, actions go out.
//!
//! The driver knows no clock, no task and no store. To read, claim, append and try again, it asks for one
//! [`Operation`] at a time, keeps in its state what it waits for, and gets the result
//! ([`Input::Stored`]). What it wants done in the world it says as [`Action`]s, in the order in which
//! they are to be done. The task of a chat ([`crate::actor`]) carries them out with tokio; the crash
//! simulator carries them out with dice.
//!
//! # How to drive it
//!
//! 1. [`Driver::handle`] takes an input, and gives actions.
//! 2. One of them may be [`Action::Store`]. Until [`Input::Stored`] brings its result, no other input
//!    may come: see [`Driver::is_busy`].
//! 3. [`Action::Postpone`] gives a command back, for when the turn does not run any more
//!    ([`Driver::is_running`]).
//! 4. What may be shown is [`Driver::shown`]; windows are opened as [`Opening`] says.
//!
//! # Layout
//!
//! - `input`, `action`, `operation`, `reply`: what goes in and comes out; `job`: what is being done.
//! - `journal`: the chat is read, claimed and appended to; a conflict is a bounded loop.
//! - `commands`: what clients ask for; `sending` and `answering` are two of them, and `agent_question`
//!   comes from the agent's side; `work`: what the agent and tools bring.
//! - `running`: which runs of the agent and of tools are listened to.

mod action;
mod agent_question;
mod answering;
mod commands;
mod input;
mod job;
mod journal;
mod operation;
mod reply;
mod running;
mod sending;
mod work;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tools::Tools;
pub use tools::work::{Ask, ToolDoes};
use turn::call::Outcome;
use turn::input::Ids;
use turn::{At, CallId, Chat, ChatId, Status, TraceContext, Turn, TurnId};
use view::{Closing, Line, ShownChat};

pub use self::action::{Action, ToolRun};
use self::commands::CommandState;
pub use self::input::Input;
use self::job::{Job, Next, Task};
use self::journal::{To, Wait};
pub use self::operation::{Operation, Stored};
pub use self::reply::{Numbering, Opening, QuestionState, Reply};
use self::running::Running;
use self::work::Agent;
use crate::error::EngineError;

/// How often in a row a decision is made again because somebody else wrote to the journal.
pub const CONFLICTS: usize = 16;

/// What the drivers of all chats of a server share.
pub struct Settings {
    /// The tools that the agent may call, and their policies.
    pub tools: Tools,
    /// Whether the agent understands speech.
    pub supports_audio: bool,
    /// Whether the agent takes messages between the steps of a turn.
    pub takes_injections: bool,
    /// Default timeout for questions from agents that run their own tools, and for approvals of tools
    /// without a timeout of their own.
    pub approval_timeout: Option<Duration>,
    /// Default timeout for calls that a page runs.
    pub client_timeout: Option<Duration>,
    /// The name of this server, where there are others.
    pub server: Option<String>,
    /// How often in a row a decision is made again: [`CONFLICTS`].
    pub conflicts: usize,
    /// Generates unique ids.
    pub ids: Box<dyn Fn() -> Ids + Send + Sync>,
}

/// What may be shown of a turn.
#[derive(Debug, Clone, Copy)]
pub struct Shown<'a> {
    /// Its place among all turns of the chat.
    pub place: usize,
    /// The turn.
    pub turn: &'a TurnId,
    /// The id of its message.
    pub message_id: &'a str,
    /// What it has said.
    pub lines: &'a [Line],
}

/// Drives one chat.
pub struct Driver {
    id: ChatId,
    settings: Arc<Settings>,
    /// The chat, while it is at hand.
    chat: Option<ShownChat>,
    /// Turn index and visible transcript length.
    shown: (usize, usize),
    /// Whether this server has the chat's lease.
    is_held: bool,
    running: Running,
    /// Tools that are to be started once the reply was sent.
    due: Vec<ToolRun>,
    /// Results of long-running calls that wait for the turn to end.
    results: VecDeque<(CallId, Outcome)>,
    /// Outcomes of calls that could not be stored yet. They are stored before anything else is done.
    unstored: VecDeque<(CallId, Outcome)>,
    /// How often in a row somebody else was first.
    conflicts: usize,
    is_leaving: bool,
    /// Whether a caller waits until nothing is at work.
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
            unstored: VecDeque::new(),
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
                self.evict(Some(handover_notice()));
                self.rest();
                self.advance();
            }
            Input::Leave => {
                (self.is_leaving, self.is_awaited) = (true, true);
                self.rest();
                self.advance();
            }
            Input::Result { call, outcome } => {
                self.running.later.remove(&call);
                self.results.push_back((call, outcome));
                self.begin(Task::OpenResults);
            }
            Input::Command {
                principal,
                kind,
                trace,
            } => {
                let state = Box::new(CommandState::new(&principal, kind));
                let job = Job::new(Task::Command { principal, state });
                self.begin_job(Job { trace, ..job });
            }
            Input::TimedOut { gate } => self.begin(Task::TimedOut { gate }),
            Input::Wake => self.begin(Task::Wake),
            Input::Compare if self.chat.is_none() => {}
            Input::Compare => self.begin(Task::Compare),
            Input::Retire => self.begin(Task::Release),
            Input::Agent {
                run,
                events,
                is_over,
            } => {
                let mut agent = Agent::new(run, events, is_over);
                if !self.push_deltas(&mut agent) {
                    self.begin(Task::Agent(agent));
                }
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

    /// Whether nothing of the chat runs here.
    pub fn is_idle(&self) -> bool {
        // Cheap checks first: this is called after every delta.
        if !self.running.is_quiet()
            || self.is_busy()
            || !self.results.is_empty()
            || !self.unstored.is_empty()
        {
            return false;
        }
        let turn = self.chat.as_deref().and_then(Chat::current);
        // A tool at the agent that asks waits for as long as the agent is listened to.
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

    /// What may be shown of the current turn: what is decided and not stored yet may not.
    pub fn shown(&self) -> Option<Shown<'_>> {
        let chat = self.chat.as_ref()?;
        let (place, lines) = self.shown;
        let is_current = chat.current_place() == Some(place);
        let shown = match is_current {
            true => chat.current_transcript(),
            false => chat.transcript(chat.turns().nth(place)?.id()),
        }?;
        Some(Shown {
            place,
            turn: shown.turn(),
            message_id: shown.message_id(),
            lines: shown.lines().get(..lines)?,
        })
    }

    /// The tools of the current turn: those of all turns, and those that its page declared.
    fn tools(&self) -> Cow<'_, Tools> {
        let declared = self.chat.as_deref().map_or(&[][..], Chat::page_tools);
        self.settings.tools.in_turn(declared)
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
            self.shown = (chat.current_place().unwrap_or_default(), lines);
        }
    }

    fn begin(&mut self, task: Task) {
        self.begin_job(Job::new(task));
    }

    fn begin_job(&mut self, job: Job) {
        debug_assert!(self.job.is_none(), "one thing after the other");
        self.job = Some(job);
        self.advance();
    }

    /// Where the request that is carried out belongs in a distributed trace, if it is traced.
    pub fn trace(&self) -> Option<TraceContext> {
        self.job.as_ref()?.trace.clone()
    }

    /// Where the current turn belongs in a distributed trace, if it is traced.
    pub fn turn_trace(&self) -> Option<TraceContext> {
        self.chat.as_ref()?.current()?.trace()
    }

    /// Goes on with what is to be done, until the store is needed or nothing is left.
    fn advance(&mut self) {
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
            if self.chat.is_some()
                && let Some((call, outcome)) = self.unstored.front().cloned()
            {
                self.job = Some(job);
                let input = turn::Input::ToolDone { call, outcome };
                if self.decide(input, None, To::Unstored) {
                    return;
                }
                continue;
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

    /// Whether a job needs the chat.
    fn is_needed_for(&self, job: &Job) -> bool {
        match &job.task {
            Task::Command { state, .. } => job.has_conflicted || !self.may_open_unread(state),
            // What the agent and tools bring to a chat that was evicted is dropped; but where it was
            // evicted over that, it has to be read again and continued. And tools may go on while the
            // store is away.
            Task::Agent(_) => job.has_conflicted,
            Task::Tool {
                run, call, does, ..
            } => {
                let is_shown_only = matches!(does, ToolDoes::Progress { .. });
                job.has_conflicted || !is_shown_only && self.running.is_current_tool(call, *run)
            }
            Task::OpenResults => !self.results.is_empty(),
            Task::TimedOut { .. } | Task::Wake | Task::Compare => true,
            Task::GiveBack | Task::Release => false,
        }
    }

    fn next(&mut self, job: &mut Job) -> Next {
        let wrote = job.wrote.take();
        match &mut job.task {
            Task::Command { principal, state } => self.run_command(principal, state, wrote),
            Task::TimedOut { gate } => match wrote {
                Some(_) => Next::done(),
                None => Next::Write {
                    input: turn::Input::TimedOut { gate: gate.clone() },
                    by: None,
                },
            },
            // The store has it as a turn that runs. What was read from a store that lagged may not.
            Task::Wake => match wrote {
                None if !self.is_running() => self.compare(),
                _ => Next::done(),
            },
            Task::Compare => match wrote {
                Some(_) => Next::done(),
                None => self.compare(),
            },
            Task::Agent(agent) => self.handle_events(agent),
            Task::Tool {
                run,
                call,
                does,
                before,
            } => self.handle_tool(*run, call, does, before, wrote),
            Task::OpenResults => self.open_result(wrote.is_some()),
            Task::GiveBack | Task::Release if wrote.is_some() => Next::done(),
            Task::GiveBack => self.give_back(),
            Task::Release => match std::mem::take(&mut self.is_held) {
                true => Next::Ask(Operation::Release, Wait::Other),
                false => Next::done(),
            },
        }
    }

    /// Sends the reply to a command, and then starts the tools that waited for it.
    fn finish(&mut self, job: &Job, done: Result<Reply, EngineError>) {
        match &job.task {
            Task::Command { .. } => self.actions.push(Action::Reply(done)),
            Task::OpenResults => {
                // The server that has the chat now has called them unknown.
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
                    self.evict(Some(handover_notice()));
                    self.actions.push(Action::Left);
                }
            }
        }
    }

    /// Logs an error for which no caller waits, and tries again if that may help.
    fn note(&mut self, done: Result<Reply, EngineError>) {
        match done {
            Ok(_) => {}
            // The server that owns it, or takes it over, continues it.
            Err(EngineError::Elsewhere(_)) => {}
            Err(EngineError::Closed) if self.is_leaving => {}
            Err(error) => {
                if matches!(error, EngineError::Store(_)) || !self.unstored.is_empty() {
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
        // Without the chat, while the store is away, tools go on all the same.
        let is_tool_at_work = are_tools_running && (self.chat.is_none() || self.is_running());
        let has_results = !self.running.later.is_empty() || !self.unstored.is_empty();
        let is_alone = self.settings.server.is_none();
        is_tool_at_work || has_results || is_alone && self.running.is_speaking
    }
}

/// Why windows close whose chat continues on another server: their clients reconnect.
pub(crate) fn handover_notice() -> Closing {
    Closing::failed(
        "handed_over",
        "The chat continues on another server; resume it.",
    )
}
