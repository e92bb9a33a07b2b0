//! A user's message, from what a page sends to what a turn keeps, and back.

use serde_json::{Map, Value};
use wire::{Message, Part, Role};

/// What a turn keeps of a message that a page sent: all of it.
pub(crate) fn read(message: &Message) -> turn::Message {
    let parts = message.parts.iter().map(|part| fields(part).into());
    let mut kept = turn::Message::new("", parts.collect());
    kept.id.clone_from(&message.id);
    kept.metadata.clone_from(&message.metadata);
    kept.extra.clone_from(&message.extra);
    kept
}

/// The message as a page shows it.
pub(crate) fn show(message: &turn::Message) -> Message {
    let read = Message::decode(fields(message).into());
    // What no page can have sent is shown to none, and goes back as it is.
    read.unwrap_or_else(|_| Message {
        id: message.id.clone(),
        role: Role::User,
        metadata: message.metadata.clone(),
        parts: message
            .parts
            .iter()
            .map(fields)
            .map(Part::Unknown)
            .collect(),
        extra: message.extra.clone(),
    })
}

/// A message or a part as JSON. Both are written as objects, whose keys are texts.
fn fields(of: impl serde::Serialize) -> Map<String, Value> {
    match serde_json::to_value(of) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn specimen() -> Message {
        Message::decode(json!({
            "id": "u1", "role": "user", "metadata": {"b": 1, "a": 2},
            "parts": [
                {"type": "text", "text": "hi", "state": "done", "mood": {"x": [1, null]}},
                {"filename": "a.png", "type": "file", "url": "data:,", "mediaType": "image/png",
                 "providerReference": {"google": "files/1"}, "shade": "blue"},
                {"type": "data-speech", "shade": "red", "data": {"sampleRate": 16000}},
                {"type": "hologram", "depth": 3},
                {"type": "reasoning", "text": "hm", "id": "r"},
                {"type": "dynamic-tool", "toolName": "t", "toolCallId": "c", "state": "call", "input": null},
                {"type": "tool-result", "toolCallId": "c", "result": {"approved": true}},
            ],
            "createdAt": "yesterday",
        }))
        .unwrap()
    }

    #[test]
    fn journal_has_what_the_page_sent_byte_for_byte() {
        let sent = specimen();
        let stored = serde_json::to_string(&read(&sent)).unwrap();
        assert_eq!(stored, serde_json::to_string(&sent).unwrap());
    }

    #[test]
    fn page_is_shown_what_it_sent() {
        let sent = specimen();
        assert_eq!(show(&read(&sent)), sent);
    }

    #[test]
    fn message_that_no_page_can_have_sent_is_shown_as_it_is() {
        let stored = json!({"id": "u1", "role": "user", "parts": [{"type": "text"}], "x": 1});
        let message: turn::Message = serde_json::from_value(stored.clone()).unwrap();
        assert_eq!(serde_json::to_value(show(&message)).unwrap(), stored);
    }
}
