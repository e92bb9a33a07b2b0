//! The emulator as its clients meet it: over real sockets, on a port of its own.
//!
//! # Layout
//!
//! - `http`, `socket`: clients that do nothing by themselves.
//! - `generate`, `generate_faults`: generateContent, and what goes wrong with it.
//! - `live`, `live_refusals`, `live_faults`, `resumption`: Live, and what goes wrong with it.
//! - `documented`: the examples of the document.
//! - `control`: the emulator's own routes; `ending`: how it ends.
//! - `same_words`: the demo through our own client, against the demo by itself.

// Clippy knows a test by its attribute, and takes what tests share for product code.
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod control;
mod documented;
mod ending;
mod generate;
mod generate_faults;
mod http;
mod live;
mod live_faults;
mod live_refusals;
mod resumption;
mod same_words;
mod socket;

use std::time::Duration;

use adk_stream_emulator::{Emulator, Script};

/// Longer than anything here takes: who waits for so long waits for ever.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// An emulator that follows these rules, given as JSON.
async fn emulator(rules: &str) -> Emulator {
    let script = Script::from_json(&format!(r#"{{"rules": {rules}}}"#)).unwrap();
    Emulator::builder().script(script).start().await.unwrap()
}

/// Waits, though not for ever.
async fn soon<T>(future: impl Future<Output = T>) -> T {
    let waited = tokio::time::timeout(TIME_LIMIT, future).await;
    waited.expect("it takes too long")
}
