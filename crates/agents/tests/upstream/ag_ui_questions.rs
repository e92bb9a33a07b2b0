//! Interrupts that ask for data, that expire, that ask about several calls, and that a subagent has.

use serde_json::{Value, json};
use turn::call::{Outcome, Place};
use turn::gate::{ASK_USER, Decision, GateKind};
use turn::{At, Status};

use crate::ag_ui::{behind, body, runs};
use crate::behind::{approved, denied};
use crate::events::{call, call_of, interrupt, interrupted, result, results_and, saying, text};
use crate::server::Server;

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {"seats": {"type": "integer"}},
        "required": ["seats"],
    })
}

/// An interrupt that asks how many seats.
fn seats(call: Option<&str>) -> Value {
    let mut interrupt = json!({
        "id": "i1",
        "reason": "input_required",
        "message": "How many?",
        "responseSchema": schema(),
    });
    if let Some(call) = call {
        interrupt["toolCallId"] = json!(call);
    }
    interrupt
}

fn given(output: Value) -> Decision {
    Decision::Output { output }
}

#[tokio::test]
async fn interrupt_with_a_schema_asks_for_data_and_the_agent_gets_it() {
    let booked = results_and(vec![result("c1", "booked")], "Booked.");
    let first = interrupted(call_of("c1", "book", json!({})), vec![seats(Some("c1"))]);
    let server = Server::answering(runs([first, booked])).await;
    let mut chat = behind(&server);
    chat.say("book").await;
    assert_eq!(chat.status(), Status::Parked);
    let [book, ask] = chat.calls().try_into().unwrap();
    assert_eq!((book.tool.as_str(), book.place), ("book", Place::Agent));
    assert_eq!((ask.tool.as_str(), ask.place), (ASK_USER, Place::Client));
    assert_eq!(ask.parent, Some(book.id));
    let kind = GateKind::Question {
        question: "How many?".to_owned(),
        schema: schema(),
    };
    assert_eq!(chat.gates()[0].kind, kind);
    chat.answer(given(json!({"seats": 4}))).await;
    assert_eq!(chat.status(), Status::Finished);
    let entry = json!({"interruptId": "i1", "status": "resolved", "payload": {"seats": 4}});
    assert_eq!(body(&server, 1)["resume"], json!([entry]));
    let outputs = [json!("booked"), json!({"seats": 4})];
    let outcomes = outputs.map(|output| Some(Outcome::Output { output }));
    assert_eq!(chat.outcomes(), outcomes);
    // What only we know is not sent.
    assert!(!body(&server, 1)["messages"].to_string().contains(ASK_USER));
}

#[tokio::test]
async fn question_about_no_call_is_answered_with_its_data() {
    let first = interrupted(text("m1", "Wait."), vec![seats(None)]);
    let server = Server::answering(runs([first, saying("Four, then."), saying("Bye.")])).await;
    let mut chat = behind(&server);
    chat.say("book").await;
    chat.answer(given(json!({"seats": 4}))).await;
    assert_eq!(chat.status(), Status::Finished);
    assert_eq!(
        body(&server, 1)["resume"][0]["payload"],
        json!({"seats": 4})
    );
    let output = json!({"seats": 4});
    assert_eq!(chat.outcomes(), vec![Some(Outcome::Output { output }); 2]);
    chat.say("bye").await;
    let sent = body(&server, 2);
    assert_eq!(sent.get("resume"), None);
    assert!(!sent["messages"].to_string().contains("i1"), "{sent}");
}

#[tokio::test]
async fn who_declines_to_give_data_cancels_the_interrupt_and_its_call_does_not_run() {
    let first = interrupted(call_of("c1", "book", json!({})), vec![seats(Some("c1"))]);
    for decision in [denied("no time"), Decision::TimedOut] {
        let server = Server::answering(runs([first.clone(), saying("Well.")])).await;
        let mut chat = behind(&server);
        chat.say("book").await;
        chat.answer(decision.clone()).await;
        assert_eq!(chat.status(), Status::Finished);
        let entry = json!({"interruptId": "i1", "status": "cancelled"});
        assert_eq!(body(&server, 1)["resume"], json!([entry]));
        let outcome = chat.outcomes().remove(0).unwrap();
        match decision {
            Decision::Denied { reason } => assert_eq!(outcome, Outcome::Denied { reason }),
            _ => assert!(matches!(outcome, Outcome::Error { .. }), "{outcome:?}"),
        }
    }
}

