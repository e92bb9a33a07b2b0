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
/// An agent is told everything and says one step, and once the calls of the step are settled it is
/// told everything again. One that remembers what it was told gives a [`Conversation`].
pub trait Agent: Send + Sync + 'static {
    /// The name under which it is configured and logged.
    fn name(&self) -> &str;

    /// Runs one step. Nothing happens before the stream is polled.
    fn step(&self, request: StepRequest) -> AgentStream;

    /// Whether it understands speech.
    fn hears(&self) -> bool {
        false
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

    /// Takes in what is heard while a step runs whose message is speech.
    fn hear(&mut self, heard: Heard) {
        let _ = heard;
    }

    /// The turn was stopped: what was said in it goes on for nobody.
    fn stop(&mut self) {}
}

/// What is heard of somebody who speaks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum Heard {
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
