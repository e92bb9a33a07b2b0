//! An agent that speaks AG-UI: what it is sent, and what is made of its runs.

use adk_stream_agents::AgUi;
use adk_stream_agents::ag_ui::Config;
use serde_json::{Value, json};
use turn::Status;
use turn::agent::{Behavior, ToolDeclaration};
use turn::call::{Outcome, Place};
use turn::gate::{Decision, GateKind};

use crate::behind::{Behind, approved, denied};
use crate::events::{
    asking, call, call_of, interrupt, interrupted, result, results_and, run, run_to, saying, text,
};
use crate::server::{Answer, Server};

pub(crate) fn behind(server: &Server) -> Behind {
    Behind::new(AgUi::new(Config::new(&server.url)).unwrap())
}

pub(crate) fn runs(all: impl IntoIterator<Item = Vec<Value>>) -> Vec<Answer> {
    all.into_iter().map(Answer::Chunks).collect()
}

pub(crate) fn body(server: &Server, request: usize) -> Value {
    server.requests()[request].body.clone()
}

#[tokio::test]
async fn agent_is_sent_the_whole_chat_with_its_own_ids() {
    let both = run(call("c1")
        .into_iter()
        .chain([result("c1", r#"{"paid":5}"#)])
        .chain(text("m2", "Paid.")));
    let server = Server::answering(runs([both, saying("Again.")])).await;
    let mut chat = behind(&server);
    chat.say("pay").await;
    chat.say("and?").await;
    assert_eq!(chat.status(), Status::Finished);
    let first = json!({
        "threadId": "chat",
        "runId": "t1-0",
        "protocolVersion": "1.0",
        "state": {},
        "messages": [{"role": "user", "id": "user-1", "content": "pay"}],
        "tools": [],
        "context": [],
        "forwardedProps": {},
    });
    assert_eq!(body(&server, 0), first);
    let arguments = r#"{"amount":5}"#;
    let made = json!([{"id": "c1", "type": "function", "function": {"name": "pay", "arguments": arguments}}]);
    let messages = json!([
        {"role": "user", "id": "user-1", "content": "pay"},
        {"role": "assistant", "id": "m1", "toolCalls": made},
        {"role": "tool", "id": "result-of-c1", "content": r#"{"paid":5}"#, "toolCallId": "c1"},
        {"role": "assistant", "id": "m2", "content": "Paid."},
        {"role": "user", "id": "user-2", "content": "and?"},
    ]);
    assert_eq!(body(&server, 1)["messages"], messages);
    let head = server.requests()[0].head.to_lowercase();
    assert!(head.contains("x-adk-stream-principal: ann\r\n"), "{head}");
    assert!(head.contains("idempotency-key: t1-0\r\n"), "{head}");
}

#[tokio::test]
async fn call_that_the_agent_runs_is_shown_with_its_result() {
    let both = run(call("c1")
        .into_iter()
        .chain([result("c1", r#"{"paid":5}"#)])
        .chain(text("m2", "Paid.")));
    let server = Server::answering(runs([both])).await;
    let mut chat = behind(&server);
    chat.say("pay").await;
    assert_eq!(chat.status(), Status::Finished);
    let parts = chat.messages()[1]["parts"].clone();
    assert_eq!(
        (&parts[1]["state"], &parts[1]["output"]),
        (&json!("output-available"), &json!({"paid": 5}))
    );
    assert_eq!(parts[3]["text"], "Paid.");
    assert_eq!(chat.calls()[0].place, Place::Agent);
}

#[tokio::test]
async fn everything_that_is_said_is_shown_or_kept_and_sent_back() {
    let said = vec![
        json!({"type": "REASONING_MESSAGE_CONTENT", "messageId": "r", "delta": "Hm."}),
        json!({"type": "REASONING_ENCRYPTED_VALUE", "subtype": "message", "entityId": "r", "encryptedValue": "sealed"}),
        json!({"type": "STATE_SNAPSHOT", "snapshot": {"count": 1}}),
        json!({"type": "STATE_DELTA", "delta": [{"op": "replace", "path": "/count", "value": 2}]}),
        json!({"type": "CUSTOM", "name": "price", "value": {"usd": 3}}),
        json!({"type": "ACTIVITY_SNAPSHOT", "messageId": "a", "activityType": "plan", "content": {"done": 1}}),
        json!({"type": "HOLOGRAM", "of": "a cat"}),
        json!({"type": "RAW", "event": {"large": true}}),
    ];
    let mut first = run(said.into_iter().chain(text("m2", "Done.")));
    first.last_mut().unwrap()["usage"] =
        json!([{"model": "m", "inputTokens": 3, "outputTokens": 4}]);
    let server = Server::answering(runs([first, saying("Again.")])).await;
    let mut chat = behind(&server);
    chat.say("go").await;
    let shown = chat.messages()[1].clone();
    let parts = shown["parts"].as_array().unwrap().clone();
    let kinds: Vec<_> = parts
        .iter()
        .map(|part| part["type"].as_str().unwrap())
        .collect();
    let expected = [
        "step-start",
        "reasoning",
        "data-price",
        "text",
        "data-agui-activity",
        "data-agui-state",
    ];
    assert_eq!(kinds, expected, "{parts:?}");
    assert_eq!(parts[5]["data"], json!({"count": 2}));
    assert_eq!(shown["metadata"]["usage"]["totalTokens"], 7);
    let journal = serde_json::to_string(&format!("{:?}", chat.chat.history())).unwrap();
    assert!(journal.contains("HOLOGRAM") && !journal.contains("large"));

    chat.say("and?").await;
    let sent = server.last().body;
    assert_eq!(sent["state"], json!({"count": 2}));
    let reasoning =
        json!({"role": "reasoning", "id": "r", "content": "Hm.", "encryptedValue": "sealed"});
    assert_eq!(sent["messages"][1], reasoning);
}

#[tokio::test]
async fn approval_reaches_the_agent_once() {
    let paid = results_and(vec![result("c1", r#"{"paid":5}"#)], "Paid.");
    let server = Server::answering(runs([asking("c1"), paid])).await;
    let mut chat = behind(&server);
    chat.say("pay").await;
    assert_eq!(chat.status(), Status::Parked);
    let question = "Approve pay?".to_owned();
    assert_eq!(chat.gates()[0].kind, GateKind::Approval { question });
    assert_eq!(chat.calls()[0].input, json!({"amount": 5}));
    chat.answer(approved()).await;
    assert_eq!(chat.status(), Status::Finished);
    let output = json!({"paid": 5});
    assert_eq!(chat.outcomes(), [Some(Outcome::Output { output })]);
    assert_eq!(server.requests().len(), 2);
    let sent = body(&server, 1);
    let entry =
        json!({"interruptId": "int-c1", "status": "resolved", "payload": {"approved": true}});
    assert_eq!(sent["resume"], json!([entry]));
    assert_eq!(sent["runId"], "t1-1");
    let roles: Vec<_> = sent["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["role"].clone())
        .collect();
    assert_eq!(roles, ["user", "assistant"]);
}

#[tokio::test]
async fn denial_reaches_the_agent_with_its_reason() {
    let second = results_and(vec![result("c1", "too much")], "Not paid.");
    let server = Server::answering(runs([asking("c1"), second, saying("Bye.")])).await;
    let mut chat = behind(&server);
    chat.say("pay").await;
    chat.answer(denied("too much")).await;
    assert_eq!(chat.status(), Status::Finished);
    let payload = json!({"approved": false, "reason": "too much"});
    assert_eq!(body(&server, 1)["resume"][0]["payload"], payload);
    chat.say("bye").await;
    let sent = body(&server, 2);
    assert_eq!(sent.get("resume"), None);
    assert_eq!(sent["messages"][2]["toolCallId"], "c1");
}

#[tokio::test]
async fn answers_to_one_run_are_sent_together() {
    let both = call("c1").into_iter().chain(call("c2")).collect();
    let first = interrupted(both, vec![interrupt("c1"), interrupt("c2")]);
    let results = vec![result("c1", "1"), result("c2", "no")];
    let server = Server::answering(runs([first, results_and(results, "Done.")])).await;
    let mut chat = behind(&server);
    chat.say("pay twice").await;
    chat.answer(approved()).await;
    assert_eq!(
        (chat.status(), server.requests().len()),
        (Status::Parked, 1)
    );
    chat.answer(denied("no")).await;
    assert_eq!(chat.status(), Status::Finished);
    let sent = body(&server, 1);
    let answers: Vec<_> = sent["resume"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["payload"]["approved"].clone())
        .collect();
    assert_eq!(answers, [json!(true), json!(false)]);
}

/// What LangGraph asks: it does not say of which call.
fn graph_interrupt() -> Value {
    json!({"id": "i1", "reason": "langgraph:interrupt", "message": "Pay 5?"})
}

#[tokio::test]
async fn interrupt_that_names_no_call_is_of_the_only_one_that_waits() {
    // The arguments come with the messages, and the next run tells of the call again.
    let call_again = call("c1");
    let mut first = call_of("c1", "pay", json!({}));
    first.push(json!({"type": "MESSAGES_SNAPSHOT", "messages": [
        {"role": "user", "id": "user-1", "content": "pay"},
        {"role": "assistant", "id": "m1", "content": "", "toolCalls": [
            {"id": "c1", "type": "function", "function": {"name": "pay", "arguments": "{\"amount\": 5}"}},
        ]},
    ]}));
    let results = call_again.into_iter().chain([result("c1", "paid")]);
    let server = Server::answering(runs([
        interrupted(first, vec![graph_interrupt()]),
        results_and(results.collect(), "Paid."),
    ]))
    .await;
    let mut chat = behind(&server);
    chat.say("pay").await;
    let call = &chat.calls()[0];
    assert_eq!(
        (call.tool.as_str(), &call.input),
        ("pay", &json!({"amount": 5}))
    );
    chat.answer(approved()).await;
    assert_eq!(chat.status(), Status::Finished);
    assert_eq!(chat.calls().len(), 1);
    let output = json!("paid");
    assert_eq!(chat.outcomes(), [Some(Outcome::Output { output })]);
}

#[tokio::test]
async fn interrupt_of_no_call_is_a_question_of_its_own() {
    let first = interrupted(text("m1", "Wait."), vec![graph_interrupt()]);
    let server = Server::answering(runs([first, saying("Done."), saying("Bye.")])).await;
    let mut chat = behind(&server);
    chat.say("go").await;
    let question = "Pay 5?".to_owned();
    assert_eq!(chat.gates()[0].kind, GateKind::Approval { question });
    chat.answer(approved()).await;
    assert_eq!(chat.status(), Status::Finished);
    let output = json!({"approved": true});
    assert_eq!(chat.outcomes(), [Some(Outcome::Output { output })]);
    chat.say("bye").await;
    let sent = body(&server, 2);
    assert_eq!(sent.get("resume"), None);
    assert!(!sent["messages"].to_string().contains("i1"), "{sent}");
}

#[tokio::test]
async fn event_of_langgraphs_own_is_an_interrupt() {
    let custom =
        json!({"type": "CUSTOM", "name": "on_interrupt", "value": "{\"message\": \"Pay 5?\"}"});
    let first = run_to(call("c1").into_iter().chain([custom]), Value::Null);
    let paid = results_and(vec![result("c1", "paid")], "Paid.");
    let server = Server::answering(runs([first, paid])).await;
    let mut chat = behind(&server);
    chat.say("pay").await;
    let question = "Pay 5?".to_owned();
    assert_eq!(chat.gates()[0].kind, GateKind::Approval { question });
    chat.answer(approved()).await;
    assert_eq!(chat.status(), Status::Finished);
    let payload = json!({"approved": true});
    assert_eq!(body(&server, 1)["resume"][0]["payload"], payload);
}

#[tokio::test]
async fn question_that_nobody_answers_is_cancelled() {
    let server = Server::answering(runs([asking("c1"), saying("Well.")])).await;
    let mut chat = behind(&server);
    chat.say("pay").await;
    chat.answer(Decision::TimedOut).await;
    assert_eq!(chat.status(), Status::Finished);
    let entry = json!({"interruptId": "int-c1", "status": "cancelled"});
    assert_eq!(body(&server, 1)["resume"], json!([entry]));
}

#[tokio::test]
async fn call_without_a_result_is_run_by_the_page() {
    let outcome = json!({"type": "success", "pendingToolCallIds": ["c1"]});
    let first = run_to(call_of("c1", "locate", json!({})), outcome);
    let server = Server::answering(runs([first, saying("In Oslo.")])).await;
    let mut chat = behind(&server);
    chat.say("where?").await;
    assert_eq!(
        (&chat.gates()[0].kind, chat.calls()[0].place),
        (&GateKind::ClientCall, Place::Client)
    );
    let output = json!({"city": "Oslo"});
    chat.answer(Decision::Output { output }).await;
    assert_eq!(chat.status(), Status::Finished);
    let sent = body(&server, 1);
    assert_eq!(sent.get("resume"), None);
    let output = json!({
        "role": "tool",
        "id": "c1-result",
        "content": r#"{"city":"Oslo"}"#,
        "toolCallId": "c1",
    });
    assert_eq!(sent["messages"][2], output);
}

#[tokio::test]
async fn tools_that_are_offered_follow_our_rules() {
    let first = run(call_of("c1", "locate", json!({"precise": true})));
    let server = Server::answering(runs([first, saying("In Oslo.")])).await;
    let mut chat = behind(&server);
    chat.tools = vec![ToolDeclaration {
        name: "locate".to_owned(),
        description: "Where the person is.".to_owned(),
        input_schema: json!({"type": "object"}),
        behavior: Behavior::Blocking,
    }];
    chat.say("where?").await;
    let offered = json!({
        "name": "locate",
        "description": "Where the person is.",
        "parameters": {"type": "object"},
    });
    assert_eq!(body(&server, 0)["tools"], json!([offered]));
    // The chat's own policy held it.
    assert!(matches!(chat.gates()[0].kind, GateKind::Approval { .. }));
    assert_eq!(chat.calls()[0].place, Place::Client);
    chat.answer(approved()).await;
    assert_eq!(chat.gates()[0].kind, GateKind::ClientCall);
    let output = json!("Oslo");
    chat.answer(Decision::Output { output }).await;
    assert_eq!(chat.status(), Status::Finished);
    assert_eq!(body(&server, 1)["messages"][2]["content"], "Oslo");
}
