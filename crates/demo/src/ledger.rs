//! The demo's wallets: who has how much, and what was paid.
//!
//! The demo pays from here, so that a payment made twice can be seen. A payment is known by its
//! transaction: the same transaction again is the same payment. Two transactions of one call are
//! two payments, which is how a call that ran twice gives itself away.

use turn::{At, CallId, Principal};

use crate::journal::Reply;

/// What everybody starts with: 1000.00 USD.
pub const START_CENTS: u64 = 100_000;

/// The demo's wallets.
pub trait Ledger: Send + Sync + 'static {
    /// Pays, once for each transaction of a principal. Asked again for the same transaction, it
    /// gives the answer that it gave, whatever the rest of the payment says.
    fn pay<'a>(
        &'a self,
        principal: &'a Principal,
        payment: Payment,
    ) -> Reply<'a, Result<Paid, Refused>>;

    /// What a principal has, and what they paid.
    fn wallet<'a>(&'a self, principal: &'a Principal) -> Reply<'a, Wallet>;
}

/// A payment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payment {
    /// What makes it this payment and no other.
    pub transaction: String,
    /// The call that made it.
    pub call: CallId,
    /// Who gets it.
    pub recipient: String,
    /// How much.
    pub cents: u64,
    /// What for.
    pub description: String,
    /// When.
    pub at: At,
}

/// A payment was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paid {
    /// What was left after it.
    pub balance_cents: u64,
}

/// A payment was not made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// There was too little in the wallet.
    InsufficientFunds {
        /// What was in it.
        balance_cents: u64,
    },
}

/// What a principal has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wallet {
    /// How much there is.
    pub balance_cents: u64,
    /// What was paid, in that order.
    pub payments: Vec<Payment>,
}

/// What a payment from a wallet comes to: one rule for all ledgers.
pub(crate) fn debit(balance_cents: u64, cents: u64) -> Result<Paid, Refused> {
    match balance_cents.checked_sub(cents) {
        Some(balance_cents) => Ok(Paid { balance_cents }),
        None => Err(Refused::InsufficientFunds { balance_cents }),
    }
}
