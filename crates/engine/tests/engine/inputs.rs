//! What is refused before anybody is asked, and what is taken from pages.

use std::sync::{Arc, Mutex};

use adk_stream_engine::Request;
use adk_stream_engine::{
    Context, Dialect, Engine, EngineError, ToolError, Tools, client_tool, tool,
};
use demo::Demo;
use proptest::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use turn::gate::Decision;
use turn::{ChatId, Event, Principal, Status};
use wire::{Message, Part, Profile, Role, Trigger};

use crate::fixture::{self, Fixture, call, memory, text};

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "what runs is not what is tested here")]
struct Payment {
    amount: f64,
    recipient: String,
    #[serde(default)]
    note: String,
}

/// A fixture whose model makes one call of a payment that has to be approved.
fn paying(input: Value) -> Fixture {
    let pay = tool("pay", "Pays", async |_: Context, _: Payment| Ok(json!({})));
    let pay = pay.ask(|payment: &Payment| format!("Pay {}?", payment.recipient));
    Fixture::new(
        Tools::new().with(pay),
        move |request| match fixture::results(request) {
            0 => vec![call("pay", input.clone())],
            _ => vec![text("Done.")],
        },
    )
}

fn approved(input: Value) -> Decision {
    Decision::Approved {
        reason: None,
        input: Some(input),
    }
}

#[tokio::test]
async fn input_that_is_not_as_declared_is_refused_before_anybody_is_asked() {
    let proto = serde_json::from_str(
        r#"{"amount": 5, "recipient": "Sam", "__proto__": {"recipient": "Mallory"}}"#,
    );
    for (input, why) in [
        (json!([500, "Mallory", ""]), "an object"),
        (
            json!({"amount": 5, "recipient": "Sam", "memo": "x"}),
            "memo",
        ),
        (
            json!({"amount": 5, "recipient": "x".repeat(65_537)}),
            "/recipient",
        ),
        (json!({"amount": "5", "recipient": "Sam"}), "/amount"),
        (proto.unwrap(), "__proto__"),
    ] {
        let fixture = paying(input);
        fixture.say("pay").await;
        fixture.until(Status::Finished).await;
        let is_gate = |event: &Event| matches!(event, Event::GateOpened { .. });
        assert_eq!(fixture.count(is_gate).await, 0, "{why}");
        let view = fixture
            .engine
            .view(&fixture.ann, &fixture.chat)
            .await
            .unwrap();
        let parts = view.messages.iter().flat_map(|message| &message.parts);
        let parts: Vec<_> = parts.filter_map(Part::as_tool).collect();
        let received = parts[0].error_text.as_deref().unwrap();
        assert!(received.contains(why) && received.len() < 500, "{received}");
    }
}

