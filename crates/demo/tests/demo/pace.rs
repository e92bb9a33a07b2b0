//! The pace of a stream, in time that stands still until it is waited for.

use std::future::poll_fn;
use std::time::Duration;

use adk_stream_demo::Demo;
use agents::Agent;
use tokio::time::Instant;
use turn::agent::AgentEvent;

use crate::dialogue::Dialogue;

/// How long a prompt is answered, and in how many deltas.
async fn measure(agent: Demo, prompt: &str) -> (Duration, u32) {
    let mut stream = agent.step(Dialogue::of(agent.clone(), prompt).request());
    let start = Instant::now();
    let mut deltas = 0;
    while let Some(event) = poll_fn(|context| stream.as_mut().poll_next(context)).await {
        let is_delta = matches!(
            event,
            AgentEvent::Text { .. } | AgentEvent::Reasoning { .. }
        );
        deltas += u32::from(is_delta);
    }
    (start.elapsed(), deltas)
}

#[tokio::test(start_paused = true)]
async fn every_delta_waits_for_the_pace() {
    let pace = Duration::from_millis(15);
    let (elapsed, deltas) = measure(Demo::new().with_pace(pace), "Send $20 to Sam").await;
    assert!(deltas > 5);
    assert_eq!(elapsed, pace * deltas);
}

#[tokio::test(start_paused = true)]
async fn without_a_pace_nothing_waits() {
    let (elapsed, deltas) = measure(Demo::new(), "take your time").await;
    assert_eq!((elapsed, deltas), (Duration::ZERO, 200));
}

#[tokio::test(start_paused = true)]
async fn who_takes_their_time_is_twenty_times_slower() {
    let pace = Duration::from_millis(15);
    let (elapsed, deltas) = measure(Demo::live().with_pace(pace), "take your time").await;
    assert_eq!(elapsed, pace * 20 * deltas);
}
