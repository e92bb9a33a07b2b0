//! The legacy bridge's dialect: read, written back, and judged, with its departures known by name.

// Helpers of tests stop as tests do.
#![allow(clippy::expect_used, clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use adk_stream_testkit::replay::{self, Session};
use adk_stream_testkit::scenario::{self, Call, Scenario};
use serde_json::{Value, json};
use wire::legacy::{ClientFrame, ServerFrame};
use wire::{Chunk, Limits};

#[test]
fn scenarios_have_the_departures_that_they_list() {
    let scenarios = scenario::all();
    assert_eq!(scenarios.len(), 13);
    for scenario in scenarios {
        let found = scenario.judge(&scenario.stream());
        assert_eq!(found, scenario.departures, "{}", scenario.name);
    }
}

/// The recorded streams of the legacy bridge, where they are at hand. A clone has none, and the
/// scenarios above have the same order with texts of our own.
fn recordings() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/fixtures");
    root.is_dir().then_some(root)
}

fn recording(folder: &Path, scenario: &Scenario) -> Value {
    let path = folder.join(format!("{}-baseline.json", scenario.name));
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn recordings_decode_and_encode_to_equal_json() {
    let Some(folder) = recordings() else { return };
    for scenario in scenario::all() {
        let recording = recording(&folder, &scenario);
        let mut input = recording["input"].clone();
        input["type"] = "message".into();
        let frame = ClientFrame::from_slice(input.to_string().as_bytes(), &Limits::default());
        let Ok(ClientFrame::Message { messages, .. }) = frame else {
            panic!("{}: {frame:?}", scenario.name);
        };
        assert_eq!(messages[0].text(), scenario.prompt);

        let events = recording["output"]["rawEvents"].as_array().unwrap();
        for event in events.iter().map(|event| event.as_str().unwrap()) {
            let frame = ServerFrame::from_text(event).unwrap();
            let json = |text: &str| {
                serde_json::from_str::<Value>(text.strip_prefix("data: ").unwrap()).ok()
            };
            assert_eq!(json(&frame.to_text()), json(event), "{}", scenario.name);
        }
    }
}

#[test]
fn recordings_are_what_the_scenarios_say() {
    let Some(folder) = recordings() else { return };
    for scenario in scenario::all() {
        let recording = recording(&folder, &scenario);
        let events = recording["output"]["rawEvents"].as_array().unwrap();
        let stream: Vec<Option<Chunk>> = events
            .iter()
            .map(
                |event| match ServerFrame::from_text(event.as_str().unwrap()).unwrap() {
                    ServerFrame::Chunk(chunk) => Some(chunk),
                    _ => None,
                },
            )
            .collect();

        let mut order = Vec::new();
        let mut calls = Vec::new();
        let mut errors = Vec::new();
        for chunk in &stream {
            let name = chunk
                .as_ref()
                .map_or("[DONE]".into(), Chunk::type_name)
                .into_owned();
            if !(name.ends_with("-delta") && order.last() == Some(&name)) {
                order.push(name);
            }
            match chunk {
                Some(Chunk::ToolInputAvailable(call)) => calls.push(Call {
                    tool: call.tool_name.clone(),
                    input: call.input.clone(),
                }),
                Some(Chunk::ToolOutputError(error)) => errors.push(error.error_text.clone()),
                _ => {}
            }
        }
        assert_eq!(order, scenario.order, "{}", scenario.name);
        assert_eq!(calls, scenario.calls, "{}", scenario.name);
        assert_eq!(errors, scenario.errors, "{}", scenario.name);
        assert_eq!(
            scenario.judge(&stream),
            scenario.departures,
            "{}",
            scenario.name
        );
    }
}

/// A page whose server was killed in the middle of a text, and that reads the turn again. The acts
/// between the two are the page's.
fn cut_off(sdk: &str, acts: &[Value]) -> Value {
    let begin = "data: {\"type\":\"start\",\"messageId\":\"m1\"}\n\n\
                 data: {\"type\":\"text-start\",\"id\":\"m1-0\"}\n\n\
                 data: {\"type\":\"text-delta\",\"id\":\"m1-0\",\"delta\":\"Hel\"}\n\n";
    let end = "data: {\"type\":\"text-delta\",\"id\":\"m1-0\",\"delta\":\"lo\"}\n\n\
               data: {\"type\":\"text-end\",\"id\":\"m1-0\"}\n\n\
               data: {\"type\":\"finish\"}\n\ndata: [DONE]\n\n";
    let mut script = vec![json!({"say": "hi"}), json!({"window": begin})];
    script.extend(acts.iter().cloned());
    script.push(json!({"sendAbout": "m1"}));
    script.push(json!({"window": format!("{begin}{end}")}));
    let session = json!({"sdk": sdk, "profile": "shared", "script": script});
    let session: Session = serde_json::from_value(session).unwrap();
    replay::check(session)["findings"].clone()
}

#[test]
fn a_cut_text_that_the_page_dropped_is_not_unfinished() {
    for sdk in ["6", "7"] {
        let kept = cut_off(sdk, &[]);
        assert_eq!(kept[0]["kind"], "unfinished", "{kept}");
        let dropped = cut_off(sdk, &[json!({"dropUnfinished": "m1"})]);
        assert_eq!(dropped, json!([]));
        let other = cut_off(sdk, &[json!({"dropUnfinished": "m2"})]);
        assert_eq!(other, kept);
    }
}
