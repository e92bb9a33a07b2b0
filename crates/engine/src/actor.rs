//! The task of one chat: it brings its [`Driver`] what happens, in order, and carries out what that
//! wants done.

mod tasks;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use store::StoreError;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tools::Fence;
use tools::work::{Work, WorkReceiver, WorkSender};
use turn::gate::Decision;
use turn::{ChatId, Event, GateId, Principal};

use self::tasks::Tasks;
use crate::command::{CommandKind, Deciding, Reply};
use crate::driver;
use crate::driver::{Action, Driver, Input, Operation, QuestionState, Stored, ToolDoes};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::origin::{self, Origin};
use crate::windows::Windows;

/// Idle timeout of an agent's conversation while a viewer is connected.
const CONVERSATION_IDLE: Duration = Duration::from_secs(600);

/// Idle timeout of the task of an unknown chat. Not zero, because a caller may still hold a sender.
const UNKNOWN_CHAT_IDLE: Duration = Duration::from_millis(1);

/// How long a tool may take to have an earlier run refused. The turn waits for it.
const FENCE_TIME_LIMIT: Duration = Duration::from_secs(5);

/// How many commands may wait for a turn to come to rest.
const POSTPONED: usize = 16;

/// Something that is delivered to the task of a chat.
pub(crate) enum Message {
    /// A command, and who waits for its reply.
    Command {
        principal: Principal,
        kind: CommandKind,
        origin: Origin,
        reply: ReplySender,
    },
    /// Something that nobody waits for.
    Input(Input),
    /// Others need the memory: the chat is evicted, if nothing happens to it.
    Evict,
    /// The server leaves. What is sent is dropped once nothing of the chat is at work.
    Leave { done: oneshot::Sender<()> },
}

pub(crate) type ReplySender = oneshot::Sender<Result<Reply, EngineError>>;

/// Who waits for what comes of an input.
enum Waiting {
    Nobody,
    Client {
        principal: Principal,
        origin: Origin,
        reply: ReplySender,
    },
    Answer(oneshot::Sender<Decision>),
    Record(oneshot::Sender<()>),
}

/// A command, and who waits for its reply.
struct Given {
    principal: Principal,
    kind: CommandKind,
    origin: Origin,
    reply: ReplySender,
}

/// Starts the task of a chat.
pub(crate) fn start(engine: Engine, id: ChatId) -> mpsc::Sender<Box<Message>> {
    let (sender, messages) = mpsc::channel(64);
    let (work_sender, work) = WorkSender::new(16);
    let settings = engine.shared.settings.clone();
    let actor = Actor {
        driver: Driver::new(id.clone(), settings, engine.is_leaving()),
        tasks: Tasks::new(engine.clone(), id.clone(), work_sender),
        windows: Windows::default(),
        gates: HashSet::new(),
        request_id: None,
        postponed: Vec::new(),
        leaving: None,
        is_resting: false,
        is_evicted: false,
        engine,
        id,
    };
    tokio::spawn(actor.run(messages, work));
    sender
}

struct Actor {
    engine: Engine,
    id: ChatId,
    driver: Driver,
    windows: Windows,
    tasks: Tasks,
    /// The gates that were opened here.
    gates: HashSet<GateId>,
    /// The request that last set something going, as the log names it.
    request_id: Option<Arc<str>>,
    /// Commands that wait for the turn to come to rest.
    postponed: Vec<Given>,
    /// Where the server leaves, and waits for what is at work: dropped when nothing is.
    leaving: Option<oneshot::Sender<()>>,
    /// Whether it counts among those that nothing happens to.
    is_resting: bool,
    /// Whether others need its memory.
    is_evicted: bool,
}

