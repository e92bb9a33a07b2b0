//! The server: everything that is HTTP, and the binary `adk-stream`.
//!
//! **Owns** the command line, the configuration, the listening socket, the routes, the built page, and
//! how the process starts and ends.
//!
//! **Does not own** what a turn does (`turn`), how it is driven (`engine`), where it is kept (`store`)
//! or what its bytes look like (`wire`).
//!
//! It is also the library's front door: the rooms that an application needs are re-exported here, and
//! `examples/typed_tool.rs` shows a tool with a policy and the server around it.
//!
//! # Layout
//!
//! - `cli`: the subcommands and flags, and what each does.
//! - `config`: flags, environment and file laid over each other, and checked.
//! - `config_file`: the configuration file, in TOML.
//! - `environment`: the `ADK_STREAM_` variables.
//! - `listen_address`, `store_url`, `agent_name`: the grammar of each setting.
//! - `log`: what goes to stderr.
//! - [`identity`]: who sends a request; [`keys`]: by keys, also from a file (`keys_file`); `speaker`: as an
//!   extractor; [`shared_key`]: other servers, and the agent.
//! - [`api`]: chats over HTTP; `event_stream`: a window as a response.
//! - `approvals`: what waits for a person, and what the person says.
//! - [`body`]: what a request brings; [`quota`]: how much a principal may have and send.
//! - `asks`: tools at the agent, which ask people and pages.
//! - `paging`: lists in pages.
//! - `guard`: what is refused before a request is looked at.
//! - `headers`: what browsers may do with what is served.
//! - `history`: a chat's journal, and its recording.
//! - [`live`]: the WebSocket, in two dialects; [`ticket`] and [`origin`]: who may open one.
//! - `demo`: where the demo is mounted, and what stands there in a build without it.
//! - `gemini_settings`: what an operator may say of Gemini.
//! - `duration`: spans of time, as an operator writes them.
//! - `random_id`: ids that nobody else has.
//! - `runtime`: what it runs on.
//! - `connection`: how many connections there are, and how long each may take.
//! - `serve`: from the socket to the last connection.
//! - `signals`: SIGTERM and SIGINT as a queue.
//! - `readiness`: whether the store takes writes.
//! - `routes`: which path is answered by whom.
//! - `page`: the built page, embedded in the binary or in a folder; `page_folder`: which.
//! - `problem`: an error as a client reads it, in JSON.
//! - `error`: an error as an operator reads it, in one line.

mod agent_name;
pub mod api;
mod approvals;
mod asks;
pub mod body;
mod cli;
mod cluster;
mod config;
mod config_file;
mod connection;
#[cfg_attr(not(feature = "demo"), path = "without_demo.rs")]
mod demo;
mod duration;
mod environment;
mod error;
mod event_stream;
mod gemini_settings;
mod guard;
mod headers;
mod history;
pub mod identity;
pub mod keys;
mod keys_file;
mod listen_address;
pub mod live;
mod log;
pub mod origin;
mod page;
mod page_folder;
mod paging;
mod problem;
pub mod quota;
mod random_id;
mod readiness;
pub mod reads;
mod routes;
mod runtime;
mod serve;
pub mod shared_key;
mod shares;
mod signals;
mod speaker;
mod store_url;
pub mod ticket;

pub use {agents, engine, store, turn, view, wire};

pub use api::Api;
pub use cli::run;
pub use connection::{ConnectionLimits, serve};
pub use environment::Environment;
pub use error::Error;
pub use identity::{Identity, KeyIdentity, Unidentified};
pub use keys::Keys;
pub use listen_address::ListenAddress;
pub use runtime::runtime;
