//! An agent that fails, is cut off, asks what nobody can answer, or does not follow the protocol: a code,
//! and nothing runs twice.

use serde_json::{Value, json};
use turn::Status;
use turn::call::{Outcome, UnknownReason};

use crate::ag_ui::behind;
use crate::behind::{Behind, approved};
use crate::events::{asking, call, interrupted, result, run, run_to, saying};
use crate::server::{Answer, Server};

/// The first events of a run, and then the end of the connection.
fn cut(events: Vec<Value>, after: usize) -> Answer {
    Answer::Chunks(events.into_iter().take(after).collect())
}

async fn failing(answers: impl IntoIterator<Item = Answer>) -> (Behind, Server) {
    let server = Server::answering(answers).await;
    let mut chat = behind(&server);
    chat.say("pay").await;
    (chat, server)
}

fn error(code: &str) -> Answer {
    Answer::Chunks(vec![
        json!({"type": "RUN_STARTED", "threadId": "chat", "runId": "r"}),
        json!({"type": "RUN_ERROR", "message": "no credit", "code": code}),
    ])
}

#[tokio::test]
async fn run_that_does_not_follow_the_protocol_has_a_code() {
    let json = "content-type: application/json";
    for (answer, code) in [
        (
            Answer::Body(b"data: {nonsense\n\n".to_vec()),
            "agent_invalid_response",
        ),
        (
            Answer::Body(b"data: {\"kind\":1}\n\n".to_vec()),
            "agent_invalid_response",
        ),
        (
            Answer::Chunks(vec![json!({"type": "RUN_FINISHED", "usage": 7})]),
            "agent_invalid_response",
        ),
        (
            Answer::Chunks(run([
                json!({"type": "STATE_DELTA", "delta": [{"op": "shake"}]}),
            ])),
            "agent_invalid_response",
        ),
        (
            Answer::Status(200, json, "{}".to_owned()),
            "agent_invalid_response",
        ),
        (Answer::Body(Vec::new()), "agent_empty_response"),
        (Answer::Chunks(run([])), "agent_empty_response"),
        (
            Answer::Chunks(run_to([], json!({"type": "cancelled"}))),
            "agent_failed",
        ),
        (error("CREDIT"), "agent_failed"),
        (cut(saying("Hello."), 4), "agent_cut_off"),
        (cut(saying("Hello."), 1), "agent_cut_off"),
        (Answer::HangUp, "agent_cut_off"),
        (
            Answer::Status(401, json, String::new()),
            "agent_unauthorized",
        ),
        (Answer::Status(404, json, String::new()), "agent_not_found"),
        (
            Answer::Status(422, json, r#"{"detail":"no"}"#.to_owned()),
            "agent_bad_request",
        ),
        (
            Answer::Status(500, json, String::new()),
            "agent_unavailable",
        ),
    ] {
        let (mut chat, server) = failing([answer, Answer::Chunks(saying("Here."))]).await;
        assert_eq!(chat.failure().0, code);
        assert_eq!(server.requests().len(), 1, "{code}");
        // The chat can go on.
        chat.say("again").await;
        assert_eq!(chat.status(), Status::Finished, "{code}");
    }
}

#[tokio::test]
async fn error_of_the_agent_has_its_code() {
    let (chat, _) = failing([error("CREDIT")]).await;
    assert_eq!(chat.failure().1, "The agent failed: no credit (CREDIT)");
}

#[tokio::test]
async fn interrupt_that_nobody_can_be_asked_fails_the_turn_and_its_call_did_not_run() {
    let late = json!({"id": "i", "reason": "input", "toolCallId": "c1", "expiresAt": "tomorrow"});
    let actions = json!([{"name": "pay", "args": {"amount": 5}}, {"name": "steal", "args": {}}]);
    let unknown = json!({
        "id": "i",
        "reason": "langgraph:interrupt",
        "metadata": {"langgraph": {"raw": {"action_requests": actions}}},
    });
    for (interrupt, code) in [
        (late, "agent_invalid_response"),
        (unknown, "agent_question_unsupported"),
    ] {
        let (mut chat, _) = failing([
            Answer::Chunks(interrupted(call("c1"), vec![interrupt])),
            Answer::Chunks(saying("Here.")),
        ])
        .await;
        assert_eq!(chat.failure().0, code);
        let Some(Some(Outcome::Error { error })) = chat.outcomes().pop() else {
            panic!("{:?}", chat.outcomes());
        };
        assert!(error.starts_with("It did not run: "), "{error}");
        chat.say("again").await;
        assert_eq!(chat.status(), Status::Finished);
    }
}

#[tokio::test]
async fn call_of_a_run_that_was_cut_off_is_unknown() {
    let (chat, _) = failing([cut(run(call("c1")), 4)]).await;
    assert_eq!(chat.failure().0, "agent_cut_off");
    let reason = UnknownReason::ConnectionCut;
    assert_eq!(chat.outcomes(), [Some(Outcome::Unknown { reason })]);
}

#[tokio::test]
async fn result_that_came_before_the_cut_is_kept() {
    let events = call("c1").into_iter().chain([result("c1", "paid")]);
    let (chat, server) = failing([cut(run(events), 5)]).await;
    assert_eq!(chat.failure().0, "agent_cut_off");
    let output = json!("paid");
    assert_eq!(chat.outcomes(), [Some(Outcome::Output { output })]);
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn answer_that_was_received_is_not_sent_again() {
    let json = "content-type: application/json";
    for (answer, code, reason) in [
        (
            Answer::HangUp,
            "agent_cut_off",
            UnknownReason::ConnectionCut,
        ),
        (
            cut(saying("Hello."), 1),
            "agent_cut_off",
            UnknownReason::ConnectionCut,
        ),
        (
            Answer::Status(500, json, String::new()),
            "agent_unavailable",
            UnknownReason::AgentFailed,
        ),
        (error("X"), "agent_failed", UnknownReason::AgentFailed),
    ] {
        let (mut chat, server) = failing([Answer::Chunks(asking("c1")), answer]).await;
        chat.answer(approved()).await;
        assert_eq!(chat.failure().0, code);
        let outcome = Outcome::Unknown { reason };
        assert_eq!(chat.outcomes(), [Some(outcome)], "{code}");
        assert_eq!(server.requests().len(), 2, "{code}");
    }
}

#[tokio::test]
async fn body_that_stays_open_after_its_end_ends_the_turn() {
    let server = Server::answering([Answer::Hold(saying("Hello."))]).await;
    let mut chat = behind(&server);
    chat.say("hi").await;
    assert_eq!(chat.status(), Status::Finished);
}