#[tokio::test]
async fn edited_input_is_checked_as_the_models_is() {
    let fixture = paying(json!({"amount": 5, "recipient": "Sam"}));
    fixture.say("pay").await;
    fixture.until(Status::Parked).await;
    let gate = fixture.engine.approvals(&fixture.ann).await.unwrap()[0]
        .gate
        .id
        .clone();
    let proto = serde_json::from_str(r#"{"amount": 5, "recipient": "Sam", "__proto__": 1}"#);
    for input in [
        json!([500, "Mallory", ""]),
        json!({"amount": 5, "recipient": "Sam", "memo": "x"}),
        json!({"amount": 5}),
        proto.unwrap(),
    ] {
        let answer = fixture.engine.answer(&fixture.ann, &gate, approved(input));
        assert!(matches!(answer.await, Err(EngineError::InvalidInput(_))));
    }
    let edited = json!({"amount": 4, "recipient": "Sam"});
    let answer = fixture.engine.answer(&fixture.ann, &gate, approved(edited));
    assert!(answer.await.unwrap().agrees);
    fixture.until(Status::Finished).await;
}

#[tokio::test]
async fn answer_agrees_with_another_only_if_it_approves_the_same_input() {
    let (asked, edited) = (
        json!({"amount": 5, "recipient": "Sam"}),
        json!({"amount": 4, "recipient": "Sam"}),
    );
    let yes = || Decision::Approved {
        reason: None,
        input: None,
    };
    for (first, second, agrees) in [
        (approved(edited.clone()), yes(), false),
        (yes(), approved(edited.clone()), false),
        (approved(edited.clone()), approved(edited.clone()), true),
        (approved(asked.clone()), yes(), true),
        (yes(), yes(), true),
        (yes(), Decision::Denied { reason: None }, false),
    ] {
        let fixture = paying(asked.clone());
        fixture.say("pay").await;
        fixture.until(Status::Parked).await;
        let open = fixture
            .engine
            .approvals(&fixture.ann)
            .await
            .unwrap()
            .remove(0);
        let answer = |decision| fixture.engine.answer(&fixture.ann, &open.gate.id, decision);
        assert!(answer(first.clone()).await.unwrap().agrees);
        let received = answer(second.clone()).await.unwrap();
        assert_eq!(received.agrees, agrees, "{first:?}, then {second:?}");
        assert_eq!(received.closed.decision, first);
    }
}

#[tokio::test]
async fn answer_to_another_digest_decides_nothing() {
    let fixture = paying(json!({"amount": 5, "recipient": "Sam"}));
    fixture.say("pay").await;
    fixture.until(Status::Parked).await;
    let open = fixture
        .engine
        .approvals(&fixture.ann)
        .await
        .unwrap()
        .remove(0);
    let digest = open.gate.digest(&open.call);
    let answer = |digest| {
        let no = Decision::Denied { reason: None };
        fixture
            .engine
            .answer_to(&fixture.ann, &open.gate.id, no, digest)
    };
    let refused = answer(Some("other".to_owned())).await.unwrap_err();
    assert_eq!(refused.code(), "approval_changed");
    assert_eq!(
        fixture.engine.approvals(&fixture.ann).await.unwrap().len(),
        1
    );
    // The digest is derived: a process that comes later gives the same.
    let later = fixture.restarted();
    let found = later
        .engine
        .approval(&fixture.ann, &open.gate.id)
        .await
        .unwrap();
    assert_eq!(found.asked.gate.digest(&found.asked.call), digest);
    let bob = Principal::from("bob");
    let foreign = later.engine.approval(&bob, &open.gate.id).await;
    assert!(matches!(foreign, Err(EngineError::UnknownApproval)));
    assert!(answer(digest).await.unwrap().agrees);
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is wanted")]
struct Played {
    track: u32,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its schema is wanted")]
struct Play {
    track: u32,
}

#[tokio::test]
async fn output_that_is_not_as_declared_is_refused_and_the_call_stays_open() {
    let tools = Tools::new().with(client_tool::<Play>("play", "Plays").output::<Played>());
    let fixture = Fixture::new(tools, |request| match fixture::results(request) {
        0 => vec![call("play", json!({"track": 1}))],
        _ => vec![text("Playing.")],
    });
    fixture.say("play").await;
    fixture.until(Status::Parked).await;
    let view = fixture
        .engine
        .view(&fixture.ann, &fixture.chat)
        .await
        .unwrap();
    let parts = view.messages.iter().flat_map(|message| &message.parts);
    let id = parts
        .filter_map(Part::as_tool)
        .next()
        .unwrap()
        .tool_call_id
        .as_str()
        .into();
    for output in [json!({"track": "loud"}), json!([1]), json!({})] {
        let given = fixture.engine.output(&fixture.ann, &id, Ok(output)).await;
        assert_eq!(given.unwrap_err().code(), "invalid_output");
    }
    fixture.until(Status::Parked).await;
    // A page may say more than is declared.
    let output = json!({"track": 1, "volume": 5});
    assert!(
        fixture
            .engine
            .output(&fixture.ann, &id, Ok(output))
            .await
            .unwrap()
    );
    fixture.until(Status::Finished).await;
}

#[tokio::test]
async fn tool_can_not_have_a_page_run_what_its_tool_does_not_take() {
    let seen = Arc::new(Mutex::new(String::new()));
    let noted = seen.clone();
    let mood = tool(
        "mood",
        "Sets the mood",
        move |context: Context, _: Map<String, Value>| {
            let seen = noted.clone();
            async move {
                let played: Result<Value, ToolError> =
                    context.client("play", json!({"track": "x"})).await;
                *seen.lock().unwrap() = played.unwrap_err().to_string();
                // Of a tool that nobody has declared here, nothing is known but what pages can show.
                for input in [json!([1]), json!({"note": "x".repeat(70_000)})] {
                    let ran = context.client::<Value>("other", input).await;
                    ran.expect_err("no page can show it");
                }
                // The next question is the first that counts, also when it is asked again.
                context.client::<Value>("play", json!({"track": 2})).await
            }
        },
    );
    let tools = Tools::new()
        .with(mood)
        .with(client_tool::<Play>("play", "Plays"));
    let fixture = Fixture::new(tools, |request| match fixture::results(request) {
        0 => vec![call("mood", json!({}))],
        _ => vec![text("Done.")],
    });
    fixture.say("mood").await;
    fixture.until(Status::Parked).await;
    let view = fixture
        .engine
        .view(&fixture.ann, &fixture.chat)
        .await
        .unwrap();
    let shown = serde_json::to_string(&view.messages).unwrap();
    assert!(!shown.contains("tool-other"), "{shown}");
    assert!(seen.lock().unwrap().contains("/track"));
    fixture.output("play", json!({"ok": true})).await;
    fixture.until(Status::Finished).await;
}

#[tokio::test]
async fn tool_that_asks_in_the_middle_of_its_work_takes_no_other_input_and_shows_what_runs() {
    let book = tool("book", "Books", async |context: Context, _: Payment| {
        context.approve("Really?").await?;
        Ok(json!({}))
    });
    let book = book.ask(|_| "Book?".to_owned());
    let fixture = Fixture::new(Tools::new().with(book), |request| {
        match fixture::results(request) {
            0 => vec![call("book", json!({"amount": 5, "recipient": "Sam"}))],
            _ => vec![text("Done.")],
        }
    });
    fixture.say("book").await;
    fixture.until(Status::Parked).await;
    let edited = json!({"amount": 4, "recipient": "Ann"});
    fixture.answer_next(approved(edited.clone())).await;
    let is_gate = |event: &Event| matches!(event, Event::GateOpened { .. });
    while fixture.count(is_gate).await < 2 {
        tokio::task::yield_now().await;
    }
    let open = fixture
        .engine
        .approvals(&fixture.ann)
        .await
        .unwrap()
        .remove(0);
    assert_eq!(open.gate.shown_input(&open.call), &edited);
    assert!(!open.gate.policy(&open.call).is_editable);
    let other = json!({"amount": 400, "recipient": "Ann"});
    let answer = fixture
        .engine
        .answer(&fixture.ann, &open.gate.id, approved(other));
    assert_eq!(answer.await.unwrap_err().code(), "invalid_input");
    fixture
        .answer_next(Decision::Approved {
            reason: None,
            input: None,
        })
        .await;
    fixture.until(Status::Finished).await;
}

#[tokio::test]
async fn chat_that_is_too_large_takes_answers_and_no_more_messages() {
    let pay = tool("pay", "Pays", async |_: Context, _: Payment| Ok(json!({})));
    let tools = Tools::new().with(pay.ask(|_| "Pay?".to_owned()));
    let fixture = Fixture::new(tools, |request| match fixture::results(request) {
        0 => vec![call("pay", json!({"amount": 5, "recipient": "Sam"}))],
        _ => vec![text("Done.")],
    });
    // Many values take many times the bytes of their text.
    let mut data = Map::new();
    data.insert("type".to_owned(), json!("data-x"));
    data.insert("data".to_owned(), json!(vec![0; 200_000]));
    let send = |number: usize| {
        let parts = vec![Part::text("pay"), Part::Unknown(data.clone())];
        let request = Request {
            chat: fixture.chat.clone(),
            trigger: Trigger::SubmitMessage,
            message_id: None,
            messages: vec![Message::new(number.to_string(), Role::User, parts)],
        };
        let dialect = Dialect::Sdk(Profile::Shared);
        fixture.engine.send(&fixture.ann, request, dialect)
    };
    let mut sent = 0;
    let refused = loop {
        match send(sent).await {
            Ok(_) => sent += 1,
            Err(error) => break error,
        }
        fixture.until(Status::Parked).await;
        assert!(sent < 10, "it is still taken");
    };
    assert!(sent > 1);
    assert_eq!(refused.code(), "chat_too_large");
    fixture.until(Status::Parked).await;
    let yes = Decision::Approved {
        reason: None,
        input: None,
    };
    fixture.answer_next(yes).await;
    fixture.until(Status::Finished).await;
    assert_eq!(send(10).await.unwrap_err().code(), "chat_too_large");
}

async fn open_chat(engine: &Engine, id: &str) -> Result<(), EngineError> {
    let request = Request {
        chat: ChatId::from(id),
        trigger: Trigger::SubmitMessage,
        message_id: None,
        messages: vec![Message::new("u1", Role::User, vec![Part::text("hi")])],
    };
    let dialect = Dialect::Sdk(Profile::Shared);
    engine
        .send(&Principal::from("ann"), request, dialect)
        .await
        .map(drop)
}

#[tokio::test]
async fn chat_is_not_opened_under_an_id_that_routes_can_not_hold() {
    let journal = memory();
    let engine = Engine::builder(journal.clone(), Arc::new(Demo::new()), Tools::new()).build();
    for id in ["live", "..", "a/b", "a%2Fb", &"x".repeat(257)] {
        let opened = open_chat(&engine, id).await.unwrap_err();
        assert_eq!(opened.code(), "invalid_chat_id", "{id}");
        assert_eq!(journal.read(&ChatId::from(id), 0).await.unwrap(), []);
    }
    // One that an earlier version has opened goes on.
    let engine = Engine::builder(journal.clone(), Arc::new(Demo::new()), Tools::new()).build();
    let owner = Principal::from("ann");
    let entry = store::NewEntry {
        at: turn::At(1),
        epoch: 0,
        actor: owner.clone().into(),
        events: vec![Event::ChatOpened { owner }],
        open: None,
    };
    let appended = journal.append(&ChatId::from("live"), 0, entry).await;
    assert_eq!(appended, Ok(store::Appended::Ok { seq: 1 }));
    open_chat(&engine, "live").await.unwrap();
}

/// Values as a hostile model gives them.
fn hostile() -> impl Strategy<Value = Value> {
    let key = prop_oneof![
        3 => "[a-z]{0,3}",
        1 => Just("__proto__".to_owned()),
        1 => Just("constructor".to_owned()),
        1 => Just("prototype".to_owned()),
        1 => Just("\u{202e}\u{200b}".to_owned()),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        Just(json!({"prototype": 1})),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        let map = prop::collection::vec((key.clone(), inner.clone()), 0..4);
        prop_oneof![
            1 => prop::collection::vec(inner, 0..4).prop_map(Value::from),
            3 => map.prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// What is shown is what runs, byte for byte, or nobody is asked.
    #[test]
    fn whatever_is_asked_about_is_shown_as_it_runs(input in hostile()) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap();
        runtime.block_on(async {
            let ran = Arc::new(Mutex::new(None));
            let noted = ran.clone();
            let any = tool("any", "Takes anything", move |_: Context, input: Map<String, Value>| {
                *noted.lock().unwrap() = Some(Value::Object(input).to_string());
                async { Ok(json!({})) }
            });
            let given = input.clone();
            let fixture = Fixture::new(
                Tools::new().with(any.ask(|_| "Run?".to_owned())),
                move |request| match fixture::results(request) {
                    0 => vec![call("any", given.clone())],
                    _ => vec![text("Done.")],
                },
            );
            fixture.say("run").await;
            let is_over = |event: &Event| {
                matches!(event, Event::GateOpened { .. } | Event::CallSettled { .. })
            };
            fixture.until_event(is_over).await;
            if let Some(open) = fixture.engine.approvals(&fixture.ann).await.unwrap().first() {
                let view = fixture.engine.view(&fixture.ann, &fixture.chat).await.unwrap();
                let parts = view.messages.iter().flat_map(|message| &message.parts);
                let part = parts.filter_map(Part::as_tool).next().unwrap();
                let shown = part.input.as_ref().unwrap().to_string();
                assert_eq!(shown, open.gate.shown_input(&open.call).to_string());
                let yes = Decision::Approved { reason: None, input: None };
                fixture.answer_next(yes).await;
                fixture.until(Status::Finished).await;
                assert_eq!(ran.lock().unwrap().as_ref(), Some(&shown));
                // A model that gives nothing gives an object without fields.
                let input = match &input {
                    Value::Null => json!({}),
                    input => input.clone(),
                };
                assert_eq!(shown, input.to_string());
            } else {
                fixture.until(Status::Finished).await;
                assert_eq!(*ran.lock().unwrap(), None);
            }
        });
    }
}

#[tokio::test(start_paused = true)]
async fn question_about_a_tool_without_a_limit_of_its_own_expires_by_the_setting() {
    let pay = tool("pay", "Pays", async |_: Context, _: Payment| Ok(json!({})));
    let pay = pay.ask(|payment: &Payment| format!("Pay {}?", payment.recipient));
    let mut fixture = paying(json!({"amount": 5, "recipient": "Sam"}));
    let limit = std::time::Duration::from_secs(60);
    fixture.engine = Engine::builder(
        fixture.journal.clone(),
        Arc::new(fixture::Scripted(fixture.script.clone())),
        Tools::new().with(pay),
    )
    .approval_timeout(Some(limit))
    .build();
    fixture.say("pay").await;
    fixture
        .until_event(|event| {
            matches!(
                event,
                Event::GateClosed {
                    decision: Decision::TimedOut,
                    ..
                }
            )
        })
        .await;
    fixture.until(Status::Finished).await;
}
