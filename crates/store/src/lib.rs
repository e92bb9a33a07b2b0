//! The journal: the append-only record of a chat, on memory, SQLite or PostgreSQL.
//!
//! **Owns** durability and the one primitive `append(chat, expected_seq, entry) -> Ok | Conflict`;
//! reading and following what was appended; the indexes that find a gate, a call, or a chat whose
//! turn has not ended.
//!
//! **Does not own** what an entry means: it stores what `turn` hands out and gives it back in order.
//! Whether an answer to a gate is allowed, and what to do after a conflict, is decided elsewhere.
//!
//! # Layout
//!
//! - [`journal`]: what a store can do; [`lease`]: who runs what.
//! - [`nonce`]: what may be used once; [`probe`]: whether a store can be written to.
//! - [`tail`]: a journal as it grows; [`change_notifier`]: how a tail learns that it did.
//! - [`memory`], [`sqlite`], [`postgres`]: the stores; [`location`]: which one, and opening it.
//! - [`error`]: what can go wrong.
//! - `conformance`: the suite that every store passes, behind the feature of that name.

pub mod change_notifier;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod error;
pub mod journal;
mod json;
pub mod lease;
pub mod location;
pub mod memory;
pub mod nonce;
mod number;
pub mod postgres;
pub mod probe;
pub mod sqlite;
pub mod tail;

pub use error::StoreError;
pub use journal::{
    Appended, Bounds, Closed, EntryPage, GatePage, GatePlace, GateRecord, Journal, NewEntry,
    OpenGate, Reply, Usage,
};
pub use lease::{Holder, Lease, Leases};
pub use location::{Location, Stores, open};
pub use nonce::Nonces;
pub use postgres::PostgresUrl;
pub use probe::Probe;
pub use tail::Tail;
