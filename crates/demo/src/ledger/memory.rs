//! The demo's wallets in this process.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use store::Reply;
use turn::Principal;

use super::{Ledger, Paid, Payment, Refused, START_CENTS, Wallet, debit};

/// Wallets in memory.
#[derive(Debug, Default)]
pub(super) struct MemoryLedger {
    accounts: Mutex<HashMap<Principal, Account>>,
}

#[derive(Debug)]
struct Account {
    wallet: Wallet,
    /// What was answered to each transaction.
    answers: HashMap<String, Result<Paid, Refused>>,
}

impl Default for Account {
    fn default() -> Self {
        Self {
            wallet: Wallet {
                balance_cents: START_CENTS,
                payments: Vec::new(),
            },
            answers: HashMap::new(),
        }
    }
}

impl Account {
    fn pay(&mut self, payment: Payment) -> Result<Paid, Refused> {
        if let Some(answer) = self.answers.get(&payment.transaction) {
            return *answer;
        }
        let answer = debit(self.wallet.balance_cents, payment.cents);
        self.answers.insert(payment.transaction.clone(), answer);
        if let Ok(Paid { balance_cents }) = answer {
            self.wallet.balance_cents = balance_cents;
            self.wallet.payments.push(payment);
        }
        answer
    }
}

impl MemoryLedger {
    /// A payment can't panic half-way.
    fn lock(&self) -> MutexGuard<'_, HashMap<Principal, Account>> {
        self.accounts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ledger for MemoryLedger {
    fn pay<'a>(
        &'a self,
        principal: &'a Principal,
        payment: Payment,
    ) -> Reply<'a, Result<Paid, Refused>> {
        Box::pin(async move {
            let mut accounts = self.lock();
            let account = accounts.entry(principal.clone()).or_default();
            Ok(account.pay(payment))
        })
    }

    fn wallet<'a>(&'a self, principal: &'a Principal) -> Reply<'a, Wallet> {
        Box::pin(async move {
            let accounts = self.lock();
            let account = accounts.get(principal).map(|account| &account.wallet);
            Ok(account
                .cloned()
                .unwrap_or_else(|| Account::default().wallet))
        })
    }
}
