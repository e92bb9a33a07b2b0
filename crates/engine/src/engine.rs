//! The engine: what a server does with chats.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use agents::{Agent, Heard};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{Closed, Journal, OpenGate};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use turn::event::End;
use turn::gate::{Decision, GateKind};
use turn::{At, CallId, Chat, ChatId, Entry, GateId, Principal, Status};
use wire::{Message, Trigger};

use crate::actor::{self, Command};
use crate::asked::Asked;
use crate::beat::Left;
use crate::errand::{Done, Errand, Order};
use crate::error::EngineError;
use crate::replica::{Held, Replica};
use crate::stream::{Speech, WindowStream};
use crate::tools::Tools;
use crate::work::Ask;

/// Who the agent's side is in the journal, when it does something by itself.
const AGENT: &str = "agent";

/// Runs turns. Cloning it is cheap, and gives the same engine.
#[derive(Clone)]
pub struct Engine {
    pub(crate) shared: Arc<Shared>,
}

/// What the tasks of all chats share.
pub(crate) struct Shared {
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) agent: Arc<dyn Agent>,
    pub(crate) tools: Tools,
    /// How long the task of a chat stays that nothing happens to.
    pub(crate) idle: Duration,
    /// How long somebody is asked for an agent that runs its tools by itself and says nothing of it.
    pub(crate) patience: Option<Duration>,
    /// The other servers, if there are any.
    pub(crate) replica: Option<Replica>,
    /// The chats that this server has, where there are others.
    pub(crate) held: Held,
    /// The approvals that chats here wait for.
    pub(crate) asked: Asked,
    /// The chats that were let go in the middle of something.
    pub(crate) left: Left,
    /// Whether this server is about to end.
    pub(crate) is_leaving: AtomicBool,
    /// The task of each chat that something happens to.
    chats: Mutex<HashMap<ChatId, mpsc::Sender<Box<Command>>>>,
    /// How many are there for a chat.
    attending: Mutex<HashMap<ChatId, usize>>,
}

/// What a client sends, in whichever framing it came.
#[derive(Debug, Clone)]
pub struct Request {
    /// The chat.
    pub chat: ChatId,
    /// Why it is sent.
    pub trigger: Trigger,
    /// The message that it is about, if it says so.
    pub message_id: Option<String>,
    /// The history, as the client believes it to be.
    pub messages: Vec<Message>,
}

/// A chat as a page shows it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct View {
    /// How its current turn stands.
    pub status: Status,
    /// How it ended, if it has.
    pub end: Option<End>,
    /// Its messages.
    pub messages: Vec<Message>,
}

impl View {
    /// Of a chat that has had a turn.
    pub(crate) fn of(chat: &Chat) -> Option<Self> {
        Some(Self {
            status: chat.status()?,
            end: chat.current().and_then(|turn| turn.end().cloned()),
            messages: chat.messages(),
        })
    }
}

/// Somebody who is there for a chat: [`Engine::attend`].
pub struct Attending {
    engine: Engine,
    chat: ChatId,
}

impl Drop for Attending {
    fn drop(&mut self) {
        let mut attending = self.engine.attending();
        if let Some(count) = attending.get_mut(&self.chat) {
            *count -= 1;
            if *count == 0 {
                attending.remove(&self.chat);
            }
        }
    }
}

/// What a tool that the agent runs by itself asks.
#[derive(Debug, Clone)]
pub struct Question {
    /// The id that the agent gave the call.
    pub call: String,
    /// How many questions the tool has asked before this one: one that is asked again is the same.
    pub nth: usize,
    /// Whom, and what.
    pub ask: Ask,
}

/// What became of an answer.
#[derive(Debug, Clone)]
pub struct Answered {
    /// What was decided, by whom and when.
    pub closed: Closed,
    /// Whether that is what was answered here.
    pub agrees: bool,
}

impl Engine {
    /// An engine over a journal, with an agent and the tools that it may call.
    pub fn new(journal: Arc<dyn Journal>, agent: Arc<dyn Agent>, tools: Tools) -> Self {
        let shared = Shared {
            journal,
            agent,
            tools,
            idle: Duration::from_secs(30),
            patience: None,
            replica: None,
            held: Held::default(),
            asked: Asked::default(),
            left: Left::default(),
            is_leaving: AtomicBool::new(false),
            chats: Mutex::default(),
            attending: Mutex::default(),
        };
        Self {
            shared: Arc::new(shared),
        }
    }

