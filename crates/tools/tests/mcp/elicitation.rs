//! A server that asks a person for data in the middle of a call.

use adk_stream_tools::work::{Ask, Work, WorkSender};
use serde_json::{Value, json};
use turn::call::Outcome;
use turn::gate::Decision;

use crate::fixture::{Fixture, run};

/// Runs the tool that asks, and decides as a person would.
async fn elicited(fixture: &Fixture, decision: Decision) -> (Value, Ask) {
    let (work, mut received) = WorkSender::new(64);
    let person = async {
        let mut asked = None;
        while let Some(work) = received.recv().await {
            match *work {
                // The call is noted before anybody is asked.
                Work::Record { done, .. } => done.send(()).unwrap(),
                Work::Ask { ask, answer, .. } => {
                    asked = Some(ask);
                    answer.send(decision.clone()).unwrap();
                }
                _ => {}
            }
        }
        asked.unwrap()
    };
    let call = run(&fixture.tools, "s.elicit", json!({}), work);
    let (outcome, asked) = tokio::join!(call, person);
    let Outcome::Output { output } = outcome else {
        panic!("{outcome:?}")
    };
    (
        serde_json::from_str(output.as_str().unwrap()).unwrap(),
        asked,
    )
}

#[tokio::test]
async fn person_is_asked_and_the_answer_goes_to_the_server() {
    let fixture = Fixture::ready(&[], |_| {}).await;
    let output = json!({"people": 4});
    let (said, asked) = elicited(&fixture, Decision::Output { output }).await;
    assert_eq!(said, json!({"action": "accept", "content": {"people": 4}}));
    let Ask::Data {
        question, schema, ..
    } = asked
    else {
        panic!("{asked:?}")
    };
    assert_eq!(question, "The MCP server s asks: For how many?");
    assert_eq!(schema["properties"]["people"]["type"], "integer");
    assert_eq!(schema["required"], json!(["people"]));
}

#[tokio::test]
async fn person_may_decline_and_a_question_may_go_away() {
    let fixture = Fixture::ready(&[], |_| {}).await;
    let (said, _) = elicited(&fixture, Decision::Denied { reason: None }).await;
    assert_eq!(said, json!({"action": "decline"}));
    let (said, _) = elicited(&fixture, Decision::TimedOut).await;
    assert_eq!(said, json!({"action": "cancel"}));
}
