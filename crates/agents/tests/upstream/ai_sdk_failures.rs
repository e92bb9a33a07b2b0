//! A route that fails, is cut off, or does not follow the protocol: a code, and nothing runs twice.

use adk_stream_agents::AiSdk;
use adk_stream_agents::ai_sdk::Config;
use serde_json::{Value, json};
use turn::Status;
use turn::call::{Outcome, UnknownReason};

use crate::ai_sdk::behind;
use crate::behind::{Behind, approved};
use crate::chunks::{asking, call, message, output, saying, step, text};
use crate::server::{Answer, Server};

/// The first chunks of a stream, and then the end of the connection.
fn cut(chunks: Vec<Value>, after: usize) -> Answer {
    Answer::Chunks(chunks.into_iter().take(after).collect())
}

async fn failing(answers: impl IntoIterator<Item = Answer>) -> (Behind, Server) {
    let server = Server::answering(answers).await;
    let mut chat = behind(&server);
    chat.say("pay").await;
    (chat, server)
}

fn unknown(reason: UnknownReason) -> Vec<Option<Outcome>> {
    vec![Some(Outcome::Unknown { reason })]
}

#[tokio::test]
async fn stream_that_does_not_follow_the_protocol_has_a_code() {
    let html = "content-type: text/html";
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
            Answer::Status(200, html, "<p>Hello".to_owned()),
            "agent_invalid_response",
        ),
        (Answer::Body(Vec::new()), "agent_empty_response"),
        (Answer::Chunks(message(step([]))), "agent_empty_response"),
        (
            Answer::Chunks(vec![json!({"type": "abort", "reason": "bye"})]),
            "agent_failed",
        ),
        (
            Answer::Chunks(vec![json!({"type": "error", "errorText": "no credit"})]),
            "agent_failed",
        ),
        (
            Answer::Body(b"data: {\"type\":\"start\"}".to_vec()),
            "agent_cut_off",
        ),
        (cut(saying("Hello."), 4), "agent_cut_off"),
        (Answer::HangUp, "agent_cut_off"),
        (
            Answer::Status(401, json, String::new()),
            "agent_unauthorized",
        ),
        (Answer::Status(404, json, String::new()), "agent_not_found"),
        (
            Answer::Status(422, json, r#"{"error":"no"}"#.to_owned()),
            "agent_bad_request",
        ),
        (
            Answer::Status(500, json, String::new()),
            "agent_unavailable",
        ),
        (
            Answer::Status(302, "location: /elsewhere", String::new()),
            "agent_invalid_response",
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
async fn busy_route_says_when_to_come_back() {
    let busy = Answer::Status(429, "retry-after: 7", String::new());
    let (chat, server) = failing([busy]).await;
    assert_eq!(chat.failure().0, "rate_limited");
    assert!(
        chat.failure().1.contains("7 seconds"),
        "{:?}",
        chat.failure()
    );
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn call_of_a_run_that_was_cut_off_is_unknown() {
    // After the call's input, and before its output.
    let (mut chat, server) = failing([
        cut(message(step(call("c1"))), 5),
        Answer::Chunks(saying("I do not know.")),
    ])
    .await;
    assert_eq!(chat.failure().0, "agent_cut_off");
    assert_eq!(chat.outcomes(), unknown(UnknownReason::ConnectionCut));
    chat.say("did you?").await;
    assert_eq!(chat.status(), Status::Finished);
    let part = &server.last().body["messages"][1]["parts"][1];
    assert_eq!(part["state"], "output-error");
    let error = part["errorText"].as_str().unwrap();
    assert!(error.contains("unknown"), "{error}");
}

#[tokio::test]
async fn output_that_came_before_the_cut_is_kept() {
    let run = call("c1")
        .into_iter()
        .chain([output("c1", json!({"paid": 5}))]);
    let (chat, server) = failing([cut(message(step(run)), 6)]).await;
    assert_eq!(chat.failure().0, "agent_cut_off");
    let outcome = Outcome::Output {
        output: json!({"paid": 5}),
    };
    assert_eq!(chat.outcomes(), [Some(outcome)]);
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn question_that_came_before_the_cut_is_asked() {
    let paid = message(
        [output("c1", json!(1))]
            .into_iter()
            .chain(step(text("Paid."))),
    );
    let (mut chat, _) = failing([cut(asking("c1"), 6), Answer::Chunks(paid)]).await;
    assert_eq!(chat.status(), Status::Parked);
    chat.answer(approved()).await;
    assert_eq!(chat.status(), Status::Finished);
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
            cut(message([]), 1),
            "agent_empty_response",
            UnknownReason::NoResult,
        ),
        (
            Answer::Status(500, json, String::new()),
            "agent_unavailable",
            UnknownReason::AgentFailed,
        ),
        (
            Answer::Chunks(vec![json!({"type": "error", "errorText": "it broke"})]),
            "agent_failed",
            UnknownReason::AgentFailed,
        ),
    ] {
        let (mut chat, server) = failing([Answer::Chunks(asking("c1")), answer]).await;
        chat.answer(approved()).await;
        assert_eq!(chat.failure().0, code);
        assert_eq!(chat.outcomes(), unknown(reason), "{code}");
        assert_eq!(server.requests().len(), 2, "{code}");
    }
}

#[tokio::test]
async fn answer_to_a_route_that_is_gone_did_not_run() {
    let server = Server::answering([Answer::Chunks(asking("c1"))]).await;
    let mut chat = behind(&server);
    chat.say("pay").await;
    // Its only script is played, and its listener is closed. It is waited for all the same.
    tokio::time::pause();
    chat.answer(approved()).await;
    assert_eq!(chat.failure().0, "agent_unavailable");
    let Some(Some(Outcome::Error { error })) = chat.outcomes().pop() else {
        panic!("{:?}", chat.outcomes());
    };
    assert!(error.starts_with("It did not run: "), "{error}");
}

#[tokio::test]
async fn result_that_never_comes_is_unknown_and_the_rest_is_shown() {
    let (mut chat, _) = failing([
        Answer::Chunks(asking("c1")),
        Answer::Chunks(saying("Whatever.")),
    ])
    .await;
    chat.answer(approved()).await;
    assert_eq!(chat.status(), Status::Finished);
    assert_eq!(chat.outcomes(), unknown(UnknownReason::NoResult));
    assert_eq!(chat.messages()[1]["parts"][3]["text"], "Whatever.");
}

#[tokio::test]
async fn body_that_stays_open_after_its_finish_ends_the_turn() {
    let server = Server::answering([Answer::Hold(saying("Hello."))]).await;
    let mut chat = Behind::new(AiSdk::new(Config::new(&server.url)).unwrap());
    chat.say("hi").await;
    assert_eq!(chat.status(), Status::Finished);
}
