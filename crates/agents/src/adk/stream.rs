//! A run, frame by frame: as it comes, or as a session keeps it.

use std::collections::VecDeque;

use reqwest::Response;
use serde_json::Value;
use wire::sse::Decoder;

use super::event::Event;
use super::failure;
use crate::gemini::Failure;

/// How much one event may hold. Images come in one.
const EVENT_BYTES: usize = 64 * 1024 * 1024;

/// A run that is listened to.
pub(super) struct Run {
    /// What came and was not taken yet.
    ready: VecDeque<Result<Event, Failure>>,
    source: Option<Source>,
}

struct Source {
    response: Response,
    frames: Frames,
}

impl Run {
    pub(super) fn new(response: Response) -> Self {
        let frames = Frames::default();
        let source = Source { response, frames };
        Self {
            ready: VecDeque::new(),
            source: Some(source),
        }
    }

    /// A run that nobody listened to, as far as its session kept it.
    pub(super) fn stored(events: impl IntoIterator<Item = Event>) -> Self {
        Self {
            ready: events.into_iter().map(Ok).collect(),
            source: None,
        }
    }

    /// Whether it is read from a session.
    pub(super) fn is_stored(&self) -> bool {
        self.source.is_none()
    }

    /// Puts events back that were only looked at.
    pub(super) fn put_back(&mut self, events: impl IntoIterator<Item = Event>) {
        let mut events: VecDeque<_> = events.into_iter().map(Ok).collect();
        events.append(&mut self.ready);
        self.ready = events;
    }

    /// The next event; nothing, at its end.
    pub(super) async fn next(&mut self) -> Result<Option<Event>, Failure> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return event.map(Some);
            }
            let Some(source) = &mut self.source else {
                return Ok(None);
            };
            match source.response.chunk().await {
                Ok(Some(bytes)) => self.ready.extend(source.frames.push(&bytes)),
                Ok(None) if source.frames.decoder.is_incomplete() => return Err(failure::cut_off()),
                Ok(None) => return Ok(None),
                Err(error) => {
                    let error = error.without_url();
                    tracing::warn!(?error, "the ADK server hangs up");
                    return Err(failure::cut_off());
                }
            }
        }
    }
}

/// Reads events from bytes as they come, cut anywhere.
#[derive(Default)]
struct Frames {
    decoder: Decoder,
    /// How many bytes came since the last event.
    pending: usize,
}

impl Frames {
    /// What the bytes complete, in its order: what came before a failure is not lost with it.
    fn push(&mut self, bytes: &[u8]) -> Vec<Result<Event, Failure>> {
        let frames = self.decoder.push(bytes);
        self.pending = match frames.is_empty() {
            true => self.pending + bytes.len(),
            false => 0,
        };
        let mut events: Vec<_> = frames.iter().map(|frame| event(&frame.data)).collect();
        if self.pending > EVENT_BYTES {
            events.push(Err(failure::unreadable("one event of it has no end")));
        }
        events
    }
}

