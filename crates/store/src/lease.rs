//! Leases: which server runs a chat's turn, where to find it, and until when it is believed to live.
//!
//! A lease is a hint and never the fence. It says where to look for the owner of a running turn, and
//! when it has expired. Who may write is decided by the journal alone: a turn is claimed
//! there, under a new epoch, and whoever was late conflicts. So a lease that is lost, late or wrong
//! costs time and never an answer.
//!
//! A store has no clock: all times are brought by the caller. Clocks of servers that disagree make a
//! takeover earlier or later by as much, which the fence bears.

use turn::{At, ChatId};

use crate::journal::Reply;

/// Leases on chats. Every [`crate::Journal`] has them, since finding a turn that nobody runs needs
/// both.
pub trait Leases: Send + Sync + 'static {
    /// Takes or renews leases for one owner, all in one write, and returns those that it does not
    /// get, in no order.
    ///
    /// A lease goes to the higher epoch, since that claim is the later one in the journal. Under the
    /// same epoch it stays with its owner until it expires. There is none for a chat that is not
    /// there. Of a chat that is named twice, the highest epoch counts.
    fn hold<'a>(
        &'a self,
        owner: &'a Holder,
        chats: &'a [(ChatId, u64)],
        now: At,
        expires: At,
    ) -> Reply<'a, Vec<ChatId>>;

    /// The lease of a chat, expired or not.
    fn lease<'a>(&'a self, chat: &'a ChatId) -> Reply<'a, Option<Lease>>;

    /// Gives leases back. Those that have gone to somebody else stay with them.
    fn release<'a>(&'a self, owner: &'a str, chats: &'a [ChatId]) -> Reply<'a, ()>;

    /// Chats whose turn needs somebody to go on and that nobody's lease covers, the longest untouched
    /// first, so many at most: what to take over.
    ///
    /// A turn that waits for open gates alone is not among them, however many there are.
    fn orphaned(&self, now: At, limit: usize) -> Reply<'_, Vec<ChatId>>;
}

/// Who holds leases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// The owner: a name that no other server has, and that it has anew after each start.
    pub owner: String,
    /// Where it is reached from other servers; what stands here is theirs to read.
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
    /// When not to believe in it any more.
    pub expires: At,
}

impl Lease {
    /// Whether another lease may stand in this one's place.
    pub fn yields_to(&self, owner: &str, epoch: u64, now: At) -> bool {
        self.epoch < epoch
            || self.epoch == epoch && (self.holder.owner == owner || self.expires <= now)
    }
}