#[tokio::test]
async fn data_and_a_yes_to_one_run_are_sent_together() {
    let both = call("c1")
        .into_iter()
        .chain(call_of("c2", "book", json!({})));
    let first = interrupted(both.collect(), vec![interrupt("c1"), seats(Some("c2"))]);
    let results = vec![result("c1", "paid"), result("c2", "booked")];
    let server = Server::answering(runs([first, results_and(results, "Done.")])).await;
    let mut chat = behind(&server);
    chat.say("pay and book").await;
    chat.answer(approved()).await;
    assert_eq!(
        (chat.status(), server.requests().len()),
        (Status::Parked, 1)
    );
    chat.answer(given(json!({"seats": 2}))).await;
    assert_eq!(chat.status(), Status::Finished);
    let resume = body(&server, 1)["resume"].clone();
    assert_eq!(resume[0]["payload"], json!({"approved": true}));
    assert_eq!(resume[1]["payload"], json!({"seats": 2}));
}

#[tokio::test]
async fn question_for_data_outlives_the_server_that_asked_it() {
    let first = interrupted(call_of("c1", "book", json!({})), vec![seats(Some("c1"))]);
    let booked = results_and(vec![result("c1", "booked")], "Booked.");
    let server = Server::answering(runs([first, booked])).await;
    let mut chat = behind(&server);
    chat.say("book").await;
    chat.crash();
    assert_eq!((chat.status(), chat.gates().len()), (Status::Parked, 1));
    chat.run().await;
    assert_eq!(server.requests().len(), 1, "nobody has answered yet");
    chat.answer(given(json!({"seats": 4}))).await;
    assert_eq!(chat.status(), Status::Finished);
    assert_eq!(server.requests().len(), 2);
    assert_eq!(
        body(&server, 1)["resume"][0]["payload"],
        json!({"seats": 4})
    );
}

