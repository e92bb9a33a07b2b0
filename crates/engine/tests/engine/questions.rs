//! Tools that ask a person for data in the middle of their work.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use adk_stream_engine::{Context, EngineError, Refused, ToolError, Tools, tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use turn::gate::Decision;
use turn::{CallId, Event, GateId, Status};

use crate::fixture::{self, Fixture, call, text};
use crate::{Nothing, approved};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Table {
    date: String,
    #[schemars(range(min = 1, max = 12))]
    people: u32,
}

/// A tool that asks by a schema, and gives what it got.
fn book() -> Tools {
    Tools::new().with(tool(
        "book",
        "Books",
        async |context: Context, _: Nothing| {
            let schema = schemars::schema_for!(Table).to_value();
            Ok::<_, ToolError>(match context.ask("For when?", schema).await {
                Ok(answer) => json!({"booked": answer}),
                Err(refused) => json!({"refused": refused.to_string()}),
            })
        },
    ))
}

fn fixture(tools: Tools) -> Fixture {
    Fixture::new(tools, |request| match fixture::results(request) {
        0 => vec![call("book", json!({}))],
        _ => vec![text("Done.")],
    })
}

async fn asked(fixture: &Fixture) -> (GateId, CallId) {
    fixture.until(Status::Parked).await;
    let open = fixture.engine.approvals(&fixture.ann).await.unwrap();
    let [open] = &open[..] else {
        panic!("{open:?}")
    };
    (open.gate.id.clone(), open.call.id.clone())
}

fn output(output: Value) -> Decision {
    Decision::Output { output }
}

/// The output of the tool that asked.
async fn booked(fixture: &Fixture) -> Value {
    fixture.until(Status::Finished).await;
    let view = fixture.engine.view(&fixture.ann, &fixture.chat).await;
    let messages = view.unwrap().messages;
    let mut parts = messages.iter().flat_map(|message| &message.parts);
    let booked = parts.find_map(|part| part.as_tool().filter(|part| part.tool_name == "book"));
    booked.unwrap().output.clone().unwrap()
}

#[tokio::test]
async fn answer_is_checked_against_the_schema_and_given_to_the_tool() {
    let fixture = fixture(book());
    fixture.say("book").await;
    let (gate, page) = asked(&fixture).await;
    let answer = async |decision| fixture.engine.answer(&fixture.ann, &gate, decision).await;

    let wrong = answer(output(json!({"people": 40, "pets": 1}))).await;
    let Err(EngineError::InvalidAnswer(errors)) = wrong else {
        panic!("{wrong:?}")
    };
    let mut paths: Vec<_> = errors.iter().map(|error| error.path.as_str()).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["/date", "/people", "/pets"]);
    // By the page's way the same holds.
    let given = fixture.engine.output(&fixture.ann, &page, Ok(json!({})));
    let error = given.await.unwrap_err();
    assert_eq!(error.code(), "invalid_answer");
    // A yes is no data.
    let error = answer(approved()).await.unwrap_err();
    assert_eq!(error.code(), "bad_request");

    let table = json!({"date": "2026-12-24", "people": 4});
    assert!(answer(output(table.clone())).await.unwrap().agrees);
    assert_eq!(booked(&fixture).await, json!({"booked": table}));
    // The same again agrees; something else does not.
    assert!(answer(output(table)).await.unwrap().agrees);
    let other = json!({"date": "2026-12-25", "people": 4});
    assert!(!answer(output(other)).await.unwrap().agrees);
    let declined = Decision::Denied { reason: None };
    assert!(!answer(declined).await.unwrap().agrees);
}

