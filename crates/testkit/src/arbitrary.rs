//! Generators for property tests: specimens with other strings in them.

use proptest::prelude::*;
use serde_json::{Map, Value};
use wire::frame::{ClientFrame, ServerFrame};
use wire::{ChatRequest, Chunk, Limits, Message, Part};

use crate::specimen::{self, Shape};

/// Any JSON, a few levels deep.
pub fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        // What JSON can say: no infinities.
        (-1e15..1e15).prop_map(|number: f64| Value::from(number)),
        "\\PC{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec(("[a-z]{1,6}", inner), 0..4)
                .prop_map(|entries| Value::Object(entries.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Keys whose values the wire reads as free text.
const TEXTS: [&str; 9] = [
    "delta",
    "text",
    "errorText",
    "inputTextDelta",
    "title",
    "reason",
    "url",
    "filename",
    "signature",
];
/// Keys whose values the wire reads as ids.
const IDS: [&str; 5] = ["toolCallId", "approvalId", "messageId", "sourceId", "id"];
/// Keys whose values may be anything.
const ANYTHING: [&str; 8] = [
    "input",
    "output",
    "data",
    "descriptor",
    "approvalDescriptor",
    "inputSchemaInput",
    "messageMetadata",
    "metadata",
];

/// Puts other strings where the wire takes any.
fn reword(value: &mut Value, text: &str, id: &str, anything: &Value) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                if TEXTS.contains(&key.as_str()) && value.is_string() {
                    *value = text.into();
                } else if IDS.contains(&key.as_str()) && value.is_string() {
                    *value = id.into();
                } else if ANYTHING.contains(&key.as_str()) {
                    *value = anything.clone();
                } else {
                    reword(value, text, id, anything);
                }
            }
        }
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| reword(item, text, id, anything)),
        _ => {}
    }
}

fn of(shapes: Vec<Shape>) -> impl Strategy<Value = Value> {
    let shape = prop::sample::select(shapes);
    (shape, any::<usize>(), "\\PC{0,20}", "[!-~]{1,20}", json()).prop_map(
        |(shape, bits, text, id, anything)| {
            let mut value = shape.with(bits);
            reword(&mut value, &text, &id, &anything);
            value
        },
    )
}

/// Any chunk.
pub fn chunk() -> impl Strategy<Value = Chunk> {
    of(specimen::chunk_shapes()).prop_map(|value| Chunk::decode(value).expect("a valid chunk"))
}

/// Any message, with parts that nobody knows among those that are known.
pub fn message() -> impl Strategy<Value = Message> {
    let role = prop::sample::select(vec!["system", "user", "assistant"]);
    let known = of(specimen::part_shapes());
    let unknown = (Just("hologram"), json())
        .prop_map(|(kind, value)| serde_json::json!({"type": kind, "depth": value}));
    let part = prop_oneof![9 => known, 1 => unknown];
    let parts = prop::collection::vec(part, 0..5);
    let id = prop::option::of("[!-~]{1,20}");
    (role, id, parts, prop::option::of(json())).prop_map(|(role, id, parts, metadata)| {
        let mut value = serde_json::json!({"role": role, "parts": parts, "extraField": metadata});
        value["metadata"] = metadata.into();
        value["id"] = id.into();
        Message::decode(value).expect("a valid message")
    })
}

/// Any part.
pub fn part() -> impl Strategy<Value = Part> {
    message().prop_filter_map("a message without parts", |message| {
        message.parts.into_iter().next()
    })
}

fn decoded<T>(value: &Value, decode: impl Fn(&[u8], &Limits) -> Result<T, wire::DecodeError>) -> T {
    let limits = Limits {
        depth: 127,
        ..Limits::default()
    };
    decode(value.to_string().as_bytes(), &limits).expect("a valid frame")
}

/// Any request body.
pub fn request() -> impl Strategy<Value = ChatRequest> {
    let trigger = prop::sample::select(vec!["submit-message", "regenerate-message"]);
    let messages = prop::collection::vec(message(), 0..4);
    let message_id = prop::option::of("[!-~]{1,20}");
    ("[!-~]{1,20}", trigger, messages, message_id, json()).prop_map(
        |(id, trigger, messages, message_id, extra)| {
            let mut value = serde_json::json!({"id": id, "trigger": trigger, "messages": messages, "tenant": extra});
            if let Some(message_id) = message_id {
                value["messageId"] = message_id.into();
            }
            decoded(&value, ChatRequest::from_slice)
        },
    )
}

/// Any frame of a client in the AI SDK's dialect.
pub fn client_frame() -> impl Strategy<Value = ClientFrame> {
    let request =
        request().prop_map(|request| serde_json::to_value(request).expect("it serializes"));
    (
        request,
        "[!-~]{1,9}",
        prop::option::of(any::<u32>()),
        0..3_u8,
    )
        .prop_map(|(request, request_id, sequence, kind)| {
            let mut value = match kind {
                0 => request,
                1 => serde_json::json!({"id": "c", "lastSequence": sequence}),
                _ => serde_json::json!({}),
            };
            value["type"] = ["send", "resume", "abort"][kind as usize].into();
            value["requestId"] = request_id.into();
            value["headers"] = serde_json::json!({"x-a": "b"});
            value["body"] = serde_json::json!({"a": sequence});
            decoded(&value, ClientFrame::from_slice)
        })
}

/// Any frame of a server in the AI SDK's dialect.
pub fn server_frame() -> impl Strategy<Value = ServerFrame> {
    let text = prop::option::of("\\PC{0,20}");
    ("[!-~]{1,9}", chunk(), any::<u32>(), text, 0..5_u8).prop_map(
        |(request_id, chunk, sequence, error_text, kind)| match kind {
            0 => ServerFrame::Start { request_id },
            1 => ServerFrame::End { request_id },
            2 => ServerFrame::NoActive { request_id },
            3 => ServerFrame::Error {
                request_id,
                code: error_text.clone(),
                error_text,
                retry_after_ms: (sequence % 2 == 0).then_some(sequence.into()),
            },
            _ => ServerFrame::Chunk {
                request_id,
                sequence: sequence.into(),
                chunk,
            },
        },
    )
}

/// Any frame of a page of the legacy bridge.
pub fn legacy_frame() -> impl Strategy<Value = wire::legacy::ClientFrame> {
    let messages = prop::collection::vec(message(), 0..3);
    (messages, "[!-~]{1,9}", json(), "\\PC{0,20}", any::<u16>(), 0..6_u8).prop_map(
        |(messages, id, anything, text, number, kind)| {
            let value = match kind {
                0 => serde_json::json!({"type": "message", "id": id, "messages": messages, "trigger": "submit-message"}),
                1 => serde_json::json!({"type": "tool_result", "toolCallId": id, "result": anything}),
                2 => serde_json::json!({"type": "ping", "timestamp": anything}),
                3 => serde_json::json!({"type": "interrupt", "reason": text}),
                4 => serde_json::json!({"type": "audio_control", "action": "stop"}),
                _ => serde_json::json!({"type": "audio_chunk", "chunk": id, "sampleRate": number}),
            };
            decoded(&value, wire::legacy::ClientFrame::from_slice)
        },
    )
}
