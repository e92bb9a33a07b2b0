//! The demo's wallets: who has how much, and what was paid.
//!
//! The demo pays from here, so that a payment made twice can be seen. A payment is known by its
//! transaction: the same transaction again is the same payment. Two transactions of one call are
//! two payments, which is how a call that ran twice gives itself away.
//!
//! The highest epoch of each chat is kept (`payment_fence`), and a payment under a lower one refused: its
//! server was frozen, and the outcome of its call is unknown by now.
//!
//! The wallets are where the journals are, in tables of their own (`wallet`, `payment`), over
//! connections of their own: so servers that share a store share the wallets. Earlier versions kept
//! them in the same tables, which are used as they are.

mod memory;
mod postgres;
mod sqlite;

use std::sync::Arc;

use engine::Fence;
use store::{Location, Reply, StoreError};
use turn::{At, CallId, Principal};

use self::memory::MemoryLedger;
use self::postgres::PostgresLedger;
use self::sqlite::SqliteLedger;

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

    /// Refuses payments under lower epochs than this one from now on: another server has the chat.
    fn raise_fence<'a>(&'a self, fence: &'a Fence) -> Reply<'a, ()>;

    /// What a principal has, and what they paid.
    fn wallet<'a>(&'a self, principal: &'a Principal) -> Reply<'a, Wallet>;
}

/// Opens the wallets of a store that was opened already, and creates their tables where there are
/// none. Needs a tokio runtime around it.
pub async fn open(location: Location) -> Result<Arc<dyn Ledger>, StoreError> {
    Ok(match location {
        Location::Sqlite(path) => Arc::new(SqliteLedger::open(path).await?),
        Location::Postgres(url) => Arc::new(PostgresLedger::open(*url).await?),
        // Locations may be added: then the wallets live as long as this process.
        _ => Arc::new(MemoryLedger::default()),
    })
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
    /// Under which claim of its chat it is made, if that is to be looked at. It is not kept.
    pub fence: Option<Fence>,
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
    /// Another server has taken over the chat of the call. It is not the answer to the transaction: one
    /// that was made before stays made.
    Fenced,
}

/// What a principal has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wallet {
    /// How much there is.
    pub balance_cents: u64,
    /// What was paid, in that order.
    pub payments: Vec<Payment>,
}

/// What a payment from a wallet comes to, and what is in the wallet then: one rule for all ledgers.
fn debit(balance_cents: u64, cents: u64) -> (Result<Paid, Refused>, u64) {
    match balance_cents.checked_sub(cents) {
        Some(balance_cents) => (Ok(Paid { balance_cents }), balance_cents),
        None => (
            Err(Refused::InsufficientFunds { balance_cents }),
            balance_cents,
        ),
    }
}
