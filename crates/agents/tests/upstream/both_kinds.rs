//! What holds for a route of the AI SDK's and for an agent that speaks AG-UI alike: one that refuses, is
//! slow, or lies gets a code, is asked once, and the chat can go on.

use serde_json::{Value, json};
use tokio::time::{pause, resume};
use turn::Status;
use turn::agent::AgentEvent;

use crate::behind::{Behind, next};
use crate::server::{Answer, Server};
use crate::{ag_ui, ai_sdk, chunks, events};

/// A kind of agent: a chat with it, and a run that says something.
type Kind = (fn(&Server) -> Behind, fn(&str) -> Vec<Value>);

const KINDS: [Kind; 2] = [
    (ag_ui::behind, events::saying),
    (ai_sdk::behind, chunks::saying),
];

/// Asks an agent that answers so, and then another time.
async fn asked((behind, saying): Kind, answer: Answer) -> (String, String) {
    let server = Server::answering([answer, Answer::Chunks(saying("Here."))]).await;
    let mut chat = behind(&server);
    chat.say("pay").await;
    let failure = chat.failure();
    assert_eq!(server.requests().len(), 1, "{failure:?}");
    chat.say("again").await;
    assert_eq!(chat.status(), Status::Finished, "{failure:?}");
    failure
}

#[tokio::test]
async fn refusal_has_a_code_and_is_not_asked_again() {
    let json = "content-type: application/json";
    for kind in KINDS {
        for (status, header, body, code, words) in [
            (
                401,
                json,
                "{}",
                "agent_unauthorized",
                "rejected our credentials",
            ),
            (
                403,
                json,
                "{}",
                "agent_unauthorized",
                "rejected our credentials",
            ),
            (404, json, "{}", "agent_not_found", "no agent"),
            (422, json, r#"{"detail":"no"}"#, "agent_bad_request", "no"),
            (429, "retry-after: 7", "", "rate_limited", "7 seconds"),
            (429, json, "", "rate_limited", "later"),
            (500, json, "", "agent_unavailable", "not available"),
            (
                503,
                "retry-after: 7",
                "",
                "agent_unavailable",
                "not available",
            ),
            // Wherever it leads, nothing is sent there.
            (
                302,
                "location: /elsewhere",
                "",
                "agent_invalid_response",
                "302",
            ),
            (
                307,
                "location: /elsewhere",
                "",
                "agent_invalid_response",
                "307",
            ),
            (204, json, "", "agent_invalid_response", "204"),
            (
                200,
                json,
                "{}",
                "agent_invalid_response",
                "application/json",
            ),
            (200, "x-nothing: 1", "", "agent_invalid_response", "none"),
            (
                200,
                "content-type: text/html",
                "<p>",
                "agent_invalid_response",
                "text/html",
            ),
        ] {
            let answer = Answer::Status(status, header, body.to_owned());
            let failure = asked(kind, answer).await;
            assert_eq!(failure.0, code, "{status}");
            assert!(failure.1.contains(words), "{status}: {failure:?}");
        }
    }
}

#[tokio::test]
async fn bytes_that_are_no_stream_have_a_code() {
    for kind in KINDS {
        for body in [
            b"data: {nonsense\n\n".to_vec(),
            b"data: 7\n\n".to_vec(),
            b"data: [1]\n\n".to_vec(),
            b"data: {\"type\":7}\n\n".to_vec(),
            b"data: \xff\xfe\x00\n\n".to_vec(),
            format!("data: {}\n\n", "[".repeat(100_000)).into_bytes(),
        ] {
            let start = String::from_utf8_lossy(&body[..body.len().min(20)]).into_owned();
            let failure = asked(kind, Answer::Body(body)).await;
            assert_eq!(failure.0, "agent_invalid_response", "{start}");
        }
    }
}

#[tokio::test]
async fn what_comes_after_the_end_says_nothing() {
    for (behind, saying) in KINDS {
        for rest in ["data: [DONE]\n\n", "data: {nonsense\n\n", "data: {\"type\""] {
            let mut body = String::new();
            for event in saying("Hello.") {
                body.push_str(&format!("data: {event}\n\n"));
            }
            body.push_str(rest);
            let server = Server::answering([Answer::Body(body.into_bytes())]).await;
            let mut chat = behind(&server);
            chat.say("hi").await;
            assert_eq!(chat.status(), Status::Finished, "{rest}");
        }
    }
}

/// Asks an agent that says no more at some point, and lets the time pass once it has been asked.
async fn silent((behind, saying): Kind, answer: Answer) {
    let server = Server::answering([answer, Answer::Chunks(saying("Here."))]).await;
    let mut chat = behind(&server);
    chat.begin("hi");
    let mut stream = chat.stream();
    let listen = async {
        let mut said = Vec::new();
        loop {
            let event = next(&mut stream).await.expect("it says that it failed");
            let is_over = matches!(event, AgentEvent::Failed { .. });
            said.push(event);
            if is_over {
                return said;
            }
        }
    };
    let pass = async {
        while server.requests().is_empty() {
            tokio::task::yield_now().await;
        }
        pause();
        std::future::pending::<()>().await;
    };
    let said = tokio::select! {
        said = listen => said,
        () = pass => unreachable!(),
    };
    resume();
    drop(stream);
    said.into_iter().for_each(|event| chat.push(event));
    assert_eq!(chat.failure().0, "agent_timed_out");
    assert_eq!(server.requests().len(), 1);
    chat.say("again").await;
    assert_eq!(chat.status(), Status::Finished);
}

#[tokio::test]
async fn agent_that_says_nothing_is_given_up() {
    for kind in KINDS {
        silent(kind, Answer::Silence).await;
    }
}

#[tokio::test]
async fn agent_that_stops_in_the_middle_of_its_words_is_given_up() {
    for kind in KINDS {
        let mut begun = kind.1("Hello.");
        begun.truncate(3);
        silent(kind, Answer::Hold(begun)).await;
    }
}

#[tokio::test]
async fn event_of_an_unknown_type_is_kept_and_shown_to_nobody() {
    for (behind, saying) in KINDS {
        let mut run = saying("Hello.");
        run.insert(1, json!({"type": "hologram-9", "of": "a cat"}));
        let server = Server::answering([Answer::Chunks(run)]).await;
        let mut chat = behind(&server);
        chat.say("hi").await;
        assert_eq!(chat.status(), Status::Finished);
        assert!(format!("{:?}", chat.chat.history()).contains("hologram-9"));
        assert!(!chat.messages().to_string().contains("hologram-9"));
    }
}
