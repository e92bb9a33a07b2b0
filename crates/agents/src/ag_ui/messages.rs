//! The journal as messages, with the ids that the agent gave: an agent that keeps the conversation by
//! itself takes a message of another id for a new one.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};
use turn::agent::{CallResult, HistoryItem, Part, StepRequest};
use turn::call::{Call, Outcome};
use turn::{message, reason};
use wire::ag_ui::{
    Content, FunctionCall, Message, MessageCommon, Part as ContentPart, Source, ToolCall,
    ToolCallKind,
};

use super::interrupt::{INTERRUPT, is_answered_now};
use super::{KEPT, STATE, kept, kept_text};

/// The agent's state, as it sent it last.
pub(super) fn state(request: &StepRequest) -> Option<Value> {
    let steps = request.history.iter().rev().filter_map(|past| match past {
        HistoryItem::Step { parts, .. } => Some(parts),
        _ => None,
    });
    steps
        .flat_map(|parts| parts.iter().rev())
        .find_map(|part| match part {
            Part::Data { name, data, .. } if name == STATE => Some(data.clone()),
            _ => None,
        })
}

/// The ids of the messages whose words the journal has.
pub(super) fn known_ids(request: &StepRequest) -> HashSet<String> {
    let steps = request.history.iter().filter_map(|past| match past {
        HistoryItem::Step { parts, .. } => Some(parts),
        _ => None,
    });
    let ids = steps.flatten().filter_map(|part| match part {
        Part::Text {
            provider_metadata, ..
        } => kept_text(provider_metadata.as_ref(), "messageId"),
        _ => None,
    });
    ids.collect()
}

/// The messages of a chat.
pub(super) fn of(request: &StepRequest) -> Vec<Message> {
    let mut messages = Messages {
        notes: Notes::of(request),
        all: Vec::new(),
    };
    for (place, past) in request.history.iter().enumerate() {
        match past {
            HistoryItem::Message(message) => {
                let id = message.id.clone().unwrap_or_else(|| place.to_string());
                messages.user(id, content(message));
            }
            HistoryItem::Result { call, outcome } => {
                let text = format!("Result of {}: {}", call.tool, result_text(outcome));
                messages.user(call.id.to_string(), Content::Text(text));
            }
            HistoryItem::Step { parts, results } => {
                let first = messages.all.len();
                for (n, part) in parts.iter().enumerate() {
                    let id = format!("{}-{place}-{n}", request.chat);
                    messages.part(first, id, part);
                }
                messages.results(request, parts, results);
            }
        }
    }
    messages.all
}

/// What a person said.
fn content(message: &message::Message) -> Content {
    let has_files = message.parts.iter().any(|part| file(part).is_some());
    if !has_files {
        return Content::Text(message.text());
    }
    let parts = message.parts.iter().filter_map(|part| match part {
        message::Part::Text { text, .. } => Some(ContentPart::Text { text: text.clone() }),
        part => file(part).map(file_part),
    });
    Content::Parts(parts.collect())
}

fn file(part: &message::Part) -> Option<&message::File> {
    match part {
        message::Part::File(file) => Some(file),
        _ => None,
    }
}

fn file_part(file: &message::File) -> ContentPart {
    let inline = file.url.strip_prefix("data:");
    let inline = inline.and_then(|rest| rest.split_once(";base64,"));
    let source = match inline {
        Some((_, bytes)) => Source::Data {
            value: bytes.to_owned(),
            mime_type: file.media_type.clone(),
        },
        None => Source::Url {
            value: file.url.clone(),
            mime_type: Some(file.media_type.clone()),
        },
    };
    match file.media_type.split('/').next() {
        Some("image") => ContentPart::Image { source },
        Some("audio") => ContentPart::Audio { source },
        Some("video") => ContentPart::Video { source },
        _ => ContentPart::Document { source },
    }
}

/// What the agent said of messages beside their words.
#[derive(Default)]
struct Notes {
    /// The messages that results are.
    tool_messages: HashMap<String, String>,
    /// What only the agent understands, by message.
    encrypted: HashMap<String, String>,
}

impl Notes {
    fn of(request: &StepRequest) -> Self {
        let mut notes = Self::default();
        for past in request.history.iter() {
            let HistoryItem::Step { parts, .. } = past else {
                continue;
            };
            for part in parts {
                if let Part::Opaque { content } = part {
                    take(&mut notes.tool_messages, content, "toolMessages");
                    take(&mut notes.encrypted, content, "encryptedValues");
                }
            }
        }
        notes
    }
}

fn take(all: &mut HashMap<String, String>, content: &Value, field: &str) {
    let noted = kept(Some(content)).and_then(|noted| noted.get(field)?.as_object());
    let noted = noted.into_iter().flatten();
    all.extend(noted.filter_map(|(id, value)| Some((id.clone(), value.as_str()?.to_owned()))));
}

struct Messages {
    notes: Notes,
    all: Vec<Message>,
}

impl Messages {
    fn user(&mut self, id: String, content: Content) {
        self.all.push(Message::User {
            id,
            content,
            common: MessageCommon::default(),
        });
    }

