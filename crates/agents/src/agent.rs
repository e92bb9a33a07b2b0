//! What every agent is to the engine.

use std::pin::Pin;

use futures_core::Stream;
use serde::{Deserialize, Serialize};
use turn::ChatId;
use turn::agent::{AgentEvent, StepRequest};

/// What an agent says in one step, as it says it.
///
/// Dropping the stream cancels the step. A stream that ends without [`AgentEvent::Ended`] or
/// [`AgentEvent::Failed`] was cut off, and it is the caller's to treat it so. One that goes on after
/// the end is listened to until the next step: a live model may take a call back while it waits.
pub type AgentStream = Pin<Box<dyn Stream<Item = AgentEvent> + Send>>;

/// Who answers.
///
/// An agent gets the whole history and streams one step; once the calls of the step are settled, it gets
/// the whole history again. One that keeps a session for a chat gives a [`Conversation`].
pub trait Agent: Send + Sync + 'static {
    /// The name under which it is configured and logged.
    fn name(&self) -> &str;

    /// The model that it asks, if it asks one: for traces.
    fn model(&self) -> Option<&str> {
        None
    }

    /// Runs one step. Nothing happens before the stream is polled.
    fn step(&self, request: StepRequest) -> AgentStream;

    /// Whether it takes audio input.
    fn supports_audio(&self) -> bool {
        false
    }

    /// Whether it takes a user's message between the steps of a turn. Its history then has one behind
    /// the results of a step. For an agent that does not, such a message opens a turn of its own.
    fn takes_injections(&self) -> bool {
        false
    }

    /// The fields that a page may add to the body of its request, and that the agent gets with the
    /// message.
    fn body_fields(&self) -> &[String] {
        &[]
    }

    /// What it keeps open for a chat, if it keeps anything. Its steps are asked for there, and it is
    /// dropped when nothing happens to the chat any more.
    fn converse(&self, chat: &ChatId) -> Option<Box<dyn Conversation>> {
        let _ = chat;
        None
    }
}

/// What an agent keeps open for one chat.
pub trait Conversation: Send + Sync {
    /// Runs one step, as [`Agent::step`] does. The stream of the step before is dropped already, or
    /// about to be.
    fn step(&mut self, request: StepRequest) -> AgentStream;

    /// Takes audio input, while a step runs whose message is speech.
    fn push_audio(&mut self, audio: AudioInput) {
        let _ = audio;
    }

    /// The turn was stopped: the rest of its output is discarded.
    fn stop(&mut self) {}
}

/// A piece of a user's speech.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum AudioInput {
    /// Sound: PCM, 16 bits, little-endian, one channel.
    Sound {
        /// The samples.
        pcm: Vec<u8>,
        /// How many of them make a second.
        sample_rate: u32,
    },
    /// Nothing more comes.
    End,
}
