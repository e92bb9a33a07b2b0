//! What each principal may have at once of something that all share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::Semaphore;
use turn::Principal;

/// A semaphore for each principal. Who holds nothing and waits for nothing is not in it.
pub(crate) struct Shares {
    permits: usize,
    semaphores: Mutex<HashMap<Principal, Weak<Semaphore>>>,
}

impl Shares {
    /// This many permits for each.
    pub(crate) fn new(permits: usize) -> Self {
        Self {
            permits,
            semaphores: Mutex::default(),
        }
    }

    /// The share of a principal.
    pub(crate) fn of(&self, principal: &Principal) -> Arc<Semaphore> {
        let semaphores = self.semaphores.lock();
        let mut semaphores = semaphores.unwrap_or_else(PoisonError::into_inner);
        if let Some(share) = semaphores.get(principal).and_then(Weak::upgrade) {
            return share;
        }
        semaphores.retain(|_, share| share.strong_count() > 0);
        let share = Arc::new(Semaphore::new(self.permits));
        semaphores.insert(principal.clone(), Arc::downgrade(&share));
        share
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn share_is_forgotten_with_its_last_holder() {
        let shares = Shares::new(2);
        let (ann, bob) = (Principal::from("ann"), Principal::from("bob"));
        let held = shares.of(&ann).try_acquire_owned().unwrap();
        assert_eq!(shares.of(&ann).available_permits(), 1);
        assert_eq!(shares.of(&bob).available_permits(), 2);
        drop(held);
        assert_eq!(shares.of(&bob).available_permits(), 2);
        assert_eq!(shares.semaphores.lock().unwrap().len(), 1);
    }
}
