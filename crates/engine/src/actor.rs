//! The task of one chat: everything that happens to it goes through here, in order.

mod command;
mod errands;
mod lease;
mod tasks;
mod working;

use std::sync::Arc;
use std::time::Duration;

use store::{Appended, NewEntry};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use turn::call::{Outcome, Place};
use turn::transcript::{Closing, Item};
use turn::{At, CallId, Chat, ChatId, Effect, Input, Principal, Status, TurnId};

pub(crate) use self::command::Command;
use self::tasks::Tasks;
use crate::engine::{Engine, now};
use crate::error::EngineError;
use crate::log::Log;
use crate::work::{WorkReceiver, WorkSender};

/// How long an agent keeps its conversation open that nothing happens to, while somebody is there.
const PATIENCE: Duration = Duration::from_secs(600);

/// How long the task of a chat stays that is not there. Not at all would be too short: whoever has found
/// the task is about to ask it something.
const BRIEF: Duration = Duration::from_millis(1);

/// How often a decision is made again because somebody else wrote to the journal.
const CONFLICTS: usize = 16;

/// Starts the task of a chat.
pub(crate) fn start(engine: Engine, id: ChatId) -> mpsc::Sender<Box<Command>> {
    let (sender, commands) = mpsc::channel(64);
    let (work_sender, work) = WorkSender::new(16);
    let actor = Actor {
        tasks: Tasks::new(engine.clone(), id.clone(), work_sender),
        engine,
        id,
        chat: None,
        log: None,
        results: Vec::new(),
        leaving: None,
    };
    tokio::spawn(actor.run(commands, work));
    sender
}

/// Why windows close whose chat goes on in another server: their clients come back.
pub(crate) fn moved() -> Closing {
    Closing::failed("moved", "The chat goes on elsewhere; come back to it.")
}

struct Actor {
    engine: Engine,
    id: ChatId,
    /// The chat, once it is read.
    chat: Option<Chat>,
    /// What windows on the current turn read from.
    log: Option<(TurnId, Arc<Log>)>,
    tasks: Tasks,
    /// Results of long-running calls that wait for the turn to end.
    results: Vec<(CallId, Outcome)>,
    /// Where the server leaves, and waits for what is at work: dropped when nothing is.
    leaving: Option<oneshot::Sender<()>>,
}

impl Actor {
    async fn run(mut self, mut commands: mpsc::Receiver<Box<Command>>, mut work: WorkReceiver) {
        let mut batch = Vec::new();
        let mut active = Instant::now();
        loop {
            tokio::select! {
                command = commands.recv() => match command {
                    Some(command) => {
                        active = Instant::now();
                        // Boxed: most chats wait most of the time, and need no room for it then.
                        Box::pin(self.command(*command)).await;
                        self.depart().await;
                    }
                    None => return,
                },
                _ = work.recv_many(&mut batch, 16) => {
                    active = Instant::now();
                    for work in batch.drain(..) {
                        Box::pin(self.work(*work)).await;
                    }
                    self.publish();
                    self.depart().await;
                }
                () = tokio::time::sleep(self.patience()), if self.is_idle() => {
                    let is_kept = self.tasks.is_conversing()
                        && self.engine.is_attended(&self.id)
                        && active.elapsed() < PATIENCE;
                    if !is_kept && self.engine.retire(&self.id, &commands) {
                        break;
                    }
                }
            }
            self.tidy();
        }
        // Whoever got hold of the sender before the task retired is served all the same.
        commands.close();
        while let Some(command) = commands.recv().await {
            Box::pin(self.command(*command)).await;
        }
        self.engine.shared.asked.forget(self.chat.as_ref());
        self.release().await;
    }

    /// Keeps of a turn that is over what those need who come to it later. Windows that are open read
    /// on in what they have.
    fn tidy(&mut self) {
        if let (Some(chat), Some((turn, log))) = (&mut self.chat, &mut self.log)
            && chat.compact()
            && let Some(current) = chat.current().filter(|current| current.id() == turn)
        {
            *log = Arc::new(Log::new(current.message_id(), current.transcript()));
        }
    }

    /// A chat that is not there is not worth a task.
    fn patience(&self) -> Duration {
        let is_there = self.chat.as_ref().is_some_and(|chat| chat.seq() > 0);
        match is_there {
            true => self.engine.shared.idle,
            false => BRIEF,
        }
    }

