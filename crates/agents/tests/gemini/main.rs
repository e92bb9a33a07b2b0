//! Gemini as the engine meets it, over a scripted server on loopback. The chat is the real one, and
//! every step goes through its journal.

// Helpers of tests stop as tests do.
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod dialogue;
mod failures;
mod history;
#[path = "../scripted/dialogue.rs"]
mod scripted;
mod secrets;
#[allow(
    dead_code,
    reason = "the tests of agents that run elsewhere use the rest"
)]
#[path = "../scripted/server.rs"]
mod server;
mod streams;
