//! What the journal says: the only thing that is kept. Everything else is derived from it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::actor::Actor;
use crate::agent::Part;
use crate::call::{Call, Outcome};
use crate::failure;
use crate::gate::{Decision, Gate};
use crate::id::{CallId, GateId, Principal, TurnId};
use crate::message::Message;
use crate::page_tool::PageTool;
use crate::queue::Placement;
use crate::time::At;
use crate::trace::{self, TraceContext};

/// One append to a chat's journal: all of its events, or none.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Its place in the journal, from 1.
    pub seq: u64,
    /// When it was written.
    pub at: At,
    /// Who caused it.
    pub actor: Actor,
    /// What happened.
    pub events: Vec<Event>,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "event",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase"
)]
pub enum Event {
    /// A chat was opened. The first event of every journal.
    ChatOpened {
        /// Whose it is.
        owner: Principal,
    },
    /// A turn was opened.
    TurnOpened {
        /// The turn.
        turn: TurnId,
        /// The id of the assistant message that it streams.
        message_id: String,
        /// What it answers.
        cause: Cause,
        /// The turn that it follows. Turns that came after that one were cut off by an edit or a
        /// regeneration; nothing means that the chat starts over.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        after: Option<TurnId>,
        /// The tools that the page declared with the message, as far as the agent takes them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        page_tools: Vec<PageTool>,
        /// The request that opened it, under an id of the client's own, if that has one: the same
        /// request again opens nothing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        request: Option<Box<str>>,
        /// Where it belongs in a distributed trace, if it is traced.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            deserialize_with = "trace::read_noted"
        )]
        trace: Option<TraceContext>,
    },
    /// A message came while a turn was open, and waits. Its turn begins with a [`Event::TurnOpened`].
    MessageQueued {
        /// The turn that was open.
        turn: TurnId,
        /// The message.
        message: Message,
        /// What it waits for.
        placement: Placement,
        /// The turn that it will open, unless it is injected or withdrawn.
        opens: TurnId,
        /// The id of the assistant message that this turn will stream.
        message_id: String,
        /// The tools that the page declared with it, as far as the agent takes them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        page_tools: Vec<PageTool>,
        /// Where its turn belongs in a distributed trace, if it is traced.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            deserialize_with = "trace::read_noted"
        )]
        trace: Option<TraceContext>,
    },
    /// A message that waited is given to the agent before the next step of a turn.
    MessageInjected {
        /// The turn.
        turn: TurnId,
        /// The message's id.
        message: String,
    },
    /// A message that waited was withdrawn.
    MessageWithdrawn {
        /// The turn that was open.
        turn: TurnId,
        /// The message's id.
        message: String,
    },
    /// Turns that were cut off are those of the chat again, up to one of them.
    BranchSelected {
        /// The last turn of the branch.
        turn: TurnId,
    },
    /// The model ended a step.
    StepEnded {
        /// The turn.
        turn: TurnId,
        /// What it said, in order, calls among it.
        parts: Vec<Part>,
        /// Why it stopped.
        finish: Finish,
        /// Usage, model version and the like, for the message's metadata.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        metadata: Option<Value>,
    },
    /// A tool, in the middle of its work, asks a page to run something.
    CallNested {
        /// The turn.
        turn: TurnId,
        /// The call, with its parent.
        call: Call,
    },
    /// A gate was opened.
    GateOpened {
        /// The turn.
        turn: TurnId,
        /// The gate.
        gate: Gate,
    },
    /// A gate was closed. The entry's actor and time say by whom and when.
    GateClosed {
        /// The turn.
        turn: TurnId,
        /// The gate.
        gate: GateId,
        /// What was decided.
        #[serde(flatten)]
        decision: Decision,
    },
    /// A call is about to run here.
    CallStarted {
        /// The turn.
        turn: TurnId,
        /// The call.
        call: CallId,
    },
    /// A tool recorded the result of one of its steps, under a name.
    CallRecorded {
        /// The turn.
        turn: TurnId,
        /// The call.
        call: CallId,
        /// The step's name.
        name: String,
        /// Its result.
        value: Value,
    },
    /// A call is over.
    CallSettled {
        /// The turn.
        turn: TurnId,
        /// The call.
        call: CallId,
        /// What became of it.
        #[serde(flatten)]
        outcome: Outcome,
    },
    /// A server takes up a turn that another one was running. The server that ran it conflicts from
    /// here on.
    TurnClaimed {
        /// The turn.
        turn: TurnId,
        /// How often turns of this chat were claimed, this time included.
        epoch: u64,
        /// By which server.
        by: String,
    },
    /// What the agent will want to know of its conversation after a restart. The last one counts.
    SessionNoted {
        /// The turn.
        turn: TurnId,
        /// What the agent noted.
        session: Value,
    },
    /// A turn is over.
    TurnEnded {
        /// The turn.
        turn: TurnId,
        /// How it ended.
        #[serde(flatten)]
        end: End,
    },
}

impl Event {
    /// The turn that it happened to.
    pub fn turn(&self) -> Option<&TurnId> {
        match self {
            Self::ChatOpened { .. } => None,
            Self::TurnOpened { turn, .. }
            | Self::MessageQueued { turn, .. }
            | Self::MessageInjected { turn, .. }
            | Self::MessageWithdrawn { turn, .. }
            | Self::BranchSelected { turn }
            | Self::StepEnded { turn, .. }
            | Self::CallNested { turn, .. }
            | Self::GateOpened { turn, .. }
            | Self::GateClosed { turn, .. }
            | Self::CallStarted { turn, .. }
            | Self::CallRecorded { turn, .. }
            | Self::CallSettled { turn, .. }
            | Self::TurnClaimed { turn, .. }
            | Self::SessionNoted { turn, .. }
            | Self::TurnEnded { turn, .. } => Some(turn),
        }
    }

    /// The calls that were made with it.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        let (parts, nested) = match self {
            Self::StepEnded { parts, .. } => (parts.as_slice(), None),
            Self::CallNested { call, .. } => (&[][..], Some(call)),
            _ => (&[][..], None),
        };
        let made = parts.iter().filter_map(|part| match part {
            Part::Call { call, .. } => Some(call),
            _ => None,
        });
        made.chain(nested)
    }
}

/// What a turn answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "cause", rename_all = "kebab-case")]
pub enum Cause {
    /// A user message.
    Message {
        /// The message.
        message: Message,
    },
    /// The result of a long-running call of an earlier turn.
    Result {
        /// The call.
        call: CallId,
        /// Its tool.
        tool: String,
        /// What became of it.
        outcome: Outcome,
    },
}

/// Why the model ended a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Finish {
    /// It was done, or waits for its calls.
    Stop,
    /// It ran out of tokens.
    Length,
    /// A filter stopped it.
    ContentFilter,
    /// It failed in a way of its own.
    Error,
    /// It was cut off: the turn was stopped, or the agent failed.
    Cut,
    /// Anything else.
    Other,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "end",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase"
)]
pub enum End {
    /// The agent said all it had to say.
    Finished,
    /// The agent failed.
    Failed {
        /// A stable code, listed in docs/errors.md.
        #[serde(deserialize_with = "failure::read_code")]
        code: String,
        /// What to tell the user.
        message: String,
        /// When to try again, where the agent said so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_after_ms: Option<u64>,
    },
    /// Somebody stopped it, or wrote something else instead.
    Stopped,
}
