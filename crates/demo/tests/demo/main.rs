//! The demo agent, as the engine meets it: a request goes in, a stream of events comes out.

// Helpers of tests stop as tests do.
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod dialogue;
mod faults;
mod fixtures;
mod outcomes;
mod pace;
mod phrases;
mod properties;
mod streams;
mod unclear;
