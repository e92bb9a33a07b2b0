//! The turn: the agent's whole answer to one message, as a pure state machine.
//!
//! **Owns** every decision: which calls run, which gates are asked, whose answer counts, what the
//! journal says. Inputs go in; events for the journal, effects, and what was said come out. Given the
//! same entries it is the same turn.
//!
//! **Does not own** a clock, I/O, randomness or async: `store` keeps the entries, `engine` carries
//! out the effects and brings the time and the ids. Nor what a client is sent: that is `view`'s.
//!
//! # Layout
//!
//! - [`id`]: what things are called; [`time`]: when.
//! - [`message`]: what a user says.
//! - [`event`]: what the journal says: the only thing that is kept; [`actor`]: who signs it.
//! - [`gate`]: a question that holds a call, and its answers; [`call`]: what became of a call.
//! - [`digest`]: what an answer was given to.
//! - [`agent`]: what an agent is told, and what it says.
//! - [`chat`]: a journal, folded; [`turn`]: one turn of it; `path`: those that were not cut off.
//! - [`input`]: what can happen to a chat, and what follows; `decide` says which.
//! - [`live`]: the step that is running, and what tools and policies say of its calls.
//! - [`said`]: what a turn has said and done, as typed items; [`reason`]: the sentences among it.
//! - [`index`]: what a store keeps beside the entries.
//! - [`answer`]: whose answer counts; [`refusal`]: why one does not.

pub mod actor;
pub mod agent;
pub mod answer;
pub mod call;
pub mod chat;
mod decide;
pub mod digest;
pub mod event;
pub mod gate;
pub mod id;
pub mod index;
pub mod input;
pub mod live;
pub mod message;
mod path;
pub mod reason;
pub mod refusal;
pub mod said;
pub mod time;
pub mod turn;

pub use actor::Actor;
pub use chat::Chat;
pub use event::{Entry, Event};
pub use id::{CallId, ChatId, GateId, Principal, TurnId};
pub use index::OpenTurn;
pub use input::{Effect, Input, Output};
pub use message::Message;
pub use time::At;
pub use turn::{Status, Turn};
