//! Whole runs as clients of AG-UI are sent them, and what their requests say.

// Helpers of tests stop as tests do.
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod chat;
mod questions;
mod requests;

use serde_json::json;
use turn::call::Place;
use turn::gate::Decision;
use turn::policy::Verdict;

use crate::chat::{APPROVED, Chat, ask, brief};

#[test]
fn text_and_reasoning_are_messages_of_their_own() {
    let mut chat = Chat::default();
    chat.say("hi");
    let mut window = chat.window();
    chat.reason("Hm.");
    chat.text("Hello, ");
    let mut events = chat.read(&mut window);
    chat.text("world.");
    chat.end_step();
    events.extend(chat.read(&mut window));
    assert!(window.is_closed());
    assert_eq!(
        brief(&events),
        [
            "STEP_STARTED step-1",
            "REASONING_START m1:r1",
            "REASONING_MESSAGE_START m1:r1",
            "REASONING_MESSAGE_CONTENT Hm.",
            "REASONING_MESSAGE_END m1:r1",
            "REASONING_END m1:r1",
            "TEXT_MESSAGE_START m1:1",
            "TEXT_MESSAGE_CONTENT Hello, ",
            "TEXT_MESSAGE_CONTENT world.",
            "TEXT_MESSAGE_END m1:1",
            "STEP_FINISHED step-1",
            "RUN_FINISHED success",
        ]
    );
}

#[test]
fn approval_is_an_interrupt_and_its_answer_goes_on_in_the_next_run() {
    let mut chat = Chat::default();
    chat.say("pay");
    let mut window = chat.window();
    chat.call("pay", Place::Server, ask());
    chat.end_step();
    let events = chat.read(&mut window);
    assert_eq!(
        brief(&events),
        [
            "STEP_STARTED step-1",
            "TOOL_CALL_START call_t1_0",
            "TOOL_CALL_ARGS {\"n\":1}",
            "TOOL_CALL_END call_t1_0",
            "STEP_FINISHED step-1",
            "RUN_FINISHED interrupt",
        ]
    );
    let interrupt = &events[5]["outcome"]["interrupts"][0];
    assert_eq!(interrupt["id"], "gate_t1_0");
    assert_eq!(interrupt["toolCallId"], "call_t1_0");
    assert_eq!(interrupt["message"], "Really?");
    assert_eq!(interrupt["metadata"]["input"], json!({"n": 1}));

    chat.answer(0, APPROVED);
    let mut window = chat.reloaded();
    let mut events = chat.read(&mut window);
    chat.done(0, json!({"paid": true}));
    chat.text("Paid.");
    chat.end_step();
    events.extend(chat.read(&mut window));
    assert_eq!(
        brief(&events),
        [
            "MESSAGES_SNAPSHOT",
            "TOOL_CALL_RESULT {\"paid\":true}",
            "STEP_STARTED step-2",
            "TEXT_MESSAGE_START m1:2",
            "TEXT_MESSAGE_CONTENT Paid.",
            "TEXT_MESSAGE_END m1:2",
            "STEP_FINISHED step-2",
            "RUN_FINISHED success",
        ]
    );
    let call = json!({"name": "pay", "arguments": "{\"n\":1}"});
    assert_eq!(
        events[0]["messages"],
        json!([
            {"role": "user", "id": "u1", "content": "pay"},
            {"role": "assistant", "id": "m1:1",
             "toolCalls": [{"id": "call_t1_0", "type": "function", "function": call}]},
        ])
    );
}

#[test]
fn denial_is_the_calls_result_with_its_reason() {
    let mut chat = Chat::default();
    chat.say("pay");
    chat.call("pay", Place::Server, ask());
    chat.end_step();
    let reason = Some("too much".to_owned());
    chat.answer(0, Decision::Denied { reason });
    chat.text("As you like.");
    chat.end_step();
    let mut window = chat.reloaded();
    let events = chat.read(&mut window);
    assert_eq!(
        brief(&events),
        ["MESSAGES_SNAPSHOT", "RUN_FINISHED success"]
    );
    let messages = events[0]["messages"].as_array().unwrap();
    assert_eq!(messages[2]["error"], "Denied: too much");
    assert_eq!(messages[3]["content"], "As you like.");
}

#[test]
fn call_of_a_page_is_shown_when_nobody_is_asked_anything() {
    let mut chat = Chat::default();
    chat.say("both");
    let mut window = chat.window();
    chat.call("pay", Place::Server, ask());
    chat.call("play", Place::Client, Verdict::Allow);
    chat.end_step();
    let events = chat.read(&mut window);
    assert_eq!(
        brief(&events),
        [
            "STEP_STARTED step-1",
            "TOOL_CALL_START call_t1_0",
            "TOOL_CALL_ARGS {\"n\":1}",
            "TOOL_CALL_END call_t1_0",
            "STEP_FINISHED step-1",
            "RUN_FINISHED interrupt",
        ]
    );
    chat.answer(0, APPROVED);
    chat.done(0, json!("paid"));
    let events = chat.read(&mut chat.reloaded());
    assert_eq!(
        brief(&events),
        [
            "MESSAGES_SNAPSHOT",
            "TOOL_CALL_START call_t1_1",
            "TOOL_CALL_ARGS {\"n\":1}",
            "TOOL_CALL_END call_t1_1",
            "RUN_FINISHED success",
        ]
    );
    assert_eq!(
        events[4]["outcome"],
        json!({"type": "success", "pendingToolCallIds": ["call_t1_1"]})
    );
}

#[test]
fn page_does_not_see_its_call_before_it_is_approved() {
    let mut chat = Chat::default();
    chat.say("where?");
    let mut window = chat.window();
    chat.call("locate", Place::Client, ask());
    chat.end_step();
    let events = chat.read(&mut window);
    assert_eq!(brief(&events), ["RUN_FINISHED interrupt"]);
    let interrupt = &events[0]["outcome"]["interrupts"][0];
    assert_eq!(interrupt.get("toolCallId"), None);
    assert_eq!(interrupt["metadata"]["toolCallId"], "call_t1_0");
    chat.answer(0, APPROVED);
    let events = chat.read(&mut chat.reloaded());
    assert_eq!(
        brief(&events[1..]),
        [
            "TOOL_CALL_START call_t1_0",
            "TOOL_CALL_ARGS {\"n\":1}",
            "TOOL_CALL_END call_t1_0",
            "RUN_FINISHED success",
        ]
    );
}

#[test]
fn client_that_comes_in_the_middle_of_a_text_gets_all_of_it_once() {
    let mut chat = Chat::default();
    chat.say("hi");
    chat.text("Hello, ");
    let mut window = chat.reloaded();
    let mut events = chat.read(&mut window);
    chat.text("world.");
    chat.end_step();
    events.extend(chat.read(&mut window));
    assert_eq!(
        brief(&events),
        [
            "MESSAGES_SNAPSHOT",
            "STEP_STARTED step-1",
            "TEXT_MESSAGE_START m1:1",
            "TEXT_MESSAGE_CONTENT Hello, ",
            "TEXT_MESSAGE_CONTENT world.",
            "TEXT_MESSAGE_END m1:1",
            "STEP_FINISHED step-1",
            "RUN_FINISHED success",
        ]
    );
    assert_eq!(events[0]["messages"].as_array().unwrap().len(), 1);
}
