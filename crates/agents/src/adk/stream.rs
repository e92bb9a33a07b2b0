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

/// A run that is being read.
pub(super) struct Run {
    /// What came and was not taken yet.
    ready: VecDeque<Result<Event, Failure>>,
    source: Option<Source>,
    is_over: bool,
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
            is_over: false,
        }
    }

    /// A run that was not read, as far as its session stored it.
    pub(super) fn stored(events: impl IntoIterator<Item = Event>) -> Self {
        Self {
            ready: events.into_iter().map(Ok).collect(),
            source: None,
            is_over: true,
        }
    }

    /// Whether it is read from a session.
    pub(super) fn is_stored(&self) -> bool {
        self.source.is_none()
    }

    /// Whether it was read to its end.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
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
                Ok(None) if source.frames.is_incomplete() => return Err(failure::cut_off()),
                Ok(None) => {
                    self.is_over = true;
                    if let Some(failure) = source.frames.end() {
                        return Err(failure);
                    }
                    return Ok(None);
                }
                Err(error) => {
                    let error = error.without_url();
                    tracing::warn!(?error, "ADK stream cut off");
                    return Err(failure::cut_off());
                }
            }
        }
    }
}

/// How an error begins, in a frame of its own.
const ERROR: &str = r#"{"error": ""#;

/// How much of an error is read that is no JSON.
const ERROR_BYTES: usize = 16 * 1024;

/// Reads events from bytes as they come, cut anywhere.
#[derive(Default)]
struct Frames {
    decoder: Decoder,
    /// How many bytes came since the last event.
    pending: usize,
    /// The last bytes that came.
    tail: Vec<u8>,
    /// Whether an error came whose frame is none: Python 1.22 writes what went wrong as it is, with
    /// its line breaks. It is the last that comes.
    is_broken: bool,
}

impl Frames {
    /// What the bytes complete, in its order: what came before a failure is not lost with it.
    fn push(&mut self, bytes: &[u8]) -> Vec<Result<Event, Failure>> {
        let frames = self.decoder.push(bytes);
        self.tail.extend_from_slice(bytes);
        let old = self.tail.len().saturating_sub(ERROR_BYTES);
        self.tail.drain(..old);
        self.pending = match frames.is_empty() {
            true => self.pending + bytes.len(),
            false => 0,
        };
        let mut events = Vec::new();
        for frame in &frames {
            self.is_broken |= is_broken(&frame.data);
            if !self.is_broken {
                events.push(event(&frame.data));
            }
        }
        if self.pending > EVENT_BYTES {
            events.push(Err(failure::unreadable("one event of it has no end")));
        }
        events
    }

    fn is_incomplete(&self) -> bool {
        !self.is_broken && self.decoder.is_incomplete()
    }

    /// What is left to say at the end.
    fn end(&self) -> Option<Failure> {
        let tail = String::from_utf8_lossy(&self.tail);
        let said = tail.rfind(ERROR).map(|place| &tail[place + ERROR.len()..]);
        let said = said.unwrap_or_default().trim().trim_end_matches("\"}");
        self.is_broken.then(|| failure::of_frame(said, None))
    }
}

/// Whether a frame is the beginning of an error that is no JSON.
fn is_broken(data: &str) -> bool {
    data.starts_with(ERROR) && serde_json::from_str::<Value>(data).is_err()
}

/// An event, or the bare frame of an error, which is none.
fn event(data: &str) -> Result<Event, Failure> {
    let unreadable = || failure::unreadable("one of its events is not valid");
    let value: Value = serde_json::from_str(data).map_err(|_| unreadable())?;
    if let Some(error) = value.get("error") {
        let detail = error.as_str().unwrap_or_default();
        let details = value.get("error_details");
        let kind = details.and_then(|details| details.get("error_type")?.as_str());
        tracing::warn!(detail, "ADK run failed");
        return Err(failure::of_frame(detail, kind));
    }
    serde_json::from_value(value).map_err(|_| unreadable())
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::reading::Reading;
    use super::*;

    /// Optional fields of an ADK event.
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

    #[test]
    fn error_that_is_no_json_is_one_all_the_same() {
        let stream =
            b"data: {\"error\": \"\nOn how to mitigate this:\n\n429 RESOURCE_EXHAUSTED.\"}\n\n";
        for lengths in [vec![], vec![8; 12]] {
            let mut frames = Frames::default();
            for piece in cut(stream, &lengths) {
                assert_eq!(frames.push(piece), []);
            }
            assert!(!frames.is_incomplete());
            assert_eq!(frames.end().unwrap().code, "rate_limited");
        }
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
        fn whatever_is_read_can_be_shown(bytes in stream(), answered in vec("c[12]", 0..2)) {
            let mut reading = Reading::default();
            for event in read([&bytes[..]]).into_iter().flatten() {
                reading.expect_of(&event);
                reading.read_responses(&event);
                let _ = reading.read_output(event, &answered);
            }
            reading.end();
        }
    }
}
