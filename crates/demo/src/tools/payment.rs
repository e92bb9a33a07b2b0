//! Payments from the demo's wallets.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use engine::{Context, ToolError};
use serde_json::{Value, json};
use store::StoreError;
use turn::{At, Principal};

use super::ProcessPayment;
use crate::ledger::{self, Ledger};
use crate::wallet::dollars;

/// How often a ledger is asked again that does not answer, and after which pause.
const TRIES: usize = 60;
const PAUSE: Duration = Duration::from_secs(1);

/// A payment that is to be made.
pub(super) struct Payment {
    pub(super) cents: u64,
    pub(super) recipient: String,
    pub(super) description: String,
}

/// Pays, or says why not: both are outputs, which the model can read.
pub(super) async fn process(
    ledger: &Arc<dyn Ledger>,
    context: &Context,
    input: ProcessPayment,
) -> Result<Value, ToolError> {
    let cents = match cents(input.amount) {
        Ok(cents) if input.currency == "USD" => cents,
        Ok(_) => return refuse(ledger, context, "The wallet holds USD only.").await,
        Err(problem) => return refuse(ledger, context, problem).await,
    };
    let payment = Payment {
        cents,
        recipient: input.recipient,
        description: input.description,
    };
    pay(ledger, context, &payment).await
}

/// Debits the wallet once. Every run of a tool is a transaction of its own, so that a call which ran
/// twice shows in the ledger.
pub(super) async fn pay(
    ledger: &Arc<dyn Ledger>,
    context: &Context,
    payment: &Payment,
) -> Result<Value, ToolError> {
    let transaction = random("txn_");
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let entry = ledger::Payment {
        transaction: transaction.clone(),
        call: context.call().clone(),
        recipient: payment.recipient.clone(),
        cents: payment.cents,
        description: payment.description.clone(),
        at: At(u64::try_from(now.as_millis()).unwrap_or(u64::MAX)),
    };
    let paid = transact(ledger, context.principal(), entry).await;
    let paid = paid.map_err(|error| ToolError::new(error.to_string()))?;
    Ok(match paid {
        Ok(paid) => json!({
            "success": true,
            "transaction_id": transaction,
            "amount": dollars(payment.cents),
            "currency": "USD",
            "recipient": payment.recipient,
            "description": payment.description,
            "wallet_balance": dollars(paid.balance_cents),
            "timestamp": timestamp(now.as_secs()),
        }),
        Err(ledger::Refused::InsufficientFunds { balance_cents }) => json!({
            "success": false,
            "error": "Insufficient funds",
            "transaction_id": null,
            "wallet_balance": dollars(balance_cents),
        }),
    })
}

/// Asks again under the same transaction while the ledger does not answer: until then nobody knows
/// whether it was paid.
async fn transact(
    ledger: &Arc<dyn Ledger>,
    principal: &Principal,
    payment: ledger::Payment,
) -> Result<Result<ledger::Paid, ledger::Refused>, StoreError> {
    for _ in 0..TRIES {
        match ledger.pay(principal, payment.clone()).await {
            Err(StoreError::Unavailable { .. } | StoreError::Busy) => {
                tokio::time::sleep(PAUSE).await;
            }
            answered => return answered,
        }
    }
    ledger.pay(principal, payment).await
}

async fn refuse(
    ledger: &Arc<dyn Ledger>,
    context: &Context,
    problem: &str,
) -> Result<Value, ToolError> {
    let wallet = ledger.wallet(context.principal()).await;
    let wallet = wallet.map_err(|error| ToolError::new(error.to_string()))?;
    Ok(json!({
        "success": false,
        "error": problem,
        "transaction_id": null,
        "wallet_balance": dollars(wallet.balance_cents),
    }))
}

/// An amount in whole cents.
fn cents(amount: f64) -> Result<u64, &'static str> {
    let cents = (amount * 100.0).round();
    if !amount.is_finite() || amount <= 0.0 {
        Err("The amount must be more than nothing.")
    } else if (amount * 100.0 - cents).abs() > 1e-6 {
        Err("The amount must not be finer than a cent.")
    } else if cents > 1e13 {
        Err("The amount is too large.")
    } else {
        // Checked above: whole, positive and far below 2^53.
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked above"
        )]
        let cents = cents as u64;
        Ok(cents)
    }
}

/// A fresh id.
pub(super) fn random(prefix: &str) -> String {
    let mut bytes = [0_u8; 6];
    // Without randomness the ledger refuses the second payment of the same id: better than to pay.
    let _ = getrandom::fill(&mut bytes);
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{prefix}{hex}")
}

/// A moment as RFC 3339 has it, in UTC.
fn timestamp(seconds: u64) -> String {
    let (days, time) = (seconds / 86_400, seconds % 86_400);
    // Years start in March here, so that a leap day is the last of one.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    let (hour, minute, second) = (time / 3_600, time / 60 % 60, time % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_whole_cents() {
        assert_eq!(cents(12.5), Ok(1250));
        assert_eq!(cents(0.01), Ok(1));
        assert_eq!(cents(19.99), Ok(1999));
        for bad in [0.0, -5.0, f64::NAN, f64::INFINITY, 0.001, 1e20] {
            assert!(cents(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn timestamps_are_dates() {
        assert_eq!(timestamp(0), "1970-01-01T00:00:00Z");
        assert_eq!(timestamp(951_826_154), "2000-02-29T12:09:14Z");
        assert_eq!(timestamp(1_794_777_600), "2026-11-15T21:20:00Z");
    }
}
