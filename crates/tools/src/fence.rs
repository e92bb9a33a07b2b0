//! A fencing token: which claim of a chat a tool runs under, so that what the tool changes can refuse a run
//! that another server has replaced.

use std::fmt;

/// Under which claim of a chat a tool runs: [`Context::fence`](crate::Context::fence).
///
/// A server that is frozen in the middle of a call counts as dead after a while. Another one claims the
/// chat under a higher epoch, and says that the outcome of the call is *unknown*. If the first then goes
/// on, what it changes must not change any more: a service that keeps the highest epoch of each scope, and
/// refuses a lower one, makes sure of that.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Fence {
    /// What epochs are compared within: one for each chat. A chat that is opened again under the id of a
    /// deleted one has another.
    pub scope: String,
    /// The number of the claim: 0 at first, and one more after each takeover.
    pub epoch: u64,
}

/// `SCOPE:EPOCH`, as HTTP tools send it. What comes after the last colon is the epoch.
impl fmt::Display for Fence {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.scope, self.epoch)
    }
}
