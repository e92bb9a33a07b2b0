//! A server of ours that stops between an answer and its result: nothing is sent twice.

use adk_stream_agents::AiSdk;
use adk_stream_agents::ai_sdk::Config;
use serde_json::json;
use turn::Status;
use turn::call::{Outcome, UnknownReason};

use crate::behind::{Behind, approved, next};
use crate::chunks::{asking, output, results_and, saying};
use crate::server::{Answer, Server};

const NO_RESUME: &str = "content-type: text/plain";

fn not_found() -> Answer {
    Answer::Status(404, NO_RESUME, String::new())
}

/// A chat whose server stopped after it had sent the yes.
async fn crashed(server: &Server, reruns: bool) -> Behind {
    let config = Config {
        reruns,
        ..Config::new(format!("{}/api/chat", server.url))
    };
    let mut chat = Behind::new(AiSdk::new(config).unwrap());
    chat.say("pay").await;
    chat.decide(approved());
    let mut stream = chat.stream();
    let waited = tokio::time::timeout(std::time::Duration::from_secs(30), async {
        while server.requests().len() < 2 {
            tokio::select! {
                _ = next(&mut stream) => {}
                () = tokio::time::sleep(std::time::Duration::from_millis(10)) => {}
            }
        }
    });
    waited.await.unwrap();
    drop(stream);
    chat.crash();
    chat
}

fn unclear() -> Vec<Option<Outcome>> {
    let reason = UnknownReason::AnswerUnclear;
    vec![Some(Outcome::Unknown { reason })]
}

#[tokio::test]
async fn outcome_is_unknown_and_the_answer_is_not_sent_again() {
    let script = [Answer::Chunks(asking("c1")), Answer::Silence, not_found()];
    let server = Server::answering(script).await;
    let mut chat = crashed(&server, false).await;
    chat.run().await;
    assert_eq!(chat.failure().0, "agent_cut_off");
    assert_eq!(chat.outcomes(), unclear());
    let requests = server.requests();
    assert_eq!(requests.len(), 3);
    assert!(
        requests[2].head.starts_with("GET /api/chat/chat/stream "),
        "{}",
        requests[2].head
    );
}

#[tokio::test]
async fn route_that_may_be_asked_again_gets_an_unknown_outcome() {
    let script = [
        Answer::Chunks(asking("c1")),
        Answer::Silence,
        not_found(),
        Answer::Chunks(saying("I do not know.")),
    ];
    let server = Server::answering(script).await;
    let mut chat = crashed(&server, true).await;
    chat.run().await;
    assert_eq!(chat.status(), Status::Finished);
    assert_eq!(chat.outcomes(), unclear());
    let part = &server.last().body["messages"][1]["parts"][1];
    assert_eq!(part["state"], "output-error");
}

#[tokio::test]
async fn outcome_is_unknown_where_the_route_is_gone_when_it_is_asked_again() {
    let script = [Answer::Chunks(asking("c1")), Answer::Silence];
    let server = Server::answering(script).await;
    let mut chat = crashed(&server, true).await;
    // Its script is played, and its listener is closed. It is waited for all the same.
    tokio::time::pause();
    chat.run().await;
    assert_eq!(chat.failure().0, "agent_unavailable");
    assert_eq!(chat.outcomes(), unclear());
}

#[tokio::test]
async fn route_that_can_continue_its_stream_says_what_happened() {
    let rest = results_and(vec![output("c1", json!({"paid": 5}))], "Paid.");
    let script = [
        Answer::Chunks(asking("c1")),
        Answer::Silence,
        Answer::Chunks(rest),
    ];
    let server = Server::answering(script).await;
    let mut chat = crashed(&server, false).await;
    chat.run().await;
    assert_eq!(chat.status(), Status::Finished);
    let outcome = Outcome::Output {
        output: json!({"paid": 5}),
    };
    assert_eq!(chat.outcomes(), [Some(outcome)]);
}

#[tokio::test]
async fn message_that_may_have_been_sent_is_not_sent_again() {
    for (reruns, status) in [(false, Status::Failed), (true, Status::Finished)] {
        let script = [not_found(), Answer::Chunks(saying("Hello."))];
        let server = Server::answering(script).await;
        let config = Config {
            reruns,
            ..Config::new(&server.url)
        };
        let mut chat = Behind::new(AiSdk::new(config).unwrap());
        chat.begin("pay");
        chat.crash();
        chat.run().await;
        assert_eq!(chat.status(), status);
        assert_eq!(server.requests().len(), 1 + usize::from(reruns));
    }
}
