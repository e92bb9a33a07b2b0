//! Leases: which server runs a chat's turn, where to find it, and until when it counts as alive.
//!
//! A lease is a hint and never the fence. It names the address of the owner of a running turn, and
//! when it has expired. Who may write is decided by the journal alone: a turn is claimed
//! there, under a new epoch, and appends of the previous owner conflict. So a lease that is lost, late or
//! wrong costs time and never an answer.
//!
//! All servers over a store go by the store's clock, so that no lease lasts longer because the clock of
//! its owner is wrong: an owner says for how long it wants a lease, and the store says until when that
//! is. A clock that is set makes a takeover earlier or later; the sequence check of the journal makes
//! this safe.

use std::time::Duration;

use turn::{At, ChatId};

use crate::journal::Reply;

/// How many addresses of servers are given at once.
pub(crate) const MAX_ADDRESSES: usize = 100;

/// Leases on chats. Every [`crate::Journal`] has them, since finding a turn without an owner needs
/// both.
pub trait Leases: Send + Sync + 'static {
    /// What time it is, by the clock that all who share the store go by: the database's, if it has one,
    /// otherwise this machine's.
    fn time(&self) -> Reply<'_, At>;

    /// Acquires or renews leases for one owner, from now on for so long, all in one write, and returns
    /// those that it does not get, in no order.
    ///
    /// A lease goes to the higher epoch, since that claim is the later one in the journal. Under the
    /// same epoch it stays with its owner until it expires. There is none for a chat that is not
    /// there. Of a chat that is named twice, the highest epoch counts.
    fn hold<'a>(
        &'a self,
        owner: &'a Holder,
        chats: &'a [(ChatId, u64)],
        lease: Duration,
    ) -> Reply<'a, Vec<ChatId>>;

    /// The lease of a chat, expired or not.
    fn lease<'a>(&'a self, chat: &'a ChatId) -> Reply<'a, Option<Lease>>;

    /// Releases leases. Those that have gone to another owner stay with it.
    fn release<'a>(&'a self, owner: &'a str, chats: &'a [ChatId]) -> Reply<'a, ()>;

    /// Chats with a running turn and without a valid lease, the longest untouched
    /// first, at most this many: what to take over.
    ///
    /// A turn that waits for open gates alone is not among them, however many there are.
    fn orphaned(&self, limit: usize) -> Reply<'_, Vec<ChatId>>;

    /// The addresses in the leases that are kept, expired or not, each once, in no order, and at most a
    /// hundred: where other servers are, or were.
    fn addresses(&self) -> Reply<'_, Vec<String>>;
}

/// Who holds leases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// The owner: a name that no other server has, and a new one after each start.
    pub owner: String,
    /// Its address for other servers; the store does not read it.
    pub address: String,
}

/// A lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The chat.
    pub chat: ChatId,
    /// The epoch of the claim that it goes with.
    pub epoch: u64,
    /// Who holds it, and where.
    pub holder: Holder,
    /// When it no longer counts, by the store's clock.
    pub expires: At,
}

impl Lease {
    /// Whether another lease may replace this one.
    pub fn yields_to(&self, owner: &str, epoch: u64, now: At) -> bool {
        self.epoch < epoch
            || self.epoch == epoch && (self.holder.owner == owner || self.expires <= now)
    }
}
