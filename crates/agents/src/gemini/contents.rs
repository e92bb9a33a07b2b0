//! The history, as contents: part by part, so that each signature stands on its own part.

use gemini::{Content, Data, FileData, FunctionCall, Part};
use serde_json::Value;
use turn::agent::{self, HistoryItem};
use turn::call::Call;
use turn::message::File;

use super::{provider_metadata, response};
use crate::model::data_url;
use crate::model::history::{is_transcript, spoken, unreadable_file, user_content};

/// The provider under whose name a page's file may be at Google already.
const PROVIDER: &str = "google";

/// Everything that was said.
///
/// Gemini wants the responses right after their calls, in their order, which a step is by itself.
/// It does not mind that one side speaks twice, as happens after a turn that failed without a word.
pub(crate) fn contents(history: &[HistoryItem]) -> Vec<Content> {
    let mut contents = Vec::new();
    for (place, past) in history.iter().enumerate() {
        match past {
            HistoryItem::Message(message) if message.is_speech() => {
                let text = spoken(history.get(place + 1));
                contents.push(Content::user(vec![Part::text(text)]));
            }
            HistoryItem::Message(message) => {
                let parts = user_content(&message.parts, |text| Part::text(text), page_file);
                contents.push(Content::user(parts));
            }
            HistoryItem::Result { call, outcome } => {
                let text = response::late(call, outcome);
                contents.push(Content::user(vec![Part::text(text)]));
            }
            HistoryItem::Step { parts, results } => {
                let said = parts.iter().filter(|part| !is_transcript(part));
                let said: Vec<_> = said.filter_map(model_part).collect();
                // A step that was cut short while thinking has nothing to continue from.
                if said.iter().any(|part| !part.is_thought()) {
                    contents.push(Content::model(said));
                }
                if !results.is_empty() {
                    let responses = results.iter().map(response::part);
                    contents.push(Content::user(responses.collect()));
                }
            }
        }
    }
    contents
}

fn page_file(page: &File) -> Part {
    let at_google = page.provider_reference(PROVIDER);
    let url = at_google.unwrap_or(&page.url);
    match file(url, &page.media_type, Part::default()) {
        Some(part) => part,
        None => Part::text(unreadable_file(page)),
    }
}

/// What the model said, as it said it. Sources are no content, and data is for pages.
fn model_part(part: &agent::Part) -> Option<Part> {
    match part {
        agent::Part::Text {
            text,
            provider_metadata,
        } => Some(Part {
            data: Data::Text(text.clone()),
            ..provider_metadata::part(provider_metadata.as_ref())
        }),
        agent::Part::Reasoning {
            text,
            provider_metadata,
        } => Some(Part {
            data: Data::Text(text.clone()),
            thought: Some(true),
            ..provider_metadata::part(provider_metadata.as_ref())
        }),
        agent::Part::Call { call, .. } => Some(function_call(call)),
        agent::Part::File {
            url,
            media_type,
            provider_metadata,
        } => file(
            url,
            media_type,
            provider_metadata::part(provider_metadata.as_ref()),
        ),
        agent::Part::Opaque { content } => {
            Some(provider_metadata::part(Some(content))).filter(|part| *part != Part::default())
        }
        agent::Part::Source { .. } | agent::Part::Data { .. } => None,
    }
}

fn function_call(call: &Call) -> Part {
    let kept = provider_metadata::part(call.provider_metadata.as_ref());
    let mut function = match kept.data {
        Data::FunctionCall(function) => function,
        _ => FunctionCall::default(),
    };
    function.id.clone_from(&call.provider_id);
    function.name = Some(call.tool.clone());
    match &call.input {
        Value::Object(args) => function.args = Some(args.clone()),
        odd => drop(function.rest.insert("args".to_owned(), odd.clone())),
    }
    Part {
        data: Data::FunctionCall(function),
        ..kept
    }
}

/// A file, inside of the message or where it is; nothing, if only a page knows where that is.
fn file(url: &str, media_type: &str, kept: Part) -> Option<Part> {
    let media_type = Some(media_type.to_owned()).filter(|media_type| !media_type.is_empty());
    let data = if let Some(read) = data_url::read(url) {
        let mut blob = match kept.data {
            Data::InlineData(blob) => blob,
            _ => gemini::Blob::default(),
        };
        blob.mime_type = media_type.or(Some(read.media_type));
        blob.data = Some(read.data);
        Data::InlineData(blob)
    } else {
        let is_elsewhere = ["https://", "http://", "gs://", "files/"];
        if !is_elsewhere.iter().any(|start| url.starts_with(start)) {
            return None;
        }
        let mut file = match kept.data {
            Data::FileData(file) => file,
            _ => FileData::default(),
        };
        file.mime_type = media_type;
        file.file_uri = Some(url.to_owned());
        Data::FileData(file)
    };
    Some(Part { data, ..kept })
}
