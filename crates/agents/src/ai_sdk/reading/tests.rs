use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn read(chunks: &[Value]) -> Vec<RunEvent> {
    let mut reading = Reading::default();
    let mut said = Vec::new();
    for chunk in chunks {
        reading.take(&chunk.to_string(), &mut said).unwrap();
    }
    said
}

fn words(said: &[RunEvent]) -> Vec<String> {
    let mut parts = vec![String::new()];
    for said in said {
        match said {
            RunEvent::Output(
                AgentEvent::Text { delta, .. } | AgentEvent::Reasoning { delta, .. },
            ) => {
                if let Some(last) = parts.last_mut() {
                    last.push_str(delta);
                }
            }
            RunEvent::Output(AgentEvent::PartEnd) => parts.push(String::new()),
            _ => {}
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

#[test]
fn texts_that_are_said_side_by_side_are_parts_of_their_own() {
    let delta = |id: &str, delta: &str| json!({"type": "text-delta", "id": id, "delta": delta});
    let said = read(&[
        json!({"type": "text-start", "id": "a"}),
        delta("a", "one"),
        json!({"type": "text-start", "id": "b"}),
        delta("b", "two"),
        delta("a", "three"),
    ]);
    assert_eq!(words(&said), ["one", "two", "three"]);
}

#[test]
fn call_that_is_decided_without_a_person_asks_nobody() {
    let said = read(&[
        json!({"type": "tool-input-available", "toolCallId": "c", "toolName": "pay", "input": {}}),
        json!({"type": "tool-approval-request", "approvalId": "a", "toolCallId": "c", "isAutomatic": true}),
        json!({"type": "tool-approval-response", "approvalId": "a", "approved": true}),
        json!({"type": "tool-output-available", "toolCallId": "c", "output": 1, "preliminary": true}),
        json!({"type": "tool-output-available", "toolCallId": "c", "output": 2}),
    ]);
    let asked = said.iter().any(|said| matches!(said, RunEvent::Ask { .. }));
    let results = said
        .iter()
        .filter(|said| matches!(said, RunEvent::Result { .. }));
    assert_eq!((asked, results.count()), (false, 1));
}

#[test]
fn reason_of_a_request_is_the_question() {
    let said = read(&[
        json!({"type": "tool-approval-request", "approvalId": "a", "toolCallId": "c", "reason": "Large amount"}),
    ]);
    let Some(RunEvent::Ask { asking, .. }) = said.first() else {
        panic!("{said:?}");
    };
    assert_eq!(asking.question, "Large amount");
    assert_eq!(
        asking.token,
        Some(json!({"id": "a", "requestReason": "Large amount"}))
    );
}

/// A chunk as a route would send it, more or less.
fn chunk() -> impl Strategy<Value = String> {
    let kinds = [
        "start",
        "start-step",
        "finish-step",
        "reset-step",
        "finish",
        "abort",
        "error",
        "message-metadata",
        "text-start",
        "text-delta",
        "text-end",
        "reasoning-delta",
        "file",
        "source-url",
        "data-x",
        "custom",
        "tool-input-start",
        "tool-input-available",
        "tool-input-error",
        "tool-approval-request",
        "tool-approval-response",
        "tool-output-available",
        "tool-output-error",
        "tool-output-denied",
        "tool-other",
        "other",
    ];
    let fields = [
        "id",
        "delta",
        "toolCallId",
        "toolName",
        "input",
        "output",
        "url",
        "data",
        "approvalId",
        "messageMetadata",
    ];
    let value = prop_oneof![
        Just(Value::Null),
        Just(json!("c")),
        Just(json!(1)),
        Just(json!({"a": {"b": 1}})),
        Just(json!(true)),
    ];
    let fields = vec((prop::sample::select(fields.to_vec()), value), 0..6);
    let kind = prop::sample::select(kinds.to_vec());
    prop_oneof![
        8 => (kind, fields).prop_map(|(kind, fields)| {
            let mut chunk = json!({"type": kind});
            for (name, value) in fields {
                chunk[name] = value;
            }
            chunk.to_string()
        }),
        1 => ".{0,20}",
    ]
}

proptest! {
    #[test]
    fn whatever_comes_is_read_or_refused(chunks in vec(chunk(), 0..12)) {
        let mut reading = Reading::default();
        let mut said = Vec::new();
        for chunk in chunks {
            if reading.take(&chunk, &mut said).is_err() {
                break;
            }
        }
        let _ = reading.end(&mut said);
    }
}
