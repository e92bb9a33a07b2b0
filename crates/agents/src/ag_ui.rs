//! Any agent that speaks AG-UI over HTTP, as LangGraph, pydantic-ai, CrewAI, Mastra, Agno and ADK do by
//! their adapters: an agent with tools of its own.
//!
//! A run is sent the whole chat as messages, made from the journal, with the ids that the agent gave. The
//! calls that it runs are shown as they are; its interrupts become approvals, and the next run has all
//! answers. The tools that a turn has here are offered to it as front-end tools: a call of one of those
//! is a call like any model's, with our rules.
//!
//! # Layout
//!
//! - [`Config`]: where the agent is.
//! - `messages`: the journal as messages; `interrupt`: what an agent asks, and the answer.
//! - `reading`: the events of a run; `calls`: those of calls; `ending`: how it ends.

mod calls;
mod config;
mod ending;
mod interrupt;
mod messages;
mod reading;

use std::sync::Arc;

use serde_json::{Map, Value, json};
use turn::ChatId;
use turn::agent::StepRequest;
use wire::ag_ui::{PROTOCOL_VERSION, RunAgentInput, Tool};

pub use self::config::Config;
use self::reading::Reading;
use crate::agent::{Agent, AgentStream, Conversation};
use crate::error::Error;
use crate::event_sender::EventSender;
use crate::model::{Failure, Provider};
use crate::session_conversation::{AudioReceiver, Backend, SessionConversation};
use crate::upstream::{Protocol, SessionState, Upstream, run_step, steps};

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
    endpoint: Arc<Endpoint>,
}

#[derive(Debug)]
struct Endpoint {
    upstream: Upstream,
    client_tools: Option<Vec<String>>,
    reruns: bool,
}

impl AgUi {
    /// The agent as configured. Nothing is sent before the first step.
    pub fn new(config: Config) -> Result<Self, Error> {
        let upstream = Upstream::new(PROVIDER, &config.url, &config.headers)?;
        let endpoint = Arc::new(Endpoint {
            upstream,
            client_tools: config.client_tools,
            reruns: config.reruns,
        });
        Ok(Self { endpoint })
    }
}

impl Agent for AgUi {
    fn name(&self) -> &str {
        PROVIDER.agent
    }

    fn step(&self, request: StepRequest) -> AgentStream {
        SessionConversation::new(&self.endpoint).step(request)
    }

    fn converse(&self, _: &ChatId) -> Option<Box<dyn Conversation>> {
        Some(Box::new(SessionConversation::new(&self.endpoint)))
    }
}

impl Backend for Endpoint {
    type State = SessionState<Endpoint>;

    // A run that nobody reads goes on for nobody.
    const CLOSES_ON_STOP: bool = true;

    async fn step(
        &self,
        request: &StepRequest,
        sender: &EventSender,
        _: AudioReceiver,
        state: &mut SessionState<Endpoint>,
    ) {
        run_step(self, request, sender, state).await;
    }
}

impl Protocol for Endpoint {
    type Reader = Reading;

    fn upstream(&self) -> &Upstream {
        &self.upstream
    }

    fn body(&self, request: &StepRequest) -> Result<Value, Failure> {
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
            forwarded_props: Some(json!({})),
            resume: (!resume.is_empty()).then_some(resume),
            ..RunAgentInput::default()
        };
        serde_json::to_value(input).map_err(|error| PROVIDER.unreadable(&error.to_string()))
    }

    fn reader(&self, request: &StepRequest) -> Reading {
        Reading::new(self.upstream.redactor(), request)
    }

    fn client_tools(&self) -> Option<&[String]> {
        self.client_tools.as_deref()
    }

    fn reruns(&self) -> bool {
        self.reruns
    }

    fn resume_path<'a>(&self, _: &'a StepRequest) -> Option<[&'a str; 2]> {
        None
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
