//! The demo's wallets, in the same database as the journals.

use std::sync::Arc;

use engine::Fence;
use store::postgres::{Database, Session};
use store::{PostgresUrl, Reply, StoreError};
use tokio_postgres::Client;
use turn::{At, Principal};

use super::{Ledger, Paid, Payment, Refused, START_CENTS, Wallet, debit};

/// Connections that pay and look.
const CONNECTIONS: usize = 2;

/// The server that creates the tables holds this lock: "demo".
const LOCK: i64 = 0x6465_6d6f;

/// As the journals' own schema had it before the demo kept its tables itself.
const SCHEMA: &str = "
CREATE TABLE IF NOT EXISTS wallet (
  principal TEXT COLLATE \"C\" NOT NULL PRIMARY KEY,
  balance   BIGINT NOT NULL CHECK (balance >= 0)
);
CREATE TABLE IF NOT EXISTS payment (
  position       BIGINT NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  principal      TEXT COLLATE \"C\" NOT NULL REFERENCES wallet (principal),
  transaction_id TEXT COLLATE \"C\" NOT NULL,
  call           TEXT NOT NULL,
  recipient      TEXT NOT NULL,
  cents          BIGINT NOT NULL,
  description    TEXT NOT NULL,
  at             BIGINT NOT NULL,
  paid           BOOLEAN NOT NULL,
  balance        BIGINT NOT NULL,
  UNIQUE (principal, transaction_id)
);
CREATE TABLE IF NOT EXISTS payment_fence (
  scope TEXT COLLATE \"C\" NOT NULL PRIMARY KEY,
  epoch BIGINT NOT NULL
);
";

/// Wallets in a PostgreSQL database.
#[derive(Debug)]
pub(super) struct PostgresLedger {
    database: Database,
}

impl PostgresLedger {
    pub(super) async fn open(url: PostgresUrl) -> Result<Self, StoreError> {
        let database = Database::new(url, CONNECTIONS)?;
        let create = |session: Arc<Session>| async move { create(&session).await };
        database.run(create).await?;
        Ok(Self { database })
    }
}

/// Creates the tables where they are not there yet, though several servers start at once.
async fn create(session: &Session) -> Result<(), StoreError> {
    let client = session.client();
    // Most starts find everything there, and need no right to create anything.
    let sql = "SELECT count(*) FROM pg_catalog.pg_tables
               WHERE schemaname = current_schema()
                 AND tablename IN ('wallet', 'payment', 'payment_fence')";
    let found: i64 = client.query_one(sql, &[]).await?.try_get(0)?;
    if found == 3 {
        return Ok(());
    }
    let lock = format!("SELECT pg_advisory_xact_lock({LOCK});");
    let create = format!("BEGIN; {lock} {SCHEMA} COMMIT");
    let created = client.batch_execute(&create).await;
    if created.is_err() {
        client.batch_execute("ROLLBACK").await?;
    }
    Ok(created?)
}

impl Ledger for PostgresLedger {
    fn pay<'a>(
        &'a self,
        principal: &'a Principal,
        payment: Payment,
    ) -> Reply<'a, Result<Paid, Refused>> {
        Box::pin(async move {
            // Paid twice is paid once: a transaction has one answer.
            let payment = &payment;
            let pay =
                move |session: Arc<Session>| async move { pay(&session, principal, payment).await };
            self.database.run(pay).await
        })
    }

    fn raise_fence<'a>(&'a self, fence: &'a Fence) -> Reply<'a, ()> {
        let raise = move |session: Arc<Session>| async move {
            raise_fence(session.client(), fence).await.map(drop)
        };
        Box::pin(self.database.run(raise))
    }

    fn wallet<'a>(&'a self, principal: &'a Principal) -> Reply<'a, Wallet> {
        let read = move |session: Arc<Session>| async move { wallet(&session, principal).await };
        Box::pin(self.database.run(read))
    }
}

/// What was answered to a payment.
type Answer = Result<Paid, Refused>;

/// Pays, or gives the answer that this transaction was given: so it may be asked again.
async fn pay(
    session: &Session,
    principal: &Principal,
    payment: &Payment,
) -> Result<Answer, StoreError> {
    let client = session.client();
    client.batch_execute("BEGIN").await?;
    let answer = pay_within(client, principal.as_str(), payment).await;
    let end = if answer.is_ok() { "COMMIT" } else { "ROLLBACK" };
    client.batch_execute(end).await?;
    answer
}

