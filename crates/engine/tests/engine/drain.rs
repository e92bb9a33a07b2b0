//! A server that shuts down: tools that run are waited for, and everything else continues elsewhere.

use std::sync::Arc;
use std::time::Duration;

use adk_stream_engine::{Context, Dialect, EngineError, Tools, tool};
use serde_json::{Value, json};
use tokio::sync::Notify;
use turn::call::{Outcome, UnknownReason};
use turn::{Event, Status};
use wire::{Chunk, Profile};

use crate::Nothing;
use crate::fixture::{self, Fixture, call, text};

/// A tool that runs until `finish` is notified.
struct Slow {
    finish: Arc<Notify>,
    fixture: Fixture,
}

impl Slow {
    async fn new() -> Self {
        let (has_begun, finish) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (begun, received) = (has_begun.clone(), finish.clone());
        let pay = tool("pay", "Pays", move |_: Context, _: Nothing| {
            let (begun, received) = (begun.clone(), received.clone());
            async move {
                begun.notify_one();
                received.notified().await;
                Ok(json!("paid"))
            }
        });
        let fixture = Fixture::new(Tools::new().with(pay), |request| {
            match fixture::results(request) {
                0 => vec![call("pay", json!({}))],
                _ => vec![text("Paid.")],
            }
        });
        fixture.say("pay").await;
        has_begun.notified().await;
        Self { finish, fixture }
    }

    async fn outcomes(&self) -> Vec<Outcome> {
        let entries = self
            .fixture
            .journal
            .read(&self.fixture.chat, 0)
            .await
            .unwrap();
        let events = entries.into_iter().flat_map(|entry| entry.events);
        let outcomes = events.filter_map(|event| match event {
            Event::CallSettled { outcome, .. } => Some(outcome),
            _ => None,
        });
        outcomes.collect()
    }
}

#[tokio::test(start_paused = true)]
async fn tool_at_work_is_waited_for_and_the_model_is_for_the_next_server() {
    let slow = Slow::new().await;
    let fixture = &slow.fixture;
    let dialect = Dialect::Sdk(Profile::Shared);
    let window = fixture
        .engine
        .resume(&fixture.ann, &fixture.chat, dialect)
        .await;
    let mut window = window.unwrap().unwrap();
    let engine = fixture.engine.clone();
    let drained = tokio::spawn(async move { engine.drain(Duration::from_secs(20)).await });
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert!(!drained.is_finished());
    slow.finish.notify_one();
    assert!(drained.await.unwrap().unwrap());
    let output = json!("paid");
    assert_eq!(slow.outcomes().await, [Outcome::Output { output }]);
    // A client that watched has seen the output, and is asked to come back.
    let mut received = Vec::new();
    while let Some(chunks) = window.next().await {
        received.extend(chunks);
    }
    let is_output = |chunk: &Arc<Chunk>| matches!(**chunk, Chunk::ToolOutputAvailable(_));
    assert!(received.iter().any(is_output), "{received:?}");
    let Some(Chunk::Error(error)) = received.last().map(|chunk| &**chunk) else {
        panic!("{received:?}")
    };
    assert!(error.error_text.starts_with("handed_over: "), "{error:?}");
    let refused = fixture.engine.view(&fixture.ann, &fixture.chat).await;
    assert!(matches!(refused, Err(EngineError::Closed)));

    let next = fixture.restarted();
    next.engine.recover().await.unwrap();
    next.until_texts(&["Paid."]).await;
}

#[tokio::test(start_paused = true)]
async fn tool_that_takes_longer_than_the_grace_is_unknown() {
    let slow = Slow::new().await;
    let in_time = slow.fixture.engine.drain(Duration::from_secs(20)).await;
    assert!(!in_time.unwrap());
    let next = slow.fixture.restarted();
    next.engine.recover().await.unwrap();
    next.until_texts(&["Paid."]).await;
    assert_eq!(
        slow.outcomes().await,
        [Outcome::Unknown {
            reason: UnknownReason::ServerStopped,
        }]
    );
}

#[tokio::test(start_paused = true)]
async fn question_in_the_middle_of_the_work_does_not_hold_a_server_up() {
    let book = tool("book", "Books", async |context: Context, _: Nothing| {
        context.approve("Really?").await?;
        Ok::<Value, _>(json!("booked"))
    });
    let fixture = Fixture::new(Tools::new().with(book), |request| {
        match fixture::results(request) {
            0 => vec![call("book", json!({}))],
            _ => vec![text("Booked.")],
        }
    });
    fixture.say("book").await;
    fixture.until(Status::Parked).await;
    let before = tokio::time::Instant::now();
    assert!(fixture.engine.drain(Duration::from_secs(20)).await.unwrap());
    assert_eq!(before.elapsed(), Duration::ZERO);
    let next = fixture.restarted();
    next.answer_next(crate::approved()).await;
    next.until_texts(&["Booked."]).await;
}
