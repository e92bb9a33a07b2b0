//! The real binary, as its operator and its clients meet it: started as a process, on a port of its
//! own, and spoken to over a real socket.
//!
//! # Layout
//!
//! - `process`: starts the binary, and ends it when the test ends.
//! - `request`: one HTTP request over a plain socket.
//! - `socket`: a plain WebSocket client.
//! - `start`, `routes`, `api`, `consent`, `history`, `official`, `legacy`, `gemini`, `emulate`, `replicas`,
//!   `shutdown`, `connections`, `guard`, `quotas`, `frames`, `attack`, `crash`, `disk`, `golden`: the
//!   behaviour.

// Clippy knows a test by its attribute, and takes what tests share for product code.
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod api;
mod attack;
mod connections;
mod consent;
mod crash;
mod disk;
mod emulated;
mod frames;
mod gemini;
mod golden;
mod guard;
mod history;
mod legacy;
mod official;
mod process;
mod quotas;
mod replicas;
mod request;
mod routes;
mod shutdown;
mod socket;
mod start;