/// An event, or the bare frame of an error, which is none.
fn event(data: &str) -> Result<Event, Failure> {
    let unreadable = |_| failure::unreadable("an event of it is not as expected");
    let value: Value = serde_json::from_str(data).map_err(unreadable)?;
    if let Some(error) = value.get("error") {
        let said = error.as_str().unwrap_or_default();
        let details = value.get("error_details");
        let kind = details.and_then(|details| details.get("error_type")?.as_str());
        tracing::warn!(said, "the ADK server ends a run with an error");
        let (named, message) = said.split_once(": ").unwrap_or(("", said));
        return Err(failure::of_error(kind.unwrap_or(named), message));
    }
    serde_json::from_value(value).map_err(unreadable)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::reading::Reading;
    use super::*;

    /// What stands in an event of ADK, or does not.
    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            prop::sample::select(vec![
                "c1",
                "c2",
                "root",
                "user",
                "model",
                "MAX_TOKENS",
                "SAFETY"
            ])
            .prop_map(Value::from),
            ".{0,4}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 16, 4, |inner| {
            let keys = ["adk_stream", "error", "hint", "id", "result", "turn", "x"];
            let keys = prop::sample::select(keys.to_vec());
            prop_oneof![
                vec(inner.clone(), 0..3).prop_map(Value::from),
                vec((keys, inner), 0..4).prop_map(|fields| fields.into_iter().collect()),
            ]
        })
    }

    fn part() -> impl Strategy<Value = Value> {
        let id = prop::sample::select(vec!["c1", "c2", "c3"]);
        let tool = prop::sample::select(vec!["pay", "adk_request_confirmation"]);
        prop_oneof![
            ".{0,4}".prop_map(|text| json!({"text": text})),
            ".{0,4}".prop_map(|text| json!({"text": text, "thought": true})),
            (id.clone(), tool.clone(), value())
                .prop_map(|(id, tool, args)| json!({"functionCall": {"id": id, "name": tool, "args": args}})),
            (id.clone(), id.clone()).prop_map(|(id, original)| {
                let original = json!({"id": original, "name": "pay"});
                let args = json!({"originalFunctionCall": original, "toolConfirmation": {"hint": "?"}});
                json!({"functionCall": {"id": id, "name": "adk_request_confirmation", "args": args}})
            }),
            (id, tool, value())
                .prop_map(|(id, tool, response)| json!({"functionResponse": {"id": id, "name": tool, "response": response}})),
            Just(json!({"inlineData": {"mimeType": "image/png", "data": "QUI="}})),
            value(),
        ]
    }

    /// An event as ADK would send it, more or less.
    fn said() -> impl Strategy<Value = Value> {
        let fields = vec![
            "id",
            "author",
            "partial",
            "errorCode",
            "errorMessage",
            "longRunningToolIds",
            "actions",
            "customMetadata",
            "turnComplete",
            "usageMetadata",
            "error",
        ];
        let ids = vec(prop::sample::select(vec!["c1", "c2"]), 0..3);
        let odd = prop::option::of((prop::sample::select(fields), value()));
        (vec(part(), 0..4), any::<bool>(), ids, odd).prop_map(|(parts, partial, ids, odd)| {
            let content = json!({"role": "model", "parts": parts});
            let mut event = json!({
                "author": "root", "content": content, "partial": partial, "longRunningToolIds": ids,
            });
            event
                .as_object_mut()
                .unwrap()
                .extend(odd.map(|(key, value)| (key.to_owned(), value)));
            event
        })
    }

    /// A stream as ADK would send it, more or less.
    fn stream() -> impl Strategy<Value = Vec<u8>> {
        let frame = prop_oneof![
            4 => said().prop_map(|event| format!("data: {event}")),
            1 => value().prop_map(|value| format!("data: {value}")),
            1 => Just("data: {\"error\": \"RuntimeError: it broke\"}".to_owned()),
            1 => Just(": ping".to_owned()),
            1 => ".{0,8}",
        ];
        let end = prop::sample::select(vec!["\n\n", "\r\n\r\n", "\n", "\r\r"]);
        vec((frame, end), 0..6).prop_map(|frames| {
            let frames = frames.into_iter().map(|(frame, end)| frame + end);
            frames.collect::<String>().into_bytes()
        })
    }

    fn read<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Result<Event, Failure>> {
        let mut frames = Frames::default();
        let pieces = pieces.into_iter();
        pieces.flat_map(|piece| frames.push(piece)).collect()
    }

    /// The same bytes in pieces of these lengths, and what is left.
    fn cut<'a>(mut bytes: &'a [u8], lengths: &[usize]) -> Vec<&'a [u8]> {
        let mut pieces = Vec::new();
        for length in lengths {
            let (piece, rest) = bytes.split_at(*length.min(&bytes.len()));
            pieces.push(piece);
            bytes = rest;
        }
        pieces.push(bytes);
        pieces
    }

    #[test]
    fn what_was_said_before_a_failure_is_read_before_it() {
        let stream = b"data: {\"author\":\"root\"}\n\ndata: {\"error\":\"E: it broke\"}\n\n";
        let read = read([&stream[..]]);
        assert!(read[0].is_ok());
        assert_eq!(read[1].as_ref().unwrap_err().code, "agent_failed");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(
            bytes in vec(any::<u8>(), 0..400),
            lengths in vec(0_usize..40, 0..12),
        ) {
            prop_assert_eq!(read(cut(&bytes, &lengths)), read([&bytes[..]]));
        }

        #[test]
        fn events_are_the_same_however_their_bytes_are_cut(
            bytes in stream(),
            lengths in vec(0_usize..60, 0..20),
        ) {
            prop_assert_eq!(read(cut(&bytes, &lengths)), read([&bytes[..]]));
        }

        #[test]
        fn whatever_is_read_can_be_told(bytes in stream(), answered in vec("c[12]", 0..2)) {
            let mut reading = Reading::default();
            for event in read([&bytes[..]]).into_iter().flatten() {
                reading.expect_of(&event);
                reading.hear(&event);
                let _ = reading.say(event, &answered);
            }
            reading.end();
        }
    }
}
