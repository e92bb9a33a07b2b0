//! A wallet as a page reads it.

use serde_json::{Value, json};

use crate::ledger::Wallet;

/// The JSON of a wallet.
pub fn to_json(wallet: &Wallet) -> Value {
    let payments = wallet.payments.iter().map(|payment| {
        json!({
            "transactionId": payment.transaction,
            "toolCallId": payment.call,
            "amount": dollars(payment.cents),
            "recipient": payment.recipient,
            "description": payment.description,
            "at": payment.at,
        })
    });
    json!({
        "balance": dollars(wallet.balance_cents),
        "currency": "USD",
        "payments": payments.collect::<Vec<_>>(),
    })
}

/// Cents as dollars: a number that JSON prints as people write it.
pub(crate) fn dollars(cents: u64) -> Value {
    if cents.is_multiple_of(100) {
        json!(cents / 100)
    } else {
        // Amounts of money are far below what a double holds exactly.
        #[expect(
            clippy::cast_precision_loss,
            reason = "wallets hold less than 2^53 cents"
        )]
        let dollars = cents as f64 / 100.0;
        json!(dollars)
    }
}
