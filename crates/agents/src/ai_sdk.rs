//! A route that answers with the AI SDK's UI message stream, as
//! `streamText(…).toUIMessageStreamResponse()` does: an agent with tools of its own.
//!
//! The route is sent what `useChat` would send: the whole chat as UI messages, made from the journal. The
//! calls that it runs are shown as they are, its approval requests become approvals, and a call without
//! an output at the end of the stream is a page's to run. The next request has all answers and outputs.
//!
//! # Layout
//!
//! - [`Config`]: where the route is.
//! - `messages`: the journal as UI messages; `tool_part`: a call in them.
//! - `reading`: the chunks of a stream; `call_chunk`: those of calls.

mod call_chunk;
mod messages;
mod reading;
mod tool_part;

use std::sync::Arc;

use serde_json::{Map, Value, json};
use turn::ChatId;
use turn::agent::StepRequest;

use self::reading::Reading;
use crate::agent::{Agent, AgentStream, Conversation};
use crate::error::Error;
use crate::model::{Failure, Provider, Redactor};
pub use crate::upstream::Config;
use crate::upstream::{Protocol, Remote};

/// The name under which what the route says of a part or call is kept.
const KEPT: &str = turn::metadata::AI_SDK;

const PROVIDER: Provider = Provider {
    agent: "ai-sdk",
    subject: "The agent",
};

/// A route that answers with the AI SDK's UI message stream.
#[derive(Debug, Clone)]
pub struct AiSdk {
    route: Arc<Remote<UiMessageStream>>,
}

impl AiSdk {
    /// The route as configured. Nothing is sent before the first step.
    pub fn new(config: Config) -> Result<Self, Error> {
        let route = Remote::new(UiMessageStream, PROVIDER, config)?;
        Ok(Self { route })
    }
}

impl Agent for AiSdk {
    fn name(&self) -> &str {
        PROVIDER.agent
    }

    fn step(&self, request: StepRequest) -> AgentStream {
        self.route.step(request)
    }

    fn body_fields(&self) -> &[String] {
        self.route.forward()
    }

    fn converse(&self, _: &ChatId) -> Option<Box<dyn Conversation>> {
        Some(self.route.converse())
    }
}

/// The protocol of `useChat`.
#[derive(Debug)]
struct UiMessageStream;

impl Protocol for UiMessageStream {
    type Reader = Reading;

    fn body(&self, request: &StepRequest, fields: Map<String, Value>) -> Result<Value, Failure> {
        let messages = messages::of(request);
        let mut body = Value::Object(fields);
        body["id"] = json!(request.chat);
        body["trigger"] = json!("submit-message");
        // As the client does, which continues an assistant message by its id.
        if let Some(last) = messages.last()
            && last["role"] == "assistant"
        {
            body["messageId"] = last["id"].clone();
        }
        body["messages"] = messages.into();
        Ok(body)
    }

    fn reader(&self, _: &StepRequest, redactor: Redactor) -> Reading {
        Reading::new(redactor)
    }

    fn resume_path<'a>(&self, request: &'a StepRequest) -> Option<[&'a str; 2]> {
        Some([request.chat.as_str(), "stream"])
    }
}