    fn is_idle(&self) -> bool {
        let turn = self.chat.as_ref().and_then(Chat::current);
        // Who asks for a tool at the agent waits for as long as the agent is listened to.
        let is_busy = turn.is_some_and(|turn| {
            turn.status() == Status::Running || turn.is_asked_within_own_calls()
        });
        !is_busy && self.tasks.is_quiet() && self.results.is_empty()
    }

    async fn command(&mut self, command: Command) {
        match command {
            Command::Errand {
                principal,
                order,
                reply,
            } => {
                let done = self.run_errand(&principal, order).await;
                // Nobody need hear the answer: the client may have left.
                let _ = reply.send(done);
            }
            Command::TimedOut { gate } => {
                let done = self.perform(Input::TimedOut { gate }, None).await;
                self.note(done.map(drop));
            }
            Command::Wake => {
                let done = self.chat().await.map(drop);
                self.note(done);
            }
            Command::Lost => self.let_go(moved()),
            Command::Compare => {
                let done = self.compare().await;
                self.note(done);
            }
            Command::Leave { done } => self.leaving = Some(done),
        }
        let done = self.open_result().await;
        self.note(done);
        self.tasks.start_due();
    }

    /// What nobody waits to hear is at least written down, and tried again where that may help.
    fn note(&self, done: Result<(), EngineError>) {
        match done {
            Ok(()) => {}
            // Whoever has it, or takes it up, goes on with it.
            Err(EngineError::Elsewhere(_)) => {}
            Err(EngineError::Closed) if self.engine.is_leaving() => {}
            Err(error) => {
                if matches!(error, EngineError::Store(_)) {
                    self.engine.shared.left.add(&self.id);
                }
                tracing::error!(chat = %self.id, %error, "a chat could not go on");
            }
        }
    }

    /// The chat, read from its journal where it is not at hand.
    async fn chat(&mut self) -> Result<&mut Chat, EngineError> {
        if self.chat.is_none() {
            if self.engine.is_leaving() {
                return Err(EngineError::Closed);
            }
            self.require_free().await?;
            let entries = self.engine.shared.journal.read(&self.id, 0).await?;
            self.chat = Some(Chat::replay(&entries));
            self.log = None;
            self.publish();
            // Nothing of it runs here: it is this process that goes on with it.
            let idempotent = self.idempotent_calls();
            let replica = self.engine.shared.replica.as_ref();
            let by = replica.map(|replica| replica.holder.owner.clone());
            let awaited = self.chat.as_ref().map(Chat::awaited_results);
            Box::pin(self.perform(Input::Recover { idempotent, by }, None)).await?;
            Box::pin(self.hold()).await?;
            // What went on in another process has ended with it, and nobody knows how.
            let mut lost = awaited.unwrap_or_default();
            lost.retain(|call| {
                let is_here = self.results.iter().any(|(here, _)| here == call);
                !is_here && !self.tasks.goes_on(call)
            });
            let lost = lost.into_iter().map(|call| (call, Outcome::Unknown));
            self.results.extend(lost);
            Box::pin(self.open_result()).await?;
        }
        self.chat.as_mut().ok_or(EngineError::Closed)
    }

    fn idempotent_calls(&self) -> Vec<CallId> {
        let turn = self.chat.as_ref().and_then(Chat::current);
        let calls = turn.into_iter().flat_map(turn::Turn::calls);
        let tools = &self.engine.shared.tools;
        let is_idempotent = |name: &str| tools.get(name).is_some_and(|tool| tool.is_idempotent);
        calls
            .filter(|call| is_idempotent(&call.tool))
            .map(|call| call.id.clone())
            .collect()
    }

