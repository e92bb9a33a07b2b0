//! Models of OpenAI's and Anthropic's APIs as the engine meets them, over a scripted server on loopback.
//! The chat is the real one, and every step goes through its journal.

// Helpers of tests stop as tests do.
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod anthropic;
mod chat;
mod failures;
mod model;
mod responses;
#[allow(dead_code, reason = "the tests of Gemini use the rest")]
#[path = "../scripted/dialogue.rs"]
mod scripted;
mod secrets;
#[allow(dead_code, reason = "the tests of Gemini use the rest")]
#[path = "../scripted/server.rs"]
mod server;
