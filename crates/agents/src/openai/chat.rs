//! Chat completions: the API as types. Fields that nothing here reads are kept.
//!
//! # Layout
//!
//! - this file: the types; `request`: a step request as a body; `messages`: the history in it.
//! - `reading`: chunks as agent events; `tool_calls`: calls, put together from pieces; `extra`: fields of
//!   others, put together from pieces.

mod extra;
mod messages;
mod reading;
mod request;
mod tool_calls;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

pub(super) use self::messages::result_text;
pub(super) use self::reading::ChatReading;
pub(super) use self::request::body;
use crate::model::lenient;

/// The body of a request.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(super) struct Request {
    model: String,
    messages: Vec<Message>,
    stream: bool,
    stream_options: StreamOptions,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    /// What nearly every server calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    /// What OpenAI calls it, whose newer models refuse the other.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
struct StreamOptions {
    /// Without it, no usage comes.
    include_usage: bool,
}

/// A tool that the model may call.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Tool {
    r#type: &'static str,
    function: Function,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct Function {
    name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    description: String,
    parameters: Value,
}

/// A message, in either direction.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
struct Message {
    role: &'static str,
    content: Option<Content>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<ToolCall>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<String>,
    /// What the model's server said of it, and wants back.
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<ContentPart>),
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ContentPart {
    Text { text: String },
    ImageUrl { image_url: ImageUrl },
    File { file: File },
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct ImageUrl {
    url: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct File {
    filename: String,
    file_data: String,
}

/// A call in a message that goes back.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct ToolCall {
    id: String,
    r#type: &'static str,
    function: FunctionCall,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct FunctionCall {
    name: String,
    arguments: String,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// A chunk of an answer.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Chunk {
    model: Option<String>,
    #[serde(deserialize_with = "or_default")]
    choices: Vec<Choice>,
    #[serde(deserialize_with = "lenient")]
    usage: Option<Map<String, Value>>,
    error: Option<Value>,
    /// `error` where a server sends an error without a frame around it.
    object: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Choice {
    index: Option<Value>,
    delta: Option<Delta>,
    /// Some servers send the whole message in one chunk.
    message: Option<Delta>,
    finish_reason: Option<String>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Delta {
    role: Option<Value>,
    /// A text; some servers send a list of parts.
    content: Option<Value>,
    reasoning_content: Option<Value>,
    reasoning: Option<Value>,
    refusal: Option<Value>,
    #[serde(deserialize_with = "or_default")]
    tool_calls: Vec<ToolCallPiece>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// A piece of a call.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct ToolCallPiece {
    index: Option<Value>,
    id: Option<String>,
    r#type: Option<Value>,
    #[serde(deserialize_with = "or_default")]
    function: FunctionPiece,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct FunctionPiece {
    name: Option<String>,
    /// A text; some servers send the object.
    arguments: Option<Value>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// Nothing for `null`, which servers write where a list is empty.
fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}
