//! The built-in demo: an agent without a model, a key or a network.
//!
//! It answers the same to the same history, in English or Japanese, knows every scenario of the
//! fixtures, and plays faults on request.
//!
//! # Layout
//!
//! - `understand`: what a prompt asks for, by a table for each language; `intent`: one such thing, as
//!   a call, and what is asked back.
//! - `plan`: the next step, decided from the history alone; `fault`: prompts that play a fault.
//! - `say`: the words, in both languages.
//! - `pieces`: the words cut into deltas; `paced`: the deltas in their time.

mod fault;
mod intent;
mod paced;
mod pieces;
mod plan;
mod say;
mod understand;

use std::time::Duration;

use serde_json::json;
use turn::agent::{AgentEvent, StepRequest};
use turn::event::Finish;

use self::paced::Paced;
use self::pieces::pieces;
use self::plan::{CallMode, End, Step, plan};
use agents::{Agent, AgentStream};

/// The demo agent.
#[derive(Debug, Clone)]
pub struct Demo {
    mode: CallMode,
    pace: Duration,
}

impl Demo {
    /// The demo as a model that is asked for each step: it makes all calls of a step at once.
    pub fn new() -> Self {
        Self {
            mode: CallMode::Parallel,
            pace: Duration::ZERO,
        }
    }

    /// The demo as a live model: it makes one call at a time, the next when that one is settled.
    pub fn live() -> Self {
        Self {
            mode: CallMode::Sequential,
            ..Self::new()
        }
    }

    /// Waits so long before each delta. Without it, everything is said at once.
    #[must_use]
    pub fn with_pace(self, pace: Duration) -> Self {
        Self { pace, ..self }
    }
}

impl Default for Demo {
    fn default() -> Self {
        Self::new()
    }
}

impl Agent for Demo {
    fn name(&self) -> &str {
        match self.mode {
            CallMode::Parallel => "demo",
            CallMode::Sequential => "demo-live",
        }
    }

    fn takes_injections(&self) -> bool {
        true
    }

    fn step(&self, request: StepRequest) -> AgentStream {
        let step = plan(&request, self.mode);
        let pause = self.pace.saturating_mul(step.slowness);
        Box::pin(Paced::new(events(step), pause))
    }
}

/// A step as events.
fn events(step: Step) -> Vec<AgentEvent> {
    let completion_tokens = step.completion_tokens();
    let reasoning = pieces(&step.reasoning).into_iter();
    let reasoning = reasoning.map(|delta| AgentEvent::Reasoning {
        delta,
        provider_metadata: None,
    });
    let text = pieces(&step.text).into_iter();
    let text = text.map(|delta| AgentEvent::Text {
        delta,
        provider_metadata: None,
    });
    let calls = step.calls.into_iter();
    let calls = calls.map(|(tool, input)| AgentEvent::Call {
        provider_id: None,
        tool: tool.to_owned(),
        input,
        provider_metadata: None,
    });
    let mut events: Vec<_> = reasoning.chain(text).chain(calls).collect();
    match step.end {
        End::Cut => {}
        End::Failed {
            code,
            message,
            retry_after_ms,
        } => events.push(AgentEvent::Failed {
            code,
            message,
            retry_after_ms,
        }),
        End::Stop => {
            events.push(AgentEvent::Metadata(json!({
                "usage": {
                    "promptTokens": step.prompt_tokens,
                    "completionTokens": completion_tokens,
                    "totalTokens": step.prompt_tokens + completion_tokens,
                },
                "modelVersion": "demo-1",
            })));
            events.push(AgentEvent::Ended(Finish::Stop));
        }
    }
    events
}
