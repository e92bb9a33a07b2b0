//! The history, as messages: block by block, so that each signature stands on its own block.

use serde_json::{Map, Value, json};
use turn::agent::{CallResult, HistoryItem, Part};
use turn::call::Call;
use turn::message::File;

use super::PROVIDER;
use super::api::{Block, Message};
use crate::model::call_ids::CallIds;
use crate::model::history::{is_transcript, spoken, unreadable_file, user_content};
use crate::model::tool_names::ToolNames;
use crate::model::{arguments, data_url, outcome, provider_metadata};

/// Everything that was said.
///
/// Anthropic wants the results right after their calls, all of them in one message, and before any words
/// of the user. Messages of one side after each other are one message.
pub(super) fn messages(history: &[HistoryItem], names: &ToolNames) -> Vec<Message> {
    let mut ids = CallIds::default();
    let mut messages = Vec::new();
    for (place, past) in history.iter().enumerate() {
        match past {
            HistoryItem::Message(message) if message.is_speech() => {
                let text = text(&spoken(history.get(place + 1)));
                add(&mut messages, "user", vec![text]);
            }
            HistoryItem::Message(message) => {
                let content = user_content(&message.parts, text, file_block);
                add(&mut messages, "user", content);
            }
            HistoryItem::Result { call, outcome } => {
                let text = text(&outcome::late(call, outcome));
                add(&mut messages, "user", vec![text]);
            }
            HistoryItem::Step { parts, results } => {
                step(parts, results, names, &mut ids, &mut messages)
            }
        }
    }
    messages
}

fn add(messages: &mut Vec<Message>, role: &'static str, content: Vec<Block>) {
    match messages.last_mut().filter(|last| last.role == role) {
        Some(last) => last.content.extend(content),
        None => messages.push(Message { role, content }),
    }
}

fn step(
    parts: &[Part],
    results: &[CallResult],
    names: &ToolNames,
    ids: &mut CallIds,
    messages: &mut Vec<Message>,
) {
    let mut call_ids = Vec::new();
    let mut blocks = Vec::new();
    for part in parts.iter().filter(|part| !is_transcript(part)) {
        match part {
            Part::Call { call, .. } => {
                let id = ids.of(call);
                call_ids.push((call.id.clone(), id.clone()));
                blocks.push(tool_use(call, &id, names));
            }
            part => blocks.extend(said(part)),
        }
    }
    // An answer that ends in a thought was cut short, and is refused.
    while blocks.last().is_some_and(is_thought) {
        blocks.pop();
    }
    if blocks.is_empty() {
        return;
    }
    add(messages, "assistant", blocks);
    if !results.is_empty() {
        let result = |result: &CallResult| {
            let id = call_ids.iter().find(|(call, _)| *call == result.call.id);
            tool_result(result, id.map(|(_, id)| id.as_str()))
        };
        add(messages, "user", results.iter().map(result).collect());
    }
}

/// What the model said, as it said it. A thought without a signature is not one of Anthropic's.
fn said(part: &Part) -> Option<Block> {
    match part {
        Part::Text {
            text,
            provider_metadata,
        } => {
            // An empty text is refused.
            let text = Some(text).filter(|text| !text.is_empty())?;
            Some(block("text", "text", text, provider_metadata.as_ref()))
        }
        Part::Reasoning {
            text,
            provider_metadata,
        } => {
            let block = block("thinking", "thinking", text, provider_metadata.as_ref());
            Some(block).filter(|block| block.contains_key("signature"))
        }
        Part::Opaque { content } => {
            let kept = provider_metadata::get(PROVIDER, Some(content));
            kept.filter(|block| block.contains_key("type")).cloned()
        }
        _ => None,
    }
}

fn block(kind: &str, key: &str, words: &str, metadata: Option<&Value>) -> Block {
    let mut block = Map::from_iter([
        ("type".to_owned(), json!(kind)),
        (key.to_owned(), json!(words)),
    ]);
    block.extend(kept(metadata));
    block
}

/// The other fields of a block.
fn kept(metadata: Option<&Value>) -> Block {
    let kept = provider_metadata::get(PROVIDER, metadata);
    kept.cloned().unwrap_or_default()
}

fn is_thought(block: &Block) -> bool {
    let kind = block.get("type").and_then(Value::as_str);
    matches!(kind, Some("thinking" | "redacted_thinking"))
}

fn tool_use(call: &Call, id: &str, names: &ToolNames) -> Block {
    let mut block = Map::from_iter([
        ("type".to_owned(), json!("tool_use")),
        ("id".to_owned(), json!(id)),
        ("name".to_owned(), json!(names.sent(&call.tool))),
        ("input".to_owned(), arguments::object(&call.input)),
    ]);
    block.extend(kept(call.provider_metadata.as_ref()));
    block
}

fn tool_result(result: &CallResult, id: Option<&str>) -> Block {
    let mut response = outcome::of_result(result);
    if let Some(problem) = arguments::problem(&result.call, &result.outcome) {
        response.insert("error".to_owned(), json!(problem));
    }
    let mut block = Map::from_iter([
        ("type".to_owned(), json!("tool_result")),
        ("tool_use_id".to_owned(), json!(id)),
        (
            "content".to_owned(),
            json!(Value::Object(response).to_string()),
        ),
    ]);
    if outcome::is_error(&result.outcome) {
        block.insert("is_error".to_owned(), json!(true));
    }
    block
}

fn text(text: &str) -> Block {
    block("text", "text", text, None)
}

/// A picture or a document, by its data or its address. Others are named.
fn file_block(file: &File) -> Block {
    let kind = match file.media_type.as_str() {
        media_type if media_type.starts_with("image/") => "image",
        "application/pdf" => "document",
        _ => return text(&unreadable_file(file)),
    };
    let source = if let Some(inline) = data_url::read(&file.url) {
        let data = data_url::standard_base64(&inline.data);
        json!({"type": "base64", "media_type": file.media_type, "data": data})
    } else if data_url::is_web(&file.url) {
        json!({"type": "url", "url": file.url})
    } else {
        return text(&unreadable_file(file));
    };
    Map::from_iter([
        ("type".to_owned(), json!(kind)),
        ("source".to_owned(), source),
    ])
}
