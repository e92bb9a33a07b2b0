//! Failures, and how they are reported.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use turn::agent::AgentEvent;
use turn::event::Finish;

use crate::dialogue::{Dialogue, config, failure, last, next, parts};
use crate::server::{Answer, Server};

fn status(code: u16, status: &str, details: Value) -> Answer {
    let error = json!({"error": {"code": code, "message": "Google says so.", "status": status, "details": details}});
    Answer::Status(code, "content-type: application/json", error.to_string())
}

fn retry_info(delay: &str) -> Value {
    json!([{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}])
}

fn hello() -> Answer {
    Answer::Chunks(vec![last(json!([{"text": "Hello."}]))])
}

async fn step(answers: impl IntoIterator<Item = Answer>) -> (Vec<AgentEvent>, usize) {
    let server = Server::answering(answers).await;
    let events = Dialogue::of(&server, "hi").step().await;
    (events, server.requests().len())
}

fn is_hello(events: &[AgentEvent]) -> bool {
    matches!(events.first(), Some(AgentEvent::Text { delta, .. }) if delta == "Hello.")
        && matches!(events.last(), Some(AgentEvent::Ended(Finish::Stop)))
}

#[tokio::test]
async fn what_may_pass_is_asked_again() {
    for first in [429, 500, 502, 503, 504] {
        let again = |_| status(first, "UNAVAILABLE", json!([]));
        let answers = (0..3).map(again).chain([hello()]);
        let (events, requests) = step(answers).await;
        assert!(is_hello(&events), "{first}: {events:?}");
        assert_eq!(requests, 4);
    }
}

#[tokio::test]
async fn what_does_not_pass_fails_after_some_times() {
    let (events, requests) = step((0..5).map(|_| status(503, "UNAVAILABLE", json!([])))).await;
    assert_eq!(requests, 4);
    let (code, message, retry) = failure(&events);
    assert_eq!((code, retry), ("agent_unavailable", None));
    assert_eq!(message, "Gemini is not available at the moment.");
}

#[tokio::test]
async fn what_will_not_get_better_is_asked_once() {
    for (http, code) in [
        (400, "agent_bad_request"),
        (401, "agent_unauthorized"),
        (403, "agent_unauthorized"),
        (404, "agent_not_found"),
        (413, "agent_bad_request"),
        (501, "agent_unavailable"),
    ] {
        let (events, requests) = step([status(http, "X", json!([])), hello()]).await;
        assert_eq!((failure(&events).0, requests), (code, 1), "{http}");
    }
}

