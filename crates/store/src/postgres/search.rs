//! One search for the primary at a time, for everything that was opened with one URL.
//!
//! While there is no primary, every request wants a connection, and every attempt costs each host a
//! process and the check of a password. Hundreds in a second would delay the promotion that they wait
//! for. So one looks for the primary, and the others wait for what it finds.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::error::StoreError;

/// Who looks for the primary, and what the last search came to. Clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct PrimarySearch {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    turn: tokio::sync::Mutex<()>,
    last: Mutex<Outcome>,
}

#[derive(Debug, Default)]
struct Outcome {
    /// How many searches have ended.
    searches: u64,
    /// Why the last one failed.
    failure: Option<StoreError>,
}

impl PrimarySearch {
    /// Opens a connection. While another search is under way, it is waited for: if that fails, so does
    /// this one, and if it finds the primary, all that waited for it go there side by side.
    pub(super) async fn run<T>(
        &self,
        search: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let before = self.last().searches;
        let turn = self.shared.turn.lock().await;
        let ended = {
            let last = self.last();
            (last.searches != before).then(|| last.failure.clone())
        };
        match ended {
            Some(Some(failure)) => return Err(failure),
            Some(None) => {
                drop(turn);
                return search.await;
            }
            None => {}
        }
        let found = search.await;
        let mut last = self.last();
        last.searches += 1;
        last.failure = found.as_ref().err().cloned();
        drop(last);
        found
    }

    fn last(&self) -> MutexGuard<'_, Outcome> {
        let last = self.shared.last.lock();
        last.unwrap_or_else(PoisonError::into_inner)
    }
}

// Who looks for a database is no part of its address.
impl PartialEq for PrimarySearch {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for PrimarySearch {}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use futures_util::future::join_all;

    use super::*;

    /// A search that takes a second, and counts itself.
    async fn search(count: &AtomicUsize, found: Result<(), StoreError>) -> Result<(), StoreError> {
        count.fetch_add(1, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_secs(1)).await;
        found
    }

    fn away() -> StoreError {
        let problem = "it is a standby".to_owned();
        StoreError::Unavailable { problem }
    }

    #[tokio::test(start_paused = true)]
    async fn search_that_fails_fails_for_all_that_wait_for_it() {
        let searches = PrimarySearch::default();
        let count = AtomicUsize::new(0);
        let run = || searches.run(search(&count, Err(away())));
        let found = join_all((0..8).map(|_| run())).await;
        assert_eq!(found, vec![Err(away()); 8]);
        assert_eq!(count.load(Ordering::SeqCst), 1);
        // The next that asks looks for itself.
        assert_eq!(run().await, Err(away()));
        assert_eq!(count.load(Ordering::SeqCst), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn primary_that_is_found_is_connected_to_side_by_side() {
        let searches = PrimarySearch::default();
        let count = AtomicUsize::new(0);
        let begun = tokio::time::Instant::now();
        let run = || searches.run(search(&count, Ok(())));
        let found = join_all((0..8).map(|_| run())).await;
        assert!(found.iter().all(Result::is_ok));
        assert_eq!(count.load(Ordering::SeqCst), 8);
        assert_eq!(begun.elapsed().as_secs(), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn search_that_nobody_waits_for_any_more_is_taken_over() {
        let searches = PrimarySearch::default();
        let count = AtomicUsize::new(0);
        let half = Duration::from_millis(500);
        let given_up = tokio::time::timeout(half, searches.run(search(&count, Ok(()))));
        let (given_up, other) = tokio::join!(given_up, searches.run(search(&count, Ok(()))));
        assert!(given_up.is_err());
        assert_eq!(other, Ok(()));
        assert_eq!(count.load(Ordering::SeqCst), 2);
    }
}
