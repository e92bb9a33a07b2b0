//! The engine: what a server does with chats.

mod actors;
mod agent_side;
mod approvals;
mod chat_list;
mod viewers;

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agents::{Agent, AudioInput};
use serde_json::{Map, Value};
use store::{Bounds, EntryPage, Journal, Usage};
use tokio::sync::{mpsc, oneshot};
use turn::queue::Placement;
use turn::{At, CallId, ChatId, Principal};
use view::{Branch, ResumePoint, ShownChat};
use wire::{Message, Trigger};

pub use self::agent_side::Question;
pub use self::approvals::{Answered, Approval};
pub use self::viewers::ViewerGuard;
use crate::actor::Message as ToActor;
use crate::approval_index::ApprovalIndex;
use crate::body_fields;
use crate::clock::Clock;
use crate::command::{Command, CommandKind, Reply, Resuming, SendCommand, View};
use crate::deadlines::Deadlines;
use crate::driver::{Input, Settings};
use crate::error::EngineError;
use crate::maintenance::RetryQueue;
use crate::origin::{self, Origin};
use crate::replica::{LeasedChats, Replica};
use crate::resting::Resting;
use crate::stream::{Dialect, WindowStream};

/// Runs turns. Cloning it is cheap, and gives the same engine.
#[derive(Clone)]
pub struct Engine {
    pub(crate) shared: Arc<Shared>,
}

/// What the tasks of all chats share.
pub(crate) struct Shared {
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) agent: Arc<dyn Agent>,
    /// The name of the agent for people.
    pub(crate) agent_name: String,
    pub(crate) settings: Arc<Settings>,
    /// How long the task of a chat stays that nothing happens to.
    pub(crate) idle: Duration,
    /// The other servers, if there are any.
    pub(crate) replica: Option<Replica>,
    /// The chats that this server has, where there are others.
    pub(crate) leased: LeasedChats,
    /// The approvals that chats here wait for.
    pub(crate) approvals: ApprovalIndex,
    /// What time it is, for all servers over the store.
    pub(crate) clock: Clock,
    /// When the time of gates is up that are open here.
    pub(crate) deadlines: Deadlines,
    /// The chats that nothing happens to.
    pub(crate) resting: Resting,
    /// The chats that were evicted in the middle of something.
    pub(crate) retries: RetryQueue,
    /// Whether this server is about to end.
    pub(crate) is_leaving: AtomicBool,
    /// The task of each chat that something happens to.
    pub(crate) chats: Mutex<HashMap<ChatId, mpsc::Sender<Box<ToActor>>>>,
    /// How many are there for a chat.
    pub(crate) viewers: Mutex<HashMap<ChatId, usize>>,
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
    /// The history, as the client has it.
    pub messages: Vec<Message>,
}

/// What a page may say with what it sends.
#[derive(Debug, Clone, Default)]
pub struct SendOptions {
    /// The tools that it declares, as it sent them. They count where the agent's [`Tools`](tools::Tools)
    /// take such, and are ignored otherwise.
    pub page_tools: Value,
    /// The other fields of the body of its request: those that the agent gets
    /// ([`Agent::body_fields`]) are kept with the message.
    pub body: Map<String, Value>,
    /// What a new message waits for while a turn is open; nothing, if it interrupts the turn.
    pub while_running: Option<Placement>,
    /// The id of the request, of a client that gives each of its requests another: the same one again
    /// opens the same turn, and its window has sequences, so that it can be resumed with
    /// [`Engine::resume_from`].
    pub request_id: Option<Box<str>>,
}

impl Engine {
    /// What time it is, by the store's clock.
    pub fn now(&self) -> At {
        self.shared.clock.now()
    }

    /// Whether the agent understands speech.
    pub fn supports_audio(&self) -> bool {
        self.shared.agent.supports_audio()
    }

    /// Somebody speaks to a turn whose message is speech.
    pub async fn push_audio(
        &self,
        principal: &Principal,
        chat: &ChatId,
        audio: AudioInput,
    ) -> Result<(), EngineError> {
        if !self.supports_audio() {
            return Err(EngineError::AudioUnsupported);
        }
        let kind = CommandKind::PushAudio { audio };
        self.ask(principal, chat, kind).await.map(drop)
    }

