//! The demo's wallets, in the same database as the journals.

use tokio_postgres::Client;
use turn::Principal;

use super::read::{column, text};
use super::session::Session;
use crate::error::StoreError;
use crate::ledger::{Paid, Payment, Refused, START_CENTS, Wallet, debit};
use crate::number::{from_at, from_seq, to_at, to_count};

/// What was answered to a payment.
type Answer = Result<Paid, Refused>;

/// Pays, or gives the answer that this transaction was given: so it may be asked again.
pub(super) async fn pay(
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
    let start = from_seq(START_CENTS);
    let sql = "INSERT INTO wallet (principal, balance) VALUES ($1, $2) ON CONFLICT DO NOTHING";
    transaction.execute(sql, &[&principal, &start]).await?;
    let sql = "SELECT balance FROM wallet WHERE principal = $1 FOR UPDATE";
    let row = transaction.query_one(sql, &[&principal]).await?;
    let balance_cents = to_count(column(&row, 0)?);
    match known_answer(transaction, principal, payment).await? {
        Some(answer) => Ok(answer),
        None => pay_anew(transaction, principal, payment, balance_cents).await,
    }
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
    let balance_cents = to_count(column(&row, 1)?);
    Ok(Some(match column(&row, 0)? {
        true => Ok(Paid { balance_cents }),
        false => Err(Refused::InsufficientFunds { balance_cents }),
    }))
}

async fn pay_anew(
    transaction: &Client,
    principal: &str,
    payment: &Payment,
    balance_cents: u64,
) -> Result<Answer, StoreError> {
    let answer = debit(balance_cents, payment.cents);
    let balance = match answer {
        Ok(Paid { balance_cents }) | Err(Refused::InsufficientFunds { balance_cents }) => {
            balance_cents.cast_signed()
        }
    };
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
                &from_at(payment.at),
                &answer.is_ok(),
                &balance,
            ],
        )
        .await?;
    Ok(answer)
}

/// What a principal has, and what they paid.
pub(super) async fn wallet(session: &Session, principal: &Principal) -> Result<Wallet, StoreError> {
    // One statement, and so of one moment: a payment could come between two.
    let sql = "SELECT wallet.balance, transaction_id, call, recipient, cents, description, at
               FROM wallet LEFT JOIN payment
                 ON payment.principal = wallet.principal AND payment.paid
               WHERE wallet.principal = $1 ORDER BY payment.position";
    let rows = session.query(sql, &[&principal.as_str()]).await?;
    let balance = rows.first().map(|row| column(row, 0)).transpose()?;
    let mut payments = Vec::new();
    for row in &rows {
        if let Some(transaction) = column::<Option<String>>(row, 1)? {
            payments.push(Payment {
                transaction,
                call: text(row, 2)?.into(),
                recipient: text(row, 3)?.to_owned(),
                cents: to_count(column(row, 4)?),
                description: text(row, 5)?.to_owned(),
                at: to_at(column(row, 6)?),
            });
        }
    }
    Ok(Wallet {
        balance_cents: balance.map_or(START_CENTS, to_count),
        payments,
    })
}
