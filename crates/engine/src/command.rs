//! The one way in: a command for a chat, and its reply. A client of this server gives it, or another
//! server forwards it for a client of its own.

use std::time::Duration;

use agents::AudioInput;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::Closed;
use tokio::sync::oneshot;
use turn::event::End;
use turn::gate::Decision;
use turn::queue::Placement;
use turn::{CallId, ChatId, GateId, Principal, Status, TraceContext};
use view::{ResumePoint, ShownChat};
use wire::{Message, Trigger};

use crate::stream::{Dialect, WindowStream};
use tools::work::Ask;

/// A command for a chat.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Command {
    /// The chat.
    pub chat: ChatId,
    /// Who gives it.
    pub principal: Principal,
    /// What is to be done.
    pub kind: CommandKind,
    /// Where the request belongs in a distributed trace, if it is traced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceContext>,
}

/// What a command wants done.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum CommandKind {
    /// To take in what is new in a client's messages, and to open a window.
    Send(SendCommand),
    /// A window on the current turn from its start, or on what a client lacks of a message.
    Resume {
        /// Its dialect.
        #[serde(rename = "speech")]
        dialect: Dialect,
        /// The place in the journal up to which the client knows the chat, if it says so: what came
        /// after it is sent also where the turn is over.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<u64>,
        /// How much of a message the client has, and whether it wants to know.
        #[serde(default, skip_serializing_if = "Resuming::is_whole")]
        resuming: Resuming,
    },
    /// To stop the current turn, and to withdraw the messages that wait.
    Stop,
    /// To make another branch the one that the chat is on.
    SelectBranch {
        /// A message of it.
        message_id: String,
    },
    /// The chat as a page shows it.
    View,
    /// To forget the chat.
    Forget,
    /// To close an approval.
    Answer {
        /// Its gate.
        gate: GateId,
        /// What is decided.
        decision: Decision,
        /// The digest of what the person was shown, where the answer brings it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        digest: Option<String>,
    },
    /// To take in what a page ran.
    Output {
        /// The call.
        call: CallId,
        /// Its output, or why there is none.
        output: Result<Value, String>,
    },
    /// To take in what the agent's side ran, whosever chat it is.
    Bring {
        /// The call, by our id or by the one that the agent gave it.
        call: String,
        /// Its output, or why there is none.
        output: Result<Value, String>,
    },
    /// To ask somebody for a tool that the agent runs by itself.
    Ask {
        /// The id that the agent gave the call.
        provider_id: String,
        /// How many questions the tool has asked before this one.
        nth: usize,
        /// Whom, and what.
        ask: Ask,
    },
    /// To send audio to the agent.
    #[serde(rename = "hear")]
    PushAudio {
        /// The audio. Servers of older versions forward it under its first name.
        #[serde(rename = "heard")]
        audio: AudioInput,
    },
}

/// What a client sends, and in which dialect its window is to be.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SendCommand {
    /// Why it is sent.
    pub trigger: Trigger,
    /// The message that it is about, if it says so.
    pub message_id: Option<String>,
    /// The history, as the client has it.
    pub messages: Vec<Message>,
    /// The dialect of the window.
    #[serde(rename = "speech")]
    pub dialect: Dialect,
    /// The tools that the page declares, as it sent them.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub page_tools: Value,
    /// The request's id, where the client gives each request another: the same request again does
    /// nothing twice, and its window has sequences.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request: Option<Box<str>>,
    /// What a new message waits for while a turn is open; nothing, if it interrupts the turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub while_running: Option<Placement>,
}

/// How much of a message a client has that resumes it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Resuming {
    /// Nothing, or it will forget what it has.
    #[default]
    Whole,
    /// The same; and its window is to have sequences.
    Numbered,
    /// What it says, in a window that had sequences.
    From(Box<ResumePoint>),
}

impl Resuming {
    fn is_whole(&self) -> bool {
        matches!(self, Self::Whole)
    }
}

impl CommandKind {
    /// Whether it changes nothing, so that the journal alone can serve it.
    pub(crate) fn is_read(&self) -> bool {
        matches!(self, Self::Resume { .. } | Self::View)
    }

    /// Whether it may be given again where nobody knows whether it was carried out: the journal knows
    /// what it has of it, and takes nothing twice.
    pub(crate) fn may_be_repeated(&self) -> bool {
        match self {
            Self::Resume { .. } | Self::View => true,
            Self::SelectBranch { .. } => true,
            // The first answer and the first output count, and a question asked again is the same.
            Self::Answer { .. } | Self::Output { .. } | Self::Bring { .. } | Self::Ask { .. } => {
                true
            }
            // A message is known by its id. An edit or a regeneration opens one more turn each time, unless
            // its request is known.
            Self::Send(sent) => {
                let is_message = sent.trigger == Trigger::SubmitMessage;
                is_message && sent.message_id.is_none() || sent.request.is_some()
            }
            // They would hit the turn or the chat that came after the one that was meant, and what was
            // said would reach the agent twice.
            Self::Stop | Self::Forget | Self::PushAudio { .. } => false,
        }
    }
}

/// What was decided, or will be.
#[derive(Debug)]
pub enum Deciding {
    /// It was decided.
    Decided(Decision),
    /// It will be.
    Open(oneshot::Receiver<Decision>),
}

impl Deciding {
    /// What was decided, if it is decided in time.
    pub async fn within(self, time_limit: Duration) -> Option<Decision> {
        match self {
            Self::Decided(decision) => Some(decision),
            // Who asks again takes the place of who asked before.
            Self::Open(decided) => tokio::time::timeout(time_limit, decided).await.ok()?.ok(),
        }
    }
}

/// The reply to a command.
#[derive(Debug)]
pub enum Reply {
    /// A window was opened; none, where there is nothing to see.
    Window(Option<WindowStream>),
    /// Whether there was a turn to stop.
    Stopped(bool),
    /// The chat as a page shows it.
    View(View),
    /// Somebody is asked.
    Asked(Deciding),
    /// This command closed an approval.
    Closed(Closed),
    /// Of an output, whether it counts: no other was first. Of an answer, whether it agrees with the
    /// decision.
    Taken(bool),
    /// It is done, and there is nothing to say of it.
    Done,
}

/// A chat as a page shows it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct View {
    /// The status of its current turn.
    pub status: Status,
    /// How it ended, if it has.
    pub end: Option<End>,
    /// Its messages.
    pub messages: Vec<Message>,
    /// Messages that wait for the turn, and for what of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub queued: Vec<(Placement, Message)>,
    /// The place in the journal up to which this is true.
    #[serde(default)]
    pub seq: u64,
}

impl View {
    /// Of a chat that has had a turn.
    pub(crate) fn of(chat: &ShownChat) -> Option<Self> {
        Some(Self {
            status: chat.status()?,
            end: chat.current().and_then(|turn| turn.end().cloned()),
            messages: chat.messages(),
            queued: chat.queued_messages(),
            seq: chat.seq(),
        })
    }
}
