//! AG-UI's view of a turn: its events, the messages of a chat, and what a client's request says.
//!
//! A window is a run. It ends where the turn waits or is over; approvals are interrupts, and calls of pages
//! are calls that the run leaves without a result. A client that may lack something, or has something that
//! the journal has not, is sent all messages first.

pub(crate) mod answer;
mod content;
mod fold;
mod history;
mod interrupt;
mod renderer;
mod request;
mod run;
mod window;

pub use self::request::ClientRun;
pub use self::run::Run;
pub use self::window::AgUiWindow;

/// Separates the parts of a message's id: that of the turn's message comes first.
const SEPARATOR: char = ':';

/// The end of the id of a text that writes down what the user said aloud.
const SPEECH: &str = ":speech";
