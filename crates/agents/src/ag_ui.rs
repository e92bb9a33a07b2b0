//! Any agent that speaks AG-UI over HTTP, as LangGraph, pydantic-ai, CrewAI, Mastra, Agno and ADK do by
//! their adapters: an agent with tools of its own.
//!
//! A run is sent the whole chat as messages, made from the journal, with the ids that the agent gave. The
//! calls that it runs are shown as they are; its interrupts become approvals and questions, and the next
//! run has all answers. The tools that a turn has here are offered to it as front-end tools: a call of one
//! of those is a call like any model's, with our rules.
//!
//! # Layout
//!
//! - [`Config`]: where the agent is.
//! - `messages`: the journal as messages; `interrupt`: what an agent asks, and the answer; `moment`: when it
//!   does not wait any more.
//! - `reading`: the events of a run; `words`, `calls`, `shared_state`, `subagents`: what they are about;
//!   `langgraph`, `adk`: what these say in ways of their own; `ending`: how a run ends.

mod adk;
mod calls;
mod ending;
mod interrupt;
mod langgraph;
mod messages;
mod moment;
mod reading;
mod shared_state;
mod subagents;
mod words;

use std::sync::Arc;

use serde_json::{Map, Value, json};
use turn::ChatId;
use turn::agent::StepRequest;
use wire::ag_ui::{PROTOCOL_VERSION, RunAgentInput, Tool};

use self::reading::Reading;
use crate::agent::{Agent, AgentStream, Conversation};
use crate::error::Error;
use crate::model::{Failure, Provider, Redactor};
pub use crate::upstream::Config;
use crate::upstream::{Protocol, Remote, steps};

/// The name under which what the agent says of a part or call is kept.
const KEPT: &str = "agUi";

/// The name of the data that is the agent's state: `data-agui-state`.
const STATE: &str = "agui-state";

const PROVIDER: Provider = Provider {
    agent: "ag-ui",
    subject: "The agent",
};

/// An agent that speaks AG-UI over HTTP.
#[derive(Debug, Clone)]
pub struct AgUi {
    agent: Arc<Remote<Runs>>,
}

impl AgUi {
    /// The agent as configured. Nothing is sent before the first step.
    pub fn new(config: Config) -> Result<Self, Error> {
        let agent = Remote::new(Runs, PROVIDER, config)?;
        Ok(Self { agent })
    }
}

impl Agent for AgUi {
    fn name(&self) -> &str {
        PROVIDER.agent
    }

    fn step(&self, request: StepRequest) -> AgentStream {
        self.agent.step(request)
    }

    fn body_fields(&self) -> &[String] {
        self.agent.forward()
    }

    fn converse(&self, _: &ChatId) -> Option<Box<dyn Conversation>> {
        Some(self.agent.converse())
    }
}

/// The protocol: runs and their events.
#[derive(Debug)]
struct Runs;

impl Protocol for Runs {
    type Reader = Reading;

    fn body(&self, request: &StepRequest, fields: Map<String, Value>) -> Result<Value, Failure> {
        let resume = interrupt::answers(request);
        let tools = request.tools.iter().map(|tool| Tool {
            name: tool.name.clone(),
            description: tool.description.clone(),
            parameters: Some(tool.input_schema.clone()),
            ..Tool::default()
        });
        // Agents of 0.x refuse a request that lacks its state, or what is passed on.
        let input = RunAgentInput {
            thread_id: request.chat.to_string(),
            run_id: format!("{}-{}", request.turn, steps(request)),
            protocol_version: Some(PROTOCOL_VERSION.to_owned()),
            state: Some(messages::state(request).unwrap_or_else(|| json!({}))),
            messages: messages::of(request),
            tools: tools.collect(),
            forwarded_props: Some(fields.into()),
            resume: (!resume.is_empty()).then_some(resume),
            ..RunAgentInput::default()
        };
        serde_json::to_value(input).map_err(|error| PROVIDER.unreadable(&error.to_string()))
    }

    fn reader(&self, request: &StepRequest, redactor: Redactor) -> Reading {
        Reading::new(redactor, request)
    }
}

/// What the agent said of a part or call.
fn kept(metadata: Option<&Value>) -> Option<&Map<String, Value>> {
    metadata?.get(KEPT)?.as_object()
}

/// A text that the agent said of a part or call.
fn kept_text(metadata: Option<&Value>, field: &str) -> Option<String> {
    Some(kept(metadata)?.get(field)?.as_str()?.to_owned())
}
