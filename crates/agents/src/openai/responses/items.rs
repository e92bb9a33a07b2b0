//! The history, as items.
//!
//! Nothing is stored at OpenAI, so an item that comes back must not name the id under which it would be:
//! the API would look for it, and fail.

use serde_json::{Map, Value, json};
use turn::agent::{CallResult, HistoryItem, Part};
use turn::call::Call;
use turn::message::File;

use crate::model::call_ids::CallIds;
use crate::model::history::{is_transcript, spoken, unreadable_file, user_content};
use crate::model::tool_names::ToolNames;
use crate::model::{arguments, data_url, outcome, provider_metadata};
use crate::openai::PROVIDER;
use crate::openai::chat::result_text;

/// Under what a part has the item that it came in, without what the journal has elsewhere.
pub(super) const ITEM: &str = "item";

/// Everything that was said.
pub(super) fn items(history: &[HistoryItem], names: &ToolNames) -> Vec<Value> {
    let mut ids = CallIds::default();
    let mut items = Vec::new();
    for (place, past) in history.iter().enumerate() {
        match past {
            HistoryItem::Message(message) if message.is_speech() => {
                items.push(user(vec![text(spoken(history.get(place + 1)))]));
            }
            HistoryItem::Message(message) => {
                let content = user_content(&message.parts, |words| text(words), file_content);
                items.push(user(content));
            }
            HistoryItem::Result { call, outcome } => {
                items.push(user(vec![text(outcome::late(call, outcome))]));
            }
            HistoryItem::Step { parts, results } => {
                step(parts, results, names, &mut ids, &mut items)
            }
        }
    }
    items
}

fn step(
    parts: &[Part],
    results: &[CallResult],
    names: &ToolNames,
    ids: &mut CallIds,
    items: &mut Vec<Value>,
) {
    let begin = items.len();
    let mut call_ids = Vec::new();
    for part in parts.iter().filter(|part| !is_transcript(part)) {
        match part {
            Part::Text {
                text,
                provider_metadata,
            } if !text.is_empty() => items.push(said(text, kept(provider_metadata.as_ref()))),
            Part::Call { call, .. } => {
                let id = ids.of(call);
                call_ids.push((call.id.clone(), id.clone()));
                items.push(function_call(call, id, names));
            }
            Part::Opaque { content } => {
                items.extend(kept(Some(content)).map(Value::Object));
            }
            _ => {}
        }
    }
    drop_lone_reasoning(items, begin);
    for result in results {
        let id = call_ids.iter().find(|(call, _)| *call == result.call.id);
        items.push(json!({
            "type": "function_call_output",
            "call_id": id.map(|(_, id)| id),
            "output": result_text(result),
        }));
    }
}

/// Takes out reasoning that OpenAI would refuse: without its encrypted content, or without the item that
/// it led to, as in a step that was cut short.
fn drop_lone_reasoning(items: &mut Vec<Value>, begin: usize) {
    let mut place = items.len();
    let mut is_followed = false;
    while place > begin {
        place -= 1;
        let item = &items[place];
        if item["type"] == "reasoning" {
            if !is_followed || !item["encrypted_content"].is_string() {
                items.remove(place);
            }
        } else {
            is_followed = true;
        }
    }
}

/// The item that was put away, without its id.
fn kept(metadata: Option<&Value>) -> Option<Map<String, Value>> {
    let item = provider_metadata::get(PROVIDER, metadata)?.get(ITEM)?;
    let mut item = item.as_object()?.clone();
    item.shift_remove("id");
    Some(item)
}

fn said(text: &str, kept: Option<Map<String, Value>>) -> Value {
    let mut item = kept.unwrap_or_default();
    item.insert("type".to_owned(), json!("message"));
    item.insert("role".to_owned(), json!("assistant"));
    let content = json!([{"type": "output_text", "text": text, "annotations": []}]);
    item.insert("content".to_owned(), content);
    Value::Object(item)
}

fn function_call(call: &Call, id: String, names: &ToolNames) -> Value {
    let mut item = kept(call.provider_metadata.as_ref()).unwrap_or_default();
    item.insert("type".to_owned(), json!("function_call"));
    item.insert("call_id".to_owned(), json!(id));
    item.insert("name".to_owned(), json!(names.sent(&call.tool)));
    let arguments = arguments::object(&call.input).to_string();
    item.insert("arguments".to_owned(), json!(arguments));
    Value::Object(item)
}

fn user(content: Vec<Value>) -> Value {
    json!({"type": "message", "role": "user", "content": content})
}

fn text(text: impl Into<String>) -> Value {
    json!({"type": "input_text", "text": text.into()})
}

fn file_content(file: &File) -> Value {
    let url = &file.url;
    let (is_data, is_web) = (data_url::is_data(url), data_url::is_web(url));
    if file.media_type.starts_with("image/") && (is_data || is_web) {
        return json!({"type": "input_image", "image_url": url, "detail": "auto"});
    }
    if file.media_type == "application/pdf" && is_data {
        let name = file.filename.as_deref().unwrap_or("document.pdf");
        return json!({"type": "input_file", "filename": name, "file_data": url});
    }
    if file.media_type == "application/pdf" && is_web {
        return json!({"type": "input_file", "file_url": url});
    }
    text(unreadable_file(file))
}
