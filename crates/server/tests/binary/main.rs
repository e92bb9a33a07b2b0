//! The real binary, as its operator and its clients meet it: started as a process, on a port of its
//! own, and spoken to over a real socket.
//!
//! # Layout
//!
//! - `process`: starts the binary, and ends it when the test ends.
//! - `request`: one HTTP request over a plain socket.
//! - `socket`: a plain WebSocket client.
//! - `start`, `routes`, `api`, `chats`, `events`, `consent`, `history`, `official`, `legacy`, `gemini`, `emulate`, `replicas`,
//!   `shutdown`, `connections`, `guard`, `quotas`, `frames`, `attack`, `crash`, `disk`, `golden`,
//!   `file_tools`, `file_crash`, `inner_agent`, `examples`, `log`, `turn_log`, `metrics`, `dashboard`, `traces`, `trace_context`, `doctor`, `compression`, `tls`, `healthcheck`:
//!   the behaviour.
//! - `collector`: a collector of OpenTelemetry's.
//! - `prometheus`: Debian's Prometheus.
//! - `file_agent`: a model and a shop for agents of a file.

// Clippy knows a test by its attribute, and takes what tests share for product code.
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod api;
mod attack;
mod chats;
mod collector;
mod compression;
mod connections;
mod consent;
mod crash;
mod dashboard;
mod disk;
mod doctor;
mod emulated;
mod event_quotas;
mod events;
mod examples;
mod file_agent;
mod file_crash;
mod file_tools;
mod frames;
mod gemini;
mod golden;
mod guard;
mod guide;
mod healthcheck;
mod history;
mod inner_agent;
mod legacy;
mod log;
mod metrics;
mod models;
mod official;
mod openapi_url;
mod page_tools;
mod process;
mod prometheus;
mod questions;
mod quotas;
mod replicas;
mod request;
mod resumable;
mod routes;
mod shutdown;
mod socket;
mod start;
mod tls;
mod trace_context;
mod traces;
mod turn_log;
