//! Events of an answer, read as agent events.

use std::collections::HashSet;

use serde_json::{Map, Value, json};
use turn::agent::AgentEvent;
use turn::event::Finish;

use super::items::ITEM;
use super::{Response, StreamEvent};
use crate::model::api_error::ApiError;
use crate::model::tool_names::ToolNames;
use crate::model::{Failure, Reading, Redactor, arguments, metadata, provider_metadata};
use crate::openai::PROVIDER;
use crate::openai::endpoint::MODEL;
use crate::openai::usage::usage;

/// What was read so far.
#[derive(Debug)]
pub(in crate::openai) struct ResponsesReading {
    names: ToolNames,
    redactor: Redactor,
    /// Whether it is all that the turn will show, if it is empty.
    is_first_step: bool,
    /// The answer, as it says of itself when it ends, and how it did.
    end: Option<(Ending, Response)>,
    /// Items of which some words have come already.
    streamed: HashSet<Option<u64>>,
    /// Whether there is anything that a page can show.
    has_said: bool,
    has_refused: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Completed,
    Incomplete,
}

impl ResponsesReading {
    pub(in crate::openai) fn new(
        names: ToolNames,
        redactor: Redactor,
        is_first_step: bool,
    ) -> Self {
        Self {
            names,
            redactor,
            is_first_step,
            end: None,
            streamed: HashSet::new(),
            has_said: false,
            has_refused: false,
        }
    }

    fn words(&mut self, event: &StreamEvent, is_thought: bool, events: &mut Vec<AgentEvent>) {
        let delta = event.delta.as_ref().and_then(Value::as_str);
        let Some(delta) = delta.filter(|delta| !delta.is_empty()) else {
            return;
        };
        self.streamed.insert(event.output_index);
        let (delta, provider_metadata) = (delta.to_owned(), None);
        events.push(match is_thought {
            true => AgentEvent::Reasoning {
                delta,
                provider_metadata,
            },
            false => {
                self.has_said = true;
                AgentEvent::Text {
                    delta,
                    provider_metadata,
                }
            }
        });
    }

    /// An item, whole.
    fn item(
        &mut self,
        index: Option<u64>,
        mut item: Map<String, Value>,
        events: &mut Vec<AgentEvent>,
    ) {
        let is_streamed = self.streamed.contains(&index);
        match item.get("type").and_then(Value::as_str) {
            Some("message") => {
                let content = item.shift_remove("content");
                let said = content.as_ref().and_then(Value::as_array);
                let words = |part: &Value| {
                    let words = part.get("text").or_else(|| part.get("refusal"));
                    words.and_then(Value::as_str).map(str::to_owned)
                };
                let whole: String = said.into_iter().flatten().filter_map(words).collect();
                let delta = match is_streamed {
                    true => String::new(),
                    false => whole,
                };
                self.has_said |= !delta.is_empty();
                if is_streamed || !delta.is_empty() {
                    // What is said of a text may come with its last word.
                    events.push(AgentEvent::Text {
                        delta,
                        provider_metadata: Some(kept(item)),
                    });
                    events.push(AgentEvent::PartEnd);
                }
            }
            Some("reasoning") => {
                if !is_streamed {
                    let summary = item.get("summary").and_then(Value::as_array);
                    let text = |part: &Value| Some(part.get("text")?.as_str()?.to_owned());
                    let summary: String = summary.into_iter().flatten().filter_map(text).collect();
                    if !summary.is_empty() {
                        events.push(AgentEvent::Reasoning {
                            delta: summary,
                            provider_metadata: None,
                        });
                    }
                }
                events.push(AgentEvent::PartEnd);
                events.push(AgentEvent::Opaque(kept(item)));
            }
            // The model ran out of tokens in the middle of it.
            Some("function_call") if item.get("status") == Some(&json!("incomplete")) => {}
            Some("function_call") if item.get("name").is_some_and(Value::is_string) => {
                let mut text = |key: &str| match item.shift_remove(key) {
                    Some(Value::String(text)) => text,
                    Some(Value::Null) | None => String::new(),
                    Some(other) => other.to_string(),
                };
                let (name, arguments) = (text("name"), text("arguments"));
                let id = text("call_id");
                events.push(AgentEvent::Call {
                    provider_id: Some(id).filter(|id| !id.is_empty()),
                    tool: self.names.ours(&name),
                    input: arguments::read(&arguments),
                    provider_metadata: Some(kept(item)),
                });
                self.has_said = true;
            }
            _ => events.push(AgentEvent::Opaque(kept(item))),
        }
    }

