//! What every agent is to the engine.

use std::pin::Pin;

use futures_core::Stream;
use turn::agent::{AgentEvent, StepRequest};

/// What an agent says in one step, as it says it.
///
/// Dropping the stream cancels the step. A stream that ends without [`AgentEvent::Ended`] or
/// [`AgentEvent::Failed`] was cut off, and it is the caller's to treat it so.
pub type AgentStream = Pin<Box<dyn Stream<Item = AgentEvent> + Send>>;

/// Who answers.
///
/// This is the step form: an agent is told everything and says one step, and once the calls of the
/// step are settled it is told everything again. Live agents, which hold a conversation open, get a
/// duplex form beside it later.
pub trait Agent: Send + Sync + 'static {
    /// The name under which it is configured and logged.
    fn name(&self) -> &str;

    /// Runs one step. Nothing happens before the stream is polled.
    fn step(&self, request: StepRequest) -> AgentStream;
}
