//! Events of an answer, read as agent events.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use turn::agent::AgentEvent;
use turn::event::Finish;

use super::PROVIDER;
use super::api::{Block, Delta, StreamEvent, Usage};
use super::endpoint::MODEL;
use crate::model::api_error::ApiError;
use crate::model::tool_names::ToolNames;
use crate::model::{Failure, Reading, Redactor, arguments, metadata, provider_metadata};

/// What was read so far.
#[derive(Debug)]
pub(super) struct MessageReading {
    names: ToolNames,
    redactor: Redactor,
    /// Whether it is all that the turn will show, if it is empty.
    is_first_step: bool,
    /// Blocks that have begun and not ended.
    open: BTreeMap<u64, OpenBlock>,
    /// Calls whose input is not JSON: the model's mistake, or cut by the token limit.
    broken: Vec<AgentEvent>,
    usage: Option<Usage>,
    model: Option<String>,
    stop_reason: Option<String>,
    is_done: bool,
    /// Whether there is anything that a page can show.
    has_said: bool,
}

/// A block that has begun.
#[derive(Debug, Default)]
struct OpenBlock {
    /// Its fields, but for those that come in pieces.
    fields: Block,
    words: String,
    input: String,
}

impl OpenBlock {
    fn kind(&self) -> &str {
        let kind = self.fields.get("type").and_then(Value::as_str);
        kind.unwrap_or_default()
    }
}

impl MessageReading {
    pub(super) fn new(names: ToolNames, redactor: Redactor, is_first_step: bool) -> Self {
        Self {
            names,
            redactor,
            is_first_step,
            open: BTreeMap::new(),
            broken: Vec::new(),
            usage: None,
            model: None,
            stop_reason: None,
            is_done: false,
            has_said: false,
        }
    }

    fn begin(&mut self, index: u64, fields: Block, events: &mut Vec<AgentEvent>) {
        // Some servers end a block only by the next.
        if self.open.contains_key(&index) {
            self.end_block(index, events);
        }
        let mut block = OpenBlock {
            fields,
            ..OpenBlock::default()
        };
        events.push(AgentEvent::PartEnd);
        let key = match block.kind() {
            "text" => Some("text"),
            "thinking" => Some("thinking"),
            _ => None,
        };
        let words = key.and_then(|key| block.fields.shift_remove(key));
        let words = words.as_ref().and_then(Value::as_str).unwrap_or_default();
        let is_signed = block.fields.get("signature") != Some(&json!(""));
        if !is_signed {
            block.fields.shift_remove("signature");
        }
        self.words(&mut block, words, events);
        self.open.insert(index, block);
    }

    fn words(&mut self, block: &mut OpenBlock, words: &str, events: &mut Vec<AgentEvent>) {
        if words.is_empty() {
            return;
        }
        block.words.push_str(words);
        let (delta, provider_metadata) = (words.to_owned(), None);
        if block.kind() == "thinking" {
            events.push(AgentEvent::Reasoning {
                delta,
                provider_metadata,
            });
        } else {
            self.has_said = true;
            events.push(AgentEvent::Text {
                delta,
                provider_metadata,
            });
        }
    }

    fn delta(&mut self, index: u64, delta: Delta, events: &mut Vec<AgentEvent>) {
        let mut block = match self.open.remove(&index) {
            Some(block) => block,
            // Some servers begin a block only by its first words.
            None => {
                let kind = match delta {
                    Delta::ThinkingDelta { .. } | Delta::SignatureDelta { .. } => "thinking",
                    _ => "text",
                };
                let fields = Map::from_iter([("type".to_owned(), json!(kind))]);
                events.push(AgentEvent::PartEnd);
                OpenBlock {
                    fields,
                    ..OpenBlock::default()
                }
            }
        };
        match delta {
            Delta::TextDelta { text: words } | Delta::ThinkingDelta { thinking: words } => {
                self.words(&mut block, &words, events);
            }
            Delta::InputJsonDelta { partial_json } => block.input.push_str(&partial_json),
            Delta::SignatureDelta { signature } => {
                block
                    .fields
                    .insert("signature".to_owned(), json!(signature));
            }
            Delta::CitationsDelta { citation } => {
                let citations = block.fields.entry("citations").or_insert_with(|| json!([]));
                if citations.is_null() {
                    *citations = json!([]);
                }
                if let Some(all) = citations.as_array_mut() {
                    all.push(citation);
                }
            }
            Delta::Other => {}
        }
        self.open.insert(index, block);
    }

    fn end_block(&mut self, index: u64, events: &mut Vec<AgentEvent>) {
        let Some(mut block) = self.open.remove(&index) else {
            return;
        };
        match block.kind() {
            "text" | "thinking" if !block.words.is_empty() => {
                let is_thought = block.kind() == "thinking";
                block.fields.shift_remove("type");
                block.fields.retain(|_, value| !value.is_null());
                let kept = provider_metadata::of(PROVIDER, block.fields);
                let (delta, provider_metadata) = (String::new(), kept);
                if provider_metadata.is_some() {
                    // What is said of the words may come with the last of them.
                    events.push(match is_thought {
                        true => AgentEvent::Reasoning {
                            delta,
                            provider_metadata,
                        },
                        false => AgentEvent::Text {
                            delta,
                            provider_metadata,
                        },
                    });
                }
                events.push(AgentEvent::PartEnd);
            }
            "text" => {}
            "thinking" => {
                // Thoughts that are not shown are signed all the same.
                if block.fields.contains_key("signature") {
                    block.fields.insert("thinking".to_owned(), json!(""));
                    events.push(opaque(block.fields));
                }
            }
            "tool_use" => self.call(block, events),
            _ => {
                if !block.input.is_empty() {
                    let input = arguments::read(&block.input);
                    block.fields.insert("input".to_owned(), input);
                }
                events.push(opaque(block.fields));
            }
        }
    }

