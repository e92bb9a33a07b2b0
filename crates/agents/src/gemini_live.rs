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
//! - `conversation`: what is kept for a chat; `step`: one step of it.
//! - `upstream`: the WebSocket; `setup`: its first message.
//! - `told`: what the model knows, and what it is owed.
//! - `reading`: what it says, as agent events.

mod config;
mod conversation;
mod reading;
mod setup;
mod step;
mod told;
mod upstream;

use std::sync::Arc;

use turn::ChatId;
use turn::agent::StepRequest;

pub use self::config::{Config, DEFAULT_MODEL, Modality};
use self::conversation::Talk;
use self::upstream::Address;
use crate::agent::{Agent, AgentStream, Conversation};
use crate::error::Error;

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

    fn talk(&self) -> Talk {
        Talk::new(self.0.clone())
    }
}

impl Agent for GeminiLive {
    fn name(&self) -> &str {
        "gemini-live"
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
