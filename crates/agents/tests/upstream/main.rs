//! Agents of somebody else's that answer a POST with a stream, over a scripted server on loopback. The
//! chat is the real one: every step goes through its journal, and what follows from an answer is its
//! decision.

// Helpers of tests stop as tests do.
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod ag_ui;
mod ag_ui_adk;
mod ag_ui_crashes;
mod ag_ui_failures;
mod ag_ui_questions;
mod ai_sdk;
mod ai_sdk_crashes;
mod ai_sdk_failures;
mod behind;
mod both_kinds;
mod chunks;
mod events;
#[allow(dead_code, reason = "the tests of Gemini use the rest")]
#[path = "../scripted/server.rs"]
mod server;
