//! Gemini Live: one session upstream for each chat, over a WebSocket.
//!
//! A step is what lies between two things that the model waits for: it begins with what the model
//! lacks, a message or the outcomes of its calls, and ends when the model hands
//! over, or calls tools that it waits for. The session is read beyond that: the model may take
//! a call back. What the session holds is known by its place in the history, so that a chat which
//! was edited, or which continued elsewhere, gets a new session with the history as it now is.
//!
//! # Layout
//!
//! - [`Config`]: what an operator may say.
//! - `session_state`: what is kept for a chat; `step`: one step.
//! - `upstream`: the WebSocket; `setup`: its first message.
//! - `synced_history`: how much of the history the model has, and its pending calls.
//! - `reading`: its output as agent events.

mod config;
mod reading;
mod session_state;
mod setup;
mod step;
mod synced_history;
mod upstream;

use std::sync::Arc;

use turn::ChatId;
use turn::agent::StepRequest;

pub use self::config::{Config, DEFAULT_MODEL, Modality};
use self::session_state::SessionState;
use self::step::Step;
use self::upstream::Address;
use crate::agent::{Agent, AgentStream, Conversation};
use crate::error::Error;
use crate::event_sender::EventSender;
use crate::session_conversation::{AudioReceiver, Backend, SessionConversation};

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

    fn model(&self) -> Option<&str> {
        Some(&self.0.config.common.model)
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

    const CLOSES_ON_STOP: bool = false;

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
