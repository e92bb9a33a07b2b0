//! The engine over a journal in memory, with an agent that follows a script.

// Helpers of tests stop as tests do.
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod agent_questions;
mod asks;
mod branches;
mod clocks;
mod drain;
mod entries;
mod faulty;
mod fixture;
mod inputs;
mod live;
mod questions;
mod queue;
mod recovery;
mod replicas;
mod shortcuts;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use adk_stream_engine::{
    Context, EngineError, Later, Refused, ToolError, Tools, Verdict, client_tool, long_running,
    tool,
};
use fixture::{Fixture, call, text};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use turn::gate::Decision;
use turn::{Principal, Status};

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

#[derive(Deserialize, JsonSchema)]
struct Amount {
    amount: u64,
}

fn approved() -> Decision {
    let (reason, input) = (None, None);
    Decision::Approved { reason, input }
}

/// A tool that counts how often it ran.
fn pay(runs: &Arc<AtomicUsize>) -> adk_stream_engine::Tool<Amount> {
    let runs = runs.clone();
    tool("pay", "Pays", move |_: Context, input: Amount| {
        let runs = runs.clone();
        async move {
            runs.fetch_add(1, Ordering::SeqCst);
            Ok(json!({"paid": input.amount}))
        }
    })
}

#[tokio::test]
async fn policy_decides_by_input_and_principal() {
    let runs = Arc::new(AtomicUsize::new(0));
    let pay = pay(&runs).policy(|input, principal| match input.amount {
        0..=100 => Verdict::Allow,
        101..=1000 => Verdict::Ask {
            question: format!("{principal} pays {}?", input.amount),
        },
        _ => Verdict::Deny {
            reason: "too much".to_owned(),
        },
    });
    let fixture = Fixture::new(Tools::new().with(pay), |request| {
        match fixture::results(request) {
            0 => vec![
                call("pay", json!({"amount": 5})),
                call("pay", json!({"amount": 500})),
                call("pay", json!({"amount": 5000})),
                call("pay", json!({"amount": "five"})),
            ],
            _ => vec![text("Done.")],
        }
    });
    fixture.say("pay").await;
    fixture.until(Status::Parked).await;
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    let waiting = fixture.engine.approvals(&fixture.ann).await.unwrap();
    assert_eq!(waiting.len(), 1);
    assert_eq!(waiting[0].call.input, json!({"amount": 500}));
    let answered = fixture
        .engine
        .answer(&fixture.ann, &waiting[0].gate.id, approved())
        .await
        .unwrap();
    assert!(answered.agrees);
    fixture.until(Status::Finished).await;
    assert_eq!(runs.load(Ordering::SeqCst), 2);
    let states = fixture.states().await;
    assert_eq!(
        states,
        [
            "output-available",
            "output-available",
            "output-error",
            "output-error"
        ]
    );
}

#[tokio::test]
async fn contrary_answers_get_the_decision() {
    let runs = Arc::new(AtomicUsize::new(0));
    let tools = Tools::new().with(pay(&runs).ask(|_| "Pay?".to_owned()));
    let fixture = Fixture::new(tools, |request| match fixture::results(request) {
        0 => vec![call("pay", json!({"amount": 5}))],
        _ => vec![text("Done.")],
    });
    fixture.say("pay").await;
    fixture.until(Status::Parked).await;
    let gate = fixture.engine.approvals(&fixture.ann).await.unwrap()[0]
        .gate
        .id
        .clone();
    let no = Decision::Denied { reason: None };
    let (yes, no) = tokio::join!(
        fixture.engine.answer(&fixture.ann, &gate, approved()),
        fixture.engine.answer(&fixture.ann, &gate, no),
    );
    let (yes, no) = (yes.unwrap(), no.unwrap());
    assert!(yes.agrees != no.agrees);
    assert_eq!(yes.closed, no.closed);
    fixture.until(Status::Finished).await;
    assert_eq!(runs.load(Ordering::SeqCst), usize::from(yes.agrees));
    // Somebody else sees neither the approval nor the chat.
    let bob = Principal::from("bob");
    let answer = fixture.engine.answer(&bob, &gate, approved()).await;
    assert!(matches!(answer, Err(EngineError::UnknownApproval)));
    assert!(matches!(
        fixture.engine.view(&bob, &fixture.chat).await,
        Err(EngineError::UnknownChat)
    ));
}

