//! What a client's request says.

use adk_stream_view::{ClientRun, Intake, Run};
use serde_json::{Value, json};
use turn::call::Place;
use turn::policy::Verdict;
use turn::{At, Input};
use wire::ag_ui::RunRequest;
use wire::{Limits, Trigger};

use crate::chat::{APPROVED, Chat, ask};

pub(crate) fn request(body: &Value) -> RunRequest {
    RunRequest::from_slice(body.to_string().as_bytes(), &Limits::default()).unwrap()
}

pub(crate) fn messages(body: &Value) -> Vec<wire::Message> {
    match ClientRun::of(&request(body)).unwrap() {
        ClientRun::Send { messages, .. } => messages,
        ClientRun::Connect => panic!("it brings something"),
    }
}

/// As CopilotKit sends them: each answer also as the result of the call that it is about.
#[test]
fn answer_that_is_also_sent_as_a_result_is_an_answer_alone() {
    let mut chat = Chat::default();
    chat.say("pay");
    chat.call("pay", Place::Server, ask());
    chat.end_step();
    let user = json!({"role": "user", "id": "u1", "content": "pay"});
    let call = json!({"id": "call_t1_0", "type": "function", "function": {"name": "pay", "arguments": "{}"}});
    let assistant = json!({"role": "assistant", "id": "t1", "toolCalls": [call]});
    let take = |resume: Value, content: &str| {
        let result =
            json!({"role": "tool", "id": "x", "toolCallId": "call_t1_0", "content": content});
        let body = json!({"threadId": "c", "runId": "r", "messages": [user, assistant, result], "resume": [resume]});
        let sent = messages(&body);
        chat.chat.take_run(
            &"ann".into(),
            Trigger::SubmitMessage,
            None,
            &sent,
            At(9_000),
        )
    };
    let yes =
        json!({"interruptId": "gate_t1_0", "status": "resolved", "payload": {"approved": true}});
    let Ok(Intake::Continue { answers, .. }) = take(yes.clone(), r#"{"approved": true}"#) else {
        panic!("it goes on with the turn")
    };
    assert_eq!(answers, [("gate_t1_0".into(), APPROVED)]);
    let no = json!({"interruptId": "gate_t1_0", "status": "cancelled"});
    assert!(matches!(
        take(no, r#"{"status": "cancelled"}"#),
        Ok(Intake::Continue { answers, .. }) if answers.len() == 1
    ));
    // Another result is still one that nobody may give.
    assert!(take(yes, r#"{"paid": true}"#).is_err());
}

#[test]
fn answers_count_wherever_the_history_ends() {
    let mut chat = Chat::default();
    chat.say("where?");
    chat.call("locate", Place::Client, ask());
    chat.end_step();
    let resume = json!([{"interruptId": "gate_t1_0", "status": "resolved", "payload": true}]);
    let old = json!({"role": "user", "id": "u1", "content": "where?"});
    let new = json!({"role": "user", "id": "u2", "content": "And now?"});
    let take = |history: Value| {
        let body = json!({"threadId": "c", "runId": "r", "messages": history, "resume": resume});
        let sent = messages(&body);
        chat.chat.take_run(
            &"ann".into(),
            Trigger::SubmitMessage,
            None,
            &sent,
            At(9_000),
        )
    };
    let Ok(Intake::Continue { answers, .. }) = take(json!([old])) else {
        panic!("it goes on with the turn")
    };
    assert_eq!(answers, [("gate_t1_0".into(), APPROVED)]);
    let Ok(Intake::Open { answers, .. }) = take(json!([old, new])) else {
        panic!("it opens a turn")
    };
    assert_eq!(answers, [("gate_t1_0".into(), APPROVED)]);
}

/// A client demands an answer to each open question, also of a run that asks for another answer.
#[test]
fn message_is_given_again_although_its_question_is_answered() {
    let mut chat = Chat::default();
    chat.say("pay");
    chat.call("pay", Place::Server, ask());
    chat.end_step();
    let body = json!({
        "threadId": "c",
        "runId": "r",
        "messages": [{"role": "user", "id": "u1", "content": "pay"}],
        "resume": [{"interruptId": "gate_t1_0", "status": "cancelled"}],
        "forwardedProps": {"trigger": "regenerate-message"},
    });
    let Ok(ClientRun::Send {
        trigger, messages, ..
    }) = ClientRun::of(&request(&body))
    else {
        panic!("it brings something")
    };
    let taken = chat
        .chat
        .take_run(&"ann".into(), trigger, None, &messages, At(9_000));
    let Ok(Intake::Open { answers, after, .. }) = taken else {
        panic!("it opens a turn: {taken:?}")
    };
    assert_eq!((answers, after), (Vec::new(), None));
}

#[test]
fn history_of_a_client_is_compared_by_turns() {
    let mut chat = Chat::default();
    chat.say("hi");
    chat.text("Hello.");
    chat.end_step();
    chat.say("more");
    let turn = chat.chat.current().unwrap().id().clone();
    let u1 = json!({"role": "user", "id": "u1", "content": "hi"});
    let u2 = json!({"role": "user", "id": "u2", "content": "more"});
    let a1 = |text: &str| json!({"role": "assistant", "id": "m1:1", "content": text});
    let has = |history: Value| {
        let body = json!({"threadId": "c", "runId": "r", "messages": history});
        chat.chat.has_ag_ui_history(&turn, &messages(&body))
    };
    assert!(has(json!([u1, a1("Hello."), u2])));
    assert!(!has(json!([u1, a1("Hel"), u2])));
    assert!(!has(json!([u1, u2])));
    assert!(!has(json!([u2])));
}

#[test]
fn clients_before_1_0_are_sent_outcomes_that_they_know() {
    let mut chat = Chat::default();
    chat.say("play");
    chat.call("play", Place::Client, Verdict::Allow);
    chat.end_step();
    let ends = |version: Value, chunks: Vec<std::sync::Arc<wire::Chunk>>| {
        let body = json!({"threadId": "c", "runId": "r", "protocolVersion": version});
        let mut run = Run::of(&request(&body));
        let events = chunks.iter().filter_map(|chunk| run.event(chunk));
        let last = events.last().unwrap();
        assert_eq!(
            (&last["threadId"], &last["runId"]),
            (&json!("c"), &json!("r"))
        );
        assert_eq!(run.cut(), None);
        last["outcome"].clone()
    };
    let read = |chat: &Chat| {
        let lines = chat.chat.current_transcript().unwrap().lines();
        chat.window().read_chunks(lines)
    };
    let pending = json!({"type": "success", "pendingToolCallIds": ["call_t1_0"]});
    assert_eq!(ends(json!("1.0"), read(&chat)), pending);
    assert_eq!(ends(Value::Null, read(&chat)), json!({"type": "success"}));
    chat.handle(Input::Stop);
    assert_eq!(
        ends(json!("1.0"), read(&chat)),
        json!({"type": "cancelled"})
    );
    assert_eq!(ends(Value::Null, read(&chat)), json!({"type": "success"}));
}
