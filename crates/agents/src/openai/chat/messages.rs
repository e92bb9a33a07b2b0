//! The history, as messages.

use serde_json::{Map, Value, json};
use turn::agent::{CallResult, HistoryItem, Part};
use turn::call::Call;
use turn::message::File as PageFile;

use super::super::PROVIDER;
use super::{Content, ContentPart, File, FunctionCall, ImageUrl, Message, ToolCall};
use crate::model::call_ids::CallIds;
use crate::model::history::{is_transcript, spoken, unreadable_file, user_content};
use crate::model::tool_names::ToolNames;
use crate::model::{arguments, data_url, outcome, provider_metadata};

/// Under what an opaque part has the fields that a server added to a message.
pub(super) const MESSAGE: &str = "message";

/// Under what a reasoning has the name of the field that it came in.
pub(super) const FIELD: &str = "field";

/// What no server takes back, though some send it.
const OUTPUT_ONLY: [&str; 3] = ["annotations", "audio", "function_call"];

/// Everything that was said.
pub(super) fn messages(
    instruction: Option<&str>,
    history: &[HistoryItem],
    names: &ToolNames,
    is_openai: bool,
) -> Vec<Message> {
    let mut built = MessageBuilder {
        names,
        is_openai,
        ids: CallIds::default(),
        reasoning_field: reasoning_field(history),
        messages: Vec::new(),
    };
    if let Some(text) = instruction {
        built.messages.push(text_message("system", text));
    }
    for (place, past) in history.iter().enumerate() {
        match past {
            HistoryItem::Message(message) if message.is_speech() => {
                built.user(vec![text_part(spoken(history.get(place + 1)))]);
            }
            HistoryItem::Message(message) => {
                let parts = user_content(&message.parts, |text| text_part(text), file_part);
                built.user(parts);
            }
            HistoryItem::Result { call, outcome } => {
                built.user(vec![text_part(outcome::late(call, outcome))]);
            }
            HistoryItem::Step { parts, results } => {
                built.step(parts, results, turn_calls_tools(history, place));
            }
        }
    }
    built.messages
}

struct MessageBuilder<'a> {
    names: &'a ToolNames,
    is_openai: bool,
    ids: CallIds,
    /// The field in which the model's server sends reasoning, if it does.
    reasoning_field: Option<&'a str>,
    messages: Vec<Message>,
}

impl MessageBuilder<'_> {
    /// What a user says. Two messages after each other are one, since many models want them to alternate.
    fn user(&mut self, mut parts: Vec<ContentPart>) {
        if let Some(last) = self.messages.last_mut().filter(|last| last.role == "user") {
            let before = match last.content.take() {
                Some(Content::Text(text)) => vec![text_part(text)],
                Some(Content::Parts(parts)) => parts,
                None => Vec::new(),
            };
            parts.splice(0..0, before);
            last.content = Some(Content::Parts(parts));
            return;
        }
        let content = match <[ContentPart; 1]>::try_from(parts) {
            // As simple as it can be said, since not every server reads lists.
            Ok([ContentPart::Text { text }]) => Content::Text(text),
            Ok(parts) => Content::Parts(parts.into()),
            Err(parts) => Content::Parts(parts),
        };
        self.messages.push(Message {
            role: "user",
            content: Some(content),
            ..Message::default()
        });
    }

    fn step(&mut self, parts: &[Part], results: &[CallResult], sends_reasoning: bool) {
        let (mut text, mut reasoning) = (String::new(), String::new());
        let mut message = Message {
            role: "assistant",
            ..Message::default()
        };
        let mut ids = Vec::new();
        for part in parts.iter().filter(|part| !is_transcript(part)) {
            match part {
                Part::Text { text: more, .. } => text.push_str(more),
                Part::Reasoning { text: more, .. } => reasoning.push_str(more),
                Part::Call { call, .. } => {
                    let id = self.ids.of(call);
                    ids.push((call.id.clone(), id.clone()));
                    message.tool_calls.push(self.call(call, id));
                }
                Part::Opaque { content } => {
                    let kept = provider_metadata::get(PROVIDER, Some(content));
                    let fields = kept.and_then(|kept| kept.get(MESSAGE)?.as_object());
                    message.rest.extend(self.returnable(fields));
                }
                Part::File { .. } | Part::Source { .. } | Part::Data { .. } => {}
            }
        }
        // A step that was cut short while thinking has nothing to continue from.
        if text.is_empty() && message.tool_calls.is_empty() {
            return;
        }
        if let Some(field) = self.reasoning_field.filter(|_| sends_reasoning) {
            message.rest.insert(field.to_owned(), json!(reasoning));
        }
        message.content = Some(text)
            .filter(|text| !text.is_empty())
            .map(Content::Text);
        self.messages.push(message);
        for result in results {
            let id = ids.iter().find(|(call, _)| *call == result.call.id);
            self.messages.push(Message {
                role: "tool",
                content: Some(Content::Text(result_text(result))),
                tool_call_id: id.map(|(_, id)| id.clone()),
                ..Message::default()
            });
        }
    }

    fn call(&self, call: &Call, id: String) -> ToolCall {
        let kept = provider_metadata::get(PROVIDER, call.provider_metadata.as_ref());
        let mut rest = self.returnable(kept);
        let function = match rest.shift_remove("function") {
            Some(Value::Object(function)) => function,
            _ => Map::new(),
        };
        ToolCall {
            id,
            r#type: "function",
            function: FunctionCall {
                name: self.names.sent(&call.tool),
                arguments: arguments::object(&call.input).to_string(),
                rest: function,
            },
            rest,
        }
    }

    /// What a server takes back of fields that nothing here reads. OpenAI refuses what it does not know.
    fn returnable(&self, fields: Option<&Map<String, Value>>) -> Map<String, Value> {
        let fields = fields.filter(|_| !self.is_openai).into_iter().flatten();
        let fields = fields.filter(|(name, _)| !OUTPUT_ONLY.contains(&name.as_str()));
        fields
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }
}

