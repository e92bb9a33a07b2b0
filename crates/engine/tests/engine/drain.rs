//! A server that is told to end: tools at work come to their end, and whatever else there is goes on
//! elsewhere.

use std::sync::Arc;
use std::time::Duration;

use adk_stream_engine::{Context, EngineError, Speech, Tools, tool};
use serde_json::{Value, json};
use tokio::sync::Notify;
use turn::call::{Outcome, UnknownReason};
use turn::{Event, Status};
use wire::{Chunk, Profile};

use crate::Nothing;
use crate::house::{self, House, call, text};

/// A tool that is at work until it is told to be done.
struct Slow {
    finish: Arc<Notify>,
    house: House,
}

impl Slow {
    async fn new() -> Self {
        let (has_begun, finish) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (begun, told) = (has_begun.clone(), finish.clone());
        let pay = tool("pay", "Pays", move |_: Context, _: Nothing| {
            let (begun, told) = (begun.clone(), told.clone());
            async move {
                begun.notify_one();
                told.notified().await;
                Ok(json!("paid"))
            }
        });
        let house = House::new(Tools::new().with(pay), |request| {
            match house::results(request) {
                0 => vec![call("pay", json!({}))],
                _ => vec![text("Paid.")],
            }
        });
        house.say("pay").await;
        has_begun.notified().await;
        Self { finish, house }
    }

    async fn outcomes(&self) -> Vec<Outcome> {
        let entries = self.house.journal.read(&self.house.chat, 0).await.unwrap();
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
    let house = &slow.house;
    let speech = Speech::Sdk(Profile::Shared);
    let window = house.engine.resume(&house.ann, &house.chat, speech).await;
    let mut window = window.unwrap().unwrap();
    let engine = house.engine.clone();
    let drained = tokio::spawn(async move { engine.drain(Duration::from_secs(20)).await });
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert!(!drained.is_finished());
    slow.finish.notify_one();
    assert!(drained.await.unwrap().unwrap());
    let output = json!("paid");
    assert_eq!(slow.outcomes().await, [Outcome::Output { output }]);
    // Whoever watched has seen the output, and is told to come back.
    let mut told = Vec::new();
    while let Some(chunks) = window.next().await {
        told.extend(chunks);
    }
    let is_output = |chunk: &Arc<Chunk>| matches!(**chunk, Chunk::ToolOutputAvailable(_));
    assert!(told.iter().any(is_output), "{told:?}");
    let Some(Chunk::Error(error)) = told.last().map(|chunk| &**chunk) else {
        panic!("{told:?}")
    };
    assert!(error.error_text.starts_with("moved: "), "{error:?}");
    let refused = house.engine.view(&house.ann, &house.chat).await;
    assert!(matches!(refused, Err(EngineError::Closed)));

    let next = house.restarted();
    next.engine.recover().await.unwrap();
    next.until_texts(&["Paid."]).await;
}

#[tokio::test(start_paused = true)]
async fn tool_that_takes_longer_than_the_grace_is_unknown() {
    let slow = Slow::new().await;
    let in_time = slow.house.engine.drain(Duration::from_secs(20)).await;
    assert!(!in_time.unwrap());
    let next = slow.house.restarted();
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
    let house = House::new(Tools::new().with(book), |request| {
        match house::results(request) {
            0 => vec![call("book", json!({}))],
            _ => vec![text("Booked.")],
        }
    });
    house.say("book").await;
    house.until(Status::Parked).await;
    let before = tokio::time::Instant::now();
    assert!(house.engine.drain(Duration::from_secs(20)).await.unwrap());
    assert_eq!(before.elapsed(), Duration::ZERO);
    let next = house.restarted();
    next.answer_next(crate::approved()).await;
    next.until_texts(&["Booked."]).await;
}
