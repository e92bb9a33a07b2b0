//! Gemini Live: one session upstream for each chat, over a WebSocket.
//!
//! A step is what lies between two things that the model waits for: it begins by telling the model
//! what it does not know yet, a message or what became of its calls, and ends when the model hands
//! over, or calls tools that it waits for. The session is listened to beyond that: the model may take
//! a call back. What the session was told is known by its place in the history, so that a chat which
//! was edited, or which went on elsewhere, gets a new session with the history as it now is.
//!
//! # Layout
//!
//! - [`Config`]: what an operator may say.
//! - `line`: what is kept for a chat; `step`: one step.
//! - `upstream`: the WebSocket; `setup`: its first message.
//! - `told`: what the model knows, and what it is owed.
//! - `reading`: what it says, as agent events.

mod config;
mod line;
mod reading;
mod setup;
mod step;
mod told;
mod upstream;

use std::sync::Arc;

use turn::ChatId;
use turn::agent::StepRequest;

pub use self::config::{Config, DEFAULT_MODEL, Modality};
use self::line::Line;
use self::step::Step;
use self::upstream::Address;
use crate::agent::{Agent, AgentStream, Conversation};
use crate::error::Error;
use crate::event_sender::EventSender;
use crate::talk::{Ear, Partner, Talk};

/// Gemini, by Live.
#[derive(Debug, Clone)]
pub struct GeminiLive(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    config: Config,
    address: Address,
}

impl GeminiLive {
    /// Gemini as configured. Nothing is opened before the first step.
    pub fn new(config: Config) -> Result<Self, Error> {
        let address = Address::new(&config)?;
        Ok(Self(Arc::new(Shared { config, address })))
    }
}

impl Agent for GeminiLive {
    fn name(&self) -> &str {
        "gemini-live"
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

    const HANGS_UP: bool = false;

    async fn step(&self, request: &StepRequest, sender: &EventSender, heard: Ear, line: &mut Line) {
        Step::new(self, request, sender, heard).run(line).await;
    }
}
