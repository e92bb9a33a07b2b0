//! The turn: the agent's whole answer to one message, as a pure state machine.
//!
//! ```
//! use adk_stream_turn::input::Ids;
//! use adk_stream_turn::message::{Message, Part};
//! use adk_stream_turn::{At, Chat, Effect, Input, Principal};
//!
//! let mut chat = Chat::default();
//! let message = Input::Message {
//!     message: Message::new("m", vec![Part::text("Hello")]),
//!     principal: Principal::from("ann"),
//!     after: None,
//!     page_tools: Vec::new(),
//!     request: None,
//!     ids: Ids { turn: "t".into(), message: "a".to_owned() },
//! };
//! let output = chat.handle(message, At(0));
//! // First the journal says so; when it is stored, the agent is asked.
//! assert!(!output.append.is_empty());
//! assert_eq!(output.effects, [Effect::CallModel]);
//! ```
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
//! - `id`: what things are called; `time`: when.
//! - [`message`]: what a user says; [`page_tool`]: tools that the page declares with it; [`queue`]: those
//!   that came while a turn was open.
//! - [`event`]: what the journal says: the only thing that is kept; `actor`: who signs it.
//! - [`gate`]: a question that holds a call, and its answers; [`call`]: what became of a call.
//! - [`digest`]: what an answer was given to; [`limits`]: how much may wait, and how large it may be.
//! - [`agent`]: what an agent is sent, and what it says.
//! - `chat`: a journal, folded; [`turn`]: one turn of it; `path`: those that were not cut off; `branch`:
//!   those that were.
//! - [`input`]: what can happen to a chat, and what follows; `decide` says which.
//! - [`policy`]: what a tool's policy decides about a call; `step_in_progress`: the step that is running.
//! - [`metadata`]: provider metadata; [`trace`]: where a turn belongs in a distributed trace.
//! - [`item`]: what a turn has said and done, as typed items; [`reason`]: the sentences among it.
//! - [`index`]: what a store keeps beside the entries; [`title`]: what it calls a chat.
//! - [`answer`]: whose answer counts; [`refusal`]: why one does not; `failure`: why agents fail;
//!   `codes`: enums whose variants have names for others.

mod actor;
pub mod agent;
pub mod answer;
mod branch;
pub mod call;
mod chat;
mod codes;
mod decide;
pub mod digest;
pub mod event;
mod failure;
pub mod gate;
mod id;
pub mod index;
pub mod input;
pub mod item;
pub mod limits;
pub mod message;
pub mod metadata;
pub mod page_tool;
mod path;
pub mod policy;
pub mod queue;
pub mod reason;
pub mod refusal;
mod step_in_progress;
mod time;
pub mod title;
pub mod trace;
pub mod turn;
mod usage;

pub use actor::Actor;
pub use chat::Chat;
pub use event::{Entry, Event};
pub use id::{CallId, ChatId, GateId, Principal, TurnId};
pub use index::OpenTurn;
pub use input::{Effect, Input, Output};
pub use message::Message;
pub use page_tool::PageTool;
pub use time::At;
pub use trace::TraceContext;
pub use turn::{Status, Turn};
pub use usage::Usage;
