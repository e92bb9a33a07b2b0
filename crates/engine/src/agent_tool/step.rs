//! One step of an agent that works inside of a call, as the call records it.

use agents::Agent;
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tools::{Context, ToolError};
use turn::agent::{AgentEvent, Part, StepRequest};
use turn::call::{Call, Place};

use super::named_fields;

/// What a model said in one step.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InnerStep {
    said: Vec<StepItem>,
    /// Usage, model version and the like.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    metadata: Option<Value>,
}

/// A part of it. A call has no id yet: that is given by its place.
#[derive(Debug, Serialize, Deserialize)]
#[serde(
    tag = "said",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase"
)]
enum StepItem {
    Part {
        part: Part,
    },
    Call {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        provider_id: Option<String>,
        tool: String,
        input: Value,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        provider_metadata: Option<Value>,
    },
}

impl InnerStep {
    /// Has a model speak until it has ended its step.
    pub(super) async fn run(
        name: &str,
        agent: &dyn Agent,
        request: StepRequest,
    ) -> Result<Self, ToolError> {
        let mut step = Self::default();
        let mut is_part_over = true;
        let mut events = agent.step(request);
        while let Some(event) = events.next().await {
            let is_whole = !matches!(
                event,
                AgentEvent::Text { .. } | AgentEvent::Reasoning { .. }
            );
            match event {
                AgentEvent::Ended(_) => return Ok(step),
                AgentEvent::Failed { message, .. } => {
                    return Err(ToolError::new(format!("{name} failed: {message}")));
                }
                event => step.push(event, is_part_over),
            }
            is_part_over = is_whole;
        }
        Err(ToolError::new(format!("{name}'s answer was cut off.")))
    }

    fn push(&mut self, event: AgentEvent, is_part_over: bool) {
        let last = self.said.last_mut().filter(|_| !is_part_over);
        let part = match (event, last) {
            (
                AgentEvent::Text {
                    delta,
                    provider_metadata: more,
                },
                Some(StepItem::Part {
                    part:
                        Part::Text {
                            text,
                            provider_metadata,
                        },
                }),
            )
            | (
                AgentEvent::Reasoning {
                    delta,
                    provider_metadata: more,
                },
                Some(StepItem::Part {
                    part:
                        Part::Reasoning {
                            text,
                            provider_metadata,
                        },
                }),
            ) => {
                text.push_str(&delta);
                if more.is_some() {
                    *provider_metadata = more;
                }
                return;
            }
            (
                AgentEvent::Text {
                    delta: text,
                    provider_metadata,
                },
                _,
            ) => Part::Text {
                text,
                provider_metadata,
            },
            (
                AgentEvent::Reasoning {
                    delta: text,
                    provider_metadata,
                },
                _,
            ) => Part::Reasoning {
                text,
                provider_metadata,
            },
            (
                AgentEvent::File {
                    url,
                    media_type,
                    provider_metadata,
                },
                _,
            ) => Part::File {
                url,
                media_type,
                provider_metadata,
            },
            (AgentEvent::Opaque(content), _) => Part::Opaque { content },
            (
                AgentEvent::Call {
                    provider_id,
                    tool,
                    input,
                    provider_metadata,
                },
                _,
            ) => {
                self.said.push(StepItem::Call {
                    provider_id,
                    tool,
                    input: named_fields(input),
                    provider_metadata,
                });
                return;
            }
            (AgentEvent::Metadata(metadata), _) => {
                turn::metadata::merge(&mut self.metadata, metadata);
                return;
            }
            // Nothing that a model without a session and tools of its own says, or for pages alone.
            _ => return,
        };
        self.said.push(StepItem::Part { part });
    }

    /// Its words.
    pub(super) fn text(&self) -> String {
        let texts = self.said.iter().filter_map(|said| match said {
            StepItem::Part {
                part: Part::Text { text, .. },
            } => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// The calls that it made, under ids by their places.
    pub(super) fn calls(&self, context: &Context, n: usize) -> impl Iterator<Item = Call> {
        let made = self.said.iter().filter_map(|said| match said {
            StepItem::Call {
                provider_id,
                tool,
                input,
                provider_metadata,
            } => Some((provider_id, tool, input, provider_metadata)),
            StepItem::Part { .. } => None,
        });
        let outer = context.call().clone();
        made.enumerate()
            .map(move |(i, (provider_id, tool, input, metadata))| Call {
                id: format!("{outer}/{n}.{i}").into(),
                provider_id: provider_id.clone(),
                tool: tool.clone(),
                input: input.clone(),
                place: Place::Server,
                parent: None,
                provider_metadata: metadata.clone(),
            })
    }

    /// What it said, as the model gets it back.
    pub(super) fn into_parts(self, context: &Context, n: usize) -> Vec<Part> {
        let mut calls: Vec<Call> = self.calls(context, n).collect();
        let mut calls = calls.drain(..);
        let parts = self.said.into_iter().filter_map(|said| match said {
            StepItem::Part { part } => Some(part),
            StepItem::Call { .. } => calls.next().map(|call| Part::Call {
                call,
                held: false,
                open: false,
            }),
        });
        parts.collect()
    }
}