    /// Decides, makes durable, shows, acts: in this order. Says when what was decided was appended, if
    /// anything was.
    async fn perform(
        &mut self,
        input: Input,
        actor: Option<&Principal>,
    ) -> Result<Option<At>, EngineError> {
        // What the agent says is not worth a copy: should it conflict, the step is run again. So it is
        // with what a tool asks or records: should it conflict, the tool is let go.
        // Nor is a message decided on again before it was seen what is new in it.
        let is_retried = !matches!(
            input,
            Input::Agent { .. }
                | Input::ToolAsks { .. }
                | Input::ToolCalls { .. }
                | Input::ToolRecords { .. }
                | Input::Message { .. }
        );
        let is_message = matches!(input, Input::Message { .. });
        let again = is_retried.then(|| input.clone());
        let mut next = Some(input);
        for _ in 0..CONFLICTS {
            self.chat().await?;
            let (Some(chat), Some(input)) = (&mut self.chat, next.take()) else {
                return Ok(None);
            };
            let at = now();
            let output = chat.handle(input, at);
            let is_appended = !output.append.is_empty();
            if is_appended {
                let actor = actor.or(chat.owner()).cloned();
                let entry = NewEntry {
                    at,
                    epoch: chat.epoch(),
                    actor: actor.unwrap_or_else(|| Principal::from("engine")),
                    events: output.append,
                };
                let shared = &self.engine.shared;
                shared.asked.note(&self.id, &entry.events);
                match shared.journal.append(&self.id, chat.seq(), entry).await {
                    Ok(Appended::Ok { seq }) => {
                        chat.appended(seq);
                        shared.held.grew(&self.id, seq);
                    }
                    Ok(Appended::Conflict { .. }) if is_message => {
                        self.let_go(moved());
                        return Err(EngineError::Conflict);
                    }
                    Ok(Appended::Conflict { .. }) => {
                        self.let_go(moved());
                        next = again.clone();
                        continue;
                    }
                    Err(error) => {
                        let failed = "The journal can't be reached.";
                        self.let_go(Closing::failed("store_unavailable", failed));
                        self.engine.shared.left.add(&self.id);
                        return Err(error.into());
                    }
                }
            }
            self.publish();
            for effect in output.effects {
                self.act(effect);
            }
            // A chat that was just opened has no lease yet. What is stored is done, lease or not.
            match Box::pin(self.hold()).await {
                Err(EngineError::Store(error)) => {
                    tracing::warn!(chat = %self.id, %error, "a lease could not be taken");
                }
                held => held?,
            }
            return Ok(is_appended.then_some(at));
        }
        Err(EngineError::Closed)
    }

    /// Forgets the chat as it was thought to be: the journal says otherwise, or says nothing. It is
    /// read again when it is needed; windows close, and their clients come back.
    fn let_go(&mut self, closing: Closing) {
        self.tasks.stop();
        self.engine.shared.held.remove(&self.id);
        self.engine.shared.asked.forget(self.chat.as_ref());
        self.chat = None;
        if let Some((_, log)) = self.log.take() {
            let mut items = log.items().clone();
            items.push(Item::Close(closing));
            log.follow(&items);
        }
    }

    /// Shows what was said since.
    fn publish(&mut self) {
        let Some(chat) = &self.chat else { return };
        let Some(current) = chat.current() else {
            return;
        };
        match &self.log {
            Some((turn, log)) if turn == current.id() => log.follow(current.transcript()),
            old => {
                if let Some((turn, log)) = old
                    && let Some(turn) = chat.turn(turn)
                {
                    log.follow(turn.transcript());
                }
                let log = Log::new(current.message_id(), current.transcript());
                self.log = Some((current.id().clone(), Arc::new(log)));
            }
        }
    }

    fn act(&mut self, effect: Effect) {
        let Some(chat) = &mut self.chat else { return };
        let owner = chat.owner().cloned();
        let owner = owner.unwrap_or_else(|| Principal::from("nobody"));
        match effect {
            // Whoever takes the chat up calls it.
            Effect::CallModel if self.engine.is_leaving() => {}
            Effect::CallModel => {
                self.tasks.call_model(owner, chat);
            }
            Effect::RunTool(call) => self.run_tool(&call, owner),
            Effect::WakeTool {
                gate,
                call,
                decision,
            } => {
                let place = chat.call(&call).map(|(_, call)| call.place);
                // A tool that ran in an earlier process is run again, and finds the answer recorded.
                // One that runs, and does not wait at the gate any more, goes on without it; and one
                // at the agent asks again.
                let is_waiting = self.tasks.wake(&gate, decision);
                if !is_waiting && place == Some(Place::Server) && !self.tasks.is_running(&call) {
                    self.run_tool(&call, owner);
                }
            }
            Effect::SetTimer { gate, at } => self.tasks.set_timer(gate, at),
            Effect::StopWork => self.tasks.stop(),
        }
    }

    fn run_tool(&mut self, call: &CallId, owner: Principal) {
        let turn = self.chat.as_ref().and_then(Chat::current);
        let Some(turn) = turn.filter(|turn| turn.outcome(call).is_none()) else {
            return;
        };
        if let (Some(made), Some(input)) = (turn.call(call), turn.effective_input(call)) {
            let recorded = turn.recorded(call);
            self.tasks.run_tool(made, input.clone(), owner, recorded);
        }
    }
}