    fn call(&mut self, block: OpenBlock, events: &mut Vec<AgentEvent>) {
        let mut fields = block.fields;
        fields.shift_remove("type");
        let mut text = |key: &str| match fields.shift_remove(key) {
            Some(Value::String(text)) => text,
            _ => String::new(),
        };
        let (id, name) = (text("id"), text("name"));
        let whole = fields.shift_remove("input");
        let is_object = whole.as_ref().is_some_and(|input| *input != json!({}));
        let input = match whole {
            Some(whole) if block.input.is_empty() && is_object => whole,
            _ => arguments::read(&block.input),
        };
        if name.is_empty() {
            return;
        }
        self.has_said = true;
        let is_broken = !input.is_object();
        let call = AgentEvent::Call {
            provider_id: Some(id).filter(|id| !id.is_empty()),
            tool: self.names.ours(&name),
            input,
            provider_metadata: provider_metadata::of(PROVIDER, fields),
        };
        match is_broken {
            true => self.broken.push(call),
            false => events.push(call),
        }
    }

    /// Why it ended. An end that explains itself to nobody is a failure: a page would show an empty
    /// answer.
    fn finish(&self) -> Result<Finish, Failure> {
        let reason = match &self.stop_reason {
            Some(reason) => reason.as_str(),
            None if self.is_done => "end_turn",
            None => return Err(MODEL.cut_off()),
        };
        let finish = match reason {
            "end_turn" | "tool_use" | "stop_sequence" => Finish::Stop,
            "max_tokens" | "model_context_window_exceeded" => Finish::Length,
            "refusal" if !self.has_said => {
                return Err(MODEL.blocked("its answer", reason, None));
            }
            "refusal" => Finish::ContentFilter,
            _ => Finish::Other,
        };
        if !self.has_said && self.is_first_step && finish == Finish::Stop {
            return Err(MODEL.silent());
        }
        Ok(finish)
    }

    fn metadata(&self) -> Option<AgentEvent> {
        let usage = self.usage.as_ref().map(|usage| {
            let cached = usage.cache_read_input_tokens;
            let written = usage.cache_creation_input_tokens.unwrap_or_default();
            let prompt =
                usage.input_tokens.unwrap_or_default() + cached.unwrap_or_default() + written;
            let completion = usage.output_tokens.unwrap_or_default();
            metadata::Usage {
                prompt,
                completion,
                total: prompt + completion,
                reasoning: None,
                cached: cached.filter(|cached| *cached > 0),
            }
        });
        let reason = self.stop_reason.as_deref();
        let reason = reason.filter(|reason| !matches!(*reason, "end_turn" | "tool_use"));
        metadata::event(usage, self.model.as_deref(), reason)
    }

    fn count(&mut self, usage: Option<Usage>) {
        if let Some(usage) = usage {
            self.usage.get_or_insert_default().update(usage);
        }
    }

    /// Ends what the answer has left open.
    fn end_open_blocks(&mut self, events: &mut Vec<AgentEvent>) {
        let open: Vec<_> = self.open.keys().copied().collect();
        for index in open {
            self.end_block(index, events);
        }
    }
}

impl Reading for MessageReading {
    fn has_finished(&self) -> bool {
        self.is_done || self.stop_reason.is_some()
    }

    fn take(&mut self, data: &str) -> Result<Vec<AgentEvent>, Failure> {
        if data == wire::sse::DONE {
            // Not Anthropic's, but some that stand between say so.
            self.is_done = true;
            return Ok(Vec::new());
        }
        let unreadable = |_| MODEL.unreadable("an event of it is not JSON");
        let event: Value = serde_json::from_str(data).map_err(unreadable)?;
        if event.get("type").is_none() && event.get("error").is_some() {
            return Err(ApiError::read(&event).failure(MODEL, None, &self.redactor));
        }
        let event = serde_json::from_value(event)
            .map_err(|_| MODEL.unreadable("an event of it is not one of its API"))?;
        let mut events = Vec::new();
        match event {
            StreamEvent::MessageStart { message } => {
                self.model = message.model;
                self.count(message.usage);
            }
            StreamEvent::ContentBlockStart {
                index,
                content_block,
            } => self.begin(index, content_block, &mut events),
            StreamEvent::ContentBlockDelta { index, delta } => {
                self.delta(index, delta, &mut events);
            }
            StreamEvent::ContentBlockStop { index } => self.end_block(index, &mut events),
            StreamEvent::MessageDelta { delta, usage } => {
                self.stop_reason = delta.stop_reason.or(self.stop_reason.take());
                self.count(usage);
            }
            StreamEvent::MessageStop => self.is_done = true,
            StreamEvent::Error { error } => {
                let error = json!({"error": error});
                return Err(ApiError::read(&error).failure(MODEL, None, &self.redactor));
            }
            StreamEvent::Other => {}
        }
        Ok(events)
    }

    fn end(&mut self, come: Result<(), Failure>) -> Vec<AgentEvent> {
        let mut events = Vec::new();
        if self.has_finished() {
            self.end_open_blocks(&mut events);
        }
        let end = match come.and_then(|()| self.finish()) {
            Ok(finish) => {
                if finish != Finish::Length {
                    events.append(&mut self.broken);
                }
                AgentEvent::Ended(finish)
            }
            Err(failure) => failure.into(),
        };
        events.extend(self.metadata());
        events.push(end);
        events
    }
}

fn opaque(block: Block) -> AgentEvent {
    AgentEvent::Opaque(provider_metadata::whole(PROVIDER, Value::Object(block)))
}
