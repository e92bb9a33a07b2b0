//! How many turns a principal may begin before the store is asked again how many are open.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use turn::Principal;

/// How long an allowance is good. Other servers give their own meanwhile.
const LIFE: Duration = Duration::from_secs(10);

/// How many principals are remembered.
const PRINCIPALS: usize = 10_000;

/// What each principal may still begin.
#[derive(Default)]
pub(super) struct Allowances(Mutex<HashMap<Principal, Allowance>>);

struct Allowance {
    left: u32,
    until: Instant,
}

impl Allowances {
    /// Uses one up, if there is one.
    pub(super) fn take(&self, principal: &Principal) -> bool {
        let mut all = self.lock();
        let Some(allowance) = all.get_mut(principal) else {
            return false;
        };
        if allowance.left > 0 && Instant::now() < allowance.until {
            allowance.left -= 1;
            return true;
        }
        all.remove(principal);
        false
    }

    /// Sets the count of a principal.
    pub(super) fn give(&self, principal: &Principal, left: u32) {
        let mut all = self.lock();
        let now = Instant::now();
        if all.len() >= PRINCIPALS {
            all.retain(|_, allowance| now < allowance.until);
        }
        // A principal that is not cached is looked up each time.
        if left > 0 && all.len() < PRINCIPALS {
            let until = now + LIFE;
            all.insert(principal.clone(), Allowance { left, until });
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Principal, Allowance>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allowance_is_used_up() {
        let allowances = Allowances::default();
        let (ann, bob) = (Principal::from("ann"), Principal::from("bob"));
        assert!(!allowances.take(&ann));
        allowances.give(&ann, 2);
        assert!(!allowances.take(&bob));
        assert!(allowances.take(&ann) && allowances.take(&ann));
        assert!(!allowances.take(&ann));
        allowances.give(&ann, 0);
        assert!(!allowances.take(&ann));
    }
}