#[tokio::test]
async fn tool_that_asks_awaits_the_answer_and_records_its_steps() {
    let steps = Arc::new(AtomicUsize::new(0));
    let counted = steps.clone();
    let book = tool("book", "Books", move |context: Context, _: Nothing| {
        let steps = counted.clone();
        async move {
            let seat: u32 = context
                .once("seat", async {
                    steps.fetch_add(1, Ordering::SeqCst);
                    Ok(7)
                })
                .await?;
            context.approve("Hold it?").await?;
            context.approve("Pay it?").await?;
            Ok(json!({"seat": seat}))
        }
    });
    let fixture = Fixture::new(Tools::new().with(book), |request| {
        match fixture::results(request) {
            0 => vec![call("book", json!({}))],
            _ => vec![text("Booked.")],
        }
    });
    fixture.say("book").await;
    fixture.until(Status::Parked).await;
    fixture.answer_next(approved()).await;
    fixture.until(Status::Parked).await;
    // Another process takes the chat up: the function runs again, its first step and answer do not.
    let fixture = fixture.restarted();
    fixture.answer_next(approved()).await;
    fixture.until(Status::Finished).await;
    assert_eq!(steps.load(Ordering::SeqCst), 1);
    assert_eq!(fixture.states().await, ["output-available"]);
}

#[tokio::test]
async fn denial_in_the_middle_of_the_work_is_an_error_that_the_tool_can_see() {
    let seen = Arc::new(std::sync::Mutex::new(None));
    let noted = seen.clone();
    let book = tool("book", "Books", move |context: Context, _: Nothing| {
        let seen = noted.clone();
        async move {
            let answer = context.approve("Really?").await;
            *seen.lock().unwrap() = Some(answer.clone());
            answer?;
            Ok(json!({}))
        }
    });
    let fixture = Fixture::new(Tools::new().with(book), |request| {
        match fixture::results(request) {
            0 => vec![call("book", json!({}))],
            _ => vec![text("No.")],
        }
    });
    fixture.say("book").await;
    fixture.until(Status::Parked).await;
    let reason = Some("too far".to_owned());
    fixture
        .answer_next(Decision::Denied {
            reason: reason.clone(),
        })
        .await;
    fixture.until(Status::Finished).await;
    assert_eq!(
        seen.lock().unwrap().clone(),
        Some(Err(Refused::Denied { reason }))
    );
    assert_eq!(fixture.states().await, ["output-denied"]);
}

#[tokio::test(start_paused = true)]
async fn gates_time_out_and_the_turn_goes_on() {
    let runs = Arc::new(AtomicUsize::new(0));
    let pay = pay(&runs)
        .ask(|_| "Pay?".to_owned())
        .timeout(Duration::from_secs(30));
    let fixture = Fixture::new(Tools::new().with(pay), |request| {
        match fixture::results(request) {
            0 => vec![call("pay", json!({"amount": 5}))],
            _ => vec![text("Nobody answered.")],
        }
    });
    fixture.say("pay").await;
    fixture.until(Status::Finished).await;
    assert_eq!(runs.load(Ordering::SeqCst), 0);
    assert_eq!(fixture.states().await, ["output-error"]);
}

#[tokio::test]
async fn tool_that_crashes_fails_alone() {
    let crash = tool(
        "crash",
        "Crashes",
        async |_: Context, _: Nothing| -> Result<Value, ToolError> { panic!("on purpose") },
    );
    let fixture = Fixture::new(Tools::new().with(crash), |request| {
        match fixture::results(request) {
            0 => vec![call("crash", json!({})), call("nowhere", json!({}))],
            _ => vec![text("Sorry.")],
        }
    });
    fixture.say("crash").await;
    fixture.until(Status::Finished).await;
    assert_eq!(fixture.states().await, ["output-error", "output-error"]);
}

