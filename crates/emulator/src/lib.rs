//! A Gemini on loopback: both APIs, scripted, with faults, for our tests and our users'.
//!
//! **Owns** the server side of Gemini's wire, and the faults that it shows on request.
//!
//! **Does not own** the types (`gemini`) nor a model: what it says comes from a script, or from an
//! agent, by default the demo. Whether it is true to Google's is not for it to say: Google's own SDK
//! judges it (python/conformance).
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), adk_stream_emulator::Error> {
//! use adk_stream_emulator::{Emulator, Script};
//!
//! let emulator = Emulator::builder().start().await?;
//! emulator.set_script(Script::from_json(
//!     r#"{"rules": [{"on": "generate", "times": 1, "status": {"code": 503}}]}"#,
//! )?)?;
//! println!("a Gemini that is overloaded once: {}", emulator.url());
//! # Ok(())
//! # }
//! ```
//!
//! # Layout
//!
//! - [`emulator`]: from its start to its end; `options`: how it behaves.
//! - `listener`: connections, with TLS and without; `certificate`: what TLS needs.
//! - `routes`: which path is answered by whom; `control`: the emulator's own routes.
//! - `generate`: generateContent; `validation`: what Google demands of a request.
//! - `live`: Live; `resumption`: sessions that can be resumed.
//! - `responder`: the agent that answers; `signature`: thought signatures; `tokens`: token counts.
//! - `models`: which there are; `refusal`: errors, in Google's form.
//! - [`script`]: rules that replace or disturb answers; `playbook`: the script in use; [`command`]: what can be
//!   done to open sockets.
//! - [`log`], [`stats`]: requests and responses, and what is open.
//! - `core`: what all connections share; `closing`: that it ends.

mod certificate;
mod closing;
pub mod command;
mod control;
mod core;
pub mod emulator;
mod error;
mod generate;
mod listener;
mod live;
pub mod log;
mod models;
mod options;
mod playbook;
mod refusal;
mod responder;
mod resumption;
mod routes;
pub mod script;
mod signature;
pub mod stats;
mod tokens;
mod validation;

pub use command::Command;
pub use emulator::{Builder, Emulator};
pub use error::Error;
pub use log::{Entry, Happening};
pub use options::Frames;
pub use script::{Moment, Rule, Script};
pub use signature::Signatures;
pub use stats::Stats;
