//! Whether a store can be written to, found out by writing.

use turn::At;

use crate::journal::Reply;

/// A write that means nothing, and takes the way that appends take.
pub trait Probe: Send + Sync {
    /// Writes the time of this look, durably, in place of the one before. An append right after it
    /// would have been stored.
    fn probe(&self, now: At) -> Reply<'_, ()>;
}