#[tokio::test]
async fn stop_lets_go_of_tools() {
    let dropped = Arc::new(AtomicUsize::new(0));
    struct Noted(Arc<AtomicUsize>);
    impl Drop for Noted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let started = Arc::new(tokio::sync::Notify::new());
    let (noted, begun) = (dropped.clone(), started.clone());
    let wait = tool("wait", "Waits", move |_: Context, _: Nothing| {
        let (noted, begun) = (Noted(noted.clone()), begun.clone());
        async move {
            begun.notify_one();
            std::future::pending::<()>().await;
            drop(noted);
            Ok(json!({}))
        }
    });
    let fixture = Fixture::new(Tools::new().with(wait), |_| vec![call("wait", json!({}))]);
    fixture.say("wait").await;
    started.notified().await;
    assert!(
        fixture
            .engine
            .stop(&fixture.ann, &fixture.chat)
            .await
            .unwrap()
    );
    fixture.until(Status::Stopped).await;
    while dropped.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    assert!(
        !fixture
            .engine
            .stop(&fixture.ann, &fixture.chat)
            .await
            .unwrap()
    );
}

#[tokio::test]
async fn page_does_something_for_a_tool() {
    let mood = tool(
        "mood",
        "Sets the mood",
        async |context: Context, _: Nothing| {
            context.progress(json!({"status": "looking"})).await;
            let music: Value = context.client("music", json!({"amount": 2})).await?;
            Ok(json!({"music": music}))
        },
    );
    let tools = Tools::new()
        .with(mood)
        .with(client_tool::<Amount>("music", "Plays"));
    let fixture = Fixture::new(tools, |request| match fixture::results(request) {
        0 => vec![call("mood", json!({}))],
        _ => vec![text("Cosy.")],
    });
    fixture.say("mood").await;
    fixture.until(Status::Parked).await;
    fixture.output("music", json!({"playing": 2})).await;
    fixture.until(Status::Finished).await;
    let messages = fixture
        .engine
        .view(&fixture.ann, &fixture.chat)
        .await
        .unwrap()
        .messages;
    let outputs: Vec<_> = messages[1]
        .parts
        .iter()
        .filter_map(wire::Part::as_tool)
        .map(|part| part.output.clone())
        .collect();
    assert_eq!(
        outputs,
        [
            Some(json!({"music": {"playing": 2}})),
            Some(json!({"playing": 2}))
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn long_running_tool_comes_back_with_a_turn_of_its_own() {
    let report = long_running("report", "Writes", |_: Context, _: Nothing| Later {
        pending: json!({"status": "pending"}),
        work: async {
            tokio::time::sleep(Duration::from_secs(60)).await;
            Ok(json!({"report": "done"}))
        },
    });
    let fixture = Fixture::new(Tools::new().with(report), |request| {
        if matches!(
            request.history.last(),
            Some(turn::agent::HistoryItem::Result { .. })
        ) {
            return vec![text("It is done.")];
        }
        match fixture::results(request) {
            0 => vec![call("report", json!({}))],
            _ => vec![text("It will take a while.")],
        }
    });
    fixture.say("report").await;
    fixture
        .until_texts(&["It will take a while.", "It is done."])
        .await;
}

#[tokio::test]
async fn agent_that_breaks_off_fails_the_turn_and_it_can_be_given_again() {
    let tries = Arc::new(AtomicUsize::new(0));
    let counted = tries.clone();
    let fixture = Fixture::cut_off_first(move || counted.fetch_add(1, Ordering::SeqCst) == 0);
    fixture.say("hi").await;
    fixture.until(Status::Failed).await;
    fixture.regenerate().await;
    fixture.until(Status::Finished).await;
    assert_eq!(tries.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn forgotten_chat_is_gone() {
    let fixture = Fixture::new(Tools::new(), |_| vec![text("Hello.")]);
    fixture.say("hi").await;
    fixture.until(Status::Finished).await;
    fixture
        .engine
        .forget(&fixture.ann, &fixture.chat)
        .await
        .unwrap();
    let view = fixture.engine.view(&fixture.ann, &fixture.chat).await;
    assert!(matches!(view, Err(EngineError::UnknownChat)));
    assert!(
        fixture
            .journal
            .read(&fixture.chat, 0)
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn request_that_brings_nothing_new_to_a_parked_turn_is_reported_and_closed() {
    let runs = Arc::new(AtomicUsize::new(0));
    let tools = Tools::new().with(pay(&runs).ask(|_| "Pay?".to_owned()));
    let fixture = Fixture::new(tools, |_| vec![call("pay", json!({"amount": 5}))]);
    fixture.say("pay").await;
    fixture.until(Status::Parked).await;
    let view = fixture
        .engine
        .view(&fixture.ann, &fixture.chat)
        .await
        .unwrap();
    let mut window = fixture.resend(view.messages).await;
    let mut received = Vec::new();
    while let Some(chunks) = window.next().await {
        received.extend(chunks.iter().map(|chunk| serde_json::json!(**chunk)));
    }
    let last = received.last().unwrap();
    assert_eq!(last["messageMetadata"]["turn"], "parked", "{received:?}");
}

#[tokio::test]
async fn turn_that_ended_between_a_load_and_a_resume_is_sent() {
    let runs = Arc::new(AtomicUsize::new(0));
    let tools = Tools::new().with(pay(&runs).ask(|_| "Pay?".to_owned()));
    let fixture = Fixture::new(tools, |request| match fixture::results(request) {
        0 => vec![call("pay", json!({"amount": 5}))],
        _ => vec![text("Paid.")],
    });
    fixture.say("pay").await;
    fixture.until(Status::Parked).await;
    let seen = fixture
        .engine
        .view(&fixture.ann, &fixture.chat)
        .await
        .unwrap();
    fixture.answer_next(approved()).await;
    fixture.until(Status::Finished).await;
    let dialect = adk_stream_engine::Dialect::Sdk(wire::Profile::Shared);
    let resume = |after| {
        fixture
            .engine
            .resume_after(&fixture.ann, &fixture.chat, dialect, after)
    };
    assert!(resume(None).await.unwrap().is_none());
    let mut window = resume(Some(seen.seq)).await.unwrap().unwrap();
    let mut received = String::new();
    while let Some(chunks) = window.next().await {
        received.extend(chunks.iter().map(|chunk| json!(**chunk).to_string()));
    }
    assert!(
        received.contains("Paid.") && received.contains("\"finish\""),
        "{received}"
    );
    // A client that has seen it all gets nothing.
    let now = fixture
        .engine
        .view(&fixture.ann, &fixture.chat)
        .await
        .unwrap();
    assert!(resume(Some(now.seq)).await.unwrap().is_none());
}

/// The answer that travels with a message that was typed before it was sent.
async fn answered_with_a_message(approved: bool) -> (usize, Vec<turn::Event>) {
    let runs = Arc::new(AtomicUsize::new(0));
    let tools = Tools::new().with(pay(&runs).ask(|_| "Pay?".to_owned()));
    let fixture = Fixture::new(tools, |request| match request.history.last() {
        Some(turn::agent::HistoryItem::Step { .. }) => vec![text("So be it.")],
        Some(turn::agent::HistoryItem::Message(message)) if message.text() == "pay" => {
            vec![call("pay", json!({"amount": 5}))]
        }
        _ => vec![text("You are welcome.")],
    });
    fixture.say("pay").await;
    fixture.until(Status::Parked).await;
    let mut messages = fixture
        .engine
        .view(&fixture.ann, &fixture.chat)
        .await
        .unwrap()
        .messages;
    let mut answer = serde_json::to_value(&messages[1]).unwrap();
    let part = answer["parts"]
        .as_array_mut()
        .unwrap()
        .iter_mut()
        .find(|part| part["approval"].is_object())
        .unwrap();
    part["state"] = json!("approval-responded");
    part["approval"]["approved"] = json!(approved);
    if !approved {
        part["approval"]["reason"] = json!("Too much.");
    }
    messages[1] = wire::Message::decode(answer).unwrap();
    let thanks = vec![wire::Part::text("Thanks.")];
    messages.push(wire::Message::new("user-2", wire::Role::User, thanks));
    let mut window = fixture.resend(messages).await;
    let mut received = String::new();
    while let Some(chunks) = window.next().await {
        received.extend(chunks.iter().map(|chunk| json!(**chunk).to_string()));
    }
    assert!(received.contains("You are welcome."), "{received}");
    let entries = fixture.journal.read(&fixture.chat, 0).await.unwrap();
    let events = entries.into_iter().flat_map(|entry| entry.events).collect();
    (runs.load(Ordering::SeqCst), events)
}

#[tokio::test]
async fn answer_that_travels_with_a_message_comes_first() {
    let (runs, events) = answered_with_a_message(true).await;
    assert_eq!(runs, 1);
    let ends: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            turn::Event::TurnEnded { end, .. } => Some(end.clone()),
            _ => None,
        })
        .collect();
    let finished = |end: &turn::event::End| matches!(end, turn::event::End::Finished);
    assert!(ends.len() == 2 && ends.iter().all(finished), "{ends:?}");

    let (runs, events) = answered_with_a_message(false).await;
    assert_eq!(runs, 0);
    let reason = Some("Too much.".to_owned());
    let decided = Decision::Denied { reason };
    let is_denied = |event: &turn::Event| matches!(event, turn::Event::GateClosed { decision, .. } if *decision == decided);
    assert!(events.iter().any(is_denied), "{events:?}");
}

/// What a window tells, as chunks.
async fn received(mut window: adk_stream_engine::WindowStream) -> (String, Vec<Value>) {
    let id = window.message_id().to_owned();
    let mut received = Vec::new();
    while let Some(chunks) = window.next().await {
        received.extend(chunks.iter().map(|chunk| json!(**chunk)));
    }
    (id, received)
}

#[tokio::test]
async fn late_request_for_an_old_turn_gets_that_turn() {
    let runs = Arc::new(AtomicUsize::new(0));
    let tools = Tools::new().with(pay(&runs).ask(|_| "Pay?".to_owned()));
    let fixture = Fixture::new(tools, |_| vec![call("pay", json!({"amount": 5}))]);
    fixture.say("pay").await;
    fixture.until(Status::Parked).await;
    let old = fixture.engine.view(&fixture.ann, &fixture.chat).await;
    let old = old.unwrap().messages;
    // Another tab gives the answer again, while its question is open.
    fixture.regenerate().await;
    fixture.until(Status::Parked).await;

    // The first request comes once more; and a page that lost the id of the message answers.
    let mut answer = serde_json::to_value(&old[1]).unwrap();
    answer["id"] = json!("an id of the page's own");
    for part in answer["parts"].as_array_mut().unwrap() {
        if part["approval"].is_object() {
            part["state"] = json!("approval-responded");
            part["approval"]["approved"] = json!(true);
        }
    }
    let answer = wire::Message::decode(answer).unwrap();
    for messages in [old.clone(), vec![old[0].clone(), answer]] {
        let (id, received) = received(fixture.resend(messages).await).await;
        assert_eq!(Some(id), old[1].id, "{received:?}");
        let is_denied = |chunk: &Value| {
            let kind = chunk["type"].as_str();
            matches!(kind, Some("tool-output-denied" | "tool-output-error"))
        };
        assert!(received.iter().any(is_denied), "{received:?}");
    }
    assert_eq!(runs.load(Ordering::SeqCst), 0);
    // The new question is still open.
    assert_eq!(
        fixture.engine.approvals(&fixture.ann).await.unwrap().len(),
        1
    );
}

#[tokio::test]
async fn repeated_message_gets_the_turn_that_it_opened() {
    let fixture = Fixture::new(Tools::new(), |request| {
        vec![text(&format!("Answer {}.", request.history.len()))]
    });
    for (id, words) in [("user-1", "one"), ("user-2", "two")] {
        fixture.say_as(id, words).await;
        fixture.until(Status::Finished).await;
    }
    let view = fixture.engine.view(&fixture.ann, &fixture.chat).await;
    let messages = view.unwrap().messages;
    let (id, received) = received(fixture.resend(messages[..1].to_vec()).await).await;
    assert_eq!(Some(id), messages[1].id, "{received:?}");
}
