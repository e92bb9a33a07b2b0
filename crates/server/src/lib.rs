//! A server and a library between agents and pages built on the AI SDK's `useChat`: people approve what
//! agents do, pages run tools, and nothing is lost when a page reloads or a server dies.
//!
//! An application puts its routes into a router of its own. An [`Engine`](engine::Engine) needs a journal,
//! an agent and tools; an [`Api`] serves it:
//!
//! ```
//! use std::sync::Arc;
//!
//! use adk_stream::Api;
//! use adk_stream::agents::{Agent, AgentStream};
//! use adk_stream::engine::{Context, Engine, ToolError, Tools, Verdict, tool};
//! use adk_stream::store::{self, Location};
//!
//! /// What the model has to say for a refund.
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Refund {
//!     order: u32,
//!     amount: f64,
//! }
//!
//! async fn routes(agent: Arc<dyn Agent>) -> Result<axum::Router, Box<dyn std::error::Error>> {
//!     let refund = tool("refund", "Refunds an order.", async |_: Context, refund: Refund| {
//!         // Runs once for each call, and only when the policy or a person has said yes.
//!         Ok::<_, ToolError>(format!("refunded {} for order {}", refund.amount, refund.order))
//!     })
//!     .policy(|refund, _principal| match refund.amount {
//!         ..=10.0 => Verdict::Allow,
//!         amount => Verdict::Ask {
//!             question: format!("Refund {amount} USD for order {}?", refund.order),
//!         },
//!     });
//!     let stores = store::open(Location::Memory).await?;
//!     let engine = Engine::builder(stores.journal, agent, Tools::new().with(refund))
//!         .start()
//!         .await?;
//!     Ok(axum::Router::new().nest("/ai", Api::new(engine).router()))
//! }
//! # fn main() {}
//! ```
//!
//! A page then has `/ai/api/chat` as the `api` of its transport. What to read next:
//!
//! - [`Identity`] says who sends a request, by sessions that you have already.
//! - [`Agent`](agents::Agent) is who answers; `examples/own_agent.rs` is a whole one in sixty lines.
//! - [`tool`](engine::tool()) makes a tool of a function, with a schema and a policy.
//! - [`serve()`] is `axum::serve` with caps and timeouts for connections.
//!
//! # Features
//!
//! The defaults are what the binary `adk-stream` needs. A library says `default-features = false` and
//! names what it uses:
//!
//! | feature | brings |
//! |---|---|
//! | `sqlite`, `postgres` | stores; the one in memory is always there |
//! | `remote-agents` | agents that answer over the network: models, and ADK servers |
//! | `mcp`, `http`, `openapi` | tools of MCP servers, of HTTP requests and of OpenAPI documents, in [`tools`] |
//! | `cluster` | `HttpPeers`, by which several servers over one PostgreSQL forward commands |
//! | `cli` | the binary: command line, configuration, and all of the above |
//! | `otel` | traces of turns, exported by OTLP over HTTP |
//! | `demo`, `page` | the binary's demo, and its page |
//!
//! # What this crate owns
//!
//! **Owns** the routes, who sends a request, the listening socket, the command line and the
//! configuration, the built page, and how the process starts and ends.
//!
//! **Does not own** what a turn does (`turn`), how it is driven (`engine`), where it is kept (`store`)
//! or what its bytes look like (`wire`). Those crates are re-exported here.

// Layout. All modules are private: what an application uses is named at the end.
//
// - `cli`: the subcommands and flags, and what each does.
// - `config`: flags, environment and file laid over each other, and checked.
// - `config_file`: the configuration file, in TOML; `agent_file`: agents, models and tools in it.
// - `check`, `doctor`, `healthcheck`, `init`: what the commands of these names do; `model_probe`: whether a model can be reached.
// - `reference`: completions, manual pages and tables of settings, from the code.
// - `environment`: the `ADK_STREAM_` variables.
// - `listen_address`, `store_url`, `agent_name`: the grammar of each setting.
// - `log`: what goes to stderr; `access_log`: which requests were served and refused;
//   `request_context`: the id of each.
// - `identity`: who sends a request; `keys`: by keys, also from a file (`keys_file`); `caller`: as an
//   extractor; `shared_key`: other servers, and the agent.
// - `api`: chats over HTTP; `event_stream`: a window as a response.
// - `while_running`: what a page says beside a message.
// - `approvals`: what waits for a person, and what the person says.
// - `body`: what a request brings; `quota`: how much a principal may have and send.
// - `asks`: tools at the agent, which ask people and pages.
// - `paging`: lists in pages; `path_id`: the id in a path; `replies`: the bodies of responses, as types.
// - `document`: `/openapi.json`, from the annotations of the routes and these types.
// - `guard`: what is refused before a request is looked at.
// - `headers`: what browsers may do with what is served.
// - `history`: a chat's journal, and its recording.
// - `live`: the WebSocket, in two dialects; `ticket` and `origin`: who may open one.
// - `demo`: where the demo is mounted, and its replacement in a build without it.
// - `cluster`: commands from other servers over the same store, and to them.
// - `gemini_settings`: what an operator may say of Gemini.
// - `duration`: spans of time, as an operator writes them.
// - `random_id`: unique ids.
// - `runtime`: what it runs on.
// - `connection`: how many connections there are, and how long each may take.
// - `tls`: the certificate of the listening socket; `certificate`: until when one is valid;
//   `compression`: of responses in JSON.
// - `serve`: from the socket to the last connection.
// - `signals`: SIGTERM and SIGINT as a queue.
// - `metrics`: numbers for Prometheus; `telemetry`: traces of turns; `trace_sampler`: which are recorded;
//   `token_prices`: what tokens cost.
// - `readiness`: whether the store takes writes.
// - `ag_ui`: the endpoint for AG-UI's clients.
// - `routes`: which path is answered by whom.
// - `page`: the built page, embedded in the binary or in a folder; `page_folder`: which.
// - `problem`: an error as a client reads it, in JSON; `cause`: what is at the bottom of one.
// - `error`: an error as an operator reads it, in one line.

mod access_log;
mod ag_ui;
#[cfg(feature = "cli")]
mod agent_file;
#[cfg(feature = "cli")]
mod agent_name;
mod api;
mod approvals;
mod asks;
mod body;
mod caller;
#[cfg(feature = "cluster")]
mod cause;
#[cfg(feature = "cli")]
mod certificate;
mod chats;
#[cfg(feature = "cli")]
mod check;
#[cfg(feature = "cli")]
mod cli;
mod cluster;
#[cfg(feature = "cli")]
mod compression;
#[cfg(feature = "cli")]
mod config;
#[cfg(feature = "cli")]
mod config_file;
mod connection;
mod cors;
#[cfg(feature = "cli")]
#[cfg_attr(not(feature = "demo"), path = "without_demo.rs")]
mod demo;
#[cfg(feature = "cli")]
mod doctor;
#[cfg(feature = "cli")]
mod document;
#[cfg(feature = "cli")]
mod duration;
#[cfg(feature = "cli")]
mod environment;
#[cfg(feature = "cli")]
mod error;
mod event_stream;
mod events;
#[cfg(feature = "cli")]
mod gemini_settings;
mod guard;
#[cfg(feature = "cli")]
mod headers;
#[cfg(feature = "cli")]
mod healthcheck;
mod history;
mod identity;
#[cfg(feature = "cli")]
mod init;
mod keys;
#[cfg(feature = "cli")]
mod keys_file;
mod legacy_chat;
#[cfg(feature = "cli")]
mod listen_address;
mod live;
#[cfg(feature = "cli")]
mod log;
mod metrics;
#[cfg(feature = "cli")]
mod model_probe;
mod origin;
#[cfg(feature = "cli")]
mod page;
#[cfg(feature = "cli")]
mod page_folder;
mod paging;
mod path_id;
mod problem;
mod quota;
mod random_id;
#[cfg(feature = "cli")]
mod readiness;
mod reads;
#[cfg(feature = "cli")]
mod reference;
mod replies;
mod request_context;
#[cfg(feature = "cli")]
mod routes;
mod runtime;
#[cfg(feature = "cli")]
mod serve;
mod shared_key;
mod shares;
#[cfg(feature = "cli")]
mod signals;
#[cfg(feature = "cli")]
mod store_url;
#[cfg(feature = "otel")]
mod telemetry;
mod ticket;
#[cfg(feature = "cli")]
mod tls;
mod token_prices;
mod trace_sampler;
mod while_running;
mod workflow_run;

pub use {agents, engine, store, tools, turn, view, wire};

pub use api::Api;
#[cfg(feature = "cli")]
pub use cli::run;
#[cfg(feature = "cluster")]
pub use cluster::HttpPeers;
pub use connection::{ConnectionLimits, serve};
#[cfg(feature = "cli")]
pub use environment::Environment;
#[cfg(feature = "cli")]
pub use error::Error;
pub use events::EventHub;
pub use identity::{AnyIdentity, Identity, KeyIdentity, Unidentified};
pub use keys::Keys;
#[cfg(feature = "cli")]
pub use listen_address::ListenAddress;
pub use live::{OnAbort, SocketLimits};
pub use metrics::Metrics;
pub use origin::Origins;
pub use quota::{QuotaLimits, Quotas};
pub use runtime::runtime;
pub use shared_key::SharedKey;
#[cfg(feature = "otel")]
pub use telemetry::{Contents, Telemetry, TelemetryConfig};
pub use ticket::Secret;
pub use token_prices::TokenPrices;
pub use trace_sampler::TraceSampler;

// Fields of `Api` that callers don't set: struct update syntax needs all fields to be visible.
#[doc(hidden)]
pub use {body::Bodies, live::Frames, reads::Reads, workflow_run::WorkflowRuns};