/// What became of a call.
pub(in crate::openai) fn result_text(result: &CallResult) -> String {
    let mut response = outcome::of_result(result);
    if let Some(problem) = arguments::problem(&result.call, &result.outcome) {
        response.insert("error".to_owned(), json!(problem));
    }
    Value::Object(response).to_string()
}

/// The field in which the server sends reasoning. Where tools are called, some servers want it
/// back in all later requests, and fail without it; others ignore it.
fn reasoning_field(history: &[HistoryItem]) -> Option<&str> {
    let parts = history.iter().filter_map(|past| match past {
        HistoryItem::Step { parts, .. } => Some(parts),
        _ => None,
    });
    parts.flatten().find_map(|part| match part {
        Part::Reasoning {
            provider_metadata, ..
        } => {
            let kept = provider_metadata::get(PROVIDER, provider_metadata.as_ref());
            kept?.get(FIELD)?.as_str()
        }
        _ => None,
    })
}

/// Whether the turn of a step has called tools.
fn turn_calls_tools(history: &[HistoryItem], place: usize) -> bool {
    let is_step = |past: &&HistoryItem| matches!(past, HistoryItem::Step { .. });
    let (before, after) = history.split_at(place);
    let before = before.iter().rev().take_while(is_step);
    let after = after.iter().take_while(is_step);
    before
        .chain(after)
        .any(|past| matches!(past, HistoryItem::Step { results, .. } if !results.is_empty()))
}

fn text_message(role: &'static str, text: &str) -> Message {
    Message {
        role,
        content: Some(Content::Text(text.to_owned())),
        ..Message::default()
    }
}

fn text_part(text: impl Into<String>) -> ContentPart {
    ContentPart::Text { text: text.into() }
}

/// A picture, by its data or its address, or a document by its data. Others are named.
fn file_part(file: &PageFile) -> ContentPart {
    let url = &file.url;
    let is_data = data_url::is_data(url);
    if file.media_type.starts_with("image/") && (is_data || data_url::is_web(url)) {
        let url = url.clone();
        let image_url = ImageUrl { url };
        return ContentPart::ImageUrl { image_url };
    }
    if file.media_type == "application/pdf" && is_data {
        let name = file.filename.as_deref().unwrap_or("document.pdf");
        return ContentPart::File {
            file: File {
                filename: name.to_owned(),
                file_data: url.clone(),
            },
        };
    }
    text_part(unreadable_file(file))
}