    fn finish(&self) -> Result<Finish, Failure> {
        let Some((ending, response)) = &self.end else {
            return Err(MODEL.cut_off());
        };
        let details = response.incomplete_details.as_ref();
        let reason = details.and_then(|details| details.reason.as_deref());
        let finish = match (ending, reason.unwrap_or("incomplete")) {
            (Ending::Completed, _) => Finish::Stop,
            (_, "max_output_tokens") => Finish::Length,
            (_, reason @ "content_filter") if !self.has_said => {
                return Err(MODEL.blocked("its answer", reason, None));
            }
            (_, "content_filter") => Finish::ContentFilter,
            _ => Finish::Other,
        };
        if self.has_refused {
            return Ok(Finish::ContentFilter);
        }
        if !self.has_said && self.is_first_step && finish == Finish::Stop {
            return Err(MODEL.silent());
        }
        Ok(finish)
    }

    fn metadata(&self) -> Option<AgentEvent> {
        let (_, response) = self.end.as_ref()?;
        let usage = response.usage.as_ref().map(usage);
        let details = response.incomplete_details.as_ref();
        let reason = details.and_then(|details| details.reason.as_deref());
        metadata::event(usage, response.model.as_deref(), reason)
    }
}

impl Reading for ResponsesReading {
    fn has_finished(&self) -> bool {
        self.end.is_some()
    }

    fn take(&mut self, data: &str) -> Result<Vec<AgentEvent>, Failure> {
        if data == wire::sse::DONE {
            return Ok(Vec::new());
        }
        let unreadable = |_| MODEL.unreadable("an event of it is not JSON");
        let mut event: StreamEvent = serde_json::from_str(data).map_err(unreadable)?;
        let mut events = Vec::new();
        match event.r#type.as_str() {
            "response.output_text.delta" => self.words(&event, false, &mut events),
            "response.refusal.delta" => {
                self.has_refused = true;
                self.words(&event, false, &mut events);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.words(&event, true, &mut events);
            }
            "response.reasoning_summary_part.added" | "response.content_part.added" => {
                events.push(AgentEvent::PartEnd);
            }
            "response.output_item.done" => {
                if let Some(item) = event.item.take() {
                    self.item(event.output_index, item, &mut events);
                }
            }
            "response.completed" => {
                self.end = Some((Ending::Completed, event.response.unwrap_or_default()));
            }
            "response.incomplete" => {
                self.end = Some((Ending::Incomplete, event.response.unwrap_or_default()));
            }
            "response.failed" => {
                let error = event.response.and_then(|response| response.error);
                let error = json!({"error": error});
                return Err(ApiError::read(&error).failure(MODEL, None, &self.redactor));
            }
            "error" | "" => {
                let error: Value = serde_json::from_str(data).map_err(unreadable)?;
                if event.r#type.is_empty() && error.get("error").is_none() {
                    return Err(MODEL.unreadable("an event of it has no type"));
                }
                return Err(ApiError::read(&error).failure(MODEL, None, &self.redactor));
            }
            _ => {}
        }
        Ok(events)
    }

    fn end(&mut self, come: Result<(), Failure>) -> Vec<AgentEvent> {
        let end = match come.and_then(|()| self.finish()) {
            Ok(finish) => AgentEvent::Ended(finish),
            Err(failure) => failure.into(),
        };
        self.metadata().into_iter().chain([end]).collect()
    }
}

fn kept(item: Map<String, Value>) -> Value {
    let item = Map::from_iter([(ITEM.to_owned(), Value::Object(item))]);
    provider_metadata::whole(PROVIDER, Value::Object(item))
}
