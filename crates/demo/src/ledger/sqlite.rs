//! The demo's wallets, in the same file as the journals.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use engine::Fence;
use rusqlite::{Connection, OpenFlags, OptionalExtension, TransactionBehavior, params};
use store::sqlite::Files;
use store::{Reply, StoreError};
use turn::{At, Principal};

use super::{Ledger, Paid, Payment, Refused, START_CENTS, Wallet, debit};

/// How long a statement waits for the journals' writer, or for another process.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// As the journals' own schema had it before the demo kept its tables itself.
const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS wallet (
  principal TEXT    NOT NULL PRIMARY KEY,
  balance   INTEGER NOT NULL CHECK (balance >= 0)  -- cents
) STRICT;
CREATE TABLE IF NOT EXISTS payment (
  position       INTEGER PRIMARY KEY,
  principal      TEXT    NOT NULL REFERENCES wallet (principal),
  transaction_id TEXT    NOT NULL,
  call           TEXT    NOT NULL,
  recipient      TEXT    NOT NULL,
  cents          INTEGER NOT NULL,
  description    TEXT    NOT NULL,
  at             INTEGER NOT NULL,
  paid           INTEGER NOT NULL,    -- 1, or 0 if it was refused: asked again, it is refused again
  balance        INTEGER NOT NULL,    -- cents, after it
  UNIQUE (principal, transaction_id)
) STRICT;
CREATE TABLE IF NOT EXISTS payment_fence (
  scope TEXT    NOT NULL PRIMARY KEY,
  epoch INTEGER NOT NULL              -- the highest
) STRICT;
";

/// Wallets in a SQLite file.
#[derive(Debug)]
pub(super) struct SqliteLedger {
    opened: Arc<Mutex<Opened>>,
}

/// A connection, and the files that it was opened on: what is written to others is lost.
#[derive(Debug)]
struct Opened {
    connection: Connection,
    files: Files,
}

impl SqliteLedger {
    pub(super) async fn open(path: PathBuf) -> Result<Self, StoreError> {
        let opened = blocking(move || {
            let connection = connect(&path)?;
            let files = Files::of(&connection, &path)?;
            Ok(Opened { connection, files })
        });
        Ok(Self {
            opened: Arc::new(Mutex::new(opened.await?)),
        })
    }

    /// Does something within a transaction, off the runtime's threads.
    async fn transact<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let opened = Arc::clone(&self.opened);
        blocking(move || {
            // A transaction that panicked was rolled back.
            let mut opened = opened.lock().unwrap_or_else(PoisonError::into_inner);
            let Opened { connection, files } = &mut *opened;
            files.check()?;
            // Immediate: a read that becomes a write could not wait for another's.
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let done = work(&transaction)?;
            transaction.commit()?;
            // It may have gone since: a payment that may be lost is not said to be made.
            files.check()?;
            Ok(done)
        })
        .await
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    let done = tokio::task::spawn_blocking(work).await;
    // It panicked, or the runtime ends.
    done.unwrap_or(Err(StoreError::Closed))
}

/// Opens a file that the journals' store has made and configured.
fn connect(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // Every payment is on the disk before it is acknowledged.
    connection.pragma_update(None, "synchronous", 2_i64)?;
    connection.pragma_update(None, "foreign_keys", 1_i64)?;
    // The journals' writer brings the log into the database.
    connection.pragma_update(None, "wal_autocheckpoint", 0_i64)?;
    // Most starts find everything there, and need not wait for a lock.
    let sql = "SELECT count(*) FROM sqlite_schema
         WHERE type = 'table' AND name IN ('wallet', 'payment', 'payment_fence')";
    if connection.query_row(sql, (), |row| row.get::<_, i64>(0))? < 3 {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        transaction.execute_batch(SCHEMA)?;
        transaction.commit()?;
    }
    Ok(connection)
}

impl Ledger for SqliteLedger {
    fn pay<'a>(
        &'a self,
        principal: &'a Principal,
        payment: Payment,
    ) -> Reply<'a, Result<Paid, Refused>> {
        let principal = principal.clone();
        Box::pin(self.transact(move |connection| pay(connection, &principal, &payment)))
    }

    fn raise_fence<'a>(&'a self, fence: &'a Fence) -> Reply<'a, ()> {
        let fence = fence.clone();
        Box::pin(self.transact(move |connection| raise_fence(connection, &fence).map(drop)))
    }

    fn wallet<'a>(&'a self, principal: &'a Principal) -> Reply<'a, Wallet> {
        let principal = principal.clone();
        let opened = Arc::clone(&self.opened);
        Box::pin(blocking(move || {
            let mut opened = opened.lock().unwrap_or_else(PoisonError::into_inner);
            opened.files.check()?;
            wallet(&opened.connection, &principal)
        }))
    }
}