    /// Takes up turns that were running when an earlier process ended. Gates whose time is up are for
    /// [`Engine::keep`].
    #[doc(hidden)]
    pub async fn recover(&self) -> Result<(), EngineError> {
        // Among other servers, what nobody runs may be what another is about to run.
        if self.shared.replica.is_none() {
            for chat in self.shared.journal.orphaned(usize::MAX).await? {
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
        dialect: Dialect,
    ) -> Result<WindowStream, EngineError> {
        let options = SendOptions::default();
        self.send_with(principal, request, options, dialect).await
    }

    /// The same for a page that says more.
    pub async fn send_with(
        &self,
        principal: &Principal,
        mut request: Request,
        options: SendOptions,
        dialect: Dialect,
    ) -> Result<WindowStream, EngineError> {
        let SendOptions {
            page_tools,
            body,
            while_running,
            request_id,
        } = options;
        let names = self.shared.agent.body_fields();
        body_fields::note(&mut request.messages, &body, names).map_err(EngineError::Refused)?;
        let takes_tools = self.shared.settings.tools.takes_page_tools();
        let kind = CommandKind::Send(SendCommand {
            trigger: request.trigger,
            message_id: request.message_id,
            messages: request.messages,
            dialect,
            page_tools: match takes_tools {
                true => page_tools,
                false => Value::Null,
            },
            request: request_id,
            while_running,
        });
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
        dialect: Dialect,
    ) -> Result<Option<WindowStream>, EngineError> {
        self.resume_after(principal, chat, dialect, None).await
    }

    /// The same for a client that knows the chat up to a place in its journal ([`View::seq`]): a turn
    /// that has gone on since is sent, also where it is over.
    pub async fn resume_after(
        &self,
        principal: &Principal,
        chat: &ChatId,
        dialect: Dialect,
        after: Option<u64>,
    ) -> Result<Option<WindowStream>, EngineError> {
        self.resume_as(principal, chat, dialect, after, Resuming::Whole)
            .await
    }

    /// The same for a window with sequences; with a point, on what a client lacks of that message,
    /// whether its turn runs or is over.
    pub async fn resume_from(
        &self,
        principal: &Principal,
        chat: &ChatId,
        dialect: Dialect,
        after: Option<u64>,
        point: Option<ResumePoint>,
    ) -> Result<Option<WindowStream>, EngineError> {
        let resuming = match point {
            Some(point) => Resuming::From(Box::new(point)),
            None => Resuming::Numbered,
        };
        self.resume_as(principal, chat, dialect, after, resuming)
            .await
    }

    async fn resume_as(
        &self,
        principal: &Principal,
        chat: &ChatId,
        dialect: Dialect,
        after: Option<u64>,
        resuming: Resuming,
    ) -> Result<Option<WindowStream>, EngineError> {
        let kind = CommandKind::Resume {
            dialect,
            after,
            resuming,
        };
        match self.ask(principal, chat, kind).await? {
            Reply::Window(window) => Ok(window),
            _ => Err(EngineError::Closed),
        }
    }

    /// Stops the current turn, withdraws the messages that wait for it, and says whether there was one to
    /// stop.
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

    /// Makes the branch that has a message the one that the chat is on, and gives the chat as a page then
    /// shows it. No turn may be open.
    pub async fn select_branch(
        &self,
        principal: &Principal,
        chat: &ChatId,
        message_id: &str,
    ) -> Result<View, EngineError> {
        let message_id = message_id.to_owned();
        let kind = CommandKind::SelectBranch { message_id };
        match self.ask(principal, chat, kind).await? {
            Reply::View(view) => Ok(view),
            _ => Err(EngineError::Closed),
        }
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
        &self.shared.agent_name
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

    /// A page, or another program, ran a call, and gives its output, or why it failed, without a window.
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
            trace: origin::current().trace,
        };
        self.run(command).await
    }

    /// Carries a command out, unless its chat is elsewhere.
    pub async fn run_here(&self, command: Command) -> Result<Reply, EngineError> {
        let (reply, answer) = oneshot::channel();
        let message = ToActor::Command {
            principal: command.principal,
            kind: command.kind,
            origin: Origin {
                // A server that forwards it sends the id with it.
                request_id: origin::current().request_id,
                trace: command.trace,
                turn_trace: None,
            },
            reply,
        };
        self.deliver(&command.chat, message).await?;
        answer.await.map_err(|_| EngineError::Closed)?
    }
}

#[cfg(test)]
mod tests {
    use demo::Demo;
    use store::{Location, open};

    use super::*;
    use tools::Tools;

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
            let dialect = Dialect::Sdk(wire::Profile::Shared);
            let mut window = engine.send(&ann, request, dialect).await.unwrap();
            while window.next().await.is_some() {}
        }
        // Evicted ones are gone a moment later, and read back when they are asked for.
        tokio::time::sleep(Duration::from_secs(1)).await;
        let kept = engine.senders().len();
        assert!((1..20).contains(&kept), "{kept}");
        let view = engine.view(&ann, &ChatId::from("chat-0")).await.unwrap();
        assert_eq!(view.messages.len(), 2);
    }
}
