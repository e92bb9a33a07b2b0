//! Messages that come while a turn is open, and wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use adk_stream_engine::{EngineError, Tools, WindowStream};
use serde_json::json;
use turn::agent::{AgentEvent, HistoryItem, StepRequest};
use turn::queue::Placement;
use turn::{Event, Status};

use super::fixture::{Fixture, call, text};
use super::{approved, pay};

/// Pays if it is asked to, and otherwise repeats all that the user has said.
fn payer(runs: &Arc<AtomicUsize>) -> Fixture {
    let tools = Tools::new().with(pay(runs).ask(|_| "Pay?".to_owned()));
    Fixture::new(tools, script)
}

fn script(request: &StepRequest) -> Vec<AgentEvent> {
    match request.history.last() {
        Some(HistoryItem::Step { .. }) => vec![text("Paid.")],
        Some(HistoryItem::Message(message)) if message.text() == "pay" => {
            vec![call("pay", json!({"amount": 5}))]
        }
        _ => vec![text(&format!("You said {}.", said(request).join(", ")))],
    }
}

/// All that the user has said.
fn said(request: &StepRequest) -> Vec<String> {
    let messages = request.history.iter().filter_map(|past| match past {
        HistoryItem::Message(message) => Some(message.text()),
        _ => None,
    });
    messages.collect()
}

async fn read(window: &mut WindowStream) -> String {
    let mut read = String::new();
    while let Some(chunks) = window.next().await {
        read.extend(chunks.iter().map(|chunk| json!(**chunk).to_string()));
    }
    read
}

fn is_opened(event: &Event) -> bool {
    matches!(event, Event::TurnOpened { .. })
}

fn code<T>(sent: Result<T, EngineError>) -> &'static str {
    sent.err().map_or("no error", |error| error.code())
}

#[tokio::test]
async fn queued_message_opens_a_turn_when_the_one_before_it_ends() {
    let runs = Arc::new(AtomicUsize::new(0));
    let fixture = payer(&runs);
    fixture.say("pay").await;
    fixture.until(Status::Parked).await;
    let queue = Placement::Queue;
    let mut window = fixture.say_and_wait("u2", "two", queue).await.unwrap();
    let view = fixture.view().await;
    // The question is open as before, and no turn was opened.
    assert_eq!(view.status, Status::Parked);
    assert_eq!(view.messages.len(), 2);
    assert_eq!(view.queued.len(), 1);
    assert_eq!(view.queued[0].1.text(), "two");
    fixture.answer_next(approved()).await;
    let read = read(&mut window).await;
    assert!(read.contains("You said pay, two."), "{read}");
    assert!(!read.contains("Paid."), "{read}");
    fixture.until_texts(&["Paid.", "You said pay, two."]).await;
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    assert!(fixture.view().await.queued.is_empty());
    // One entry ends the one turn and opens the other, so that no crash comes between.
    let entries = fixture.journal.read(&fixture.chat, 0).await.unwrap();
    let both = entries.iter().filter(|entry| {
        let mut events = entry.events.iter();
        let is_ended = events.any(|event| matches!(event, Event::TurnEnded { .. }));
        is_ended && entry.events.iter().any(is_opened)
    });
    assert_eq!(both.count(), 1);
}