#[tokio::test]
async fn data_that_may_have_been_received_is_not_sent_again() {
    let first = interrupted(call_of("c1", "book", json!({})), vec![seats(Some("c1"))]);
    let server = Server::answering(runs([first])).await;
    let mut chat = behind(&server);
    chat.say("book").await;
    chat.decide(given(json!({"seats": 4})));
    // It was about to be sent.
    chat.crash();
    chat.run().await;
    assert_eq!(chat.failure().0, "agent_cut_off");
    let outcome = chat.outcomes().remove(0).unwrap();
    assert!(matches!(outcome, Outcome::Unknown { .. }), "{outcome:?}");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn interrupt_expires_when_the_agent_says_so() {
    let mut asked = interrupt("c1");
    asked["expiresAt"] = json!("2026-11-18T12:06:40.250+01:00");
    let mut data = seats(Some("c2"));
    data["expiresAt"] = json!("2026-11-18T11:06:40.250Z");
    let both = call("c1")
        .into_iter()
        .chain(call_of("c2", "book", json!({})));
    let first = interrupted(both.collect(), vec![asked, data]);
    let server = Server::answering(runs([first])).await;
    let mut chat = behind(&server);
    chat.say("pay").await;
    let expires: Vec<_> = chat.gates().iter().map(|gate| gate.expires).collect();
    assert_eq!(expires, [Some(At(1_795_000_000_250)); 2]);
}

/// What LangChain's middleware asks about several calls at once, and not in their order.
fn middleware() -> Value {
    let actions = json!([
        {"name": "book", "args": {"seats": 2}, "description": "Book a table for two?"},
        {"name": "pay", "args": {"amount": 5}, "description": "Pay 5?"},
    ]);
    json!({
        "id": "i1",
        "reason": "langgraph:interrupt",
        "metadata": {"langgraph": {"raw": {"action_requests": actions}}},
    })
}

#[tokio::test]
async fn middleware_that_asks_about_several_calls_gets_all_decisions_at_once() {
    let made = call("c1")
        .into_iter()
        .chain(call_of("c2", "look", json!({})))
        .chain(call_of("c3", "book", json!({"seats": 2})));
    let results = vec![result("c3", "booked")];
    let first = interrupted(made.collect(), vec![middleware()]);
    let server = Server::answering(runs([first, results_and(results, "Booked.")])).await;
    let mut chat = behind(&server);
    chat.say("book and pay").await;
    let questions: Vec<_> = chat
        .gates()
        .iter()
        .map(|gate| gate.kind.question().unwrap().to_owned())
        .collect();
    // The call that nobody is asked about comes with the next run.
    assert_eq!(chat.calls().len(), 2);
    assert_eq!(questions, ["Pay 5?", "Book a table for two?"]);
    chat.answer(denied("too much")).await;
    assert_eq!(
        (chat.status(), server.requests().len()),
        (Status::Parked, 1)
    );
    chat.answer(approved()).await;
    assert_eq!(chat.status(), Status::Finished);
    let decisions =
        json!({"decisions": [{"type": "approve"}, {"type": "reject", "message": "too much"}]});
    let entry = json!({"interruptId": "i1", "status": "resolved", "payload": decisions});
    assert_eq!(body(&server, 1)["resume"], json!([entry]));
}

/// The events of a subagent of a subagent that makes a call.
fn of_subagent(call: Vec<Value>) -> Vec<Value> {
    let started = [
        json!({"type": "SUBAGENT_STARTED", "subagentRunId": "s1", "name": "travel"}),
        json!({"type": "SUBAGENT_STARTED", "subagentRunId": "s2", "name": "hotels", "parentSubagentRunId": "s1"}),
    ];
    let made = call.into_iter().map(|mut event| {
        event["subagentRunId"] = json!("s2");
        event
    });
    started.into_iter().chain(made).collect()
}

#[tokio::test]
async fn question_of_a_subagent_has_its_path_and_the_answer_reaches_it() {
    let paths = |chat: &crate::behind::Behind| -> Vec<Vec<String>> {
        let calls = chat.calls();
        let path = |call: &turn::call::Call| call.path().into_iter().map(str::to_owned).collect();
        calls.iter().map(path).collect()
    };
    // The second run does not say again who the subagents are.
    let mut again = call_of("c2", "cancel", json!({}));
    for event in &mut again {
        event["subagentRunId"] = json!("s2");
    }
    again.insert(0, result("c1", "booked"));
    let mut of_none = seats(None);
    of_none["subagentRunId"] = json!("s2");
    let server = Server::answering(runs([
        interrupted(
            of_subagent(call_of("c1", "book", json!({}))),
            vec![seats(Some("c1"))],
        ),
        interrupted(again, vec![interrupt("c2")]),
        interrupted(vec![result("c2", "cancelled")], vec![of_none]),
        saying("Done."),
    ]))
    .await;
    let mut chat = behind(&server);
    chat.say("book").await;
    let both = ["travel", "hotels"].map(str::to_owned).to_vec();
    assert_eq!(paths(&chat), vec![both.clone(); 2]);
    chat.answer(given(json!({"seats": 4}))).await;
    assert_eq!(paths(&chat)[2], both);
    chat.answer(approved()).await;
    assert_eq!(body(&server, 2)["resume"][0]["interruptId"], "int-c2");
    assert_eq!(paths(&chat)[3..], vec![both; 2]);
    chat.answer(given(json!({"seats": 4}))).await;
    assert_eq!(chat.status(), Status::Finished);
}

#[tokio::test]
async fn two_subagents_that_ask_at_once_get_each_its_own_answer() {
    let names = [("s1", "flights"), ("s2", "hotels")];
    let mut events = Vec::new();
    for ((run, name), id) in names.into_iter().zip(["c1", "c2"]) {
        events.push(json!({"type": "SUBAGENT_STARTED", "subagentRunId": run, "name": name}));
        events.extend(call(id).into_iter().map(|mut event| {
            event["subagentRunId"] = json!(run);
            event
        }));
    }
    let results = vec![result("c1", "Denied."), result("c2", "booked")];
    let server = Server::answering(runs([
        interrupted(events, vec![interrupt("c1"), interrupt("c2")]),
        results_and(results, "Done."),
    ]))
    .await;
    let mut chat = behind(&server);
    chat.say("book both").await;
    let paths: Vec<_> = chat
        .calls()
        .iter()
        .map(|call| call.path().join("/"))
        .collect();
    assert_eq!(paths, ["flights", "hotels"]);
    chat.answer(denied("too far")).await;
    assert_eq!(server.requests().len(), 1, "the other is not answered");
    chat.answer(approved()).await;
    assert_eq!(chat.status(), Status::Finished);
    let denied = json!({"approved": false, "reason": "too far"});
    assert_eq!(
        body(&server, 1)["resume"],
        json!([
            {"interruptId": "int-c1", "status": "resolved", "payload": denied},
            {"interruptId": "int-c2", "status": "resolved", "payload": {"approved": true}},
        ])
    );
}

#[tokio::test]
async fn answer_to_another_question_after_the_first_is_sent_alone() {
    let first = interrupted(call_of("c1", "book", json!({})), vec![seats(Some("c1"))]);
    let second = interrupted(
        vec![result("c1", "booked")]
            .into_iter()
            .chain(call("c2"))
            .collect(),
        vec![interrupt("c2")],
    );
    let server = Server::answering(runs([first, second, saying("Done.")])).await;
    let mut chat = behind(&server);
    chat.say("book and pay").await;
    chat.answer(given(json!({"seats": 4}))).await;
    chat.answer(approved()).await;
    let resume = body(&server, 2)["resume"].clone();
    assert_eq!(resume.as_array().unwrap().len(), 1);
    assert_eq!(resume[0]["interruptId"], "int-c2");
}
