//! The one way in: a command for a chat, and its reply. A client of this server gives it, or another
//! server forwards it for a client of its own.

use std::time::Duration;

use agents::Heard;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::Closed;
use tokio::sync::oneshot;
use turn::answer::Answer;
use turn::event::End;
use turn::gate::Decision;
use turn::{CallId, ChatId, Principal, Status};
use view::ShownChat;
use wire::{Message, Trigger};

use crate::stream::{Speech, WindowStream};
use crate::work::Ask;

/// A command for a chat.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Command {
    /// The chat.
    pub chat: ChatId,
    /// Who gives it.
    pub principal: Principal,
    /// What is to be done.
    pub kind: CommandKind,
}

/// What a command wants done.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum CommandKind {
    /// To take in what is new in a client's messages, and to open a window.
    Send {
        /// Why it is sent.
        trigger: Trigger,
        /// The message that it is about, if it says so.
        message_id: Option<String>,
        /// The history, as the client believes it to be.
        messages: Vec<Message>,
        /// In which words the window is to speak.
        speech: Speech,
    },
    /// A window on the current turn, from its start.
    Resume {
        /// In which words it is to speak.
        speech: Speech,
        /// The place in the journal up to which the client knows the chat, if it says so: what came
        /// after it is told also where the turn is over.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<u64>,
    },
    /// To stop the current turn.
    Stop,
    /// The chat as a page shows it.
    View,
    /// To forget the chat.
    Forget,
    /// To close an approval.
    Answer(Answer),
    /// To take in what a page ran.
    Output {
        /// The call.
        call: CallId,
        /// Its output, or why there is none.
        output: Result<Value, String>,
    },
    /// To take in what the agent's side ran, whoever the chat's owner is.
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
    /// To hear what somebody says.
    Hear {
        /// What is heard.
        heard: Heard,
    },
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
    /// Whether an output counts: nobody else was first.
    Taken(bool),
    /// It is done, and there is nothing to say of it.
    Done,
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
            seq: chat.seq(),
        })
    }
}
