//! The engine: what a server does with chats.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use agents::{Agent, Heard};
use serde_json::Value;
use store::{Bounds, Closed, EntryPage, GatePage, GatePlace, GateRecord, Journal, OpenGate, Usage};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use turn::answer::Answer;
use turn::gate::Decision;
use turn::{At, CallId, ChatId, Event, GateId, Principal};
use view::{Branch, ShownChat};
use wire::{Message, Trigger};

use crate::actor::{self, Message as ToActor};
use crate::asked::Asked;
use crate::command::{Command, CommandKind, Reply, View};
use crate::deadlines::Deadlines;
use crate::driver::{Input, Settings};
use crate::error::EngineError;
use crate::maintenance::Left;
use crate::replica::{Held, Replica};
use crate::resting::Resting;
use crate::stream::{Speech, WindowStream};
use crate::work::Ask;

/// Who the agent's side is in the journal, when it does something by itself.
const AGENT: &str = "agent";

/// How many approvals are read at once where all are wanted.
const PAGE: usize = 200;

/// Runs turns. Cloning it is cheap, and gives the same engine.
#[derive(Clone)]
pub struct Engine {
    pub(crate) shared: Arc<Shared>,
}

/// What the tasks of all chats share.
pub(crate) struct Shared {
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) agent: Arc<dyn Agent>,
    pub(crate) settings: Arc<Settings>,
    /// How long the task of a chat stays that nothing happens to.
    pub(crate) idle: Duration,
    /// The other servers, if there are any.
    pub(crate) replica: Option<Replica>,
    /// The chats that this server has, where there are others.
    pub(crate) held: Held,
    /// The approvals that chats here wait for.
    pub(crate) asked: Asked,
    /// When the time of gates is up that are open here.
    pub(crate) deadlines: Deadlines,
    /// The chats that nothing happens to.
    pub(crate) resting: Resting,
    /// The chats that were let go in the middle of something.
    pub(crate) left: Left,
    /// Whether this server is about to end.
    pub(crate) is_leaving: AtomicBool,
    /// The task of each chat that something happens to.
    pub(crate) chats: Mutex<HashMap<ChatId, mpsc::Sender<Box<ToActor>>>>,
    /// How many are there for a chat.
    pub(crate) attending: Mutex<HashMap<ChatId, usize>>,
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

