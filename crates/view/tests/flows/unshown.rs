//! Questions about what no page would show as it runs: nobody is asked, and the answer is no.

use serde_json::{Value, json};
use turn::call::{Outcome, Place};
use turn::gate::Decision;
use turn::limits::{MAX_DEPTH, MAX_KEY_BYTES, MAX_STRING_BYTES};
use turn::policy::Verdict;
use turn::{Chat, Effect, Entry, Input, Status};

use crate::driver::Driver;

/// Inputs of which a page would show less than what runs.
fn unshowable() -> [Value; 5] {
    let rounded = serde_json::from_str(r#"{"amount": 100000000000000000000001}"#);
    let proto = serde_json::from_str(r#"{"amount": 5, "__proto__": {"amount": 500}}"#);
    [
        proto.unwrap(),
        json!({"a": [{"constructor": {"prototype": {}}}]}),
        json!([500, "Mallory", "USD", ""]),
        json!("everything"),
        rounded.unwrap(),
    ]
}

/// Inputs that a page could show, and in which a person would find nothing.
fn oversized() -> [Value; 4] {
    let deep = (1..=MAX_DEPTH).fold(json!({"amount": 5}), |inner, _| json!({"a": inner}));
    let texts = vec!["x".repeat(60_000); 5];
    [
        json!({"amount": 5, "note": "x".repeat(MAX_STRING_BYTES + 1)}),
        deep,
        json!({"amount": 5, "notes": texts}),
        json!({"amount": 5, "k".repeat(MAX_KEY_BYTES + 1): 1}),
    ]
}

fn ask(question: &str) -> Verdict {
    let question = question.to_owned();
    Verdict::Ask { question }
}

fn is_no(decision: Option<Decision>) -> bool {
    matches!(
        decision,
        Some(Decision::Denied { reason: Some(reason) }) if reason.starts_with("Nobody was asked: ")
    )
}

#[test]
fn agent_that_asks_about_what_is_not_shown_gets_a_denial_and_nobody_is_asked() {
    for input in unshowable().into_iter().chain(oversized()) {
        let mut driver = Driver::new();
        driver.say("pay");
        driver.own_call_with("fc-1", "process_payment", Place::Agent, input);
        driver.end_step();
        assert_eq!(driver.agent_asks("fc-1", "Pay 5?"), [Effect::CallModel]);
        assert!(is_no(driver.decision(0)));
        let own = driver.own_calls();
        assert!(is_no(own[0].asked.as_ref().unwrap().decision.clone()));
        assert!(matches!(driver.outcome(0), Some(Outcome::Denied { .. })));
        driver.text("It was not allowed.");
        driver.end_step();
        // No client was shown a question, and none sends an answer.
        assert_eq!(driver.requests(), 1);
        driver.check(&["It was not allowed."]);
    }
}

#[test]
fn tool_at_the_agent_that_asks_about_what_is_not_shown_gets_a_denial() {
    for input in unshowable().into_iter().chain(oversized()) {
        let mut driver = Driver::new();
        driver.say("pay");
        driver.own_call_with("fc-1", "process_payment", Place::Agent, input);
        driver.end_step();
        let call = driver.call_id(0);
        driver.asks(&call, "Pay 5?");
        assert!(is_no(driver.decision(0)));
        assert_eq!(driver.status(), Status::Running);
        driver.agent_settles("fc-1", json!({"paid": 0}));
        driver.text("Not paid.");
        driver.end_step();
        driver.check(&["Not paid."]);
    }
}

/// The tool may declare how long its text may be; its schema is checked before the policy asks.
#[test]
fn input_that_a_tool_here_declares_to_be_long_is_asked_about() {
    let input = json!({"letter": "x".repeat(MAX_STRING_BYTES + 1)});
    let mut driver = Driver::new();
    driver.say("write");
    driver.call_with("send_letter", Place::Server, ask("Send it?"), input);
    driver.end_step();
    assert_eq!(driver.decision(0), None);
    assert_eq!(driver.status(), Status::Parked);
}

#[test]
fn page_is_not_asked_to_run_what_it_can_not_hold() {
    for input in unshowable() {
        let mut driver = Driver::new().client_tool("change_bgm");
        driver.say("music");
        driver.own_call("fc-1", "play", Place::Agent);
        driver.end_step();
        let call = driver.call_id(0);
        let effects = driver.perform(Input::ToolCalls {
            call: call.clone(),
            tool: "change_bgm".to_owned(),
            input,
            timeout: None,
        });
        assert!(matches!(driver.decision(0), Some(Decision::Failed { .. })));
        assert!(
            matches!(&effects[..], [Effect::WakeTool { call: waiting, .. }] if *waiting == call)
        );
        assert_eq!(driver.announced(), [""; 0]);
        driver.agent_settles("fc-1", json!({"ok": false}));
        driver.text("No music.");
        driver.end_step();
        driver.check(&["No music."]);
    }
}

#[test]
fn question_that_an_older_version_has_asked_is_taken_back_when_its_turn_is_taken_up() {
    let input = &unshowable()[0];
    let part =
        json!({"part": "call", "id": "call_t_0", "tool": "pay", "input": input, "place": "server"});
    let entry: Entry = serde_json::from_value(json!({"seq": 1, "at": 1, "actor": "ann", "events": [
        {"event": "chat-opened", "owner": "ann"},
        {"event": "turn-opened", "turn": "t", "messageId": "m", "cause": {
            "cause": "message", "message": {"id": "u1", "role": "user", "parts": []}}},
        {"event": "step-ended", "turn": "t", "finish": "stop", "parts": [part]},
        {"event": "gate-opened", "turn": "t", "gate": {
            "id": "gate_t_0", "call": "call_t_0", "kind": {"kind": "approval", "question": "Pay 5?"}}},
    ]}))
    .unwrap();
    let mut chat = Chat::replay([&entry]);
    let (idempotent, by) = (Vec::new(), None);
    let output = chat.handle(
        Input::Recover {
            here: Vec::new(),
            idempotent,
            by,
        },
        turn::At(2),
    );
    let (turn, _, decision) = chat.gate(&"gate_t_0".into()).unwrap();
    assert!(is_no(decision.cloned()));
    assert!(matches!(
        turn.outcome(&"call_t_0".into()),
        Some(Outcome::Denied { .. })
    ));
    assert_eq!(output.effects, [Effect::CallModel]);
}

/// The turn decides by a rule of its own what pages can't show; the wire strips by another.
#[test]
fn what_is_asked_about_is_what_the_wire_leaves_whole() {
    let proto = r#"{"a": {"__proto__": 1}}"#;
    let inputs = [
        json!({}),
        json!({"constructor": "Acme", "prototype": 1, "a": [{"b": null}]}),
        json!({"constructor": {"prototype": null}}),
        json!({"a": [1, {"constructor": {"prototype": {}}}]}),
        serde_json::from_str(proto).unwrap(),
    ];
    for input in inputs {
        let is_stripped = wire::prototype::without_refused_keys(input.clone()) != input;
        let mut driver = Driver::new();
        driver.say("pay");
        driver.own_call_with("fc-1", "process_payment", Place::Agent, input.clone());
        driver.end_step();
        driver.agent_asks("fc-1", "Pay 5?");
        assert_eq!(is_no(driver.decision(0)), is_stripped, "{input}");
    }
}
