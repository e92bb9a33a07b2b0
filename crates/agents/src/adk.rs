//! A remote ADK server (`adk api_server`): an agent with tools of its own.
//!
//! A chat is an ADK session, and the ADK user is the chat's owner. ADK runs its tools by itself; what
//! it asks of a person becomes an approval, and what it waits for from outside becomes a client call.
//! Every run carries the turn and the step that it is for, so that a server which takes a chat up can
//! see in the session what ADK has heard and done, and asks nothing twice.
//!
//! ADK's session is a copy. Where it does not hold what the journal says (a message was edited or is
//! answered anew, a run was cut off, ADK forgot it), another session is made from the journal.
//!
//! # Layout
//!
//! - [`Config`]: where the server is.
//! - `server`: its routes; `stream`: a run, frame by frame; `event`: what ADK says.
//! - `reading`: events as agent events; `stored`: what a session says of a turn.
//! - `telling`: what ADK is told; `note`: which session holds a chat.
//! - `branches`: agents that run side by side.
//! - `step`: one step, from what is told to what is read; `asking`: how it begins.
//! - `sessions`: how sessions are made; `mode`: in what servers differ.
//! - [`AdkLive`]: the same server over `/run_live`.
//! - `failure`: what went wrong, in codes.

mod agents;
mod asking;
mod branches;
mod config;
mod event;
mod failure;
mod live;
mod mode;
mod note;
mod reading;
mod server;
mod sessions;
mod step;
mod stored;
mod stream;
mod telling;

use std::sync::Arc;

use turn::ChatId;
use turn::agent::StepRequest;

pub use self::config::Config;
pub use self::live::AdkLive;
use self::server::Server;
use self::step::{Line, Step};
use crate::agent::{Agent, AgentStream, Conversation};
use crate::error::Error;
use crate::event_sender::EventSender;
use crate::talk::{Ear, Partner, Talk};

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
}

impl Agent for Adk {
    fn name(&self) -> &str {
        "adk"
    }

    fn step(&self, request: StepRequest) -> AgentStream {
        Talk::new(&self.server).step(request)
    }

    fn converse(&self, _: &ChatId) -> Option<Box<dyn Conversation>> {
        Some(Box::new(Talk::new(&self.server)))
    }
}

impl Partner for Server {
    type Line = Line;

    // What ADK has done meanwhile its session says.
    const HANGS_UP: bool = true;

    async fn step(&self, request: &StepRequest, sender: &EventSender, _: Ear, line: &mut Line) {
        Step::new(self, request, sender).run(line).await;
    }
}
