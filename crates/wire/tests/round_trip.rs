//! What is written is read back the same, and nothing that is read can bring a decoder down.

// Helpers of tests stop as tests do.
#![allow(clippy::expect_used, clippy::unwrap_used)]

use adk_stream_wire::{
    ChatRequest, Chunk, Limits, Message, Profile, assembler::Sdk, frame, legacy, socket, sse,
};
use proptest::prelude::*;
use serde_json::Value;
use testkit::{Checker, arbitrary};

/// The generators nest their values within messages and frames.
fn limits() -> Limits {
    Limits {
        depth: 127,
        ..Limits::default()
    }
}

fn bytes(value: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap()
}

/// Whether an object of ours holds `null` where the SDK wants the key left out.
fn null_fields(chunk: &Value) -> Vec<&String> {
    const MAY_BE_NULL: [&str; 6] = [
        "input",
        "output",
        "data",
        "messageMetadata",
        "approvalDescriptor",
        "inputSchemaInput",
    ];
    let fields = chunk.as_object().unwrap().iter();
    let nulls = fields
        .filter(|(_, value)| value.is_null())
        .map(|(key, _)| key);
    nulls
        .filter(|key| !MAY_BE_NULL.contains(&key.as_str()))
        .collect()
}

proptest! {
    #[test]
    fn chunk(chunk in arbitrary::chunk()) {
        let text = chunk.to_json();
        prop_assert_eq!(Chunk::from_slice(text.as_bytes()).unwrap(), chunk.clone());
        // The type comes first, and what is not there is left out.
        let start = format!(r#"{{"type":"{}""#, chunk.type_name());
        prop_assert!(text.starts_with(&start));
        let value: Value = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(null_fields(&value), Vec::<&String>::new());
    }

    #[test]
    fn chunk_as_an_event(chunks in prop::collection::vec(arbitrary::chunk(), 0..5), cut in any::<prop::sample::Index>()) {
        let mut body = Vec::new();
        chunks.iter().for_each(|chunk| sse::write_chunk(&mut body, chunk));
        sse::write_done(&mut body);
        let (head, tail) = body.split_at(cut.index(body.len()));
        let mut decoder = sse::Decoder::new();
        let mut events = decoder.push(head);
        events.extend(decoder.push(tail));
        prop_assert_eq!(events.pop().unwrap().data, sse::DONE);
        let read: Vec<_> = events.iter().map(|event| Chunk::from_slice(event.data.as_bytes()).unwrap()).collect();
        prop_assert_eq!(read, chunks);
    }

    #[test]
    fn narrowing_twice_changes_nothing_more(chunk in arbitrary::chunk()) {
        if let Some(narrow) = Profile::Shared.narrow(chunk) {
            prop_assert!(Profile::Shared.accepts(&narrow));
        }
    }

    #[test]
    fn message(message in arbitrary::message()) {
        prop_assert_eq!(Message::decode(serde_json::to_value(&message).unwrap()).unwrap(), message);
    }

    #[test]
    fn request(request in arbitrary::request()) {
        prop_assert_eq!(ChatRequest::from_slice(&bytes(&request), &limits()).unwrap(), request);
    }

    #[test]
    fn client_frame(frame in arbitrary::client_frame()) {
        prop_assert_eq!(frame::ClientFrame::from_slice(&bytes(&frame), &limits()).unwrap(), frame.clone());
        let read = socket::ClientFrame::from_slice(&bytes(&frame), &limits()).unwrap();
        prop_assert_eq!(read, socket::ClientFrame::Official(frame));
    }

    #[test]
    fn server_frame(frame in arbitrary::server_frame()) {
        let read = frame::ServerFrame::from_slice(frame.to_json().as_bytes(), &limits()).unwrap();
        prop_assert_eq!(read, frame);
    }

    #[test]
    fn legacy_frame(frame in arbitrary::legacy_frame()) {
        let read = socket::ClientFrame::from_slice(&bytes(&frame), &limits()).unwrap();
        prop_assert_eq!(read, socket::ClientFrame::Legacy(frame));
    }

    #[test]
    fn legacy_server_frame(chunk in arbitrary::chunk(), timestamp in arbitrary::json()) {
        for frame in [legacy::ServerFrame::Chunk(chunk.clone()), legacy::ServerFrame::Done, legacy::ServerFrame::Pong { timestamp: timestamp.clone() }] {
            prop_assert_eq!(legacy::ServerFrame::from_text(&frame.to_text()).unwrap(), frame);
        }
    }

    /// Whatever comes, the decoders answer, and what they accept they can write and read again.
    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        decode_all(&bytes);
    }

    /// Bytes that are nearly right reach further into the decoders than noise does.
    #[test]
    fn nearly_right_bytes(request in arbitrary::client_frame(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = bytes(&request);
        let at = at.index(bytes.len());
        bytes[at] = byte;
        decode_all(&bytes);
    }

    /// Values of the right keys and any types.
    #[test]
    fn any_values(chunk in arbitrary::chunk(), key in any::<prop::sample::Index>(), value in arbitrary::json()) {
        let mut chunk = serde_json::to_value(&chunk).unwrap();
        let map = chunk.as_object_mut().unwrap();
        let key = map.keys().nth(key.index(map.len())).unwrap().clone();
        map.insert(key, value);
        decode_all(&bytes(&chunk));
    }

    /// The checker answers to any stream, also one that makes no sense.
    #[test]
    fn any_stream(chunks in prop::collection::vec(arbitrary::chunk(), 0..30)) {
        for sdk in [Sdk::V6, Sdk::V7] {
            let mut checker = Checker::new(sdk);
            checker.say("hi");
            checker.open();
            chunks.iter().for_each(|chunk| checker.feed(chunk));
            checker.close();
            checker.verdict();
        }
    }
}

fn decode_all(bytes: &[u8]) {
    let limits = Limits::default();
    if let Ok(chunk) = Chunk::from_slice(bytes) {
        assert_eq!(
            Chunk::from_slice(chunk.to_json().as_bytes()).unwrap(),
            chunk
        );
    }
    let _ = ChatRequest::from_slice(bytes, &limits);
    let _ = socket::ClientFrame::from_slice(bytes, &limits);
    let _ = frame::ServerFrame::from_slice(bytes, &limits);
    let _ = sse::Decoder::new().push(bytes);
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = legacy::ServerFrame::from_text(text);
    }
    if let Ok(value) = serde_json::from_slice::<Value>(bytes) {
        let _ = Message::decode(value);
    }
}
