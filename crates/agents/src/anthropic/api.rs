//! The Messages API as types. Blocks and fields that nothing here reads are kept.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::lenient;

/// The body of a request.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Request {
    pub(super) model: String,
    pub(super) max_tokens: u64,
    pub(super) messages: Vec<Message>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) system: Option<String>,
    pub(super) stream: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) tools: Vec<Tool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) thinking: Option<Thinking>,
}

/// How to think.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Thinking {
    pub(super) r#type: &'static str,
    pub(super) budget_tokens: u64,
}

/// A tool that the model may call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Tool {
    pub(super) name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) description: String,
    pub(super) input_schema: Value,
}

/// A message.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Message {
    pub(super) role: &'static str,
    pub(super) content: Vec<Block>,
}

/// A block of a message: its type is among its fields, so that one that nothing here reads goes back as
/// it came.
pub(super) type Block = Map<String, Value>;

/// An event of an answer.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum StreamEvent {
    /// The answer begins.
    MessageStart {
        #[serde(default)]
        message: AnswerStart,
    },
    /// A block begins.
    ContentBlockStart {
        #[serde(default)]
        index: u64,
        content_block: Block,
    },
    /// More of a block.
    ContentBlockDelta {
        #[serde(default)]
        index: u64,
        delta: Delta,
    },
    /// A block ends.
    ContentBlockStop {
        #[serde(default)]
        index: u64,
    },
    /// Why it ended, and what it took.
    MessageDelta {
        #[serde(default)]
        delta: AnswerDelta,
        #[serde(default, deserialize_with = "lenient")]
        usage: Option<Usage>,
    },
    /// Nothing more comes.
    MessageStop,
    /// It failed in the middle.
    Error {
        #[serde(default)]
        error: Value,
    },
    /// A sign of life, or an event of a later version.
    #[serde(other)]
    Other,
}

/// More of a block.
#[derive(Debug, Clone, Deserialize)]
#[expect(clippy::enum_variant_names, reason = "the API's own names")]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Delta {
    /// More text.
    TextDelta { text: String },
    /// More of the JSON of a call's input.
    InputJsonDelta { partial_json: String },
    /// More of what the model thinks.
    ThinkingDelta { thinking: String },
    /// What proves that it thought so.
    SignatureDelta { signature: String },
    /// A source.
    CitationsDelta { citation: Value },
    /// A kind of a later version.
    #[serde(other)]
    Other,
}

/// What an answer says of itself when it begins.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct AnswerStart {
    pub(super) model: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) usage: Option<Usage>,
}

/// What an answer says of itself when it ends.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct AnswerDelta {
    pub(super) stop_reason: Option<String>,
}

/// Tokens.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(super) struct Usage {
    pub(super) input_tokens: Option<u64>,
    pub(super) output_tokens: Option<u64>,
    pub(super) cache_creation_input_tokens: Option<u64>,
    pub(super) cache_read_input_tokens: Option<u64>,
}

impl Usage {
    /// Later counts replace earlier ones.
    pub(super) fn update(&mut self, later: Self) {
        let update = |count: &mut Option<u64>, later: Option<u64>| *count = later.or(*count);
        update(&mut self.input_tokens, later.input_tokens);
        update(&mut self.output_tokens, later.output_tokens);
        let written = later.cache_creation_input_tokens;
        update(&mut self.cache_creation_input_tokens, written);
        update(
            &mut self.cache_read_input_tokens,
            later.cache_read_input_tokens,
        );
    }
}
