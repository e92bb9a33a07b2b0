//! What adk-stream is measured with: the same work through it, its peers and the physical limit.
//!
//! **Owns** the load, the servers that are measured in Rust, what is read of a process, and the report.
//!
//! **Does not own** anything that the product needs, nor the peers themselves: those are in
//! `bench/node` and `bench/python`, and written as their own documentation says.
//!
//! # Layout
//!
//! - [`stage`]: adk-stream behind an agent that says what the load asks for, built on the library.
//! - [`bare`]: axum alone, sending bytes that were made before: the limit.
//! - [`load`]: clients that cost next to nothing, over HTTP and over a WebSocket.
//! - [`subject`]: a server that is measured: started, asked for its address, its costs read.
//! - [`streaming`]: turns of 200 deltas, by so many clients at once.
//! - [`sample`]: numbers that were measured.

pub mod bare;
pub mod load;
pub mod sample;
pub mod streaming;
pub mod stage;
pub mod subject;
