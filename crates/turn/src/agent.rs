//! What an agent is sent, and what it says.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::call::{Call, Outcome, Place};
use crate::event::Finish;
use crate::gate::Decision;
use crate::id::{ChatId, Principal, TurnId};
use crate::message::Message;
use crate::metadata::AI_SDK;
use crate::time::At;
use crate::trace::TraceContext;

/// What an agent says while a step runs.
#[derive(Debug, Clone, PartialEq)]
pub enum AgentEvent {
    /// More text. Text that follows text continues it, unless a [`AgentEvent::PartEnd`] comes between.
    Text {
        /// The words.
        delta: String,
        /// What the provider says of the part, to be sent back unchanged.
        provider_metadata: Option<Value>,
    },
    /// More of what the model thinks.
    Reasoning {
        /// The words.
        delta: String,
        /// What the provider says of the part, to be sent back unchanged.
        provider_metadata: Option<Value>,
    },
    /// What follows is a part of its own, even if it is of the same kind.
    PartEnd,
    /// A call, whole.
    Call {
        /// The id that the provider gave it, if any.
        provider_id: Option<String>,
        /// The tool.
        tool: String,
        /// The input.
        input: Value,
        /// What the provider says of the call, to be sent back unchanged.
        provider_metadata: Option<Value>,
    },
    /// A call that is not one of our tools': the agent runs it by itself, or waits for a page to.
    OwnCall {
        /// The id that the agent gave it.
        provider_id: String,
        /// The tool.
        tool: String,
        /// The input.
        input: Value,
        /// What the agent says of the call, to be sent back unchanged.
        provider_metadata: Option<Value>,
        /// Where it runs: at the agent, or in a page.
        place: Place,
        /// What a person is to be asked before a page runs it.
        asks: Option<Asking>,
    },
    /// A call that the agent made beside others, and may wait for a page to run. Once the others are
    /// done it says so ([`AgentEvent::Waits`]), or has a person asked first ([`AgentEvent::Asks`]), or
    /// says what came of it ([`AgentEvent::Settled`]); until then no page may run it.
    OpenCall {
        /// The id that the agent gave it.
        provider_id: String,
        /// The tool.
        tool: String,
        /// The input.
        input: Value,
        /// What the agent says of the call, to be sent back unchanged.
        provider_metadata: Option<Value>,
    },
    /// A page is to run a call that was left open.
    Waits {
        /// The id that the agent gave it.
        provider_id: String,
    },
    /// A person is to be asked about a call that the agent runs by itself. The step that made it is
    /// over; once all that the step asks is answered, the agent is asked for the next one.
    Asks {
        /// The id that the agent gave the call.
        provider_id: String,
        /// What is asked.
        asking: Asking,
    },
    /// What a call that the agent runs by itself shows before it is over. It is not kept.
    Progress {
        /// The id that the agent gave the call.
        provider_id: String,
        /// What it shows.
        output: Value,
    },
    /// What came of a call that the agent ran by itself. It comes after the step that made it, or
    /// before the next has said anything.
    Settled {
        /// The id that the agent gave the call.
        provider_id: String,
        /// What came of it.
        outcome: Outcome,
    },
    /// A file that the model made.
    File {
        /// Where it is, often a data URL.
        url: String,
        /// What it is.
        media_type: String,
        /// What the provider says of the file, to be sent back unchanged.
        provider_metadata: Option<Value>,
    },
    /// Something that only the provider understands: kept, sent back unchanged, and never shown.
    Opaque(Value),
    /// A page that the answer rests on.
    Source {
        /// Its address.
        url: String,
        /// Its title.
        title: Option<String>,
    },
    /// Data for the page, of a name: `data-NAME`.
    Data {
        /// The name.
        name: String,
        /// Which data of the name it is: later data of the same id takes its place.
        id: Option<String>,
        /// The data.
        data: Value,
    },
    /// Something for clients that watch just now, of a name: `data-NAME`, transient. It is neither kept
    /// nor sent again: sound, and that it is to stop.
    Signal {
        /// The name.
        name: String,
        /// The data.
        data: Value,
    },
    /// Usage, model version and the like, for the message's metadata.
    Metadata(Value),
    /// What the agent will want to know of its conversation after a restart.
    Session(Value),
    /// The model takes calls back. It may do so after the step is over, while they wait.
    Cancelled {
        /// The ids that the provider gave them.
        provider_ids: Vec<String>,
    },
    /// The step is over.
    Ended(Finish),
    /// The agent failed, and the turn with it.
    Failed {
        /// A stable code, listed in docs/errors.md.
        code: &'static str,
        /// What to tell the user. Never holds a key.
        message: String,
        /// When to try again, where the agent said so.
        retry_after_ms: Option<u64>,
    },
}

/// What an agent asks of a person.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Asking {
    /// What is asked.
    pub question: String,
    /// What the agent wants back with the answer.
    pub token: Option<Value>,
    /// What an answer has to be, where the agent asks for data and not for a yes or a no.
    pub schema: Option<Value>,
    /// When the agent does not wait any more.
    pub expires: Option<At>,
}

