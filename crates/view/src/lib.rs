//! How a turn is shown, pure: from what it has said to one client's stream.
//!
//! **Owns** everything that is there because a client behaves oddly: in which step a question stands,
//! which calls are asked about again, what a client that has seen half of it is told, and what is new in
//! the history that it sends back.
//!
//! **Does not own** decisions (`turn`), bytes (`wire`), or when something is sent (`engine`).
//!
//! # Layout
//!
//! - [`ai_sdk`]: the message as AI SDK clients hold it; its windows.
//! - [`legacy`]: the same in the order of the legacy bridge.
//! - [`shown`]: a chat together with what clients are shown of it.
//! - [`intake`]: what is new in what a client sends, and what is refused.

pub mod ai_sdk;
pub mod intake;
pub mod legacy;
pub mod shown;
mod weight;

pub use ai_sdk::{Closing, Line, Transcript, Window};
pub use intake::Intake;
pub use legacy::LegacyWindow;
pub use shown::{Branch, ShownChat};
