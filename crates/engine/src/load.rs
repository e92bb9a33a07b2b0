//! How much an engine has in hand, for those who operate it.

use crate::engine::Engine;

/// How much an engine has in hand at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Load {
    /// Chats that have a task.
    pub chats: usize,
    /// Messages that wait for those tasks.
    pub queued: usize,
    /// Chats whose lease this server holds.
    pub leases: usize,
    /// Chats with a task that nothing happens to.
    pub resting_chats: usize,
    /// How many bytes those take, by estimate.
    pub resting_bytes: usize,
    /// How many of those were evicted for others since the start.
    pub evictions: u64,
    /// Chats that wait for the store to come back.
    pub retries: usize,
}

impl Engine {
    /// How much it has in hand. It visits every chat with a task, so it is not for every request.
    pub fn load(&self) -> Load {
        let senders = self.senders();
        let queued = senders
            .iter()
            .map(|tasks| tasks.max_capacity() - tasks.capacity());
        let (resting_chats, resting_bytes, evictions) = self.shared.resting.totals();
        Load {
            chats: senders.len(),
            queued: queued.sum(),
            leases: self.shared.leased.len(),
            resting_chats,
            resting_bytes,
            evictions,
            retries: self.shared.retries.len(),
        }
    }
}
