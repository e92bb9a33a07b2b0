//! An agent's events as Gemini's parts and calls.

use std::time::Duration;

use agents::AgentStream;
use futures_util::StreamExt as _;
use gemini::{Blob, Data, FinishReason, Part};
use serde_json::{Map, Value};
use turn::agent::AgentEvent;
use turn::event::Finish;

use crate::refusal::Refusal;

/// One piece of an agent's output.
#[derive(Debug, PartialEq)]
pub(crate) enum Output {
    /// More text, thoughts or bytes.
    Part(Box<Part>),
    /// The calls of the step, all of them, each with its tool and its input.
    Calls(Vec<(String, Map<String, Value>)>),
    /// That was all.
    Ended(FinishReason),
    /// It failed.
    Failed(Refusal),
    /// It broke off.
    Cut,
}

/// An agent that speaks.
pub(crate) struct OutputStream {
    stream: AgentStream,
    calls: Vec<(String, Map<String, Value>)>,
    ended: Option<FinishReason>,
}

impl OutputStream {
    pub(crate) fn new(stream: AgentStream) -> Self {
        Self {
            stream,
            calls: Vec::new(),
            ended: None,
        }
    }

    /// The next thing. What ends it comes last, and once. Dropping the future loses nothing.
    pub(crate) async fn next(&mut self) -> Output {
        if let Some(reason) = self.ended.take() {
            return Output::Ended(reason);
        }
        loop {
            let Some(event) = self.stream.next().await else {
                return Output::Cut;
            };
            match event {
                AgentEvent::Text { delta, .. } => return Output::Part(Box::new(Part::text(delta))),
                AgentEvent::Reasoning { delta, .. } => {
                    return Output::Part(Box::new(Part {
                        thought: Some(true),
                        ..Part::text(delta)
                    }));
                }
                AgentEvent::Call { tool, input, .. } => {
                    let Value::Object(input) = input else {
                        continue;
                    };
                    self.calls.push((tool, input));
                }
                AgentEvent::File {
                    url, media_type, ..
                } => {
                    let data = url.split_once("base64,").map(|(_, data)| data);
                    let blob = Blob::new(media_type, data.unwrap_or_default());
                    return Output::Part(Box::new(Data::InlineData(blob).into()));
                }
                AgentEvent::Failed {
                    code,
                    message,
                    retry_after_ms,
                } => return Output::Failed(failure(code, &message, retry_after_ms)),
                AgentEvent::Ended(finish) => {
                    let reason = reason(&finish);
                    if self.calls.is_empty() {
                        return Output::Ended(reason);
                    }
                    self.ended = Some(reason);
                    return Output::Calls(std::mem::take(&mut self.calls));
                }
                // Usage is counted here, and the rest has no form on this wire.
                _ => {}
            }
        }
    }
}

fn reason(finish: &Finish) -> FinishReason {
    match finish {
        Finish::Stop => FinishReason::Stop,
        Finish::Length => FinishReason::MaxTokens,
        Finish::ContentFilter => FinishReason::Safety,
        Finish::Error => FinishReason::MalformedFunctionCall,
        _ => FinishReason::Other,
    }
}

/// A failure of the agent, as Google would report it.
fn failure(code: &str, message: &str, retry_after_ms: Option<u64>) -> Refusal {
    match code {
        "rate_limited" => {
            Refusal::new(429, None).retry_after(retry_after_ms.map(Duration::from_millis))
        }
        "agent_unauthorized" => Refusal::key(),
        _ => Refusal::new(500, Some(message)),
    }
}
