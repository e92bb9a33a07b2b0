//! A remote ADK server over `/run_live`: an agent with speech and tools of its own.
//!
//! A step is what lies between two things that are waited for: it ends when the model calls tools, or
//! hands over. ADK runs the tools and continues by itself; its output meanwhile is kept for the next
//! step, which the turn asks for when all calls of the last are settled.
//!
//! A socket has an ADK session of its own, made from the journal. ADK would send the history of a session that had a
//! socket before to its model as quoted text of another agent, and have it answered at once,
//! before the user has sent anything.
//!
//! # Layout
//!
//! - `upstream`: the socket.
//! - `step`: one step; `synced_history`: what a session holds, and how a new one gets the history.
//! - `reading`: events as agent events; `pace`: when an answer is complete.

mod pace;
mod reading;
mod step;
mod synced_history;
mod upstream;

use std::sync::Arc;

use turn::ChatId;
use turn::agent::StepRequest;

use self::step::{SessionState, Step};
use self::upstream::Endpoint;
use super::config::Config;
use super::server::Server;
use crate::agent::{Agent, AgentStream, Conversation};
use crate::error::Error;
use crate::event_sender::EventSender;
use crate::gemini_live::Modality;
use crate::session_conversation::{AudioReceiver, Backend, SessionConversation};

/// A remote ADK server, live.
#[derive(Debug, Clone)]
pub struct AdkLive(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    server: Server,
    endpoint: Endpoint,
}

impl AdkLive {
    /// The server as configured. Nothing is opened before the first step.
    pub fn new(config: Config, modality: Modality) -> Result<Self, Error> {
        let endpoint = Endpoint::new(&config, modality)?;
        let server = Server::new(config)?;
        Ok(Self(Arc::new(Shared { server, endpoint })))
    }

    /// Requests the server's version, and logs it. The first step does, if nobody has before.
    pub async fn detect_version(&self) {
        self.0.server.detect_version().await;
    }
}

impl Agent for AdkLive {
    fn name(&self) -> &str {
        "adk-live"
    }

    fn step(&self, request: StepRequest) -> AgentStream {
        SessionConversation::new(&self.0).step(request)
    }

    fn supports_audio(&self) -> bool {
        true
    }

    fn converse(&self, _: &ChatId) -> Option<Box<dyn Conversation>> {
        Some(Box::new(SessionConversation::new(&self.0)))
    }
}

impl Backend for Shared {
    type State = SessionState;

    const CLOSES_ON_STOP: bool = true;

    async fn step(
        &self,
        request: &StepRequest,
        sender: &EventSender,
        audio: AudioReceiver,
        state: &mut SessionState,
    ) {
        Step::new(self, request, sender, audio).run(state).await;
    }
}
