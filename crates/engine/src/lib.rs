//! Drives a turn: append, act, append.
//!
//! **Owns** time and tasks: tools, gates, timeouts, and the windows through which clients watch. One
//! task a chat brings everything that happens to it to its [`driver`], in order. The driver asks `turn`
//! what follows, has that made durable, and only then has it acted on or shown.
//!
//! **Does not own** decisions (`turn`), bytes (`wire`), durability (`store`) or HTTP (`server`).
//!
//! # Layout
//!
//! - [`driver`]: what is done with a chat, as a pure state machine: inputs in, actions out.
//! - `actor`: the task of a chat, which carries the actions out; [`windows`] are what its clients see.
//! - [`engine`]: what a server does with chats; `builder`: how an engine is made.
//! - [`command`]: the one way in, here or forwarded from another server.
//! - [`mod@tool`]: a typed function with a schema and a policy; [`tools`]: all that an agent may call.
//! - [`schema`]: what is wrong with an input or an output.
//! - [`context`]: what a tool can do while it runs: ask, record, report, have a page do something.
//! - `asked`: where the approvals are that chats here wait for; `deadlines`: when their time is up.
//! - `chat_id`: under which ids chats can be opened.
//! - `resting`: chats that nothing happens to, within bounds.
//! - `maintenance`: what a server does by itself; `drain`: how it leaves.
//! - [`replica`]: one of several servers; `follower`: what is read where the owner of a chat can't be
//!   reached.
//! - [`stream`]: a window as it is read; `log` is what all windows of a turn read from.
//! - [`error`]: why something can't be done.

mod actor;
mod asked;
mod builder;
mod chat_id;
pub mod command;
pub mod context;
mod deadlines;
mod drain;
pub mod driver;
pub mod engine;
pub mod error;
mod follower;
mod id;
mod log;
mod maintenance;
pub mod replica;
mod resting;
pub mod schema;
pub mod stream;
pub mod tool;
pub mod tools;
pub mod windows;
mod work;

pub use agents::Heard;
pub use builder::EngineBuilder;
pub use context::{Context, Refused};
pub use engine::Engine;
pub use error::EngineError;
pub use stream::{Speech, WindowStream};
pub use tool::{Later, Tool, ToolError, client_tool, long_running, tool};
pub use tools::Tools;
pub use turn::live::Verdict;
pub use work::Ask;
