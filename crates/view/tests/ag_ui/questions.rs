//! Questions that ask for data, as interrupts with their schema.

use adk_stream_view::Intake;
use serde_json::{Value, json};
use turn::call::Place;
use turn::gate::Decision;
use turn::policy::Verdict;
use turn::refusal::{Refusal, RefusalCode};
use turn::{At, GateId, Input};
use wire::{Message, Trigger};

use crate::chat::{Chat, brief};
use crate::requests::messages;

fn schema() -> Value {
    json!({"type": "object", "properties": {"people": {"type": "integer"}}, "required": ["people"]})
}

/// A tool that has asked for data.
fn asked() -> Chat {
    let mut chat = Chat::default();
    chat.say("a table");
    chat.call("book_table", Place::Server, Verdict::Allow);
    chat.end_step();
    chat.asks_for_data(0, "For how many?", schema());
    chat
}

/// What is new in a run that answers the question.
fn take(chat: &Chat, entry: Value) -> Result<Vec<(GateId, Decision)>, Refusal> {
    let user = json!({"role": "user", "id": "u1", "content": "a table"});
    let body = json!({"threadId": "c", "runId": "r", "messages": [user], "resume": [entry]});
    // As they reach another server.
    let sent = messages(&body).into_iter().map(|message| {
        let written = serde_json::to_value(&message).unwrap();
        Message::decode(written).unwrap()
    });
    let sent: Vec<Message> = sent.collect();
    let trigger = Trigger::SubmitMessage;
    let taken = chat
        .chat
        .take_run(&"ann".into(), trigger, None, &sent, At(9_000))?;
    match taken {
        Intake::Continue { answers, .. } => Ok(answers),
        other => panic!("it goes on with the turn: {other:?}"),
    }
}

fn resolved(payload: Value) -> Value {
    json!({"interruptId": "gate_t1_0", "status": "resolved", "payload": payload})
}

#[test]
fn question_is_an_interrupt_with_its_schema_and_no_call_of_a_page() {
    let chat = asked();
    let events = chat.read(&mut chat.window());
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
    assert_eq!(interrupt["reason"], "input_required");
    assert_eq!(interrupt["message"], "For how many?");
    assert_eq!(interrupt["toolCallId"], "call_t1_0");
    assert_eq!(interrupt["responseSchema"], schema());
    assert_eq!(interrupt["metadata"]["toolName"], "ask_user");
}

#[test]
fn payload_is_the_data_whatever_its_fields_are_called() {
    let chat = asked();
    for data in [json!({"people": 4}), json!({"approved": true}), json!(7)] {
        let output = data.clone();
        let answer = ("gate_t1_0".into(), Decision::Output { output });
        assert_eq!(take(&chat, resolved(data)).unwrap(), [answer]);
    }
}

#[test]
fn cancelled_declines() {
    let chat = asked();
    let entry = |payload: Value| json!({"interruptId": "gate_t1_0", "status": "cancelled", "payload": payload});
    for (payload, reason) in [
        (Value::Null, "dismissed"),
        (json!({"reason": "not today"}), "not today"),
    ] {
        let reason = Some(reason.to_owned());
        let answer = ("gate_t1_0".into(), Decision::Denied { reason });
        assert_eq!(take(&chat, entry(payload)).unwrap(), [answer]);
    }
}

#[test]
fn digest_beside_an_answer_is_checked() {
    let chat = asked();
    let events = chat.read(&mut chat.window());
    let metadata = &events[5]["outcome"]["interrupts"][0]["metadata"];
    let mut answer = resolved(json!({"people": 4}));
    answer["metadata"] = metadata.clone();
    assert_eq!(take(&chat, answer.clone()).unwrap().len(), 1);
    answer["metadata"]["digest"] = json!("of something else");
    let refusal = take(&chat, answer).unwrap_err();
    assert_eq!(refusal.code, RefusalCode::ApprovalChanged);
}

#[test]
fn what_was_answered_is_shown_as_the_call_that_asked() {
    let mut chat = asked();
    let output = json!({"people": 4});
    chat.answer(0, Decision::Output { output });
    let mut window = chat.reloaded();
    let mut events = chat.read(&mut window);
    chat.done(0, json!("booked"));
    chat.text("Done.");
    chat.end_step();
    events.extend(chat.read(&mut window));
    let messages = events[0]["messages"].as_array().unwrap();
    let calls = messages
        .iter()
        .filter_map(|message| message["toolCalls"].as_array());
    assert_eq!(calls.flatten().count(), 2, "{messages:?}");
    assert_eq!(
        brief(&events[1..]),
        [
            "TOOL_CALL_RESULT booked",
            "STEP_STARTED step-3",
            "TEXT_MESSAGE_START m1:3",
            "TEXT_MESSAGE_CONTENT Done.",
            "TEXT_MESSAGE_END m1:3",
            "STEP_FINISHED step-3",
            "RUN_FINISHED success",
        ]
    );
}

#[test]
fn question_that_nobody_answers_is_over() {
    let mut chat = asked();
    chat.handle(Input::TimedOut {
        gate: "gate_t1_0".into(),
    });
    let events = chat.read(&mut chat.reloaded());
    let messages = events[0]["messages"].to_string();
    assert!(messages.contains("Nobody answered in time."), "{messages}");
}
