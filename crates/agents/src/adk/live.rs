//! A remote ADK server over `/run_live`: an agent that speaks and hears, with tools of its own.
//!
//! A step is what lies between two things that are waited for: it ends when the model calls tools, or
//! hands over. ADK runs the tools and goes on by itself; what it says meanwhile is kept for the next
//! step, which the turn asks for when all calls of the last are settled.
//!
//! A socket has an ADK session of its own, made from the journal. ADK would tell a session that had a
//! socket before to its model as the quoted words of somebody else, and have it answered at once,
//! before anybody has said anything.
//!
//! # Layout
//!
//! - `upstream`: the socket.
//! - `step`: one step; `told`: what a session knows, and how a new one is told.
//! - `reading`: events as agent events; `pace`: when the model has said all.

mod pace;
mod reading;
mod step;
mod told;
mod upstream;

use std::sync::Arc;

use turn::ChatId;
use turn::agent::StepRequest;

use self::step::{Line, Step};
use self::upstream::Door;
use super::config::Config;
use super::server::Server;
use crate::agent::{Agent, AgentStream, Conversation};
use crate::error::Error;
use crate::event_sender::EventSender;
use crate::gemini_live::Modality;
use crate::talk::{Ear, Partner, Talk};

/// A remote ADK server, live.
#[derive(Debug, Clone)]
pub struct AdkLive(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    server: Server,
    door: Door,
}

impl AdkLive {
    /// The server as configured. Nothing is opened before the first step.
    pub fn new(config: Config, modality: Modality) -> Result<Self, Error> {
        let door = Door::new(&config, modality)?;
        let server = Server::new(config)?;
        Ok(Self(Arc::new(Shared { server, door })))
    }
}

impl Agent for AdkLive {
    fn name(&self) -> &str {
        "adk-live"
    }

    fn step(&self, request: StepRequest) -> AgentStream {
        Talk::new(&self.0).step(request)
    }

    fn hears(&self) -> bool {
        true
    }

    fn converse(&self, _: &ChatId) -> Option<Box<dyn Conversation>> {
        Some(Box::new(Talk::new(&self.0)))
    }
}

impl Partner for Shared {
    type Line = Line;

    const HANGS_UP: bool = true;

    async fn step(&self, request: &StepRequest, sender: &EventSender, heard: Ear, line: &mut Line) {
        Step::new(self, request, sender, heard).run(line).await;
    }
}