/// A part of what the model said in a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "part",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase"
)]
pub enum Part {
    /// Text.
    Text {
        /// The words.
        text: String,
        /// What the provider says of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        provider_metadata: Option<Value>,
    },
    /// What the model thought.
    Reasoning {
        /// The words.
        text: String,
        /// What the provider says of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        provider_metadata: Option<Value>,
    },
    /// A call.
    Call {
        /// The call.
        #[serde(flatten)]
        call: Call,
        /// Whether it is not announced with its step: a page's call that waits for an approval, or a
        /// call whose input is invalid.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        held: bool,
        /// Whether it is not shown with its step at all: the agent will say later who runs it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        open: bool,
    },
    /// A file that the model made.
    File {
        /// Where it is.
        url: String,
        /// What it is.
        media_type: String,
        /// What the provider says of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        provider_metadata: Option<Value>,
    },
    /// Something that only the provider understands.
    Opaque {
        /// What it is, under the provider's name.
        content: Value,
    },
    /// A page that the answer rests on.
    Source {
        /// Its address.
        url: String,
        /// Its title.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
    },
    /// Data for the page.
    Data {
        /// The name.
        name: String,
        /// Which data of the name it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// The data.
        data: Value,
    },
}

impl Part {
    /// Whether pages are shown it: what only the provider understands is not, but for a document that a
    /// route of the AI SDK's names as a source.
    pub(crate) fn is_shown(&self) -> bool {
        match self {
            Self::Opaque { content } => source_document(content).is_some(),
            _ => true,
        }
    }
}

/// A document that the answer rests on, as a route of the AI SDK's says it: what is kept of its chunk.
pub fn source_document(content: &Value) -> Option<&Value> {
    let chunk = content.get(AI_SDK)?;
    let is_text = |field: &str| chunk.get(field).is_some_and(Value::is_string);
    let is_document = chunk.get("type").and_then(Value::as_str) == Some("source-document");
    (is_document && is_text("mediaType") && is_text("title")).then_some(chunk)
}

/// What an agent is sent when a step is to run.
#[derive(Debug, Clone, PartialEq)]
pub struct StepRequest {
    /// The chat.
    pub chat: ChatId,
    /// The turn: the same when a step that was cut short is run again, another when the answer
    /// is regenerated.
    pub turn: TurnId,
    /// Who it belongs to.
    pub principal: Principal,
    /// What was said before, in order, and what is to be answered, last. Shared with the chat, which
    /// may be long.
    pub history: Arc<Vec<HistoryItem>>,
    /// The tools that the model may call.
    pub tools: Vec<ToolDeclaration>,
    /// What the agent noted last of its conversation: [`AgentEvent::Session`].
    pub session: Option<Value>,
    /// The calls of the last step that the agent runs by itself, that it asked about, or that it has
    /// left open.
    pub own: Vec<OwnCall>,
    /// Whether a server that is gone may have asked for this step already, just now.
    pub is_again: bool,
    /// The step's span, if the turn is traced: for the headers of what the agent asks others.
    pub trace: Option<TraceContext>,
}

/// The state of a call that the agent runs by itself, or that it asked about.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnCall {
    /// The call.
    pub call: Call,
    /// What the agent asked of it last, and what was decided.
    pub asked: Option<OwnQuestion>,
    /// What became of it. Nothing is known of one that was approved just now, or that went on while
    /// nobody listened.
    pub outcome: Option<Outcome>,
}

/// What an agent asked of a call of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnQuestion {
    /// What it wants back with the answer.
    pub token: Option<Value>,
    /// What was decided.
    pub decision: Option<Decision>,
}

/// Something that was said.
#[derive(Debug, Clone, PartialEq)]
pub enum HistoryItem {
    /// A user message opened a turn.
    Message(Message),
    /// The result of a long-running call opened a turn.
    Result {
        /// The call.
        call: Call,
        /// What became of it.
        outcome: Outcome,
    },
    /// The model ended a step, and all its calls are settled.
    Step {
        /// What it said, in order, calls among it.
        parts: Vec<Part>,
        /// What became of its calls, in their order.
        results: Vec<CallResult>,
    },
}

/// What became of a call of a step.
#[derive(Debug, Clone, PartialEq)]
pub struct CallResult {
    /// The call, with the input that the model gave.
    pub call: Call,
    /// The input that it ran with, where an approver put another in place of the model's.
    pub edited_input: Option<Value>,
    /// What became of it.
    pub outcome: Outcome,
}

/// A tool, as a model knows it.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDeclaration {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON schema of its input.
    pub input_schema: Value,
    /// Whether a live model waits for it.
    pub behavior: Behavior,
}

/// Whether a live model waits for a call, or continues to speak meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Behavior {
    /// It waits.
    #[default]
    Blocking,
    /// It continues, and gets the result when there is one.
    NonBlocking,
}

/// Something that an agent said, as it is brought to the chat. Most of it is words, and an event is ten
/// times as large as a word.
#[derive(Debug, Clone, PartialEq)]
pub enum CompactEvent {
    /// More of a text.
    Text(String),
    /// More of a reasoning.
    Reasoning(String),
    /// Anything else, and words of which the provider says something.
    Event(Box<AgentEvent>),
}

impl From<AgentEvent> for CompactEvent {
    fn from(event: AgentEvent) -> Self {
        match event {
            AgentEvent::Text {
                delta,
                provider_metadata: None,
            } => Self::Text(delta),
            AgentEvent::Reasoning {
                delta,
                provider_metadata: None,
            } => Self::Reasoning(delta),
            event => Self::Event(Box::new(event)),
        }
    }
}

impl From<CompactEvent> for AgentEvent {
    fn from(said: CompactEvent) -> Self {
        match said {
            CompactEvent::Text(delta) => Self::Text {
                delta,
                provider_metadata: None,
            },
            CompactEvent::Reasoning(delta) => Self::Reasoning {
                delta,
                provider_metadata: None,
            },
            CompactEvent::Event(event) => *event,
        }
    }
}
