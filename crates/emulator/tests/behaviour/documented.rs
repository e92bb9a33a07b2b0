//! The examples of docs/emulator.md are true.

use std::collections::BTreeSet;
use std::time::Duration;

use adk_stream_emulator::{Command, Emulator, Happening, Rule, Script};
use serde_json::Value;

use crate::http::ask;

const DOCUMENT: &str = include_str!("../../../../docs/emulator.md");

/// The objects that are in the document as code.
fn objects() -> Vec<Value> {
    let fenced = DOCUMENT.split("```json\n").skip(1);
    let fenced = fenced.filter_map(|block| block.split("```").next());
    let lines = DOCUMENT.lines().filter(|line| line.starts_with("| "));
    let inline = lines.flat_map(|line| line.split('`').skip(1).step_by(2));
    let found = fenced.chain(inline).filter(|code| code.starts_with('{'));
    found
        .filter_map(|code| serde_json::from_str(code).ok())
        .collect()
}

#[test]
fn every_rule_of_the_document_can_be_followed() {
    let mut keys = BTreeSet::new();
    for object in objects() {
        let text = object.to_string();
        if serde_json::from_value::<Command>(object.clone()).is_ok() && object.get("cut").is_none()
        {
            continue;
        }
        let rules = if object.get("rules").is_some() {
            let script = Script::from_json(&text);
            script
                .unwrap_or_else(|error| panic!("{text}: {error}"))
                .rules
        } else if object.get("output").is_some()
            || object.get("error").is_some_and(Value::is_string)
        {
            continue;
        } else {
            let script = Script::from_json(&format!(r#"{{"rules": [{text}]}}"#));
            script
                .unwrap_or_else(|error| panic!("{text}: {error}"))
                .rules
        };
        for rule in rules {
            let written = serde_json::to_value(&rule).unwrap();
            keys.extend(written.as_object().unwrap().keys().cloned());
        }
    }
    let known = serde_json::from_str::<Rule>(r#"{"?": 1}"#).unwrap_err();
    let known = known.to_string();
    let missing: Vec<_> = known
        .split('`')
        .skip(3)
        .step_by(2)
        .filter(|key| !keys.contains(*key))
        .collect();
    assert!(missing.is_empty(), "no example has {missing:?}");
    assert!(keys.len() > 15, "{keys:?}");
}

#[tokio::test]
async fn the_example_in_rust_runs() -> Result<(), Box<dyn std::error::Error>> {
    let emulator = Emulator::builder()
        .pace(Duration::from_millis(5))
        .start()
        .await?;
    let script = r#"{"rules": [{"on": "generate", "times": 1, "status": {"code": 503}}]}"#;
    emulator.set_script(Script::from_json(script)?)?;
    // Your client talks to emulator.url().
    let answer = ask(&emulator, "Hello").await;
    emulator.counted(|stats| stats.requests == 1).await;
    let is_refusal = |it: &Happening| matches!(it, Happening::Answer { status: 503, .. });
    emulator.logged(|entry| is_refusal(&entry.happening)).await;
    emulator.command(Command::Cut {});
    assert_eq!(answer.status, 503);
    Ok(())
}
