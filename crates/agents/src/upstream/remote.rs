//! An agent of somebody else's, as it is configured.

use std::sync::Arc;

use turn::agent::StepRequest;

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
}

impl<P: Protocol> Remote<P> {
    /// The agent as configured. Nothing is sent before the first step.
    pub(crate) fn new(protocol: P, provider: Provider, config: Config) -> Result<Arc<Self>, Error> {
        Ok(Arc::new(Self {
            protocol,
            upstream: Upstream::new(provider, &config.url, &config.headers)?,
            client_tools: config.client_tools,
            reruns: config.reruns,
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
    pub(super) fn body(&self, request: &StepRequest) -> Result<serde_json::Value, Failure> {
        self.protocol.body(request)
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

    /// The path at which the agent continues a run that was cut off, if it has one.
    pub(super) fn resume_path<'a>(&self, request: &'a StepRequest) -> Option<[&'a str; 2]> {
        self.protocol.resume_path(request)
    }
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
