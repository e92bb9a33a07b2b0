//! Drives a turn: append, act, append.
//!
//! ```
//! use std::sync::Arc;
//!
//! use adk_stream_engine::{Engine, EngineError, Tools};
//! use agents::Agent;
//!
//! async fn engine(agent: Arc<dyn Agent>) -> Result<Engine, Box<dyn std::error::Error>> {
//!     let stores = store::open(store::Location::Memory).await?;
//!     let engine = Engine::builder(stores.journal, agent, Tools::new());
//!     // Takes up what an earlier process has left.
//!     Ok(engine.start().await?)
//! }
//! ```
//!
//! (`agents` and `store` are the crates `adk-stream-agents` and `adk-stream-store`.)
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
//! - `actor`: the task of a chat, which carries the actions out; `windows`: what its clients see.
//! - `agent_tool`: an agent that another one uses as a tool.
//! - `engine`: what a server does with chats; `builder`: how an engine is made; `clock`: what time it is.
//! - [`command`]: the one way in, here or forwarded from another server.
//! - `approval_index`: from approvals to the chats here that wait for them; `deadlines`: when their time is up.
//! - `chat_id`: under which ids chats can be opened; `body_fields`: what a page's request has beside its message.
//! - `resting`: chats that nothing happens to, within bounds.
//! - `maintenance`: what a server does by itself; `drain`: how it leaves.
//! - [`replica`]: one of several servers; `follower`: what is read where the owner of a chat can't be
//!   reached; `peer_round`: what servers tell each other of the database.
//! - `stream`: a window as it is read; `log` is what all windows of a turn read from.
//! - [`origin`]: which request a task works for, in the log and in a distributed trace.
//! - `load`: how much an engine has in hand.
//! - `error`: why something can't be done.

mod actor;
mod agent_tool;
mod approval_index;
mod body_fields;
mod builder;
mod chat_id;
mod clock;
pub mod command;
mod deadlines;
mod drain;
pub mod driver;
mod engine;
mod error;
mod follower;
mod id;
mod load;
mod log;
mod maintenance;
pub mod origin;
mod peer_round;
pub mod replica;
mod resting;
mod stream;
mod windows;

pub use agent_tool::InnerAgent;
pub use agents::AudioInput;
pub use builder::EngineBuilder;
pub use engine::{Answered, Approval, Engine, Question, Request, SendOptions, ViewerGuard};
pub use error::EngineError;
pub use load::Load;
pub use stream::{Batch, Dialect, WindowStream};
pub use tools::{
    AnyTool, Ask, Context, Fence, Later, PageRules, Pattern, Policies, Policy, Refused, Tool,
    ToolError, Tools, Verdict, client_tool, long_running, tool,
};
pub use windows::Windows;
