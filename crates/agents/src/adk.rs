//! A remote ADK server (`adk api_server`): an agent with tools of its own.
//!
//! A chat is an ADK session, and the ADK user is the chat's owner. ADK runs its tools by itself; what
//! it asks of a person becomes an approval, and what it waits for from outside becomes a client call.
//! Every run carries the turn and the step that it is for, so that a server which takes a chat up can
//! see in the session what ADK has received and done, and sends nothing twice.
//!
//! ADK's session is a copy. Where it does not hold what the journal holds (a message was edited or
//! regenerated, a run was cut off, ADK lost it), another session is made from the journal.
//!
//! # Layout
//!
//! - [`Config`]: where the server is.
//! - `server`: its routes; `stream`: a run, frame by frame; `event`: ADK's events.
//! - `reading`: events as agent events; `stored`: what a stored session holds of a turn.
//! - `run_input`: what is sent to ADK; `note`: which session holds a chat.
//! - `branches`: agents that run side by side.
//! - `step`: one step, from its input to its output; `start`: how it begins.
//! - `sessions`: how sessions are made; `mode`: in what servers differ.
//! - [`AdkLive`]: the same server over `/run_live`.
//! - `failure`: what went wrong, in codes.

mod agents;
mod branches;
mod config;
mod event;
mod failure;
mod live;
mod mode;
mod note;
mod reading;
mod run_input;
mod server;
mod sessions;
mod start;
mod step;
mod stored;
mod stream;

use std::sync::Arc;

use turn::ChatId;
use turn::agent::StepRequest;

pub use self::config::Config;
pub use self::live::AdkLive;
use self::server::Server;
use self::step::{SessionState, Step};
use crate::agent::{Agent, AgentStream, Conversation};
use crate::error::Error;
use crate::event_sender::EventSender;
use crate::session_conversation::{AudioReceiver, Backend, SessionConversation};

/// A remote ADK server.
#[derive(Debug, Clone)]
pub struct Adk {
    server: Arc<Server>,
}

impl Adk {
    /// The server as configured. Nothing is sent before the first step.
    pub fn new(config: Config) -> Result<Self, Error> {
        let server = Arc::new(Server::new(config)?);
        Ok(Self { server })
    }

    /// Requests the server's version, and logs it. The first step does, if nobody has before.
    pub async fn detect_version(&self) {
        self.server.detect_version().await;
    }
}

impl Agent for Adk {
    fn name(&self) -> &str {
        "adk"
    }

    fn step(&self, request: StepRequest) -> AgentStream {
        SessionConversation::new(&self.server).step(request)
    }

    fn converse(&self, _: &ChatId) -> Option<Box<dyn Conversation>> {
        Some(Box::new(SessionConversation::new(&self.server)))
    }
}

impl Backend for Server {
    type State = SessionState;

    // The stored session has what ADK has done meanwhile.
    const CLOSES_ON_STOP: bool = true;

    async fn step(
        &self,
        request: &StepRequest,
        sender: &EventSender,
        _: AudioReceiver,
        state: &mut SessionState,
    ) {
        Step::new(self, request, sender).run(state).await;
    }
}
