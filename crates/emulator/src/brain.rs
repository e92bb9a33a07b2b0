//! Who answers in Gemini's name: an agent, by default the demo, told in Gemini's words and heard in
//! Gemini's words.
//!
//! # Layout
//!
//! - `history`: contents as the history that an agent is told.
//! - `outcome`: what a response of a function says of its call.
//! - `saying`: what an agent says, as parts and calls.

mod history;
mod outcome;
mod saying;

pub(crate) use history::history;
pub(crate) use saying::{Said, Saying};

use std::fmt;
use std::sync::Arc;

use agents::Agent;
use gemini::{Content, FunctionCallingMode, Tool, ToolConfig};
use serde_json::json;
use turn::agent::{Behavior, StepRequest, ToolDeclaration};
use turn::{ChatId, Principal, TurnId};

/// Who answers.
#[derive(Clone)]
pub(crate) struct Brain {
    /// Makes all calls of a step at once.
    pub(crate) parallel: Arc<dyn Agent>,
    /// Makes one call at a time, as a live model does that waits for it.
    pub(crate) one_by_one: Arc<dyn Agent>,
}

impl fmt::Debug for Brain {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "Brain({}, {})",
            self.parallel.name(),
            self.one_by_one.name()
        )
    }
}

/// What an agent is told: contents, and the tools that it may call.
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
    }
}
