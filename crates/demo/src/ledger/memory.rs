//! The demo's wallets in this process.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use engine::Fence;
use store::Reply;
use turn::Principal;

use super::{Ledger, Paid, Payment, Refused, START_CENTS, Wallet, debit};

/// Wallets in memory.
#[derive(Debug, Default)]
pub(super) struct MemoryLedger {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    accounts: HashMap<Principal, Account>,
    /// The highest epoch of each scope.
    fences: HashMap<String, u64>,
}

/// Raises the highest epoch of a scope, and says whether there was none higher.
fn raise(fences: &mut HashMap<String, u64>, fence: &Fence) -> bool {
    let highest = fences.entry(fence.scope.clone()).or_default();
    *highest = fence.epoch.max(*highest);
    *highest == fence.epoch
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
    fn pay(
        &mut self,
        mut payment: Payment,
        fences: &mut HashMap<String, u64>,
    ) -> Result<Paid, Refused> {
        if let Some(answer) = self.answers.get(&payment.transaction) {
            return *answer;
        }
        if payment
            .fence
            .take()
            .is_some_and(|fence| !raise(fences, &fence))
        {
            return Err(Refused::Fenced);
        }
        let (answer, _) = debit(self.wallet.balance_cents, payment.cents);
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
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ledger for MemoryLedger {
    fn pay<'a>(
        &'a self,
        principal: &'a Principal,
        payment: Payment,
    ) -> Reply<'a, Result<Paid, Refused>> {
        Box::pin(async move {
            let state = &mut *self.lock();
            let account = state.accounts.entry(principal.clone()).or_default();
            Ok(account.pay(payment, &mut state.fences))
        })
    }

    fn raise_fence<'a>(&'a self, fence: &'a Fence) -> Reply<'a, ()> {
        Box::pin(async move {
            raise(&mut self.lock().fences, fence);
            Ok(())
        })
    }

    fn wallet<'a>(&'a self, principal: &'a Principal) -> Reply<'a, Wallet> {
        Box::pin(async move {
            let state = self.lock();
            let account = state.accounts.get(principal).map(|account| &account.wallet);
            Ok(account
                .cloned()
                .unwrap_or_else(|| Account::default().wallet))
        })
    }
}
