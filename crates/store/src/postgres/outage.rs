//! How long the database has been away, and how long to wait before it is asked again.
//!
//! One that is away for a moment, as in a restart or a failover, delays requests by that moment. One
//! that stays away fails them: after a while, at once.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// The first wait between two attempts.
const FIRST: Duration = Duration::from_millis(50);
/// The longest.
const LONGEST: Duration = Duration::from_secs(1);

/// Since when the database is away, known to all who use it.
#[derive(Debug)]
pub(super) struct Outage {
    time_limit: Duration,
    since: Mutex<Option<Instant>>,
}

impl Outage {
    pub(super) fn new(time_limit: Duration) -> Self {
        let since = Mutex::default();
        Self { time_limit, since }
    }

    /// An attempt that began then has failed. Returns whether it is worth waiting for the next.
    pub(super) fn goes_on(&self, begun: Instant) -> bool {
        let mut since = self.since.lock().unwrap_or_else(PoisonError::into_inner);
        since.get_or_insert(begun).elapsed() < self.time_limit
    }

    /// The database has answered.
    pub(super) fn ends(&self) {
        *self.since.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Waits between attempts: longer each time, and never as long as another server's.
#[derive(Debug)]
pub(super) struct Backoff {
    next: Duration,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { next: FIRST }
    }
}

impl Backoff {
    pub(super) async fn wait(&mut self) {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        // The clock's last digits are as good a die as any for this.
        let nanos = now.map_or(0, |now| now.subsec_nanos());
        let share = f64::from(nanos % 1000) / 1000.0;
        let wait = self.next.mul_f64(0.5 + share / 2.0);
        self.next = (self.next * 2).min(LONGEST);
        tokio::time::sleep(wait).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outage_is_waited_out_only_so_long() {
        let outage = Outage::new(Duration::from_secs(60));
        let now = Instant::now();
        assert!(outage.goes_on(now));
        outage.ends();
        let earlier = now.checked_sub(Duration::from_secs(61)).unwrap();
        assert!(!outage.goes_on(earlier));
        // It is as old as the first attempt that failed.
        assert!(!outage.goes_on(now));
        outage.ends();
        assert!(outage.goes_on(now));
    }

    #[tokio::test(start_paused = true)]
    async fn waits_grow_and_stop_growing() {
        let mut backoff = Backoff::default();
        let begun = tokio::time::Instant::now();
        backoff.wait().await;
        assert!(begun.elapsed() <= FIRST + Duration::from_millis(1));
        for _ in 0..10 {
            backoff.wait().await;
        }
        let begun = tokio::time::Instant::now();
        backoff.wait().await;
        assert!(begun.elapsed() >= LONGEST / 2);
        assert!(begun.elapsed() <= LONGEST + Duration::from_millis(1));
    }
}
