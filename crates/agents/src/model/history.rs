//! The parts of a history that every model gets in the same form.

use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;
use turn::agent::{self, HistoryItem};
use turn::message::{self, File};
use turn::metadata::{OURS, TRANSCRIPT};

/// The text of a message without content: an empty one is refused, and every later request of the chat
/// with it.
const EMPTY_MESSAGE: &str = "(an empty message)";

/// The text in place of a file that a model can't be given.
pub(crate) fn unreadable_file(file: &File) -> String {
    let name = file.filename.as_deref().unwrap_or(&file.media_type);
    format!("(The user sent the file {name:?}, which can't be read here.)")
}

/// A user's message as the content that an API has. Data parts are the page's own business.
pub(crate) fn user_content<T>(
    parts: &[message::Part],
    text: impl Fn(&str) -> T,
    file: impl Fn(&File) -> T,
) -> Vec<T> {
    let content = parts.iter().filter_map(|part| match part {
        // Some models refuse text of nothing but spaces.
        message::Part::Text { text: words, .. } if !words.trim().is_empty() => Some(text(words)),
        message::Part::File(attached) => Some(file(attached)),
        _ => None,
    });
    let mut content: Vec<T> = content.collect();
    if content.is_empty() {
        content.push(text(EMPTY_MESSAGE));
    }
    content
}

/// A digest of an item. Another build may compute another; then the history is sent again.
pub(crate) fn digest(past: &HistoryItem) -> u64 {
    let mut hasher = DefaultHasher::new();
    format!("{past:?}").hash(&mut hasher);
    hasher.finish()
}

/// Whether the step that is asked for is the first of its turn.
pub(crate) fn is_first_step(history: &[HistoryItem]) -> bool {
    !matches!(history.last(), Some(HistoryItem::Step { .. }))
}

/// What was spoken, as far as it was understood: a transcript stands with the answer to it.
pub(crate) fn spoken(answer: Option<&HistoryItem>) -> String {
    let parts = match answer {
        Some(HistoryItem::Step { parts, .. }) => parts.as_slice(),
        _ => &[],
    };
    let texts = parts.iter().filter_map(|part| match part {
        agent::Part::Text { text, .. } if is_transcript(part) => Some(text.as_str()),
        _ => None,
    });
    let transcript: String = texts.collect();
    match transcript.trim().is_empty() {
        true => "(something spoken, which was not understood)".to_owned(),
        false => transcript,
    }
}

/// Whether a text of an answer is a transcript of what it answers.
pub(crate) fn is_transcript(part: &agent::Part) -> bool {
    let agent::Part::Text {
        provider_metadata: Some(metadata),
        ..
    } = part
    else {
        return false;
    };
    metadata.get(OURS).and_then(|ours| ours.get(TRANSCRIPT)) == Some(&Value::from("input"))
}