    fn common(&self, id: &str, metadata: Option<&Value>) -> MessageCommon {
        MessageCommon {
            encrypted_value: self.notes.encrypted.get(id).cloned(),
            subagent_run_id: kept_text(metadata, "subagentRunId"),
            ..MessageCommon::default()
        }
    }

    /// Adds a part to its message. `first` is where the messages of its step begin.
    fn part(&mut self, first: usize, new_id: String, part: &Part) {
        match part {
            Part::Text {
                text,
                provider_metadata,
            } => {
                let metadata = provider_metadata.as_ref();
                let id = kept_text(metadata, "messageId").unwrap_or(new_id);
                if let Some((content, _)) = self.assistant(first, id, metadata) {
                    content.get_or_insert_default().push_str(text);
                }
            }
            Part::Reasoning {
                text,
                provider_metadata,
            } => {
                let metadata = provider_metadata.as_ref();
                let id = kept_text(metadata, "messageId").unwrap_or(new_id);
                let common = self.common(&id, metadata);
                self.all.push(Message::Reasoning {
                    id,
                    content: text.clone(),
                    common,
                });
            }
            Part::Call { call, .. } if !is_question(call) => {
                let metadata = call.provider_metadata.as_ref();
                let parent = kept_text(metadata, "parentMessageId");
                let encrypted_value = kept_text(metadata, "encryptedValue");
                // Calls without a parent belong to the message before them.
                let id = parent
                    .or_else(|| self.last_assistant(first))
                    .unwrap_or(new_id);
                let made = ToolCall {
                    id: call_id(call),
                    kind: ToolCallKind::Function,
                    function: FunctionCall {
                        name: call.tool.clone(),
                        arguments: call.input.to_string(),
                    },
                    encrypted_value,
                    rest: Map::new(),
                };
                if let Some((_, calls)) = self.assistant(first, id, metadata) {
                    calls.push(made);
                }
            }
            _ => {}
        }
    }

    fn last_assistant(&self, first: usize) -> Option<String> {
        match self.all.get(first..)?.last()? {
            Message::Assistant { id, .. } => Some(id.clone()),
            _ => None,
        }
    }

    /// The assistant message of an id, in the step that begins at `first`.
    fn assistant(
        &mut self,
        first: usize,
        id: String,
        metadata: Option<&Value>,
    ) -> Option<(&mut Option<String>, &mut Vec<ToolCall>)> {
        let is_same = |message: &Message| matches!(message, Message::Assistant { id: known, .. } if *known == id);
        let known = self.all[first..].iter().position(is_same);
        let place = match known {
            Some(place) => first + place,
            None => {
                let common = self.common(&id, metadata);
                self.all.push(Message::Assistant {
                    id,
                    content: None,
                    tool_calls: Vec::new(),
                    common,
                });
                self.all.len() - 1
            }
        };
        match self.all.get_mut(place)? {
            Message::Assistant {
                content,
                tool_calls,
                ..
            } => Some((content, tool_calls)),
            _ => None,
        }
    }

    /// Adds what became of the calls of a step, but for those whose decision the agent gets in this run.
    fn results(&mut self, request: &StepRequest, parts: &[Part], results: &[CallResult]) {
        for part in parts {
            let Part::Call { call, .. } = part else {
                continue;
            };
            let own = request.own.iter().find(|own| own.call.id == call.id);
            if is_question(call) || own.is_some_and(is_answered_now) {
                continue;
            }
            let result = results.iter().find(|result| result.call.id == call.id);
            let Some(result) = result else {
                continue;
            };
            let tool_call_id = call_id(call);
            let known = self.notes.tool_messages.get(&tool_call_id).cloned();
            let id = known.unwrap_or_else(|| format!("{tool_call_id}-result"));
            let text = result_text(&result.outcome);
            let is_output = matches!(
                result.outcome,
                Outcome::Output { .. } | Outcome::Pending { .. }
            );
            let common = self.common(&id, None);
            self.all.push(Message::Tool {
                id,
                error: (!is_output).then(|| text.clone()),
                content: Content::Text(text),
                tool_call_id,
                common,
            });
        }
    }
}

/// Whether a call is one that only we know: an interrupt about no call.
fn is_question(call: &Call) -> bool {
    let kept = kept(call.provider_metadata.as_ref());
    kept.is_some_and(|kept| kept.contains_key(INTERRUPT) && kept.contains_key("isOurs"))
}

fn call_id(call: &Call) -> String {
    let id = call.provider_id.clone();
    id.unwrap_or_else(|| call.id.to_string())
}

/// What became of a call, for a model.
fn result_text(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Output { output } | Outcome::Pending { output } => match output {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        },
        Outcome::Error { error } | Outcome::Invalid { error } => error.clone(),
        Outcome::Denied { reason } => reason::denial(reason.as_deref()),
        Outcome::Unknown { reason } => reason::unknown(*reason).to_owned(),
    }
}

/// What the agent said of messages, to be kept with a step.
pub(super) fn kept_notes(field: &str, notes: HashMap<String, String>) -> Value {
    json!({ KEPT: { field: notes } })
}
