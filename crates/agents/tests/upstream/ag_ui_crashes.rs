//! A server of ours that stops between an answer and its result: nothing is sent twice.

use std::time::Duration;

use adk_stream_agents::AgUi;
use adk_stream_agents::ag_ui::Config;
use tokio::time::{sleep, timeout};
use turn::Status;
use turn::call::{Outcome, UnknownReason};

use crate::behind::{Behind, approved, next};
use crate::events::{asking, result, results_and, saying};
use crate::server::{Answer, Server};

fn chat(server: &Server, reruns: bool) -> Behind {
    let config = Config {
        reruns,
        ..Config::new(&server.url)
    };
    Behind::new(AgUi::new(config).unwrap())
}

/// A chat whose server stopped after it had sent the yes.
async fn crashed(server: &Server, reruns: bool) -> Behind {
    let mut chat = chat(server, reruns);
    chat.say("pay").await;
    chat.decide(approved());
    let mut stream = chat.stream();
    let waited = timeout(Duration::from_secs(30), async {
        while server.requests().len() < 2 {
            tokio::select! {
                _ = next(&mut stream) => {}
                () = sleep(Duration::from_millis(10)) => {}
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
async fn answer_that_may_have_been_received_is_not_sent_again() {
    let script = [Answer::Chunks(asking("c1")), Answer::Silence];
    let server = Server::answering(script).await;
    let mut chat = crashed(&server, false).await;
    chat.run().await;
    assert_eq!(chat.failure().0, "agent_cut_off");
    assert_eq!(chat.outcomes(), unclear());
    assert_eq!(server.requests().len(), 2);
}

#[tokio::test]
async fn agent_that_may_be_asked_again_gets_no_second_answer() {
    let script = [
        Answer::Chunks(asking("c1")),
        Answer::Silence,
        Answer::Chunks(saying("I do not know.")),
    ];
    let server = Server::answering(script).await;
    let mut chat = crashed(&server, true).await;
    chat.run().await;
    assert_eq!(chat.status(), Status::Finished);
    assert_eq!(chat.outcomes(), unclear());
    let sent = server.last().body;
    assert_eq!(sent.get("resume"), None);
    let error = sent["messages"][2]["error"].as_str().unwrap();
    assert!(error.contains("unknown"), "{error}");
}

#[tokio::test]
async fn server_that_stops_while_a_person_thinks_costs_nothing() {
    let paid = results_and(vec![result("c1", "paid")], "Paid.");
    let script = [Answer::Chunks(asking("c1")), Answer::Chunks(paid)];
    let server = Server::answering(script).await;
    let mut chat = chat(&server, false);
    chat.say("pay").await;
    chat.crash();
    assert_eq!(chat.status(), Status::Parked);
    chat.answer(approved()).await;
    assert_eq!(chat.status(), Status::Finished);
    assert_eq!(server.last().body["resume"][0]["interruptId"], "int-c1");
}

#[tokio::test]
async fn message_that_may_have_been_sent_is_not_sent_again() {
    for (reruns, status) in [(false, Status::Failed), (true, Status::Finished)] {
        let server = Server::answering([Answer::Chunks(saying("Hello."))]).await;
        let mut chat = chat(&server, reruns);
        chat.begin("pay");
        chat.crash();
        chat.run().await;
        assert_eq!(chat.status(), status);
        assert_eq!(server.requests().len(), usize::from(reruns));
    }
}
