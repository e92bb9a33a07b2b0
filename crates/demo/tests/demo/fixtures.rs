//! Every prompt of the fixtures leads to the calls of the fixtures, in both modes.

use adk_stream_demo::Demo;
use serde_json::Value;

use crate::dialogue::{Dialogue, approve};

const SCENARIOS: &str = include_str!("../../../testkit/scenarios/seeds.json");

/// A call without what the recorded models made up or wrote now so, now otherwise.
fn essence((tool, input): (&str, &Value)) -> (String, Value) {
    let mut input = input.clone();
    if let Some(fields) = input.as_object_mut() {
        fields.remove("description");
        if fields.get("recipient") == Some(&"次郎".into()) {
            fields.insert("recipient".to_owned(), "Jiro".into());
        }
    }
    (tool.to_owned(), input)
}

#[test]
fn prompts_of_the_fixtures_lead_to_their_calls() {
    let scenarios: Vec<Value> = serde_json::from_str(SCENARIOS).unwrap();
    assert!(scenarios.len() > 10);
    for scenario in scenarios {
        let name = &scenario["name"];
        let is_live = scenario["transport"] == "bidi";
        let agent = if is_live { Demo::live() } else { Demo::new() };
        let mut dialogue = Dialogue::of(agent, scenario["prompt"].as_str().unwrap());
        let (steps, text) = dialogue.finish(&mut approve);
        let expected = scenario["calls"].as_array().unwrap().iter();
        let expected: Vec<_> = expected
            .map(|call| essence((call["tool"].as_str().unwrap(), &call["input"])))
            .collect();
        let found: Vec<_> = steps
            .iter()
            .flatten()
            .map(|(tool, input)| essence((tool, input)))
            .collect();
        assert_eq!(found, expected, "{name}");
        let steps_wanted = if is_live { expected.len() } else { 1 };
        assert_eq!(steps.len(), steps_wanted, "{name}");
        assert!(!text.is_empty(), "{name}");
    }
}