impl Actor {
    async fn run(mut self, mut messages: mpsc::Receiver<Box<Message>>, mut work: WorkReceiver) {
        let mut active = Instant::now();
        loop {
            let is_idle = self.is_idle();
            self.note_rest(is_idle);
            let time_limit = is_idle.then(|| self.time_limit());
            let idle = async {
                match time_limit {
                    Some(time_limit) => tokio::time::sleep(time_limit).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                message = messages.recv() => match message {
                    // Boxed: most chats wait most of the time, and need no room for it then.
                    Some(message) => Box::pin(self.receive(*message)).await,
                    None => return,
                },
                Some(work) = work.recv() => Box::pin(self.work(*work)).await,
                (run, events, is_over) = self.tasks.next_events(), if self.tasks.is_streaming() => {
                    let input = Input::Agent { run, events, is_over };
                    let actions = self.driver.handle(input, self.engine.now());
                    self.windows.publish(&self.driver);
                    // Deltas have no actions: nothing else has to be checked.
                    if actions.is_empty() {
                        continue;
                    }
                    Box::pin(self.carry_out_all(actions, Waiting::Nobody)).await;
                }
                () = idle => {
                    let is_kept = self.tasks.is_conversing()
                        && self.engine.has_viewer(&self.id)
                        && active.elapsed() < CONVERSATION_IDLE;
                    if !is_kept && self.engine.retire(&self.id, &messages) {
                        break;
                    }
                    continue;
                }
            }
            active = Instant::now();
            if !self.postponed.is_empty() {
                Box::pin(self.take_postponed()).await;
            }
            self.windows.compact(&mut self.driver);
        }
        // A caller that got the sender before the task retired is served all the same.
        messages.close();
        while let Some(message) = messages.recv().await {
            Box::pin(self.receive(*message)).await;
        }
        self.engine.shared.resting.remove(&self.id);
        self.forget_gates();
        self.drive(Input::Retire, Waiting::Nobody).await;
    }

    /// A chat that is not there is not worth a task.
    fn time_limit(&self) -> Duration {
        let is_there = self.driver.chat().is_some_and(|chat| chat.seq() > 0);
        match is_there && !self.is_evicted {
            true => self.engine.shared.idle,
            false => UNKNOWN_CHAT_IDLE,
        }
    }

    /// Counts the chat among those that nothing happens to, or not.
    fn note_rest(&mut self, is_idle: bool) {
        if self.is_resting == is_idle {
            return;
        }
        self.is_resting = is_idle;
        match is_idle {
            true => self.engine.rest(&self.id, self.driver.weight()),
            false => self.engine.shared.resting.remove(&self.id),
        }
    }

    fn is_idle(&self) -> bool {
        self.driver.is_idle() && self.postponed.is_empty() && !self.windows.has_waiting()
    }

    async fn receive(&mut self, message: Message) {
        match message {
            Message::Command {
                principal,
                kind,
                origin,
                reply,
            } => {
                let command = Given {
                    principal,
                    kind,
                    origin,
                    reply,
                };
                self.command(command).await;
            }
            Message::Input(input) => self.drive(input, Waiting::Nobody).await,
            Message::Evict => self.is_evicted = true,
            Message::Leave { done } => {
                self.leaving = Some(done);
                self.drive(Input::Leave, Waiting::Nobody).await;
            }
        }
    }

    async fn command(&mut self, command: Given) {
        let Given {
            principal,
            kind,
            origin,
            reply,
        } = command;
        if !kind.is_read() {
            self.request_id.clone_from(&origin.request_id);
        }
        // A chat that is used again counts as the most recently used when it rests.
        self.is_evicted = false;
        self.note_rest(false);
        let input = Input::Command {
            principal: principal.clone(),
            kind,
            trace: origin.trace.clone(),
        };
        let client = Waiting::Client {
            principal,
            origin,
            reply,
        };
        self.drive(input, client).await;
    }

    /// Gives commands again that waited for the turn to come to rest.
    async fn take_postponed(&mut self) {
        let count = self.postponed.len();
        for command in self.postponed.drain(..count).collect::<Vec<_>>() {
            match self.driver.is_running() {
                true => self.postponed.push(command),
                false => self.command(command).await,
            }
        }
    }

    async fn work(&mut self, work: Work) {
        let (input, waiting) = match work {
            Work::Tool { run, call, does } => {
                if let ToolDoes::Return { .. } = does {
                    self.tasks.returned(&call, run);
                }
                (Input::Tool { run, call, does }, Waiting::Nobody)
            }
            Work::Ask {
                run,
                call,
                gate,
                ask,
                answer,
            } => {
                let does = ToolDoes::Ask { gate, ask };
                (Input::Tool { run, call, does }, Waiting::Answer(answer))
            }
            Work::Record {
                run,
                call,
                name,
                value,
                done,
            } => {
                let does = ToolDoes::Record { name, value };
                (Input::Tool { run, call, does }, Waiting::Record(done))
            }
            Work::Result { call, outcome } => (Input::Result { call, outcome }, Waiting::Nobody),
        };
        self.drive(input, waiting).await;
    }

    /// Brings the driver an input, and carries out all that follows.
    async fn drive(&mut self, input: Input, waiting: Waiting) {
        let actions = self.driver.handle(input, self.engine.now());
        self.windows.publish(&self.driver);
        self.carry_out_all(actions, waiting).await;
    }

    async fn carry_out_all(&mut self, mut actions: Vec<Action>, mut waiting: Waiting) {
        loop {
            let mut operation = None;
            for action in actions {
                match action {
                    Action::Store(asked) => operation = Some(asked),
                    Action::RaiseFence { tools, fence } => self.raise_fence(tools, &fence).await,
                    action => waiting = self.carry_out(action, waiting),
                }
            }
            if self.engine.shared.replica.is_some() {
                self.engine.shared.leased.set(&self.id, self.driver.held());
            }
            let Some(operation) = operation else { return };
            let stored = self.ask_store(operation).await;
            actions = self.driver.handle(Input::Stored(stored), self.engine.now());
            self.windows.publish(&self.driver);
        }
    }

    /// Has tools refuse what an earlier owner of the chat still does.
    async fn raise_fence(&mut self, tools: Vec<String>, fence: &Fence) {
        for name in tools {
            let tool = self.engine.shared.settings.tools.get(&name);
            let Some(taken_over) = tool.and_then(|tool| tool.taken_over()) else {
                continue;
            };
            // In a task of its own: a panic of the tool's is not this chat's.
            let raised = tokio::spawn(taken_over(fence.clone()));
            let problem = match tokio::time::timeout(FENCE_TIME_LIMIT, raised).await {
                Ok(Ok(Ok(()))) => continue,
                Ok(Ok(Err(error))) => error.to_string(),
                Ok(Err(error)) => error.to_string(),
                Err(error) => error.to_string(),
            };
            tracing::warn!(chat = %self.id, tool = name, problem, "an earlier run could not be fenced off");
        }
    }

    /// Carries an action out, and says who still waits.
    fn carry_out(&mut self, action: Action, waiting: Waiting) -> Waiting {
        match (action, waiting) {
            // Nobody need get the answer: the client may have left, and the tool may have ended.
            (Action::Reply(done), Waiting::Client { reply, .. }) => {
                let done = done.and_then(|done| self.reply(done));
                let _ = reply.send(done);
                Waiting::Nobody
            }
            (
                Action::Postpone(kind),
                Waiting::Client {
                    principal,
                    origin,
                    reply,
                },
            ) => {
                match self.postponed.len() < POSTPONED {
                    true => self.postponed.push(Given {
                        principal,
                        kind,
                        origin,
                        reply,
                    }),
                    false => drop(reply.send(Err(EngineError::Conflict))),
                }
                Waiting::Nobody
            }
            (Action::Decided(decision), Waiting::Answer(answer)) => {
                let _ = answer.send(decision);
                Waiting::Nobody
            }
            (Action::Wait(gate), Waiting::Answer(answer)) => {
                self.tasks.wait(gate, answer);
                Waiting::Nobody
            }
            (Action::Recorded, Waiting::Record(done)) => {
                let _ = done.send(());
                Waiting::Nobody
            }
            (action, waiting) => {
                self.carry_out_unasked(action);
                waiting
            }
        }
    }

    /// Carries an action out that nobody waits for.
    fn carry_out_unasked(&mut self, action: Action) {
        match action {
            Action::Answer { gate, decision } => self.tasks.answer(&gate, decision),
            Action::CallModel { run, request } => self.tasks.call_model(run, *request),
            Action::RunTool(run) => self.tasks.run_tool(*run),
            Action::EndTool(call) => self.tasks.end(&call),
            Action::StopWork => self.tasks.stop(),
            Action::SetDeadline { gate, at } => {
                self.gates.insert(gate.clone());
                self.engine.set_deadline(&self.id, gate, at);
            }
            Action::Signal { name, data } => self.windows.signal(name, data),
            Action::PushAudio(audio) => self.tasks.push_audio(audio),
            Action::Evicted { shown, closing } => {
                self.windows.close(shown, closing);
                for gate in &self.gates {
                    self.engine.shared.deadlines.cancel(gate);
                }
                self.forget_gates();
            }
            Action::WakeLater => self.engine.shared.retries.add(&self.id),
            Action::Failed(error) => {
                tracing::error!(chat = %self.id, %error, "chat actor failed");
            }
            Action::Left => self.leaving = None,
            // These two are awaited elsewhere, and who waited for the others has left.
            Action::Store(_)
            | Action::RaiseFence { .. }
            | Action::Reply(_)
            | Action::Postpone(_)
            | Action::Decided(_)
            | Action::Wait(_)
            | Action::Recorded => {}
        }
    }

    /// A reply, with its window if it has one.
    fn reply(&mut self, reply: driver::Reply) -> Result<Reply, EngineError> {
        Ok(match reply {
            driver::Reply::Window(None) => Reply::Window(None),
            driver::Reply::Window(Some(opening)) => {
                let window = self.windows.open(&self.driver, &opening);
                Reply::Window(Some(window.ok_or(EngineError::UnknownChat)?))
            }
            driver::Reply::Stopped(was_open) => Reply::Stopped(was_open),
            driver::Reply::View(view) => Reply::View(view),
            driver::Reply::Asked(QuestionState::Decided(decision)) => {
                Reply::Asked(Deciding::Decided(decision))
            }
            driver::Reply::Asked(asked) => {
                let (answer, decided) = oneshot::channel();
                if let QuestionState::Waits(gate) = asked {
                    self.tasks.wait(gate, answer);
                }
                Reply::Asked(Deciding::Open(decided))
            }
            driver::Reply::Closed(closed) => Reply::Closed(closed),
            driver::Reply::Taken(taken) => Reply::Taken(taken),
            driver::Reply::Done => Reply::Done,
        })
    }

    async fn ask_store(&mut self, operation: Operation) -> Result<Stored, StoreError> {
        if let Operation::Append { entry, .. } = &operation {
            self.note_gates(&entry.events);
        }
        let shared = &self.engine.shared;
        let journal = &shared.journal;
        let id = std::slice::from_ref(&self.id);
        Ok(match operation {
            Operation::Lease => Stored::Lease(journal.lease(&self.id).await?),
            Operation::Read => Stored::Entries(journal.read(&self.id, 0).await?),
            Operation::Append { expected, entry } => {
                let append = journal.append(&self.id, expected, entry);
                // Who observes the journal learns which request it is for.
                let origin = Origin {
                    request_id: self.request_id.clone(),
                    trace: self.driver.trace(),
                    turn_trace: self.driver.turn_trace(),
                };
                Stored::Appended(origin::scope(origin, append).await?)
            }
            Operation::Compare { seq } => {
                let seen = [(self.id.clone(), seq)];
                Stored::Outdated(!journal.outdated(&seen).await?.is_empty())
            }
            Operation::Delete => {
                journal
                    .delete_for_good(&self.id, shared.clock.now())
                    .await?;
                Stored::Done
            }
            Operation::Hold { epoch } => {
                let Some(replica) = &shared.replica else {
                    return Ok(Stored::Held(true));
                };
                let chats = [(self.id.clone(), epoch)];
                let refused = journal.hold(&replica.holder, &chats, replica.lease).await?;
                Stored::Held(refused.is_empty())
            }
            Operation::GiveBack { epoch } => {
                self.engine.give_back(&[(self.id.clone(), epoch)]).await?;
                Stored::Done
            }
            Operation::Release => {
                if let Some(replica) = &shared.replica {
                    journal.release(&replica.holder.owner, id).await?;
                }
                Stored::Done
            }
        })
    }

    /// Notes which gates are opened and closed by what is about to be stored. Should it not be stored,
    /// the chat is evicted, and read again.
    fn note_gates(&mut self, events: &[Event]) {
        let shared = &self.engine.shared;
        for event in events {
            match event {
                Event::GateOpened { gate, .. } if gate.is_question() => {
                    self.gates.insert(gate.id.clone());
                    shared.approvals.add(&gate.id, &self.id);
                }
                Event::GateClosed { gate, .. } => {
                    self.gates.remove(gate);
                    shared.approvals.remove(gate);
                    shared.deadlines.cancel(gate);
                }
                _ => {}
            }
        }
    }

    fn forget_gates(&mut self) {
        for gate in self.gates.drain() {
            self.engine.shared.approvals.remove(&gate);
        }
    }
}