#[tokio::test]
async fn bad_key_is_refused_though_its_status_is_bad_request() {
    let reason =
        json!([{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]);
    let (events, _) = step([status(400, "INVALID_ARGUMENT", reason)]).await;
    let (code, message, _) = failure(&events);
    assert_eq!(
        (code, message.as_str()),
        ("agent_unauthorized", "Gemini does not accept the key.")
    );
}

#[tokio::test]
async fn the_time_that_gemini_wants_is_waited_for() {
    let before = Instant::now();
    let (events, requests) = step([
        status(429, "RESOURCE_EXHAUSTED", retry_info("0.12s")),
        hello(),
    ])
    .await;
    assert!(is_hello(&events));
    assert_eq!(requests, 2);
    assert!(before.elapsed() >= Duration::from_millis(120));
}

#[tokio::test]
async fn retry_delay_that_is_too_long_is_reported_and_not_waited_for() {
    let (events, requests) = step([
        status(429, "RESOURCE_EXHAUSTED", retry_info("3600.5s")),
        hello(),
    ])
    .await;
    assert_eq!(requests, 1);
    let (code, message, retry) = failure(&events);
    assert_eq!((code, retry), ("rate_limited", Some(3_600_500)));
    assert_eq!(
        message,
        "Gemini gets too many requests. Try again in 3601 seconds."
    );
}

#[tokio::test]
async fn the_header_retry_after_counts_too() {
    let refusal = Answer::Status(429, "retry-after: 77", "Too many".to_owned());
    let (events, requests) = step([refusal, hello()]).await;
    assert_eq!(requests, 1);
    assert_eq!(failure(&events).2, Some(77_000));
}

#[tokio::test]
async fn connection_that_ends_before_the_first_byte_is_made_again() {
    let (events, requests) = step([Answer::HangUp, hello()]).await;
    assert!(is_hello(&events), "{events:?}");
    assert_eq!(requests, 2);
}

#[tokio::test]
async fn server_that_is_not_there_can_not_be_reached() {
    let server = Server::answering([]).await;
    let mut settings = config(&server);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    settings.base_url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let mut dialogue = Dialogue::with(settings);
    dialogue.say("hi");
    let events = dialogue.step().await;
    let (code, message, _) = failure(&events);
    assert_eq!(
        (code, message.as_str()),
        ("agent_unavailable", "Gemini can't be reached.")
    );
}

#[tokio::test]
async fn stream_that_ends_without_a_reason_was_cut_off() {
    let begun = parts(json!([{"text": "Half"}]));
    let mut torn = format!("data: {begun}\r\n\r\ndata: {begun}").into_bytes();
    torn.truncate(torn.len() - 9);
    for answer in [Answer::Chunks(vec![begun]), Answer::Body(torn)] {
        let (events, requests) = step([answer, hello()]).await;
        assert_eq!(failure(&events).0, "agent_cut_off");
        assert_eq!(requests, 1, "something was said already");
        assert!(matches!(&events[0], AgentEvent::Text { delta, .. } if delta == "Half"));
    }
    let (events, _) = step([Answer::Body(Vec::new())]).await;
    assert_eq!(failure(&events).0, "agent_cut_off");
}

#[tokio::test]
async fn last_event_may_lack_its_blank_line() {
    let chunk = last(json!([{"text": "Hello."}]));
    let (events, _) = step([Answer::Body(format!("data: {chunk}").into_bytes())]).await;
    assert!(is_hello(&events), "{events:?}");
}

#[tokio::test]
async fn error_in_the_middle_is_the_failure_that_it_names() {
    let error = json!({"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "details": retry_info("17s")}});
    let (events, requests) = step([
        Answer::Chunks(vec![parts(json!([{"text": "Half"}])), error]),
        hello(),
    ])
    .await;
    let (code, _, retry) = failure(&events);
    assert_eq!((code, retry, requests), ("rate_limited", Some(17_000), 1));
}

#[tokio::test]
async fn what_is_not_the_api_can_not_be_read() {
    for (answer, why) in [
        (
            Answer::Body(b"data: {\"candidates\": nonsense\r\n\r\n".to_vec()),
            "a chunk of it is not JSON",
        ),
        (
            Answer::Body(b"data: [1]\r\n\r\n".to_vec()),
            "a chunk of it is not JSON",
        ),
        (
            Answer::Status(200, "content-type: text/html", "<p>Log in</p>".to_owned()),
            "its content-type is text/html",
        ),
        (
            Answer::Status(302, "location: http://127.0.0.1:1/elsewhere", String::new()),
            "it answered with the HTTP status 302",
        ),
    ] {
        let (events, requests) = step([answer, hello()]).await;
        let (code, message, _) = failure(&events);
        assert_eq!(code, "agent_invalid_response");
        assert_eq!(message, format!("Gemini's answer can't be read: {why}."));
        assert_eq!(requests, 1);
    }
}

#[tokio::test]
async fn silence_has_an_end_before_the_first_byte_and_after_it() {
    for answer in [
        Answer::Silence,
        Answer::Hold(vec![parts(json!([{"text": "Half"}]))]),
    ] {
        let mut server = Server::answering([answer, hello()]).await;
        let mut settings = config(&server);
        settings.timeouts.first_byte = Duration::from_millis(150);
        settings.timeouts.idle = Duration::from_millis(150);
        let mut dialogue = Dialogue::with(settings);
        dialogue.say("hi");
        let events = dialogue.step().await;
        assert_eq!(failure(&events).0, "agent_timed_out");
        server.client_gone().await;
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn answer_that_has_finished_is_an_answer_whatever_the_connection_does() {
    let server = Server::answering([Answer::Hold(vec![last(json!([{"text": "Hello."}]))])]).await;
    let mut settings = config(&server);
    settings.timeouts.idle = Duration::from_millis(400);
    let mut dialogue = Dialogue::with(settings);
    dialogue.say("hi");
    assert!(is_hello(&dialogue.step().await));
}

#[tokio::test]
async fn dropping_the_stream_closes_the_request() {
    let mut server =
        Server::answering([Answer::Hold(vec![parts(json!([{"text": "Half"}]))])]).await;
    let dialogue = Dialogue::of(&server, "hi");
    let mut stream = dialogue.stream();
    assert!(matches!(
        next(&mut stream).await,
        Some(AgentEvent::Text { .. })
    ));
    drop(stream);
    server.client_gone().await;
}

#[tokio::test]
async fn dropping_the_stream_before_an_answer_closes_the_request() {
    let mut server = Server::answering([Answer::Silence]).await;
    let dialogue = Dialogue::of(&server, "hi");
    let mut stream = dialogue.stream();
    // Until the request has arrived.
    while server.requests().is_empty() {
        tokio::select! {
            biased;
            _ = next(&mut stream) => panic!("nothing was answered"),
            () = tokio::task::yield_now() => {}
        }
    }
    drop(stream);
    server.client_gone().await;
}

#[tokio::test]
async fn nothing_is_sent_before_the_stream_is_polled() {
    let server = Server::answering([hello()]).await;
    let dialogue = Dialogue::of(&server, "hi");
    let mut stream = dialogue.stream();
    tokio::task::yield_now().await;
    assert!(server.requests().is_empty());
    assert!(next(&mut stream).await.is_some());
    assert_eq!(server.requests().len(), 1);
}
