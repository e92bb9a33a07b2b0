//! What adk-stream is measured with: the same work through it, its peers and the physical limit.
//!
//! **Owns** the load, the servers that are measured in Rust, what is read of a process, and the report.
//!
//! **Does not own** anything that the product needs, nor the peers themselves: those are in
//! `web/bench` and `bench/python`, and written as their own documentation says.
//!
//! # Layout
//!
//! - [`stage`]: adk-stream behind an agent that says what the load asks for, built on the library.
//! - [`bare`]: axum alone, sending bytes that were made before: the limit.
//! - [`grouped`]: axum alone, answering once a file is synced: the limit of what is durable.
//! - [`load`]: clients that cost next to nothing, over HTTP and over a WebSocket.
//! - [`subject`]: a server that is measured: started, asked for its address, its costs read.
//! - [`streaming`], [`windows`], [`approval`], [`parked`], [`growth`], [`footprint`],
//!   [`attack`], [`paced`]: what is measured.
//! - [`journals`]: journals that are long or many.
//! - [`counts`]: the hot paths, whose instructions are counted.
//! - [`sample`]: numbers that were measured; [`report`] and [`plot`]: tables and a picture of them.

pub mod approval;
pub mod attack;
pub mod bare;
pub mod counts;
pub mod footprint;
pub mod grouped;
pub mod growth;
pub mod journals;
pub mod load;
pub mod paced;
pub mod parked;
pub mod plot;
pub mod report;
pub mod sample;
pub mod stage;
pub mod streaming;
pub mod subject;
pub mod windows;