/// What was answered to a payment.
type Answer = Result<Paid, Refused>;

/// Pays, or gives the answer that this transaction was given.
fn pay(
    connection: &Connection,
    principal: &Principal,
    payment: &Payment,
) -> Result<Answer, StoreError> {
    if let Some(answer) = known_answer(connection, principal, payment)? {
        return Ok(answer);
    }
    match &payment.fence {
        Some(fence) if !raise_fence(connection, fence)? => Ok(Err(Refused::Fenced)),
        _ => make_payment(connection, principal, payment),
    }
}

/// Raises the highest epoch of a scope, and says whether there was none higher.
fn raise_fence(connection: &Connection, fence: &Fence) -> Result<bool, StoreError> {
    let sql = "INSERT INTO payment_fence (scope, epoch) VALUES (?1, ?2)
               ON CONFLICT (scope) DO UPDATE SET epoch = excluded.epoch
               WHERE payment_fence.epoch <= excluded.epoch";
    let mut statement = connection.prepare_cached(sql)?;
    Ok(statement.execute(params![fence.scope, fence.epoch.cast_signed()])? > 0)
}

fn known_answer(
    connection: &Connection,
    principal: &Principal,
    payment: &Payment,
) -> Result<Option<Answer>, StoreError> {
    let sql = "SELECT paid, balance FROM payment WHERE principal = ?1 AND transaction_id = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let known = statement.query_row([principal.as_str(), &payment.transaction], |row| {
        let balance_cents = row.get::<_, i64>(1)?.cast_unsigned();
        Ok(match row.get(0)? {
            true => Ok(Paid { balance_cents }),
            false => Err(Refused::InsufficientFunds { balance_cents }),
        })
    });
    Ok(known.optional()?)
}

fn make_payment(
    connection: &Connection,
    principal: &Principal,
    payment: &Payment,
) -> Result<Answer, StoreError> {
    let (answer, balance) = debit(balance(connection, principal)?, payment.cents);
    let balance = balance.cast_signed();
    let sql = "INSERT INTO wallet (principal, balance) VALUES (?1, ?2)
               ON CONFLICT DO UPDATE SET balance = excluded.balance";
    let mut statement = connection.prepare_cached(sql)?;
    statement.execute(params![principal.as_str(), balance])?;
    // Refusals too, so that the same transaction is given the same answer.
    let sql = "INSERT INTO payment
               (principal, transaction_id, call, recipient, cents, description, at, paid, balance)
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
    connection.prepare_cached(sql)?.execute(params![
        principal.as_str(),
        payment.transaction,
        payment.call.as_str(),
        payment.recipient,
        payment.cents.cast_signed(),
        payment.description,
        payment.at.0.cast_signed(),
        answer.is_ok(),
        balance,
    ])?;
    Ok(answer)
}

/// What a principal has, and what they paid.
fn wallet(connection: &Connection, principal: &Principal) -> Result<Wallet, StoreError> {
    // One look at both, or a payment could come between.
    let snapshot = connection.unchecked_transaction()?;
    let sql = "SELECT transaction_id, call, recipient, cents, description, at FROM payment
               WHERE principal = ?1 AND paid ORDER BY position";
    let mut statement = snapshot.prepare_cached(sql)?;
    let payments = statement.query_map([principal.as_str()], |row| {
        Ok(Payment {
            transaction: row.get(0)?,
            call: row.get::<_, String>(1)?.into(),
            recipient: row.get(2)?,
            cents: row.get::<_, i64>(3)?.cast_unsigned(),
            description: row.get(4)?,
            at: At(row.get::<_, i64>(5)?.cast_unsigned()),
            fence: None,
        })
    })?;
    Ok(Wallet {
        balance_cents: balance(&snapshot, principal)?,
        payments: payments.collect::<Result<_, _>>()?,
    })
}

fn balance(connection: &Connection, principal: &Principal) -> Result<u64, StoreError> {
    let sql = "SELECT balance FROM wallet WHERE principal = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let balance = statement.query_row([principal.as_str()], |row| row.get::<_, i64>(0));
    Ok(balance.optional()?.map_or(START_CENTS, i64::cast_unsigned))
}
