//! The Responses API: what of it is read and written. Items go back as they came, in their order.
//!
//! # Layout
//!
//! - this file: the body of a request, and the events of an answer.
//! - `items`: the history, as items; `reading`: events as agent events.

mod items;
mod reading;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use turn::agent::{StepRequest, ToolDeclaration};

pub(super) use self::reading::ResponsesReading;
use crate::model::lenient;
use crate::model::schema::object;
use crate::model::tool_names::ToolNames;
use crate::openai::config::Config;

/// Models that do not think, and refuse a request that asks for their thoughts.
const WITHOUT_REASONING: [&str; 4] = ["gpt-3", "gpt-4", "chatgpt-", "gpt-5-chat"];

/// The body of a request.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Request {
    model: String,
    input: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<String>,
    stream: bool,
    /// The journal is what keeps a chat, and not OpenAI.
    store: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    include: Vec<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<Reasoning>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct Tool {
    r#type: &'static str,
    name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    description: String,
    parameters: Value,
    /// A strict schema must name every field as required, which those of tools do not.
    strict: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct Reasoning {
    effort: String,
    summary: &'static str,
}

/// The body that asks for a step.
pub(super) fn body(config: &Config, names: &ToolNames, request: &StepRequest) -> Vec<u8> {
    let tool = |tool: &ToolDeclaration| Tool {
        r#type: "function",
        name: names.sent(&tool.name),
        description: tool.description.clone(),
        parameters: object(&tool.input_schema),
        strict: false,
    };
    let mut without = WITHOUT_REASONING.iter();
    let thinks = !without.any(|start| config.model.starts_with(start));
    let effort = config.reasoning_effort.clone();
    let request = Request {
        model: config.model.clone(),
        input: items::items(&request.history, names),
        instructions: config.instruction.clone(),
        stream: true,
        store: false,
        include: match thinks {
            true => vec!["reasoning.encrypted_content"],
            false => Vec::new(),
        },
        tools: request.tools.iter().map(tool).collect(),
        temperature: config.temperature,
        max_output_tokens: config.max_tokens,
        reasoning: effort.map(|effort| Reasoning {
            effort,
            summary: "auto",
        }),
    };
    // Maps with text for keys can always be written.
    serde_json::to_vec(&request).unwrap_or_default()
}

/// An event of an answer.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct StreamEvent {
    r#type: String,
    output_index: Option<u64>,
    /// More of a text.
    delta: Option<Value>,
    /// The item that begins or ends.
    item: Option<Map<String, Value>>,
    /// The whole answer, when it ends.
    response: Option<Response>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Response {
    model: Option<String>,
    error: Option<Value>,
    incomplete_details: Option<IncompleteDetails>,
    #[serde(deserialize_with = "lenient")]
    usage: Option<Map<String, Value>>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct IncompleteDetails {
    reason: Option<String>,
}
