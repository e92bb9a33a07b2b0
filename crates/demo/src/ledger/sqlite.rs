//! The demo's wallets, in the same file as the journals.

use rusqlite::{Connection, OptionalExtension, params};
use turn::Principal;

use super::read::{all, text};
use super::writer::{News, Written};
use crate::error::StoreError;
use crate::ledger::{Paid, Payment, Refused, START_CENTS, Wallet, debit};
use crate::number::{from_at, to_at, to_count};

/// What was answered to a payment.
type Answer = Result<Paid, Refused>;

/// Pays, or gives the answer that this transaction was given.
pub(super) fn pay(
    connection: &Connection,
    principal: &Principal,
    payment: &Payment,
) -> Result<Written<Answer>, StoreError> {
    let value = match known_answer(connection, principal, payment)? {
        Some(answer) => answer,
        None => pay_anew(connection, principal, payment)?,
    };
    let news = News::Nothing;
    Ok(Written { value, news })
}

fn known_answer(
    connection: &Connection,
    principal: &Principal,
    payment: &Payment,
) -> Result<Option<Answer>, StoreError> {
    let sql = "SELECT paid, balance FROM payment WHERE principal = ?1 AND transaction_id = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    let known = statement.query_row([principal.as_str(), &payment.transaction], |row| {
        let balance_cents = to_count(row.get(1)?);
        Ok(match row.get(0)? {
            true => Ok(Paid { balance_cents }),
            false => Err(Refused::InsufficientFunds { balance_cents }),
        })
    });
    Ok(known.optional()?)
}

fn pay_anew(
    connection: &Connection,
    principal: &Principal,
    payment: &Payment,
) -> Result<Answer, StoreError> {
    let answer = debit(balance(connection, principal)?, payment.cents);
    let balance = match answer {
        Ok(Paid { balance_cents }) | Err(Refused::InsufficientFunds { balance_cents }) => {
            balance_cents.cast_signed()
        }
    };
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
        from_at(payment.at),
        answer.is_ok(),
        balance,
    ])?;
    Ok(answer)
}

/// What a principal has, and what they paid.
pub(super) fn wallet(connection: &Connection, principal: &Principal) -> Result<Wallet, StoreError> {
    // One look at both, or a payment could come between.
    let snapshot = connection.unchecked_transaction()?;
    let sql = "SELECT transaction_id, call, recipient, cents, description, at FROM payment
               WHERE principal = ?1 AND paid ORDER BY position";
    Ok(Wallet {
        balance_cents: balance(&snapshot, principal)?,
        payments: all(&snapshot, sql, [principal.as_str()], |row| {
            Ok(Payment {
                transaction: text(row, 0)?,
                call: text(row, 1)?.into(),
                recipient: text(row, 2)?,
                cents: to_count(row.get(3)?),
                description: text(row, 4)?,
                at: to_at(row.get(5)?),
            })
        })?,
    })
}

fn balance(connection: &Connection, principal: &Principal) -> Result<u64, StoreError> {
    let sql = "SELECT balance FROM wallet WHERE principal = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let balance = statement.query_row([principal.as_str()], |row| row.get(0));
    Ok(balance.optional()?.map_or(START_CENTS, to_count))
}
