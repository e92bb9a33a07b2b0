//! The task of one chat: it brings its [`Driver`] what happens, in order, and carries out what that
//! wants done.

mod actions;
mod mail;
mod storing;
mod tasks;

use std::collections::HashSet;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tools::work::{Work, WorkReceiver, WorkSender};
use turn::gate::Decision;
use turn::{ChatId, GateId, Principal};

use self::mail::MailWaker;
use self::tasks::{Events, Tasks};
use crate::command::{CommandKind, Reply};
use crate::driver::{Action, Driver, Input, ToolDoes};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::origin::Origin;
use crate::windows::Windows;

/// Idle timeout of an agent's conversation while a viewer is connected.
const CONVERSATION_IDLE: Duration = Duration::from_secs(600);

/// Idle timeout of the task of an unknown chat. Not zero, because a caller may still hold a sender.
const UNKNOWN_CHAT_IDLE: Duration = Duration::from_millis(1);

/// How many batches of an agent are shown before others have their turn.
const BATCHES: usize = 4;

/// Something that is delivered to the task of a chat.
pub(crate) enum Message {
    /// A command, and who waits for its reply.
    Command {
        principal: Principal,
        kind: CommandKind,
        origin: Origin,
        reply: ReplySender,
    },
    /// Something for which no caller waits.
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

/// What the task of a chat does next.
enum Next {
    Actions(Vec<Action>),
    Message(Option<Box<Message>>),
    Work(Box<Work>),
    /// Nothing has happened for a while.
    Idle,
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
        let (mail, mail_waker) = MailWaker::of_task().await;
        let mut is_agent_first = false;
        loop {
            let is_idle = self.is_idle();
            self.note_rest(is_idle);
            let time_limit = is_idle.then(|| self.time_limit());
            let mut idle = pin!(async {
                match time_limit {
                    Some(time_limit) => tokio::time::sleep(time_limit).await,
                    None => std::future::pending().await,
                }
            });
            let next = poll_fn(|context| {
                // In turns, so that neither an agent that always has more to say nor clients that do keep
                // the other waiting.
                is_agent_first = !is_agent_first;
                for is_agent in [is_agent_first, !is_agent_first] {
                    if is_agent {
                        if let Poll::Ready(actions) = self.poll_agent(context) {
                            return Poll::Ready(Next::Actions(actions));
                        }
                    } else if mail.take() {
                        let mut context = Context::from_waker(&mail_waker);
                        if let Poll::Ready(message) = messages.poll_recv(&mut context) {
                            mail.note();
                            return Poll::Ready(Next::Message(message));
                        }
                        if let Poll::Ready(Some(work)) = work.poll_recv(&mut context) {
                            mail.note();
                            return Poll::Ready(Next::Work(work));
                        }
                    }
                }
                idle.as_mut().poll(context).map(|()| Next::Idle)
            });
            // Boxed: most chats wait most of the time, and need no room for it then.
            match next.await {
                Next::Actions(actions) => {
                    Box::pin(self.carry_out_all(actions, Waiting::Nobody)).await;
                }
                Next::Message(Some(message)) => Box::pin(self.receive(*message)).await,
                Next::Message(None) => return,
                Next::Work(work) => Box::pin(self.work(*work)).await,
                Next::Idle => {
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

    /// Shows the agent's deltas as they come, until something has to be done, or nothing more is ready.
    /// Deltas are most of what happens: nothing else is looked at for them.
    fn poll_agent(&mut self, context: &mut Context<'_>) -> Poll<Vec<Action>> {
        for _ in 0..BATCHES {
            let Events {
                run,
                events,
                is_over,
                is_all,
            } = ready!(self.tasks.poll_events(context));
            let input = Input::Agent {
                run,
                events,
                is_over,
            };
            let actions = self.driver.handle(input, self.engine.now());
            self.windows.publish(&self.driver);
            // A step may also end without an action, and leave the chat with nothing to do.
            if !actions.is_empty() || self.is_idle() {
                return Poll::Ready(actions);
            }
            if is_all {
                return Poll::Pending;
            }
        }
        // An agent that always has more to say does not keep clients waiting.
        context.waker().wake_by_ref();
        Poll::Pending
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
}
