//! The journal: the append-only record of a chat, on memory, SQLite or PostgreSQL.
//!
//! ```
//! use adk_stream_store::{Appended, Location, NewEntry, open};
//! use turn::{At, ChatId, Event, Principal};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), adk_stream_store::StoreError> {
//! let stores = open(Location::Memory).await?;
//! let (chat, ann) = (ChatId::from("c"), Principal::from("ann"));
//! let opened = NewEntry {
//!     at: At(0),
//!     epoch: 0,
//!     actor: ann.clone().into(),
//!     events: vec![Event::ChatOpened { owner: ann }],
//!     open: None,
//! };
//! let first = stores.journal.append(&chat, 0, opened.clone()).await?;
//! assert_eq!(first, Appended::Ok { seq: 1 });
//! // An append that has not seen the first entry is a conflict, and appends nothing.
//! let second = stores.journal.append(&chat, 0, opened).await?;
//! assert_eq!(second, Appended::Conflict { seq: 1 });
//! assert_eq!(stores.journal.read(&chat, 0).await?.len(), 1);
//! # Ok(())
//! # }
//! ```
//!
//! (`turn` is the crate `adk-stream-turn`.)
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
//! - [`journal`]: what a store can do; [`lease`]: who runs what; [`layer`]: a journal around another.
//! - [`chat_list`]: the chats of an owner, named, archived and deleted; [`change_feed`]: which change.
//! - [`nonce`]: what may be used once; [`probe`]: whether a store can be written to; [`backlog`]: how
//!   much waits in it.
//! - [`tail`]: a journal as it grows; [`change_notifier`]: how a tail learns that it did.
//! - [`memory`], [`sqlite`], [`postgres`]: the stores; [`location`]: which one, and opening it.
//! - [`inspection`]: what a location holds, without a change.
//! - [`error`]: what can go wrong.
//! - `conformance`: the suite that every store passes, behind the feature of that name.

pub mod backlog;
pub mod change_feed;
pub mod change_notifier;
pub mod chat_list;
mod clock;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod error;
pub mod inspection;
pub mod journal;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod json;
pub mod layer;
pub mod lease;
pub mod location;
pub mod memory;
pub mod nonce;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
mod number;
#[cfg(feature = "postgres")]
pub mod postgres;
pub mod probe;
#[cfg(feature = "sqlite")]
pub mod sqlite;
pub mod tail;

pub use backlog::{Backlog, OpenGates};
pub use change_feed::{ChangeFeed, ChatChange};
pub use chat_list::{
    ApprovalIdPage, ChatList, ChatPage, ChatPlace, ChatQuery, LabelChange, ListedChat, TitleChange,
};
pub use error::StoreError;
pub use inspection::{Inspection, Schema, inspect};
pub use journal::{
    Appended, Bounds, Closed, EntryPage, GatePage, GatePlace, GateRecord, Journal, NewEntry,
    OpenGate, Reply, Usage,
};
pub use layer::{Layer, Operation};
pub use lease::{Holder, Lease, Leases};
pub use location::{Location, Stores, open};
pub use nonce::Nonces;
#[cfg(feature = "postgres")]
pub use postgres::PostgresUrl;
pub use probe::Probe;
pub use tail::Tail;
