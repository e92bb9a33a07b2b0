//! Things that may be used once, over all servers of a store: tickets.

use turn::At;

use crate::journal::Reply;

/// Remembers what was used, until it would not be good any more.
pub trait Nonces: Send + Sync {
    /// Uses a nonce, and returns whether it was unused. It is forgotten once it expires: a use after
    /// that has to be refused by its time.
    ///
    /// Where the store fails in the middle, the nonce may be used and the answer still be no.
    fn spend<'a>(&'a self, nonce: &'a str, now: At, expires: At) -> Reply<'a, bool>;
}
