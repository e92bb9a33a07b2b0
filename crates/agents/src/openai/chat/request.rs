//! A step request, as the body of a request.

use turn::agent::{StepRequest, ToolDeclaration};

use super::messages::messages;
use super::{Function, Request, StreamOptions, Tool};
use crate::model::schema::object;
use crate::model::tool_names::ToolNames;
use crate::openai::config::Config;

/// The body that asks for a step.
pub(in crate::openai) fn body(
    config: &Config,
    is_openai: bool,
    names: &ToolNames,
    request: &StepRequest,
) -> Vec<u8> {
    let tool = |tool: &ToolDeclaration| Tool {
        r#type: "function",
        function: Function {
            name: names.sent(&tool.name),
            description: tool.description.clone(),
            parameters: object(&tool.input_schema),
        },
    };
    let request = Request {
        model: config.model.clone(),
        messages: messages(
            config.instruction.as_deref(),
            &request.history,
            names,
            is_openai,
        ),
        stream: true,
        stream_options: StreamOptions {
            include_usage: true,
        },
        tools: request.tools.iter().map(tool).collect(),
        temperature: config.temperature,
        max_tokens: config.max_tokens.filter(|_| !is_openai),
        max_completion_tokens: config.max_tokens.filter(|_| is_openai),
        reasoning_effort: config.reasoning_effort.clone(),
    };
    // Maps with text for keys can always be written.
    serde_json::to_vec(&request).unwrap_or_default()
}
