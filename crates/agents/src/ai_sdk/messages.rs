//! The journal as UI messages, as `useChat` would send them.

use serde_json::{Map, Value, json};
use turn::Message;
use turn::agent::{CallResult, HistoryItem, Part, StepRequest};
use turn::call::Outcome;
use turn::metadata::{BODY, OURS};

use super::{KEPT, tool_part};

/// The messages of a chat.
pub(super) fn of(request: &StepRequest) -> Vec<Value> {
    let mut messages = Vec::new();
    let mut answer: Option<Answer> = None;
    let mut cause = String::new();
    for (place, past) in request.history.iter().enumerate() {
        match past {
            HistoryItem::Message(message) => {
                messages.extend(answer.take().map(Answer::message));
                cause = message.id.clone().unwrap_or_else(|| place.to_string());
                messages.push(as_sent(message));
            }
            HistoryItem::Result { call, outcome } => {
                messages.extend(answer.take().map(Answer::message));
                cause = call.id.to_string();
                let text = result_text(&call.tool, outcome);
                let parts = json!([{"type": "text", "text": text}]);
                messages.push(json!({"id": cause, "role": "user", "parts": parts}));
            }
            HistoryItem::Step { parts, results } => {
                let answer = answer.get_or_insert_with(|| Answer::new(&cause));
                answer.step(request, parts, results);
            }
        }
    }
    messages.extend(answer.map(Answer::message));
    messages
}

/// A user's message as its page sent it: the fields that came beside it are in the body again.
fn as_sent(message: &Message) -> Value {
    let mut message = message.clone();
    if let Some(Value::Object(metadata)) = &mut message.metadata
        && let Some(Value::Object(ours)) = metadata.get_mut(OURS)
        && ours.shift_remove(BODY).is_some()
        && ours.is_empty()
    {
        metadata.shift_remove(OURS);
        if metadata.is_empty() {
            message.metadata = None;
        }
    }
    json!(message)
}

/// The result of a call that has opened a turn, for a model.
fn result_text(tool: &str, outcome: &Outcome) -> String {
    let outcome = match outcome {
        Outcome::Output { output } => output.to_string(),
        other => tool_part::error_text(other),
    };
    format!("Result of {tool}: {outcome}")
}

/// An assistant message that is being made.
struct Answer {
    id: String,
    metadata: Option<Value>,
    parts: Vec<Value>,
    sources: usize,
}

impl Answer {
    /// The answer to a message. Its id follows from the message's, until the route has given one.
    fn new(cause: &str) -> Self {
        Self {
            id: format!("{cause}-answer"),
            metadata: None,
            parts: Vec::new(),
            sources: 0,
        }
    }

    fn step(&mut self, request: &StepRequest, parts: &[Part], results: &[CallResult]) {
        self.parts.push(json!({"type": "step-start"}));
        for part in parts {
            let part = self.part(request, part, results);
            self.parts.extend(part);
        }
    }

    fn part(
        &mut self,
        request: &StepRequest,
        part: &Part,
        results: &[CallResult],
    ) -> Option<Value> {
        let text = |kind: &str, text: &str, metadata: &Option<Value>| {
            let part = json!({"type": kind, "text": text, "state": "done"});
            with(part, kept(metadata.as_ref(), "providerMetadata"))
        };
        Some(match part {
            Part::Text {
                text: words,
                provider_metadata,
            } => text("text", words, provider_metadata),
            Part::Reasoning {
                text: words,
                provider_metadata,
            } => text("reasoning", words, provider_metadata),
            Part::File {
                url,
                media_type,
                provider_metadata,
            } => {
                let file = json!({"type": "file", "mediaType": media_type, "url": url});
                with(file, kept(provider_metadata.as_ref(), "providerMetadata"))
            }
            Part::Source { url, title } => {
                self.sources += 1;
                let id = format!("source-{}", self.sources);
                let source = json!({"type": "source-url", "sourceId": id, "url": url});
                let title = title.as_ref().map(|title| ("title", json!(title)));
                with(source, title)
            }
            Part::Data { name, id, data } => return self.data(name, id.as_deref(), data),
            Part::Call { call, .. } => {
                let result = results.iter().find(|result| result.call.id == call.id);
                let own = request.own.iter().find(|own| own.call.id == call.id);
                tool_part::of(call, result, own)
            }
            Part::Opaque { content } => return self.kept_part(content.get(KEPT)?),
        })
    }

    /// A part of data, unless one of the same id is there: it has the later data then.
    fn data(&mut self, name: &str, id: Option<&str>, data: &Value) -> Option<Value> {
        let part = json!({"type": format!("data-{name}"), "data": data});
        let Some(id) = id else {
            return Some(part);
        };
        let mut known = self.parts.iter_mut();
        let is_same = |known: &&mut Value| known["type"] == part["type"] && known["id"] == id;
        match known.find(is_same) {
            Some(known) => {
                known["data"] = data.clone();
                None
            }
            None => Some(with(part, Some(("id", json!(id))))),
        }
    }

    /// A part from what only the route understands.
    fn kept_part(&mut self, content: &Value) -> Option<Value> {
        match content.get("type")?.as_str()? {
            "message" => {
                if let Some(id) = content.get("id").and_then(Value::as_str) {
                    self.id = id.to_owned();
                }
                if let Some(metadata) = content.get("metadata") {
                    turn::metadata::merge(&mut self.metadata, metadata.clone());
                }
                None
            }
            "source-document" | "reasoning-file" | "custom" => Some(content.clone()),
            // The client makes no part of it.
            _ => None,
        }
    }

    fn message(self) -> Value {
        let message = json!({"id": self.id, "role": "assistant", "parts": self.parts});
        with(
            message,
            self.metadata.map(|metadata| ("metadata", metadata)),
        )
    }
}

/// A field of what the route said of a part, under the name that it has there.
fn kept<'a>(metadata: Option<&Value>, field: &'a str) -> Option<(&'a str, Value)> {
    let value = metadata?.get(KEPT)?;
    (!value.is_null()).then(|| (field, value.clone()))
}

/// An object with one more field.
fn with(mut object: Value, field: Option<(&str, Value)>) -> Value {
    if let (Some(fields), Some((name, value))) = (object.as_object_mut(), field) {
        fields.insert(name.to_owned(), value);
    }
    object
}

/// What the route says of its message, to be kept with a step.
pub(super) fn kept_message(id: Option<&str>, metadata: Option<&Value>) -> Value {
    let mut message = Map::from_iter([("type".to_owned(), json!("message"))]);
    message.extend(id.map(|id| ("id".to_owned(), json!(id))));
    message.extend(metadata.map(|metadata| ("metadata".to_owned(), metadata.clone())));
    json!({ KEPT: message })
}
