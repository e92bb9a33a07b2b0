//! Chunks, read as agent events.

use serde_json::{Map, Value, json};
use turn::agent::AgentEvent;
use turn::event::Finish;

use super::super::endpoint::MODEL;
use super::messages::{FIELD, MESSAGE};
use super::tool_calls::ToolCalls;
use super::{Choice, Chunk, Delta, extra};
use crate::model::api_error::ApiError;
use crate::model::tool_names::ToolNames;
use crate::model::{Failure, Reading, Redactor, metadata, provider_metadata};
use crate::openai::PROVIDER;
use crate::openai::usage::usage;

/// What was read so far.
#[derive(Debug)]
pub(in crate::openai) struct ChatReading {
    names: ToolNames,
    redactor: Redactor,
    /// Whether it is all that the turn will show, if it is empty.
    is_first_step: bool,
    calls: ToolCalls,
    extra: Map<String, Value>,
    finish: Option<String>,
    /// Whether the server has said that nothing more comes.
    is_done: bool,
    usage: Option<Map<String, Value>>,
    model: Option<String>,
    has_text: bool,
    has_refused: bool,
    block: Block,
    /// The field in which the model's thoughts come: some servers send them in two.
    reasoning_field: Option<&'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Block {
    None,
    Text,
    Reasoning,
}

impl ChatReading {
    pub(in crate::openai) fn new(
        names: ToolNames,
        redactor: Redactor,
        is_first_step: bool,
    ) -> Self {
        Self {
            names,
            redactor,
            is_first_step,
            calls: ToolCalls::default(),
            extra: Map::new(),
            finish: None,
            is_done: false,
            usage: None,
            model: None,
            has_text: false,
            has_refused: false,
            block: Block::None,
            reasoning_field: None,
        }
    }

    fn choice(&mut self, choice: Choice, events: &mut Vec<AgentEvent>) {
        // One answer is asked for.
        let is_other = choice.index.is_some_and(|index| index.as_u64() > Some(0));
        if is_other {
            return;
        }
        if let Some(delta) = choice.delta.or(choice.message) {
            self.delta(delta, events);
        }
        let reason = choice.finish_reason.filter(|reason| !reason.is_empty());
        self.finish = reason.or(self.finish.take());
    }

    fn delta(&mut self, delta: Delta, events: &mut Vec<AgentEvent>) {
        for (field, words) in [
            ("reasoning_content", &delta.reasoning_content),
            ("reasoning", &delta.reasoning),
        ] {
            let words = words.as_ref().and_then(Value::as_str).unwrap_or_default();
            if words.is_empty() || *self.reasoning_field.get_or_insert(field) != field {
                continue;
            }
            self.reasoning(words, events);
        }
        match delta.content {
            Some(Value::String(text)) => self.text(&text, events),
            Some(Value::Array(parts)) => {
                for part in &parts {
                    self.content_part(part, events);
                }
            }
            _ => {}
        }
        if let Some(Value::String(refusal)) = delta.refusal {
            self.has_refused |= !refusal.is_empty();
            self.text(&refusal, events);
        }
        for piece in delta.tool_calls {
            self.block = Block::None;
            self.calls.take(piece);
        }
        extra::merge_fields(&mut self.extra, delta.rest);
    }

    /// A part of a content that is a list: a text, or what the model thinks.
    fn content_part(&mut self, part: &Value, events: &mut Vec<AgentEvent>) {
        let text = |part: &Value| part.get("text").and_then(Value::as_str).map(str::to_owned);
        match part.get("type").and_then(Value::as_str) {
            Some("thinking") => {
                let thoughts = part.get("thinking").and_then(Value::as_array);
                let thoughts = thoughts.into_iter().flatten().filter_map(text);
                self.reasoning(&thoughts.collect::<String>(), events);
            }
            _ => self.text(&text(part).unwrap_or_default(), events),
        }
    }

    fn text(&mut self, text: &str, events: &mut Vec<AgentEvent>) {
        if text.is_empty() {
            return;
        }
        self.block = Block::Text;
        self.has_text = true;
        events.push(AgentEvent::Text {
            delta: text.to_owned(),
            provider_metadata: None,
        });
    }

