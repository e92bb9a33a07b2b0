//! Drives a turn: append, act, append.
//!
//! **Owns** time and tasks: tools, gates, timeouts, and the windows through which clients watch. One
//! task a chat takes everything that happens to it in order, asks `turn` what follows, makes that
//! durable, and only then acts on it or shows it.
//!
//! **Does not own** decisions (`turn`), bytes (`wire`), durability (`store`) or HTTP (`server`).
//!
//! # Layout
//!
//! - [`mod@tool`]: a typed function with a schema and a policy; [`tools`]: all that an agent may call.
//! - [`context`]: what a tool can do while it runs: ask, record, report, have a page do something.
//! - [`engine`]: what a server does with chats; `actor` is the task of one chat.
//! - `asked`: where the approvals are that chats here wait for.
//! - `beat`: what a server does by itself; `drain`: how it leaves.
//! - [`errand`]: what is asked of a chat, here or elsewhere; [`replica`]: one of several servers;
//!   `follower`: what is read where the owner of a chat can't be reached.
//! - [`stream`]: a window as it is read; `log` is what all windows of a turn read from.
//! - [`error`]: why something can't be done.

mod actor;
mod asked;
mod beat;
pub mod context;
mod drain;
pub mod engine;
pub mod errand;
pub mod error;
mod follower;
mod id;
mod log;
pub mod replica;
pub mod stream;
pub mod tool;
pub mod tools;
mod work;

pub use agents::Heard;
pub use context::{Context, Refused};
pub use engine::Engine;
pub use error::EngineError;
pub use stream::{Speech, WindowStream};
pub use tool::{Later, Tool, ToolError, client_tool, long_running, tool};
pub use tools::Tools;
pub use turn::live::Verdict;
pub use work::Ask;
