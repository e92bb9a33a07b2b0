//! The responder: an agent, by default the demo, that answers in Gemini's name. It reads Gemini's contents and
//! writes Gemini's parts.
//!
//! # Layout
//!
//! - `history`: contents as the history of a step request.
//! - `outcome`: the outcome of a call, from the function's response.
//! - `output`: an agent's events as parts and calls.

mod history;
mod outcome;
mod output;

pub(crate) use history::history;
pub(crate) use output::{Output, OutputStream};

use std::fmt;
use std::sync::Arc;

use agents::Agent;
use gemini::{Content, FunctionCallingMode, Tool, ToolConfig};
use serde_json::json;
use turn::agent::{Behavior, StepRequest, ToolDeclaration};
use turn::{ChatId, Principal, TurnId};

/// The agents that answer.
#[derive(Clone)]
pub(crate) struct Responder {
    /// Makes all calls of a step at once.
    pub(crate) parallel: Arc<dyn Agent>,
    /// Makes one call at a time, as a live model does that waits for it.
    pub(crate) one_by_one: Arc<dyn Agent>,
}

impl fmt::Debug for Responder {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "Responder({}, {})",
            self.parallel.name(),
            self.one_by_one.name()
        )
    }
}

/// A step request: the contents, and the tools that may be called.
pub(crate) fn step_request(
    contents: &[Content],
    tools: &[Tool],
    config: Option<&ToolConfig>,
) -> StepRequest {
    let config = config.and_then(|config| config.function_calling_config.as_ref());
    let may_call = |name: &str| match config {
        None => true,
        Some(config) => {
            let allowed = &config.allowed_function_names;
            config.mode != Some(FunctionCallingMode::None)
                && (allowed.is_empty() || allowed.iter().any(|allowed| allowed == name))
        }
    };
    let functions = tools.iter().flat_map(|tool| &tool.function_declarations);
    let tools = functions.filter_map(|function| {
        let schema = function.parameters_json_schema.as_ref();
        let schema = schema.or(function.parameters.as_ref()).cloned();
        Some(ToolDeclaration {
            name: function.name.clone().filter(|name| may_call(name))?,
            description: function.description.clone().unwrap_or_default(),
            input_schema: schema.unwrap_or_else(|| json!({"type": "object"})),
            behavior: Behavior::Blocking,
        })
    });
    StepRequest {
        chat: ChatId::from("emulator"),
        turn: TurnId::from("turn"),
        principal: Principal::from("emulator"),
        history: history(contents).into(),
        tools: tools.collect(),
        session: None,
        own: Vec::new(),
        is_again: false,
        trace: None,
    }
}
