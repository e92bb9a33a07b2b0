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

use tokio::sync::{Mutex, mpsc};
use turn::ChatId;
use turn::agent::{Past, StepRequest, is_speech};

use self::step::{Line, Step};
use self::upstream::Door;
use super::config::Config;
use super::server::Server;
use crate::agent::{Agent, AgentStream, Conversation, Heard};
use crate::error::Error;
use crate::gemini_live::Modality;
use crate::narrated::narrated;

/// How many pieces of sound may wait for the socket to be open: some ten seconds of them.
const SOUNDS: usize = 256;

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

    fn talk(&self) -> Talk {
        Talk {
            shared: self.0.clone(),
            line: Arc::default(),
            ear: None,
        }
    }
}

impl Agent for AdkLive {
    fn name(&self) -> &str {
        "adk-live"
    }

    fn step(&self, request: StepRequest) -> AgentStream {
        self.talk().step(request)
    }

    fn hears(&self) -> bool {
        true
    }

    fn converse(&self, _: &ChatId) -> Option<Box<dyn Conversation>> {
        Some(Box::new(self.talk()))
    }
}

/// A conversation with one chat.
struct Talk {
    shared: Arc<Shared>,
    line: Arc<Mutex<Line>>,
    /// Where the step that listens hears.
    ear: Option<mpsc::Sender<Heard>>,
}

impl Conversation for Talk {
    fn step(&mut self, request: StepRequest) -> AgentStream {
        let (ear, heard) = mpsc::channel(SOUNDS);
        let is_spoken = match request.history.last() {
            Some(Past::Message(message)) => is_speech(message),
            _ => false,
        };
        self.ear = is_spoken.then_some(ear);
        let (shared, line) = (self.shared.clone(), self.line.clone());
        narrated(|narrator| async move {
            let mut line = line.lock_owned().await;
            let mut step = Step::new(&shared, &request, &narrator, is_spoken.then_some(heard));
            step.run(&mut line).await;
        })
    }

    fn hear(&mut self, heard: Heard) {
        if let Some(ear) = &self.ear {
            // Who speaks faster than the network takes it is not understood whole.
            let _ = ear.try_send(heard);
        }
    }

    fn stop(&mut self) {
        // Hanging up is how ADK is told to stop. The next step is told what was said until then.
        self.line = Arc::default();
        self.ear = None;
    }
}
