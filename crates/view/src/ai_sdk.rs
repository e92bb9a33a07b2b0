//! The AI SDK's view of a turn: one transcript of it, and a window for each client.

mod chunks;
mod message;
mod place;
pub(crate) mod proxy;
mod transcript;
pub(crate) mod user_message;
mod window;

pub(crate) use self::message::assemble;
pub use self::transcript::{Closing, Failure, Line, Transcript};
pub use self::window::{Window, seen};
