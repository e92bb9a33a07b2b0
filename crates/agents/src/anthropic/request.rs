//! A step request, as the body of a request.

use turn::agent::{StepRequest, ToolDeclaration};

use super::api::{Request, Thinking, Tool};
use super::config::{Config, DEFAULT_MAX_TOKENS};
use super::messages::messages;
use crate::model::schema::object;
use crate::model::tool_names::ToolNames;

/// The body that asks for a step.
pub(super) fn body(config: &Config, names: &ToolNames, request: &StepRequest) -> Vec<u8> {
    let tool = |tool: &ToolDeclaration| Tool {
        name: names.sent(&tool.name),
        description: tool.description.clone(),
        input_schema: object(&tool.input_schema),
    };
    let budget = config.thinking_budget;
    let max_tokens = match (config.max_tokens, budget) {
        // Thoughts count, and the limit has to be above their budget.
        (Some(tokens), Some(budget)) if tokens <= budget => budget + tokens,
        (None, Some(budget)) => budget + DEFAULT_MAX_TOKENS,
        (tokens, _) => tokens.unwrap_or(DEFAULT_MAX_TOKENS),
    };
    let request = Request {
        model: config.model.clone(),
        max_tokens,
        messages: messages(&request.history, names),
        system: config.instruction.clone(),
        stream: true,
        tools: request.tools.iter().map(tool).collect(),
        temperature: config.temperature.filter(|_| budget.is_none()),
        thinking: budget.map(|budget_tokens| Thinking {
            r#type: "enabled",
            budget_tokens,
        }),
    };
    // Maps with text for keys can always be written.
    serde_json::to_vec(&request).unwrap_or_default()
}