#[tokio::test]
async fn person_may_decline_and_a_page_may_say_so() {
    for by_page in [false, true] {
        let fixture = fixture(book());
        fixture.say("book").await;
        let (gate, page) = asked(&fixture).await;
        if by_page {
            let given = fixture
                .engine
                .output(&fixture.ann, &page, Err("not now".to_owned()));
            given.await.unwrap();
        } else {
            let reason = Some("not now".to_owned());
            let declined = Decision::Denied { reason };
            let answered = fixture.engine.answer(&fixture.ann, &gate, declined);
            assert!(answered.await.unwrap().agrees);
        }
        let refused = json!({"refused": "Denied: not now"});
        assert_eq!(booked(&fixture).await, refused);
    }
}

#[tokio::test(start_paused = true)]
async fn question_expires() {
    let tools = Tools::new().with(tool(
        "book",
        "Books",
        async |context: Context, _: Nothing| {
            let schema = json!({"type": "string"});
            let asked = context.ask_within("Who?", schema, Duration::from_secs(60));
            let refused = asked.await.unwrap_err();
            Ok::<_, ToolError>(json!(refused == Refused::TimedOut))
        },
    ));
    let fixture = fixture(tools);
    fixture.say("book").await;
    assert_eq!(booked(&fixture).await, json!(true));
}

#[tokio::test]
async fn schema_that_is_none_is_never_asked() {
    let tools = Tools::new().with(tool(
        "book",
        "Books",
        async |context: Context, _: Nothing| {
            let refused = context.ask("Who?", json!({"type": 5})).await.unwrap_err();
            Ok::<_, ToolError>(json!(refused.to_string()))
        },
    ));
    let fixture = fixture(tools);
    fixture.say("book").await;
    let said = booked(&fixture).await;
    assert!(said.as_str().unwrap().starts_with("This can't be asked"));
    let gates = |event: &Event| matches!(event, Event::GateOpened { .. });
    assert_eq!(fixture.count(gates).await, 0);
}

#[tokio::test]
async fn answer_after_a_restart_reaches_the_tool_that_asks_the_same() {
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = runs.clone();
    let book = tool("book", "Books", move |context: Context, _: Nothing| {
        counted.fetch_add(1, Ordering::SeqCst);
        async move {
            let table: Table = context.ask_for("For when?").await?;
            Ok::<_, ToolError>(json!({"date": table.date, "people": table.people}))
        }
    });
    let fixture = fixture(Tools::new().with(book));
    fixture.say("book").await;
    let (gate, _) = asked(&fixture).await;
    let later = fixture.restarted();
    let table = json!({"date": "2026-12-24", "people": 4});
    let answered = later.engine.answer(&later.ann, &gate, output(table));
    assert!(answered.await.unwrap().agrees);
    assert_eq!(
        booked(&later).await,
        json!({"date": "2026-12-24", "people": 4})
    );
    assert_eq!(runs.load(Ordering::SeqCst), 2);
    let gates = |event: &Event| matches!(event, Event::GateOpened { .. });
    assert_eq!(later.count(gates).await, 1);
}

#[tokio::test]
async fn answer_does_not_count_for_another_schema() {
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = runs.clone();
    let book = tool("book", "Books", move |context: Context, _: Nothing| {
        let run = counted.fetch_add(1, Ordering::SeqCst) + 1;
        async move {
            let schema = json!({"type": "integer", "maximum": 10 * run});
            let answer = context.ask("How many?", schema).await?;
            Ok::<_, ToolError>(json!({"run": run, "answer": answer}))
        }
    });
    let fixture = fixture(Tools::new().with(book));
    fixture.say("book").await;
    let (gate, _) = asked(&fixture).await;
    let later = fixture.restarted();
    let answered = later.engine.answer(&later.ann, &gate, output(json!(7)));
    assert!(answered.await.unwrap().agrees);
    let is_second = |event: &Event| matches!(event, Event::GateOpened { gate: opened, .. } if opened.id != gate);
    later.until_event(is_second).await;
    let (second, _) = asked(&later).await;
    let answered = later.engine.answer(&later.ann, &second, output(json!(17)));
    assert!(answered.await.unwrap().agrees);
    assert_eq!(booked(&later).await, json!({"run": 2, "answer": 17}));
}
