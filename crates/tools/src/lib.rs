//! What a tool is: a function with a schema, a policy and a place where it runs.
//!
//! ```
//! use adk_stream_tools::{Context, ToolError, Tools, Verdict, tool};
//!
//! /// What the model has to say for a payment. The schema is derived from it.
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Payment {
//!     amount: f64,
//!     recipient: String,
//! }
//!
//! let pay = tool("pay", "Sends money.", async |context: Context, payment: Payment| {
//!     let text = format!("{} paid {}", context.principal(), payment.recipient);
//!     Ok::<_, ToolError>(text)
//! })
//! .policy(|payment, _principal| match payment.amount {
//!     ..=100.0 => Verdict::Allow,
//!     amount => Verdict::Ask {
//!         question: format!("Send {amount} USD to {}?", payment.recipient),
//!     },
//! });
//! let tools = Tools::new().with(pay);
//! assert_eq!(tools.declarations()[0].name, "pay");
//! ```
//!
//! [`client_tool`] declares one that pages run, [`long_running`] one whose result comes later.
//!
//! **Owns** what a tool declares, whether an input fits it, what its policy says of a call, and what a
//! tool can do while it runs.
//!
//! **Does not own** when a tool runs, its tasks and its deadlines (`engine`), what a call's state is
//! (`turn`), or who makes calls (`agents`).
//!
//! # Layout
//!
//! - [`mod@tool`]: a typed function with a schema and a policy; [`toolset`]: all that an agent may call,
//!   with sources whose tools come and go.
//! - [`policy`]: what an operator says of tools that need no Rust, by [`pattern`]s of their names, with the
//!   [`question`] that a person is asked.
//! - [`page_rules`]: tools that a page declares in its request, as far as the operator takes them.
//! - `mcp` (a feature): the tools of MCP servers.
//! - [`schema`]: what is wrong with an input or an output; [`answer`]: with what a person answers.
//! - [`context`]: what a tool can do while it runs: ask, record, report, have a page do something.
//! - [`fence`]: under which claim of its chat a tool runs.
//! - [`work`]: what the tools of a chat bring to it, for the engine.
//! - `http`, with the feature of that name: tools that are HTTP requests; `openapi`: those of a document.

pub mod answer;
pub mod context;
pub mod fence;
#[cfg(feature = "http")]
pub mod http;
#[cfg(feature = "mcp")]
pub mod mcp;
#[cfg(feature = "openapi")]
pub mod openapi;
pub mod page_rules;
pub mod pattern;
pub mod policy;
pub mod question;
pub mod schema;
#[cfg(feature = "mcp")]
mod tls;
pub mod tool;
pub mod toolset;
pub mod work;

pub use context::{Context, Refused};
pub use fence::Fence;
pub use page_rules::PageRules;
pub use pattern::Pattern;
pub use policy::{Policies, Policy};
pub use question::Question;
pub use tool::{AnyTool, Later, Tool, ToolError, client_tool, long_running, tool};
pub use toolset::{Source, ToolMap, Tools};
pub use turn::policy::Verdict;
pub use work::Ask;