async fn pay_within(
    transaction: &Client,
    principal: &str,
    payment: &Payment,
) -> Result<Answer, StoreError> {
    // The wallet's lock is what keeps two payments from one balance.
    let start = START_CENTS.cast_signed();
    let sql = "INSERT INTO wallet (principal, balance) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    transaction.execute(sql, &[&principal, &start]).await?;
    let sql = "SELECT balance FROM wallet WHERE principal = $1 FOR UPDATE";
    let row = transaction.query_one(sql, &[&principal]).await?;
    let balance_cents = row.try_get::<_, i64>(0)?.cast_unsigned();
    if let Some(answer) = known_answer(transaction, principal, payment).await? {
        return Ok(answer);
    }
    match &payment.fence {
        Some(fence) if !raise_fence(transaction, fence).await? => Ok(Err(Refused::Fenced)),
        _ => make_payment(transaction, principal, payment, balance_cents).await,
    }
}

/// Raises the highest epoch of a scope, and says whether there was none higher. It waits for payments of
/// that scope which are under way, since they have written the same row.
async fn raise_fence(client: &Client, fence: &Fence) -> Result<bool, StoreError> {
    let sql = "INSERT INTO payment_fence (scope, epoch) VALUES ($1, $2)
               ON CONFLICT (scope) DO UPDATE SET epoch = excluded.epoch
               WHERE payment_fence.epoch <= excluded.epoch";
    let epoch = fence.epoch.cast_signed();
    Ok(client.execute(sql, &[&fence.scope, &epoch]).await? > 0)
}

async fn known_answer(
    transaction: &Client,
    principal: &str,
    payment: &Payment,
) -> Result<Option<Answer>, StoreError> {
    let sql = "SELECT paid, balance FROM payment WHERE principal = $1 AND transaction_id = $2";
    let row = transaction
        .query_opt(sql, &[&principal, &payment.transaction])
        .await?;
    let Some(row) = row else {
        return Ok(None);
    };
    let balance_cents = row.try_get::<_, i64>(1)?.cast_unsigned();
    Ok(Some(match row.try_get(0)? {
        true => Ok(Paid { balance_cents }),
        false => Err(Refused::InsufficientFunds { balance_cents }),
    }))
}

async fn make_payment(
    transaction: &Client,
    principal: &str,
    payment: &Payment,
    balance_cents: u64,
) -> Result<Answer, StoreError> {
    let (answer, balance) = debit(balance_cents, payment.cents);
    let balance = balance.cast_signed();
    let sql = "UPDATE wallet SET balance = $2 WHERE principal = $1";
    transaction.execute(sql, &[&principal, &balance]).await?;
    // Refusals too, so that the same transaction is given the same answer.
    let sql = "INSERT INTO payment
               (principal, transaction_id, call, recipient, cents, description, at, paid, balance)
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    transaction
        .execute(
            sql,
            &[
                &principal,
                &payment.transaction,
                &payment.call.as_str(),
                &payment.recipient,
                &payment.cents.cast_signed(),
                &payment.description,
                &payment.at.0.cast_signed(),
                &answer.is_ok(),
                &balance,
            ],
        )
        .await?;
    Ok(answer)
}

/// What a principal has, and what they paid.
async fn wallet(session: &Session, principal: &Principal) -> Result<Wallet, StoreError> {
    // One statement, and so of one moment: a payment could come between two.
    let sql = "SELECT wallet.balance, transaction_id, call, recipient, cents, description, at
               FROM wallet LEFT JOIN payment
                 ON payment.principal = wallet.principal AND payment.paid
               WHERE wallet.principal = $1 ORDER BY payment.position";
    let rows = session.client().query(sql, &[&principal.as_str()]).await?;
    let balance = rows.first().map(|row| row.try_get::<_, i64>(0));
    let balance = balance.transpose()?;
    let mut payments = Vec::new();
    for row in &rows {
        if let Some(transaction) = row.try_get::<_, Option<String>>(1)? {
            payments.push(Payment {
                transaction,
                call: row.try_get::<_, &str>(2)?.into(),
                recipient: row.try_get(3)?,
                cents: row.try_get::<_, i64>(4)?.cast_unsigned(),
                description: row.try_get(5)?,
                at: At(row.try_get::<_, i64>(6)?.cast_unsigned()),
                fence: None,
            });
        }
    }
    Ok(Wallet {
        balance_cents: balance.map_or(START_CENTS, i64::cast_unsigned),
        payments,
    })
}
