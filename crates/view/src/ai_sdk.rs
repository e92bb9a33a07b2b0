//! The AI SDK's view of a turn: one transcript of it, and a window for each client.

pub(crate) mod chunks;
mod client_position;
mod closing;
mod compact;
mod history;
mod line;
mod message;
mod numbered_window;
mod place;
pub(crate) mod proxy;
mod resume_point;
#[cfg(test)]
pub(crate) mod specimen;
mod step_hash;
mod transcript;
pub(crate) mod user_message;
mod window;

pub(crate) use self::client_position::client_position;
pub use self::closing::Closing;
pub(crate) use self::closing::{Failure, OpenQuestion};
pub use self::line::Line;
pub(crate) use self::line::{Block, BlockUpdate, CallUpdate, Settlement, ShownPart};
pub(crate) use self::line::{BlockLine, CallLine, Delta, PartLine};
pub(crate) use self::message::assemble;
pub use self::numbered_window::NumberedWindow;
pub use self::resume_point::ResumePoint;
pub use self::transcript::Transcript;
pub use self::window::Window;
