//! Tools of MCP servers.
//!
//! A [`Server`] is started from a [`ServerConfig`] and is a [`Source`](crate::Source) of tools, which are
//! named `server.tool`. It never blocks its caller: a server that is slow to start, hangs, floods or dies
//! affects its own tools only.
//!
//! **What a server says is not trusted.** Its annotations are shown and allow nothing, its schemas are
//! checked before they are used, its messages have limits, and what it asks of us (sampling, elicitation)
//! is refused.
//!
//! # Layout
//!
//! - [`config`]: how a server is reached, and what it may do; [`status`]: how it is.
//! - `server`: the handle and the source of tools; `link`: what the handle, the calls and the supervisor
//!   share; `supervisor`: starts, lists, follows and restarts.
//! - `catalog`: a server's list made into tools; `call`: one call; `output`: what an answer becomes.
//! - `connection`: a session with a server, the one module that knows `rmcp`, over `connection::stdio` or
//!   `connection::http`.

pub mod config;
pub mod status;

mod call;
mod catalog;
mod connection;
mod link;
mod output;
mod server;
mod supervisor;

pub use config::{ConfigError, Limits, Media, ServerConfig, Transport};
pub use server::Server;
pub use status::{Hints, LeftOut, State, Status, ToolStatus};
