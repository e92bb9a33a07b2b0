use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;
use turn::metadata::{OURS, PATH};

use super::*;

fn read(events: &[Value]) -> Vec<RunEvent> {
    let mut reading = Reading::default();
    let mut said = Vec::new();
    for event in events {
        reading.take(&event.to_string(), &mut said).unwrap();
    }
    said
}

fn calls(said: &[RunEvent]) -> Vec<(String, Value)> {
    let calls = said.iter().filter_map(|said| match said {
        RunEvent::Call(call) => Some((call.tool.clone(), call.input.clone())),
        _ => None,
    });
    calls.collect()
}

#[test]
fn call_in_chunks_ends_with_what_comes_next() {
    let said = read(&[
        json!({"type": "TOOL_CALL_CHUNK", "toolCallId": "c", "toolCallName": "pay", "delta": "{\"a\""}),
        json!({"type": "TOOL_CALL_CHUNK", "delta": ":1}"}),
        json!({"type": "TOOL_CALL_CHUNK", "toolCallId": "d", "toolCallName": "locate"}),
        json!({"type": "TEXT_MESSAGE_CHUNK", "messageId": "m", "delta": "Hi"}),
    ]);
    let expected = [
        ("pay".to_owned(), json!({"a": 1})),
        ("locate".to_owned(), json!({})),
    ];
    assert_eq!(calls(&said), expected);
}

#[test]
fn words_of_others_are_not_the_agents() {
    let said = read(&[
        json!({"type": "TEXT_MESSAGE_START", "messageId": "m", "role": "user"}),
        json!({"type": "TEXT_MESSAGE_CONTENT", "messageId": "m", "delta": "Hi"}),
        json!({"type": "TEXT_MESSAGE_END", "messageId": "m"}),
    ]);
    assert_eq!(said, []);
}

#[test]
fn call_has_the_path_of_the_subagents_that_make_it() {
    let started = |id: &str, name: &str, parent: Option<&str>| {
        let mut event = json!({"type": "SUBAGENT_STARTED", "subagentRunId": id, "name": name});
        if let Some(parent) = parent {
            event["parentSubagentRunId"] = json!(parent);
        }
        event
    };
    let said = read(&[
        started("a", "bank", None),
        started("b", "clerk", Some("a")),
        json!({"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "pay", "subagentRunId": "b"}),
        json!({"type": "TOOL_CALL_END", "toolCallId": "c"}),
    ]);
    let Some(RunEvent::Call(call)) = said.last() else {
        panic!("{said:?}");
    };
    assert_eq!(call.metadata[OURS][PATH], json!(["bank", "clerk"]));
}

/// An event as an agent would send it, more or less.
fn event() -> impl Strategy<Value = String> {
    let specimens = include_str!("../../../../wire/src/ag_ui/specimens.jsonl");
    let specimens: Vec<Value> = specimens
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let value = prop_oneof![
        Just(Value::Null),
        Just(json!("c")),
        Just(json!(1)),
        Just(json!({"a": {"b": 1}})),
        Just(json!([{"op": "remove", "path": "/a"}])),
    ];
    let fields = [
        "toolCallId",
        "messageId",
        "delta",
        "content",
        "outcome",
        "subagentRunId",
    ];
    let changes = vec((prop::sample::select(fields.to_vec()), value), 0..3);
    prop_oneof![
        8 => (prop::sample::select(specimens), changes).prop_map(|(mut event, changes)| {
            for (name, value) in changes {
                event[name] = value;
            }
            event.to_string()
        }),
        1 => ".{0,20}",
    ]
}

proptest! {
    #[test]
    fn whatever_comes_is_read_or_refused(events in vec(event(), 0..12)) {
        let mut reading = Reading::default();
        let mut said = Vec::new();
        for event in events {
            if reading.take(&event, &mut said).is_err() {
                break;
            }
        }
        let _ = reading.end(&mut said);
    }
}
