//! An agent of somebody else's, as it is configured.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use turn::agent::{HistoryItem, StepRequest};
use turn::metadata::{BODY, OURS};

use super::Protocol;
use super::config::Config;
use super::http::Upstream;
use super::step::{SessionState, run_step};
use crate::agent::{AgentStream, Conversation};
use crate::error::Error;
use crate::event_sender::EventSender;
use crate::model::{Failure, Provider};
use crate::session_conversation::{AudioReceiver, Backend, SessionConversation};

/// An agent that is spoken to by a protocol.
#[derive(Debug)]
pub(crate) struct Remote<P> {
    protocol: P,
    upstream: Upstream,
    client_tools: Option<Vec<String>>,
    reruns: bool,
    forward: Vec<String>,
    tool_timeout: Option<Duration>,
}

impl<P: Protocol> Remote<P> {
    /// The agent as configured. Nothing is sent before the first step.
    pub(crate) fn new(protocol: P, provider: Provider, config: Config) -> Result<Arc<Self>, Error> {
        if let Some(name) = config.forward.iter().find(|name| is_reserved(name)) {
            return Err(Error::BodyField(name.clone()));
        }
        Ok(Arc::new(Self {
            protocol,
            upstream: Upstream::new(provider, &config.url, &config.headers)?,
            client_tools: config.client_tools,
            reruns: config.reruns,
            forward: config.forward,
            tool_timeout: config.tool_timeout,
        }))
    }

    /// A session for one chat.
    pub(crate) fn converse(self: &Arc<Self>) -> Box<dyn Conversation> {
        Box::new(SessionConversation::new(self))
    }

    /// One step, in a session of its own.
    pub(crate) fn step(self: &Arc<Self>, request: StepRequest) -> AgentStream {
        SessionConversation::new(self).step(request)
    }

    pub(super) fn upstream(&self) -> &Upstream {
        &self.upstream
    }

    /// What begins a run.
    pub(super) fn body(&self, request: &StepRequest) -> Result<Value, Failure> {
        self.protocol.body(request, self.page_fields(request))
    }

    /// The fields of pages' requests that the agent gets.
    pub(crate) fn forward(&self) -> &[String] {
        &self.forward
    }

    /// Those that came with the message that is answered, or with the last one before a result.
    fn page_fields(&self, request: &StepRequest) -> Map<String, Value> {
        let message = request.history.iter().rev().find_map(|past| match past {
            HistoryItem::Message(message) => Some(message),
            _ => None,
        });
        let metadata = message.and_then(|message| message.metadata.as_ref());
        let noted = metadata.and_then(|metadata| metadata.get(OURS)?.get(BODY));
        let fields = self.forward.iter();
        let fields = fields.filter_map(|name| Some((name.clone(), noted?.get(name)?.clone())));
        fields.collect()
    }

    /// A reader of the run that a request begins.
    pub(super) fn reader(&self, request: &StepRequest) -> P::Reader {
        self.protocol.reader(request, self.upstream.redactor())
    }

    /// Which tools pages run, where that is known beforehand.
    pub(super) fn client_tools(&self) -> Option<&[String]> {
        self.client_tools.as_deref()
    }

    /// Whether a run that another server may have begun is begun again.
    pub(super) fn reruns(&self) -> bool {
        self.reruns
    }

    /// How long the agent's tools may run, if not for ever.
    pub(super) fn tool_timeout(&self) -> Option<Duration> {
        self.tool_timeout
    }

    /// The path at which the agent continues a run that was cut off, if it has one.
    pub(super) fn resume_path<'a>(&self, request: &'a StepRequest) -> Option<[&'a str; 2]> {
        self.protocol.resume_path(request)
    }
}

/// Whether a field of a request has a meaning of its own, here or at a route.
fn is_reserved(name: &str) -> bool {
    let names = [
        "id",
        "message",
        "messageId",
        "messages",
        "tools",
        "trigger",
        "whileRunning",
    ];
    name.is_empty() || names.contains(&name)
}

impl<P: Protocol> Backend for Remote<P> {
    type State = SessionState<P>;

    // A run without a reader would continue in vain.
    const CLOSES_ON_STOP: bool = true;

    async fn step(
        &self,
        request: &StepRequest,
        sender: &EventSender,
        _: AudioReceiver,
        state: &mut SessionState<P>,
    ) {
        run_step(self, request, sender, state).await;
    }
}
