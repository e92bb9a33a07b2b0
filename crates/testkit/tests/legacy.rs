//! The seeds' dialect: read, written back, and judged, with its departures known by name.

// Helpers of tests stop as tests do.
#![allow(clippy::expect_used, clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use adk_stream_testkit::scenario::{self, Call, Scenario};
use serde_json::Value;
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

/// The recorded streams of the seeds' system, where they are at hand. A clone has none, and the
/// scenarios above say the same in words of our own.
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
