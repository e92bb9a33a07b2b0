//! The demo: what answers when `adk-stream` is tried without a model, a key or a network.
//!
//! ```
//! use adk_stream_demo::{Demo, ledger};
//! use store::Location;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), store::StoreError> {
//! let ledger = ledger::open(Location::Memory).await?;
//! let tools = adk_stream_demo::tools(&ledger, None, std::time::Duration::ZERO);
//! assert!(tools.get("process_payment").is_some());
//! let agent = Demo::new();
//! # Ok(())
//! # }
//! ```
//!
//! **Owns** the demo's agent, its tools and its wallets, with the tables that these are in.
//!
//! **Does not own** anything that the product needs: the server mounts it in one place, behind its
//! feature `demo`, and knows nothing else of it. It has no routes: who asks is for the server to say.
//!
//! # Layout
//!
//! - [`agent`]: the agent, which reads and answers English and Japanese.
//! - [`mod@tools`]: what it calls: payments that ask, the page's place and music, a flight, a report.
//! - [`ledger`]: who has how much, and what was paid; on memory, SQLite and PostgreSQL.
//! - [`wallet`]: a wallet as a page reads it.

pub mod agent;
pub mod ledger;
pub mod tools;
pub mod wallet;

pub use agent::Demo;
pub use ledger::{Ledger, Paid, Payment, Refused, Wallet};
pub use tools::tools;
