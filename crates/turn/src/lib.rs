//! The turn: the agent's whole answer to one message, as a pure state machine.
//!
//! **Owns** every decision: which calls run, which gates are asked, when a window closes, what the
//! journal says, and which chunks a client is sent. Inputs go in; events for the journal, effects
//! and transcript items come out. Given the same entries it is the same turn.
//!
//! **Does not own** a clock, I/O, randomness or async: `store` keeps the entries, `engine` carries
//! out the effects and brings the time and the ids.
//!
//! # Layout
//!
//! - [`id`]: what things are called; [`time`]: when.
//! - [`event`]: what the journal says: the only thing that is kept.
//! - [`gate`]: a question that holds a call, and its answers; [`call`]: what became of a call.
//! - [`agent`]: what an agent is told, and what it says.
//! - [`chat`]: a journal, folded; [`turn`]: one turn of it; `path`: those that were not cut off.
//! - [`input`]: what can happen to a chat, and what follows; `decide` says which.
//! - [`live`]: the step that is running, and what tools and policies say of its calls.
//! - [`transcript`]: what a turn has said; `telling` puts it in chunks; [`window`] is one client's view.
//! - [`seeds`]: the same view in the order of the seeds' dialect.
//! - [`intake`]: what is new in what a client sends, and what is refused.

pub mod agent;
pub mod call;
pub mod chat;
mod decide;
pub mod event;
pub mod gate;
pub mod id;
pub mod input;
pub mod intake;
pub mod live;
mod path;
pub mod seeds;
pub mod telling;
pub mod time;
pub mod transcript;
pub mod turn;
pub mod window;

pub use chat::Chat;
pub use event::{Entry, Event};
pub use id::{CallId, ChatId, GateId, Principal, TurnId};
pub use input::{Effect, Input, Output};
pub use time::At;
pub use turn::{Status, Turn};
pub use window::Window;