    /// The same, with chats that are let go once nothing has happened to them for so long, and with
    /// them what an agent keeps open for them. To be said before the engine is cloned.
    #[must_use]
    pub fn with_idle(mut self, idle: Duration) -> Self {
        if let Some(shared) = Arc::get_mut(&mut self.shared) {
            shared.idle = idle;
        }
        self
    }

    /// The same, with questions of an agent that runs its tools by itself taken back after so long,
    /// where it says nothing of it. To be said before the engine is cloned.
    #[must_use]
    pub fn with_patience(mut self, patience: Option<Duration>) -> Self {
        if let Some(shared) = Arc::get_mut(&mut self.shared) {
            shared.patience = patience;
        }
        self
    }

    /// Whether the agent understands speech.
    pub fn hears(&self) -> bool {
        self.shared.agent.hears()
    }

    /// Says that somebody is there for a chat, as long as what is returned is held: what an agent
    /// keeps open for it stays open.
    pub fn attend(&self, chat: &ChatId) -> Attending {
        *self.attending().entry(chat.clone()).or_default() += 1;
        Attending {
            engine: self.clone(),
            chat: chat.clone(),
        }
    }

    pub(crate) fn is_attended(&self, chat: &ChatId) -> bool {
        self.attending().contains_key(chat)
    }

