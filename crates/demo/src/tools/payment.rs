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

/// How often a ledger that does not answer is asked again, and after which pause.
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
        fence: Some(context.fence().clone()),
    };
    let paid = transact(ledger, context.principal(), entry).await?;
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
        Err(ledger::Refused::Fenced) => {
            let why = "Another server has taken this chat over; nothing was paid.";
            return Err(ToolError::new(why));
        }
    })
}

/// Asks again under the same transaction while the ledger does not answer, or has no room: until
/// then whether it was paid is unknown. A ledger that gives no answer for a minute leaves the
/// outcome unknown, unless every one of its errors means that nothing was written.
async fn transact(
    ledger: &Arc<dyn Ledger>,
    principal: &Principal,
    payment: ledger::Payment,
) -> Result<Result<ledger::Paid, ledger::Refused>, ToolError> {
    let mut is_unpaid = true;
    let mut tries = 0;
    loop {
        let error = match ledger.pay(principal, payment.clone()).await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        // A transaction that finds no room, or does not begin, is rolled back.
        is_unpaid &= matches!(error, StoreError::Full | StoreError::Busy);
        tries += 1;
        if tries <= TRIES && may_pass(&error) {
            tracing::warn!(%error, call = %payment.call, "a payment is tried again");
            tokio::time::sleep(PAUSE).await;
            continue;
        }
        tracing::error!(%error, call = %payment.call, is_unpaid, "payment failed");
        return Err(match is_unpaid {
            true => ToolError::new(format!("Nothing was paid: {error}.")),
            false => ToolError::Unknown,
        });
    }
}

/// Whether the same payment may succeed later.
fn may_pass(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::Unavailable { .. }
            | StoreError::Busy
            | StoreError::Full
            | StoreError::Unwritable { .. }
    )
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
    use std::sync::Mutex;

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

    /// A ledger that fails like this a number of times, and then pays.
    struct Failing {
        errors: Mutex<Vec<StoreError>>,
        transactions: Mutex<Vec<String>>,
    }

    impl Failing {
        fn new(errors: Vec<StoreError>) -> Arc<Self> {
            let errors = Mutex::new(errors);
            let transactions = Mutex::default();
            Arc::new(Self {
                errors,
                transactions,
            })
        }

        /// What a payment comes to.
        async fn pay(self: &Arc<Self>) -> Result<(), ToolError> {
            let payment = ledger::Payment {
                transaction: "t".to_owned(),
                call: "call".into(),
                recipient: "Sam".to_owned(),
                cents: 100,
                description: String::new(),
                at: At(0),
                fence: None,
            };
            let ledger: Arc<dyn Ledger> = self.clone();
            let paid = transact(&ledger, &"ann".into(), payment).await?;
            assert!(paid.is_ok());
            Ok(())
        }
    }

    impl Ledger for Failing {
        fn pay<'a>(
            &'a self,
            _: &'a Principal,
            payment: ledger::Payment,
        ) -> store::Reply<'a, Result<ledger::Paid, ledger::Refused>> {
            self.transactions.lock().unwrap().push(payment.transaction);
            let error = self.errors.lock().unwrap().pop();
            let answer = error.map_or(Ok(Ok(ledger::Paid { balance_cents: 0 })), Err);
            Box::pin(std::future::ready(answer))
        }

        fn raise_fence<'a>(&'a self, _: &'a engine::Fence) -> store::Reply<'a, ()> {
            Box::pin(std::future::ready(Err(StoreError::Closed)))
        }

        fn wallet<'a>(&'a self, _: &'a Principal) -> store::Reply<'a, ledger::Wallet> {
            Box::pin(std::future::ready(Err(StoreError::Closed)))
        }
    }

    fn away() -> StoreError {
        let problem = "it does not answer".to_owned();
        StoreError::Unavailable { problem }
    }

    fn unwritable() -> StoreError {
        let problem = "a quota";
        StoreError::Unwritable { problem }
    }

    #[tokio::test(start_paused = true)]
    async fn payment_is_tried_again_as_the_same_transaction_until_there_is_room() {
        let errors = vec![StoreError::Full, unwritable(), StoreError::Busy, away()];
        let ledger = Failing::new(errors);
        assert_eq!(ledger.pay().await, Ok(()));
        assert_eq!(*ledger.transactions.lock().unwrap(), ["t"; 5]);
    }

    #[tokio::test(start_paused = true)]
    async fn error_means_that_nothing_was_paid_and_everything_else_is_unknown() {
        let full = vec![StoreError::Full; TRIES + 1];
        let unpaid = ToolError::new("Nothing was paid: the disk is full.");
        assert_eq!(Failing::new(full.clone()).pay().await, Err(unpaid));
        // One try that may have been stored is enough.
        for error in [away(), unwritable(), StoreError::Closed] {
            let mut errors = full.clone();
            errors.push(error);
            let unknown = Failing::new(errors).pay().await;
            assert_eq!(unknown, Err(ToolError::Unknown));
        }
    }

    #[test]
    fn timestamps_are_dates() {
        assert_eq!(timestamp(0), "1970-01-01T00:00:00Z");
        assert_eq!(timestamp(951_826_154), "2000-02-29T12:09:14Z");
        assert_eq!(timestamp(1_794_777_600), "2026-11-15T21:20:00Z");
    }
}