/// An approval, open or closed.
#[derive(Debug, Clone)]
pub struct Approval {
    /// What was asked, of which call.
    pub asked: OpenGate,
    /// How it was closed; nothing as long as it is open.
    pub closed: Option<Closed>,
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
            return Err(EngineError::AudioUnsupported);
        }
        let hear = CommandKind::Hear { heard };
        self.ask(principal, chat, hear).await.map(drop)
    }

    /// Takes up turns that were running when an earlier process ended. Gates whose time is up are for
    /// [`Engine::keep`].
    #[doc(hidden)]
    pub async fn recover(&self) -> Result<(), EngineError> {
        // Among other servers, what nobody runs may be what another is about to run.
        if self.shared.replica.is_none() {
            for chat in self.shared.journal.orphaned(now(), usize::MAX).await? {
                // Its task takes the turn up when it reads the journal.
                self.deliver(&chat, ToActor::Input(Input::Wake)).await?;
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
        let kind = CommandKind::Send {
            trigger: request.trigger,
            message_id: request.message_id,
            messages: request.messages,
            speech,
        };
        match self.ask(principal, &request.chat, kind).await? {
            Reply::Window(Some(window)) => Ok(window),
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
        self.resume_after(principal, chat, speech, None).await
    }

    /// The same for a client that knows the chat up to a place in its journal ([`View::seq`]): a turn
    /// that has gone on since is told, also where it is over.
    pub async fn resume_after(
        &self,
        principal: &Principal,
        chat: &ChatId,
        speech: Speech,
        after: Option<u64>,
    ) -> Result<Option<WindowStream>, EngineError> {
        let kind = CommandKind::Resume { speech, after };
        match self.ask(principal, chat, kind).await? {
            Reply::Window(window) => Ok(window),
            _ => Err(EngineError::Closed),
        }
    }

    /// Stops the current turn, and says whether there was one to stop.
    pub async fn stop(&self, principal: &Principal, chat: &ChatId) -> Result<bool, EngineError> {
        match self.ask(principal, chat, CommandKind::Stop).await? {
            Reply::Stopped(was_open) => Ok(was_open),
            _ => Err(EngineError::Closed),
        }
    }

    /// The chat as a page shows it.
    pub async fn view(&self, principal: &Principal, chat: &ChatId) -> Result<View, EngineError> {
        match self.ask(principal, chat, CommandKind::View).await? {
            Reply::View(view) => Ok(view),
            _ => Err(EngineError::Closed),
        }
    }

    /// The first entries of a chat's journal after a place, in order, within bounds. Only its owner
    /// may read them.
    pub async fn journal(
        &self,
        principal: &Principal,
        chat: &ChatId,
        after: u64,
        bounds: Bounds,
    ) -> Result<EntryPage, EngineError> {
        self.check_owner(principal, chat).await?;
        Ok(self.shared.journal.read_page(chat, after, bounds).await?)
    }

    /// What edits and regenerations cut off from a chat, oldest first. Only its owner may read it.
    pub async fn branches(
        &self,
        principal: &Principal,
        chat: &ChatId,
    ) -> Result<Vec<Branch>, EngineError> {
        self.check_owner(principal, chat).await?;
        let entries = self.shared.journal.read(chat, 0).await?;
        Ok(ShownChat::replay(&entries).branches())
    }

    async fn check_owner(&self, principal: &Principal, chat: &ChatId) -> Result<(), EngineError> {
        let owner = self.shared.journal.owner(chat).await?;
        if owner.as_ref() != Some(principal) {
            return Err(EngineError::UnknownChat);
        }
        Ok(())
    }

    /// Who answers.
    pub fn agent_name(&self) -> &str {
        self.shared.agent.name()
    }

    /// Forgets a chat.
    pub async fn forget(&self, principal: &Principal, chat: &ChatId) -> Result<(), EngineError> {
        self.ask(principal, chat, CommandKind::Forget)
            .await
            .map(drop)
    }

    /// The approvals that wait for a principal, oldest first: all of them, however many there are.
    /// A server that answers others reads them with [`Engine::approvals_page`].
    pub async fn approvals(&self, principal: &Principal) -> Result<Vec<OpenGate>, EngineError> {
        let (mut all, mut after) = (Vec::new(), None);
        loop {
            let page = self.approvals_page(principal, after, PAGE).await?;
            all.extend(page.gates);
            after = page.next;
            if after.is_none() {
                return Ok(all);
            }
        }
    }

    /// The first approvals that wait for a principal behind a place in the list, so many at most. A
    /// page may hold fewer though there are more: those that only pages answer are left out.
    pub async fn approvals_page(
        &self,
        principal: &Principal,
        after: Option<GatePlace>,
        limit: usize,
    ) -> Result<GatePage, EngineError> {
        let journal = &self.shared.journal;
        let mut page = journal.open_gates(principal, after, limit).await?;
        page.gates.retain(|open| open.gate.is_question());
        Ok(page)
    }

    /// One approval, open or closed. Only the owner of its chat may see it.
    pub async fn approval(
        &self,
        principal: &Principal,
        gate: &GateId,
    ) -> Result<Approval, EngineError> {
        let record = self.approval_record(principal, gate).await?;
        let entries = self.shared.journal.read(&record.chat, 0).await?;
        let events = entries.iter().flat_map(|entry| &entry.events);
        let mut calls = events.flat_map(Event::calls);
        let call = calls.find(|call| call.id == record.gate.call);
        let asked = OpenGate {
            call: call.cloned().ok_or(EngineError::UnknownApproval)?,
            chat: record.chat,
            turn: record.turn,
            gate: record.gate,
            asked: record.asked,
        };
        let closed = record.closed;
        Ok(Approval { asked, closed })
    }

    async fn approval_record(
        &self,
        principal: &Principal,
        gate: &GateId,
    ) -> Result<GateRecord, EngineError> {
        let record = self.shared.journal.gate(gate).await?;
        let record =
            record.filter(|record| record.gate.is_question() && record.owner == *principal);
        record.ok_or(EngineError::UnknownApproval)
    }

    /// How much a principal has open, each kind counted no further than a limit, and whether this
    /// chat of theirs is part of it.
    pub async fn usage(
        &self,
        principal: &Principal,
        chat: &ChatId,
        limit: usize,
    ) -> Result<Usage, EngineError> {
        Ok(self.shared.journal.usage(principal, chat, limit).await?)
    }

    /// Answers an approval, from anywhere. The first answer wins.
    pub async fn answer(
        &self,
        principal: &Principal,
        gate: &GateId,
        decision: Decision,
    ) -> Result<Answered, EngineError> {
        self.answer_to(principal, gate, decision, None).await
    }

    /// The same with the digest of what the person was shown, where it is known: the answer then counts
    /// only if that is what is asked.
    pub async fn answer_to(
        &self,
        principal: &Principal,
        gate: &GateId,
        decision: Decision,
        digest: Option<String>,
    ) -> Result<Answered, EngineError> {
        let chat = match self.shared.asked.chat_of(gate) {
            Some(chat) => chat,
            None => self.approval_record(principal, gate).await?.chat,
        };
        let answer = Answer {
            gate: gate.clone(),
            decision: decision.clone(),
            digest,
        };
        match self
            .ask(principal, &chat, CommandKind::Answer(answer))
            .await
        {
            Ok(Reply::Closed(closed)) => Ok(Answered {
                closed,
                agrees: true,
            }),
            // Somebody else was first, or it was done elsewhere: the journal says by whom and when.
            Ok(_) => {
                let record = self.shared.journal.gate(gate).await?;
                let closed = record.and_then(|record| record.closed);
                let closed = closed.ok_or(EngineError::UnknownApproval)?;
                let mut agrees = closed.decision == decision;
                if !agrees {
                    let asked = self.approval(principal, gate).await?.asked;
                    let input = asked.gate.shown_input(&asked.call);
                    agrees = decision.agrees(&closed.decision, input);
                }
                Ok(Answered { closed, agrees })
            }
            // An approval of somebody else's chat is as unknown as one that was never asked for.
            Err(EngineError::UnknownChat) => Err(EngineError::UnknownApproval),
            Err(error) => Err(error),
        }
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
        let kind = CommandKind::Output {
            call: call.clone(),
            output,
        };
        self.settle(principal, chat, kind).await
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
        let kind = CommandKind::Bring { call, output };
        self.settle(&Principal::from(AGENT), chat, kind).await
    }

    async fn settle(
        &self,
        principal: &Principal,
        chat: ChatId,
        kind: CommandKind,
    ) -> Result<bool, EngineError> {
        // A call of somebody else's chat is as unknown as one that was never made.
        match self.ask(principal, &chat, kind).await {
            Ok(done) => Ok(matches!(done, Reply::Taken(true))),
            Err(EngineError::UnknownChat) => Err(EngineError::UnknownCall),
            Err(error) => Err(error),
        }
    }

    /// A tool that the agent runs by itself asks somebody, in the middle of its work: what was
    /// decided, if that happens within a time limit. Who waits longer asks the same again.
    pub async fn ask_for_agent(
        &self,
        chat: &ChatId,
        question: Question,
        time_limit: Duration,
    ) -> Result<Option<Decision>, EngineError> {
        // The tool may be faster than the stream that tells of its call.
        let late = Instant::now() + time_limit;
        loop {
            let kind = CommandKind::Ask {
                provider_id: question.call.clone(),
                nth: question.nth,
                ask: question.ask.clone(),
            };
            match self.ask(&Principal::from(AGENT), chat, kind).await {
                Ok(Reply::Asked(deciding)) => return Ok(deciding.within(time_limit).await),
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
        kind: CommandKind,
    ) -> Result<Reply, EngineError> {
        let command = Command {
            chat: chat.clone(),
            principal: principal.clone(),
            kind,
        };
        self.run(command).await
    }

    /// Carries a command out, unless its chat is elsewhere.
    pub async fn run_here(&self, command: Command) -> Result<Reply, EngineError> {
        let (reply, answer) = oneshot::channel();
        let message = ToActor::Command {
            principal: command.principal,
            kind: command.kind,
            reply,
        };
        self.deliver(&command.chat, message).await?;
        answer.await.map_err(|_| EngineError::Closed)?
    }

    /// Delivers a message to the task of a chat, and starts one where there is none.
    pub(crate) async fn deliver(&self, chat: &ChatId, message: ToActor) -> Result<(), EngineError> {
        let mut message = Box::new(message);
        // A task that has just retired gives the message back.
        for _ in 0..8 {
            let sender = self.sender(chat);
            match sender.send(message).await {
                Ok(()) => return Ok(()),
                Err(back) => message = back.0,
            }
            self.chats().remove(chat);
        }
        Err(EngineError::Closed)
    }

    fn sender(&self, chat: &ChatId) -> mpsc::Sender<Box<ToActor>> {
        let mut chats = self.chats();
        let sender = chats.entry(chat.clone());
        sender
            .or_insert_with(|| actor::start(self.clone(), chat.clone()))
            .clone()
    }

    /// The task of a chat, if it has one.
    pub(crate) fn existing(&self, chat: &ChatId) -> Option<mpsc::Sender<Box<ToActor>>> {
        self.chats().get(chat).cloned()
    }

    /// The tasks of all chats that something happens to.
    pub(crate) fn senders(&self) -> Vec<mpsc::Sender<Box<ToActor>>> {
        self.chats().values().cloned().collect()
    }

    /// Lets the task of a chat go, unless it has something to do.
    pub(crate) fn retire(&self, chat: &ChatId, messages: &mpsc::Receiver<Box<ToActor>>) -> bool {
        let mut chats = self.chats();
        // Whoever has found the task holds a sender beside the one that is kept here, and is about to
        // send: what such a task begins, nobody would listen to.
        let is_quiet = messages.is_empty() && messages.sender_strong_count() == 1;
        if is_quiet {
            chats.remove(chat);
        }
        is_quiet
    }

    fn chats(&self) -> MutexGuard<'_, HashMap<ChatId, mpsc::Sender<Box<ToActor>>>> {
        // Nothing that holds the lock can panic half-way through a change.
        let chats = self.shared.chats.lock();
        chats.unwrap_or_else(PoisonError::into_inner)
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
    use demo::Demo;
    use store::{Location, open};

    use super::*;
    use crate::tools::Tools;

    #[tokio::test(start_paused = true)]
    async fn task_of_a_chat_stays_while_somebody_is_about_to_ask_it() {
        let stores = open(Location::Memory).await.unwrap();
        let engine =
            Engine::builder(stores.journal, Arc::new(Demo::new()), Tools::default()).build();
        // Nothing is known of such a chat: its task is kept for as long as it is asked something.
        let sender = engine.sender(&ChatId::from("chat"));
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(!sender.is_closed());
        drop(sender);
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(engine.senders().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn chats_that_rest_take_no_more_memory_than_they_may() {
        let stores = open(Location::Memory).await.unwrap();
        let journal = stores.journal;
        let engine = Engine::builder(journal, Arc::new(Demo::new()), Tools::default())
            .idle(Duration::from_secs(3600))
            .resting_memory(20_000)
            .build();
        let ann = Principal::from("ann");
        for n in 0..40 {
            let words = vec![wire::Part::text("Hello")];
            let request = Request {
                chat: ChatId::from(format!("chat-{n}").as_str()),
                trigger: Trigger::SubmitMessage,
                message_id: None,
                messages: vec![Message::new(format!("u{n}"), wire::Role::User, words)],
            };
            let speech = Speech::Sdk(wire::Profile::Shared);
            let mut window = engine.send(&ann, request, speech).await.unwrap();
            while window.next().await.is_some() {}
        }
        // Those that were told to go are gone a moment later, and read back when they are asked for.
        tokio::time::sleep(Duration::from_secs(1)).await;
        let kept = engine.senders().len();
        assert!((1..20).contains(&kept), "{kept}");
        let view = engine.view(&ann, &ChatId::from("chat-0")).await.unwrap();
        assert_eq!(view.messages.len(), 2);
    }
}