    fn attending(&self) -> MutexGuard<'_, HashMap<ChatId, usize>> {
        let attending = self.shared.attending.lock();
        attending.unwrap_or_else(PoisonError::into_inner)
    }

    /// Somebody speaks to a turn whose message is speech.
    pub async fn hear(
        &self,
        principal: &Principal,
        chat: &ChatId,
        heard: Heard,
    ) -> Result<(), EngineError> {
        if !self.hears() {
            return Err(EngineError::Deaf);
        }
        let hear = Order::Hear { heard };
        self.ask(principal, chat, hear).await.map(drop)
    }

    /// Takes up turns that were running when an earlier process ended. Gates whose time is up are for
    /// [`Engine::keep`].
    pub async fn recover(&self) -> Result<(), EngineError> {
        // Among other servers, what nobody runs may be what another is about to run.
        if self.shared.replica.is_none() {
            for chat in self.shared.journal.ownerless(now(), usize::MAX).await? {
                // Its task takes the turn up when it reads the journal.
                self.command(&chat, Command::Wake).await?;
            }
        }
        Ok(())
    }

    /// A client sends: what is new in it is taken in, and a window opens.
    pub async fn send(
        &self,
        principal: &Principal,
        request: Request,
        speech: Speech,
    ) -> Result<WindowStream, EngineError> {
        let order = Order::Send {
            trigger: request.trigger,
            message_id: request.message_id,
            messages: request.messages,
            speech,
        };
        match self.ask(principal, &request.chat, order).await? {
            Done::Window(Some(window)) => Ok(window),
            _ => Err(EngineError::Closed),
        }
    }

    /// A client asks for the current turn: the whole message, then live; nothing, where it is over.
    pub async fn resume(
        &self,
        principal: &Principal,
        chat: &ChatId,
        speech: Speech,
    ) -> Result<Option<WindowStream>, EngineError> {
        match self.ask(principal, chat, Order::Resume { speech }).await? {
            Done::Window(window) => Ok(window),
            _ => Err(EngineError::Closed),
        }
    }

    /// Stops the current turn, and says whether there was one to stop.
    pub async fn stop(&self, principal: &Principal, chat: &ChatId) -> Result<bool, EngineError> {
        match self.ask(principal, chat, Order::Stop).await? {
            Done::Stopped(was_open) => Ok(was_open),
            _ => Err(EngineError::Closed),
        }
    }

    /// The chat as a page shows it.
    pub async fn view(&self, principal: &Principal, chat: &ChatId) -> Result<View, EngineError> {
        match self.ask(principal, chat, Order::View).await? {
            Done::View(view) => Ok(view),
            _ => Err(EngineError::Closed),
        }
    }

    /// The entries of a chat's journal after a place, in order. Only its owner may read them.
    pub async fn journal(
        &self,
        principal: &Principal,
        chat: &ChatId,
        after: u64,
    ) -> Result<Vec<Entry>, EngineError> {
        let owner = self.shared.journal.owner(chat).await?;
        if owner.as_ref() != Some(principal) {
            return Err(EngineError::UnknownChat);
        }
        Ok(self.shared.journal.read(chat, after).await?)
    }

    /// Who answers.
    pub fn agent_name(&self) -> &str {
        self.shared.agent.name()
    }

    /// Forgets a chat.
    pub async fn forget(&self, principal: &Principal, chat: &ChatId) -> Result<(), EngineError> {
        self.ask(principal, chat, Order::Forget).await.map(drop)
    }

    /// The approvals that wait for a principal, oldest first.
    pub async fn approvals(&self, principal: &Principal) -> Result<Vec<OpenGate>, EngineError> {
        let mut gates = self.shared.journal.open_gates(principal).await?;
        gates.retain(|open| matches!(open.gate.kind, GateKind::Approval { .. }));
        Ok(gates)
    }

    /// Answers an approval, from anywhere. The first answer wins.
    pub async fn answer(
        &self,
        principal: &Principal,
        gate: &GateId,
        decision: Decision,
    ) -> Result<Answered, EngineError> {
        let chat = match self.shared.asked.chat_of(gate) {
            Some(chat) => chat,
            None => {
                let record = self.shared.journal.gate(gate).await?;
                let record = record.filter(|record| {
                    let is_approval = matches!(record.gate.kind, GateKind::Approval { .. });
                    is_approval && record.owner == *principal
                });
                record.ok_or(EngineError::UnknownApproval)?.chat
            }
        };
        let (approved, input) = (decision.approved(), input(&decision).cloned());
        let order = Order::Answer {
            gate: gate.clone(),
            decision,
        };
        let closed = match self.ask(principal, &chat, order).await {
            Ok(Done::Closed(closed)) => closed,
            // Somebody else was first, or it was done elsewhere: the journal says by whom and when.
            Ok(_) => {
                let record = self.shared.journal.gate(gate).await?;
                let closed = record.and_then(|record| record.closed);
                closed.ok_or(EngineError::UnknownApproval)?
            }
            // An approval of somebody else's chat is as unknown as one that was never asked for.
            Err(EngineError::UnknownChat) => return Err(EngineError::UnknownApproval),
            Err(error) => return Err(error),
        };
        let agrees = closed.decision.approved() == approved
            && (input.is_none() || crate::engine::input(&closed.decision) == input.as_ref());
        Ok(Answered { closed, agrees })
    }

    /// A page, or whoever else, ran a call, and gives its output, or why it failed, without a window.
    /// Whether it counts: the first one does.
    pub async fn output(
        &self,
        principal: &Principal,
        call: &CallId,
        output: Result<Value, String>,
    ) -> Result<bool, EngineError> {
        let chat = self.shared.journal.call(call).await?;
        let chat = chat.ok_or(EngineError::UnknownCall)?;
        let order = Order::Output {
            call: call.clone(),
            output,
        };
        self.settle(principal, chat, order).await
    }

    /// The same from the agent's side, as by a worker that does what one of its tools has begun. It
    /// may bring an output to any chat. Where it names the chat, the call may also be named by the id
    /// that the agent gave it.
    pub async fn output_of_agent(
        &self,
        chat: Option<ChatId>,
        call: &str,
        output: Result<Value, String>,
    ) -> Result<bool, EngineError> {
        let chat = match chat {
            Some(chat) => Some(chat),
            None => self.shared.journal.call(&CallId::from(call)).await?,
        };
        let chat = chat.ok_or(EngineError::UnknownCall)?;
        let call = call.to_owned();
        let order = Order::Bring { call, output };
        self.settle(&Principal::from(AGENT), chat, order).await
    }

    async fn settle(
        &self,
        principal: &Principal,
        chat: ChatId,
        order: Order,
    ) -> Result<bool, EngineError> {
        // A call of somebody else's chat is as unknown as one that was never made.
        match self.ask(principal, &chat, order).await {
            Ok(done) => Ok(matches!(done, Done::Taken(true))),
            Err(EngineError::UnknownChat) => Err(EngineError::UnknownCall),
            Err(error) => Err(error),
        }
    }

    /// A tool that the agent runs by itself asks somebody, in the middle of its work: what was
    /// decided, if that happens within a patience. Who waits longer asks the same again.
    pub async fn ask_for_agent(
        &self,
        chat: &ChatId,
        question: Question,
        patience: Duration,
    ) -> Result<Option<Decision>, EngineError> {
        // The tool may be faster than the stream that tells of its call.
        let late = Instant::now() + patience;
        loop {
            let order = Order::Ask {
                provider_id: question.call.clone(),
                nth: question.nth,
                ask: question.ask.clone(),
            };
            match self.ask(&Principal::from(AGENT), chat, order).await {
                Ok(Done::Asked(deciding)) => return Ok(deciding.within(patience).await),
                Err(EngineError::UnknownCall) if Instant::now() < late => {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                Ok(_) => return Err(EngineError::Closed),
                Err(error) => return Err(error),
            }
        }
    }

    async fn ask(
        &self,
        principal: &Principal,
        chat: &ChatId,
        order: Order,
    ) -> Result<Done, EngineError> {
        let errand = Errand {
            chat: chat.clone(),
            principal: principal.clone(),
            order,
        };
        self.run(errand).await
    }

    /// Does an errand, unless its chat is elsewhere.
    pub async fn run_here(&self, errand: Errand) -> Result<Done, EngineError> {
        let (reply, answer) = oneshot::channel();
        let command = Command::Errand {
            principal: errand.principal,
            order: errand.order,
            reply,
        };
        self.command(&errand.chat, command).await?;
        answer.await.map_err(|_| EngineError::Closed)?
    }

    /// Sends a command to the task of a chat, and starts one where there is none.
    pub(crate) async fn command(&self, chat: &ChatId, command: Command) -> Result<(), EngineError> {
        let mut command = Box::new(command);
        // A task that has just retired gives the command back.
        for _ in 0..8 {
            let sender = self.sender(chat);
            match sender.send(command).await {
                Ok(()) => return Ok(()),
                Err(back) => command = back.0,
            }
            self.chats().remove(chat);
        }
        Err(EngineError::Closed)
    }

    fn sender(&self, chat: &ChatId) -> mpsc::Sender<Box<Command>> {
        let mut chats = self.chats();
        let sender = chats.entry(chat.clone());
        sender
            .or_insert_with(|| actor::start(self.clone(), chat.clone()))
            .clone()
    }

    /// The tasks of all chats that something happens to.
    pub(crate) fn senders(&self) -> Vec<mpsc::Sender<Box<Command>>> {
        self.chats().values().cloned().collect()
    }

    /// Lets the task of a chat go, unless it has something to do.
    pub(crate) fn retire(&self, chat: &ChatId, commands: &mpsc::Receiver<Box<Command>>) -> bool {
        let mut chats = self.chats();
        // Whoever has found the task holds a sender beside the one that is kept here, and is about to
        // send: what such a task begins, nobody would listen to.
        let is_quiet = commands.is_empty() && commands.sender_strong_count() == 1;
        if is_quiet {
            chats.remove(chat);
        }
        is_quiet
    }

    fn chats(&self) -> MutexGuard<'_, HashMap<ChatId, mpsc::Sender<Box<Command>>>> {
        // Nothing that holds the lock can panic half-way through a change.
        let chats = self.shared.chats.lock();
        chats.unwrap_or_else(PoisonError::into_inner)
    }
}

fn input(decision: &Decision) -> Option<&Value> {
    match decision {
        Decision::Approved { input, .. } => input.as_ref(),
        _ => None,
    }
}

/// Now, by the clock of this machine.
pub(crate) fn now() -> At {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    At(now.map_or(0, |now| u64::try_from(now.as_millis()).unwrap_or(u64::MAX)))
}

/// How long it is until a moment.
pub(crate) fn until(at: At) -> Duration {
    Duration::from_millis(at.0.saturating_sub(now().0))
}

#[cfg(test)]
mod tests {
    use agents::Demo;
    use store::{Location, open};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn task_of_a_chat_stays_while_somebody_is_about_to_ask_it() {
        let stores = open(Location::Memory).await.unwrap();
        let engine = Engine::new(stores.journal, Arc::new(Demo::new()), Tools::default());
        // Nothing is known of such a chat: its task is kept for as long as it is asked something.
        let sender = engine.sender(&ChatId::from("chat"));
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(!sender.is_closed());
        drop(sender);
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(engine.senders().is_empty());
    }
}
