//! Calls of a route of the AI SDK's, which pages are shown as it has them.

use serde_json::{Value, json};

use crate::driver::Driver;

/// The part of a call of which the route has said something.
fn part(said: Value) -> Value {
    let mut driver = Driver::new();
    driver.say("weather?");
    driver.routes_call("c-1", "get_weather", said);
    driver.end_step();
    driver.agent_settles("c-1", json!(18));
    driver.text("18 degrees.");
    driver.end_step();
    driver.check(&["18 degrees."]);
    let messages = serde_json::to_value(driver.chat().messages()).unwrap();
    let mut parts = messages[1]["parts"].as_array().unwrap().iter();
    let part = parts.find(|part| part.get("toolCallId").is_some());
    part.unwrap().clone()
}

#[test]
fn call_has_the_type_that_the_route_gives_it() {
    let known = part(json!({}));
    assert_eq!(known["type"], "tool-get_weather");
    assert_eq!(known["providerExecuted"], true);
    let dynamic = part(json!({"dynamic": true}));
    assert_eq!(dynamic["type"], "dynamic-tool");
    assert_eq!(dynamic["toolName"], "get_weather");
}

#[test]
fn title_and_metadata_of_the_route_are_for_the_page_too() {
    let part = part(json!({
        "title": "The weather",
        "toolMetadata": {"icon": "sun"},
        "providerMetadata": {"google": {"thoughtSignature": "s"}, "adkStream": {"question": {}}},
    }));
    assert_eq!(part["title"], "The weather");
    assert_eq!(part["toolMetadata"], json!({"icon": "sun"}));
    // What is ours nobody else says.
    let theirs = json!({"google": {"thoughtSignature": "s"}});
    assert_eq!(part["callProviderMetadata"], theirs);
}
