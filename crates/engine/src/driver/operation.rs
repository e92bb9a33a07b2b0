//! What a driver asks of the store, and what the store answers.

use store::{Appended, Lease, NewEntry};
use turn::Entry;

/// Something to be asked of the store, for this chat.
#[derive(Debug)]
pub enum Operation {
    /// Its lease.
    Lease,
    /// All its entries.
    Read,
    /// To append an entry behind the last one that was seen.
    Append {
        /// Its place.
        expected: u64,
        /// The entry.
        entry: NewEntry,
    },
    /// To take the lease.
    Hold {
        /// The epoch of this server's claim.
        epoch: u64,
    },
    /// Whether its journal ends elsewhere than at a place.
    Compare {
        /// The place.
        seq: u64,
    },
    /// To forget it.
    Delete,
    /// To end the lease, so that others take the chat up at once.
    GiveBack {
        /// The epoch of this server's claim.
        epoch: u64,
    },
    /// To drop the lease.
    Release,
}

/// What the store answers.
#[derive(Debug)]
pub enum Stored {
    /// To [`Operation::Lease`].
    Lease(Option<Lease>),
    /// To [`Operation::Read`].
    Entries(Vec<Entry>),
    /// To [`Operation::Append`].
    Appended(Appended),
    /// To [`Operation::Hold`]: whether it was to be had.
    Held(bool),
    /// To [`Operation::Compare`]: whether it does.
    Outdated(bool),
    /// To all others.
    Done,
}
