//! Confirmations of ADK's, as ag-ui-adk tells of them.

use serde_json::{Value, json};
use turn::Status;
use turn::call::Outcome;

use crate::ag_ui::{behind, body, runs};
use crate::behind::approved;
use crate::events::{call, call_of, interrupted, result, results_and, run_to, saying};
use crate::server::Server;

/// What ADK asks about a call.
fn confirmation(call: &str) -> Value {
    json!({
        "originalFunctionCall": {"id": call, "name": "pay", "args": {"amount": 5}},
        "toolConfirmation": {"hint": "Pay 5?", "confirmed": false},
    })
}

fn request(id: &str, call: &str) -> Vec<Value> {
    call_of(id, "adk_request_confirmation", confirmation(call))
}

fn interrupt(id: &str, call: &str) -> Value {
    let metadata = json!({ "adk": confirmation(call) });
    json!({"id": id, "reason": "confirmation", "toolCallId": id, "message": "Pay 5?", "metadata": metadata})
}

fn joined(parts: impl IntoIterator<Item = Vec<Value>>) -> Vec<Value> {
    parts.into_iter().flatten().collect()
}

fn waiting(call: &str) -> Vec<Value> {
    vec![result(call, "{\"status\": \"waiting\"}")]
}

/// A person is asked about the call itself, and its result is the one that follows the answer.
async fn confirmed(first: Vec<Value>) {
    let paid = results_and(vec![result("adk-1", "{\"paid\": 5}")], "Paid.");
    let server = Server::answering(runs([first, paid])).await;
    let mut chat = behind(&server);
    chat.say("pay").await;
    assert_eq!(chat.status(), Status::Parked);
    let [pay] = chat.calls().try_into().unwrap();
    assert_eq!(
        (pay.tool.as_str(), pay.input),
        ("pay", json!({"amount": 5}))
    );
    chat.answer(approved()).await;
    assert_eq!(chat.status(), Status::Finished);
    let entry =
        json!({"interruptId": "adk-2", "status": "resolved", "payload": {"approved": true}});
    assert_eq!(body(&server, 1)["resume"], json!([entry]));
    let output = json!({"paid": 5});
    assert_eq!(chat.outcomes(), [Some(Outcome::Output { output })]);
}

#[tokio::test]
async fn confirmation_asks_about_the_call_that_waits_for_it() {
    let events = joined([call("adk-1"), request("adk-2", "adk-1")]);
    confirmed(interrupted(events, vec![interrupt("adk-2", "adk-1")])).await;
}

#[tokio::test]
async fn confirmation_without_an_interrupt_asks_as_well() {
    let events = joined([call("adk-1"), request("adk-2", "adk-1")]);
    confirmed(run_to(events, Value::Null)).await;
}

#[tokio::test]
async fn what_a_tool_returned_when_it_asked_is_not_its_result() {
    let before = joined([call("adk-1"), waiting("adk-1"), request("adk-2", "adk-1")]);
    let after = joined([call("adk-1"), request("adk-2", "adk-1"), waiting("adk-1")]);
    for events in [before, after] {
        confirmed(interrupted(events, vec![interrupt("adk-2", "adk-1")])).await;
    }
}

#[tokio::test]
async fn message_in_place_of_an_answer_cancels_the_confirmation() {
    let events = joined([call("adk-1"), request("adk-2", "adk-1")]);
    let first = interrupted(events, vec![interrupt("adk-2", "adk-1")]);
    let server = Server::answering(runs([first, saying("Well.")])).await;
    let mut chat = behind(&server);
    chat.say("pay").await;
    chat.say("never mind").await;
    let entry = json!({"interruptId": "adk-2", "status": "cancelled"});
    assert_eq!(body(&server, 1)["resume"], json!([entry]));
}

#[tokio::test]
async fn confirmation_without_a_hint_asks_with_the_input() {
    let hint = "Please approve or reject the tool call pay() by responding with a FunctionResponse \
                with an expected ToolConfirmation payload.";
    for hint in [hint, ""] {
        let mut asked = confirmation("adk-1");
        asked["toolConfirmation"]["hint"] = json!(hint);
        let events = || {
            let request = call_of("adk-2", "adk_request_confirmation", asked.clone());
            joined([call("adk-1"), request])
        };
        let mut interrupt = interrupt("adk-2", "adk-1");
        interrupt["message"] = json!(hint);
        interrupt["metadata"]["adk"] = asked.clone();
        let declared = interrupted(events(), vec![interrupt]);
        for first in [declared, run_to(events(), Value::Null)] {
            let server = Server::answering(runs([first])).await;
            let mut chat = behind(&server);
            chat.say("pay").await;
            let [gate] = chat.gates().try_into().unwrap();
            let question = gate.kind.question();
            assert_eq!(question, Some("Run pay with {\"amount\":5}?"), "{hint:?}");
        }
    }
}