    fn reasoning(&mut self, words: &str, events: &mut Vec<AgentEvent>) {
        if words.is_empty() {
            return;
        }
        let is_new = self.block != Block::Reasoning;
        self.block = Block::Reasoning;
        // Said once for each block, since what is said of a word makes it slow to handle.
        let field = self.reasoning_field.filter(|_| is_new);
        let kept = field.map(|field| Map::from_iter([(FIELD.to_owned(), json!(field))]));
        events.push(AgentEvent::Reasoning {
            delta: words.to_owned(),
            provider_metadata: kept.and_then(|kept| provider_metadata::of(PROVIDER, kept)),
        });
    }

    /// Why it ended. An end that explains itself to nobody is a failure: a page would show an empty
    /// answer.
    fn finish(&self) -> Result<Finish, Failure> {
        let reason = match &self.finish {
            Some(reason) => reason.as_str(),
            // Some servers end without a reason.
            None if self.is_done => "stop",
            None => return Err(MODEL.cut_off()),
        };
        let has_said = self.has_text || !self.calls.is_empty();
        let finish = match reason {
            "stop" | "tool_calls" | "function_call" | "eos" | "stop_sequence" => Finish::Stop,
            "length" | "max_tokens" => Finish::Length,
            "content_filter" if !has_said => {
                return Err(MODEL.blocked("its answer", reason, None));
            }
            "content_filter" => Finish::ContentFilter,
            "error" if !has_said => return Err(MODEL.gave_up(reason, None)),
            "error" => Finish::Error,
            _ => Finish::Other,
        };
        if self.has_refused {
            return Ok(Finish::ContentFilter);
        }
        Ok(finish)
    }

    /// The calls and what was said beside them, if the answer came to its end.
    fn last(&mut self, events: &mut Vec<AgentEvent>) -> Result<Finish, Failure> {
        let finish = self.finish()?;
        let calls = std::mem::take(&mut self.calls);
        let calls = calls.events(&self.names, finish == Finish::Length);
        let is_empty = calls.is_empty() && !self.has_text;
        if is_empty && self.is_first_step && finish == Finish::Stop {
            return Err(MODEL.silent());
        }
        let extra = std::mem::take(&mut self.extra);
        if !extra.is_empty() {
            let message = Map::from_iter([(MESSAGE.to_owned(), Value::Object(extra))]);
            let message = provider_metadata::whole(PROVIDER, Value::Object(message));
            events.push(AgentEvent::Opaque(message));
        }
        events.extend(calls);
        Ok(finish)
    }

    fn metadata(&self) -> Option<AgentEvent> {
        let usage = self.usage.as_ref().map(usage);
        let finish = self.finish.as_deref();
        let finish = finish.filter(|reason| !matches!(*reason, "stop" | "tool_calls"));
        metadata::event(usage, self.model.as_deref(), finish)
    }
}

impl Reading for ChatReading {
    fn has_finished(&self) -> bool {
        self.is_done || self.finish.is_some()
    }

    fn take(&mut self, data: &str) -> Result<Vec<AgentEvent>, Failure> {
        if data == wire::sse::DONE {
            self.is_done = true;
            return Ok(Vec::new());
        }
        let unreadable = |_| MODEL.unreadable("a chunk of it is not JSON");
        let chunk: Chunk = serde_json::from_str(data).map_err(unreadable)?;
        let is_error = chunk.error.is_some() || chunk.object.as_deref() == Some("error");
        if is_error {
            let error = serde_json::from_str(data).map_err(unreadable)?;
            return Err(ApiError::read(&error).failure(MODEL, None, &self.redactor));
        }
        self.usage = chunk.usage.or(self.usage.take());
        self.model = chunk.model.or(self.model.take());
        let mut events = Vec::new();
        for choice in chunk.choices {
            self.choice(choice, &mut events);
        }
        Ok(events)
    }

    fn end(&mut self, come: Result<(), Failure>) -> Vec<AgentEvent> {
        let mut events = Vec::new();
        let end = match come.and_then(|()| self.last(&mut events)) {
            Ok(finish) => AgentEvent::Ended(finish),
            Err(failure) => failure.into(),
        };
        events.extend(self.metadata());
        events.push(end);
        events
    }
}
