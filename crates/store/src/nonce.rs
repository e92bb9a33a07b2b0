//! Things that may be used once, over all servers of a store: tickets.

use turn::At;

use crate::journal::Reply;

/// Remembers what was used, until it would not be good any more.
pub trait Nonces: Send + Sync {
    /// Uses a nonce, and returns whether it was unused and has not expired. It is forgotten once it
    /// expires.
    ///
    /// A store with a clock of its own judges by that, since servers that judged by theirs would forget
    /// what others still accept. Any other goes by `now`.
    ///
    /// Where the store fails in the middle, the nonce may be used and the answer still be no.
    fn spend<'a>(&'a self, nonce: &'a str, now: At, expires: At) -> Reply<'a, bool>;
}