#[tokio::test]
async fn injected_message_is_given_to_the_agent_before_its_next_step() {
    let runs = Arc::new(AtomicUsize::new(0));
    let fixture = payer(&runs);
    fixture.say("pay").await;
    fixture.until(Status::Parked).await;
    let inject = Placement::Inject;
    let mut window = fixture.say_and_wait("u2", "two", inject).await.unwrap();
    fixture.answer_next(approved()).await;
    let read = read(&mut window).await;
    // Its window is on the turn that has it, from the start.
    assert!(read.contains("tool-input-start"), "{read}");
    let shown = read.find(r#""type":"data-user-message","id":"u2""#);
    let answered = read.find("You said pay, two.");
    assert!(shown.is_some() && shown < answered, "{read}");
    fixture.until_texts(&["You said pay, two."]).await;
    assert_eq!(fixture.count(is_opened).await, 1);
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    // The same request again is the same message.
    let mut again = fixture.say_and_wait("u2", "two", inject).await.unwrap();
    assert!(self::read(&mut again).await.contains("data-user-message"));
    // What comes later is given all of it, in its order.
    fixture.say_as("u3", "three").await;
    fixture
        .until_texts(&["You said pay, two.", "You said pay, two, three."])
        .await;
}

#[tokio::test]
async fn message_that_can_not_be_injected_opens_a_turn() {
    let fixture = Fixture::new(Tools::new(), script);
    // No turn is open: there is nothing to wait for.
    let inject = Placement::Inject;
    let mut window = fixture.say_and_wait("u1", "one", inject).await.unwrap();
    assert!(read(&mut window).await.contains("You said one."));
    let queued = |event: &Event| matches!(event, Event::MessageQueued { .. });
    assert_eq!(fixture.count(queued).await, 0);
}

#[tokio::test]
async fn stop_withdraws_what_waits() {
    let runs = Arc::new(AtomicUsize::new(0));
    let fixture = payer(&runs);
    fixture.say("pay").await;
    fixture.until(Status::Parked).await;
    let queue = Placement::Queue;
    let mut window = fixture.say_and_wait("u2", "two", queue).await.unwrap();
    assert!(
        fixture
            .engine
            .stop(&fixture.ann, &fixture.chat)
            .await
            .unwrap()
    );
    assert!(read(&mut window).await.contains("message_withdrawn"));
    assert_eq!(fixture.count(is_opened).await, 1);
    // A client that tries again does not bring it back.
    let again = fixture.say_and_wait("u2", "two", queue).await;
    assert_eq!(code(again), "message_withdrawn");
    fixture.say_as("u3", "three").await;
    fixture.until_texts(&["", "You said pay, three."]).await;
}

#[tokio::test]
async fn what_waits_outlives_the_server() {
    let runs = Arc::new(AtomicUsize::new(0));
    let first = payer(&runs);
    first.say("pay").await;
    first.until(Status::Parked).await;
    let queue = Placement::Queue;
    drop(first.say_and_wait("u2", "two", queue).await.unwrap());
    let inject = Placement::Inject;
    drop(first.say_and_wait("u3", "three", inject).await.unwrap());
    let fixture = first.restarted();
    assert_eq!(fixture.view().await.queued.len(), 2);
    // The client that lost its window sends again, and gets another.
    let mut window = fixture.say_and_wait("u2", "two", queue).await.unwrap();
    fixture.answer_next(approved()).await;
    let read = read(&mut window).await;
    assert!(read.contains("You said pay, three, two."), "{read}");
    fixture
        .until_texts(&["You said pay, three.", "You said pay, three, two."])
        .await;
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn message_that_interrupts_goes_before_what_waits() {
    let runs = Arc::new(AtomicUsize::new(0));
    let fixture = payer(&runs);
    fixture.say("pay").await;
    fixture.until(Status::Parked).await;
    let queue = Placement::Queue;
    let mut window = fixture.say_and_wait("u2", "two", queue).await.unwrap();
    fixture.say_as("u3", "three").await;
    let read = read(&mut window).await;
    assert!(read.contains("You said pay, three, two."), "{read}");
    assert_eq!(runs.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn queue_has_a_bound() {
    let runs = Arc::new(AtomicUsize::new(0));
    let fixture = payer(&runs);
    fixture.say("pay").await;
    fixture.until(Status::Parked).await;
    let queue = Placement::Queue;
    for n in 0..16 {
        let id = format!("q{n}");
        fixture.say_and_wait(&id, "more", queue).await.unwrap();
    }
    let refused = fixture.say_and_wait("q16", "more", queue).await;
    assert_eq!(code(refused), "queue_full");
    // One that waits already is not one more.
    fixture.say_and_wait("q3", "more", queue).await.unwrap();
    let edited = fixture.say_and_wait("q3", "less", queue).await;
    assert_eq!(code(edited), "bad_request");
    fixture.answer_next(approved()).await;
    fixture.until_event(|event| matches!(event, Event::TurnOpened { cause, .. } if json!(cause)["message"]["id"] == "q15")).await;
    assert_eq!(fixture.count(is_opened).await, 17);
}

#[tokio::test]
async fn edit_interrupts_whatever_its_page_says() {
    let runs = Arc::new(AtomicUsize::new(0));
    let fixture = payer(&runs);
    fixture.say("pay").await;
    fixture.until(Status::Parked).await;
    // The same id with other words is an edit.
    let queue = Placement::Queue;
    let mut window = fixture.say_and_wait("user-1", "one", queue).await.unwrap();
    assert!(read(&mut window).await.contains("You said one."));
    assert!(fixture.view().await.queued.is_empty());
}
