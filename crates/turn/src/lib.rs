//! The turn: the agent's whole answer to one message, as a pure state machine.
//!
//! **Owns** every decision: which calls run, which gates are asked, when a window closes, what the
//! journal says, and which chunks a client is sent. Events go in; journal entries, effects and
//! chunks come out. Given the same entries it is the same turn.
//!
//! **Does not own** a clock, I/O, randomness or async: `store` keeps the entries, `engine` carries
//! out the effects and brings the time.
//!
//! Nothing stands here yet: this crate is the room that the turn moves into.
