//! What time it is: by the store's clock, which all servers over a store share.
//!
//! Deadlines and leases are judged by one clock, or a server whose own clock is ahead would close the
//! questions of all others. The store is asked now and then; in between, the time goes on steadily, so
//! that setting the clock of this machine changes nothing.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use store::{Journal, StoreError};
use tokio::time::Instant;
use turn::At;

/// What differs by more than this is worth a word in the log, in milliseconds.
const NOTABLE: u64 = 1000;

/// The store's clock, as far as is known here.
#[derive(Debug)]
pub(crate) struct Clock {
    began: Instant,
    /// What time it was at the store when this began, in milliseconds.
    origin: AtomicU64,
    /// How far the clock of this machine is made to be ahead, by tests.
    ahead: Duration,
    /// How far the clock of this machine was ahead when that was last said, in milliseconds.
    noted: AtomicI64,
}

impl Clock {
    /// By the clock of this machine, until the store is asked.
    pub(crate) fn new(ahead: Duration) -> Self {
        Self {
            began: Instant::now(),
            origin: AtomicU64::new((machine_time() + ahead).0),
            ahead,
            noted: AtomicI64::new(0),
        }
    }

    /// What time it is.
    pub(crate) fn now(&self) -> At {
        At(self.origin.load(Ordering::Relaxed)) + self.began.elapsed()
    }

    /// When it will be a moment of the store's clock.
    pub(crate) fn instant(&self, at: At) -> Instant {
        let since = at.0.saturating_sub(self.origin.load(Ordering::Relaxed));
        let instant = self.began.checked_add(Duration::from_millis(since));
        // A deadline that no clock reaches is looked at again in a day.
        instant.unwrap_or_else(|| Instant::now() + Duration::from_secs(86_400))
    }

    /// Asks the store what time it is, and says whether what was assumed was wrong.
    pub(crate) async fn compare(&self, journal: &dyn Journal) -> Result<bool, StoreError> {
        let before = self.began.elapsed();
        let time = journal.time().await?;
        let after = self.began.elapsed();
        let is_corrected = self.correct(time, before, after);
        self.compare_machine(machine_time() + self.ahead);
        Ok(is_corrected)
    }

    /// The store's time is of some moment between two: what is assumed stays if it fits one of them,
    /// so that a store that is slow to answer, or a process that was frozen meanwhile, moves nothing.
    fn correct(&self, time: At, before: Duration, after: Duration) -> bool {
        let (earliest, latest) = (before_by(time, after), before_by(time, before));
        let assumed = self.origin.load(Ordering::Relaxed);
        // A millisecond is what rounding costs.
        if (earliest.saturating_sub(1)..=latest + 1).contains(&assumed) {
            return false;
        }
        let origin = earliest.midpoint(latest);
        self.origin.store(origin, Ordering::Relaxed);
        if origin.abs_diff(assumed) > NOTABLE {
            let moved_ms = difference(origin, assumed);
            tracing::warn!(moved_ms, "time corrected to the store's clock");
        }
        true
    }

    /// Looks whether the clock of this machine, by which it is so late, agrees with the store's.
    fn compare_machine(&self, machine: At) {
        let ahead_ms = difference(machine.0, self.now().0);
        let noted = self.noted.load(Ordering::Relaxed);
        if ahead_ms.abs_diff(noted) > NOTABLE {
            self.noted.store(ahead_ms, Ordering::Relaxed);
            tracing::warn!(
                ahead_ms,
                ahead_before_ms = noted,
                "this machine's clock differs from the store's or was set; deadlines use the store's clock"
            );
        }
    }
}

fn before_by(time: At, span: Duration) -> u64 {
    let span = u64::try_from(span.as_millis()).unwrap_or(u64::MAX);
    time.0.saturating_sub(span)
}

/// How much one moment is after another, in milliseconds.
fn difference(one: u64, other: u64) -> i64 {
    let size = i64::try_from(one.abs_diff(other)).unwrap_or(i64::MAX);
    if one < other { -size } else { size }
}

fn machine_time() -> At {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    At(now.map_or(0, |now| u64::try_from(now.as_millis()).unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn the_stores_clock_counts_and_goes_on_steadily() {
        let clock = Clock::new(60 * SECOND);
        assert!(clock.correct(At(5_000), Duration::ZERO, Duration::ZERO));
        assert_eq!(clock.now(), At(5_000));
        tokio::time::advance(3 * SECOND).await;
        assert_eq!(clock.now(), At(8_000));
        assert_eq!(clock.instant(At(9_000)), Instant::now() + SECOND);
        assert!(!clock.correct(At(8_000), 3 * SECOND, 3 * SECOND));
        // It was set.
        assert!(clock.correct(At(60_000), 3 * SECOND, 3 * SECOND));
        assert_eq!(clock.now(), At(60_000));
    }

    /// The warnings of this thread, each as its fields.
    #[derive(Clone, Default)]
    struct Warnings(Arc<Mutex<Vec<String>>>);

    impl tracing::Subscriber for Warnings {
        fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
            *metadata.level() == tracing::Level::WARN
        }

        fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
            tracing::span::Id::from_u64(1)
        }

        fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

        fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

        fn event(&self, event: &tracing::Event<'_>) {
            let mut text = String::new();
            event.record(
                &mut |field: &tracing::field::Field, value: &dyn std::fmt::Debug| {
                    text.push_str(&format!("{field}={value:?} "));
                },
            );
            self.0.lock().unwrap().push(text);
        }

        fn enter(&self, _: &tracing::span::Id) {}

        fn exit(&self, _: &tracing::span::Id) {}
    }

    #[tokio::test(start_paused = true)]
    async fn a_step_of_this_machines_clock_is_logged_once_and_changes_nothing() {
        let clock = Clock::new(Duration::ZERO);
        assert!(clock.correct(At(5_000), Duration::ZERO, Duration::ZERO));
        let warnings = Warnings::default();
        let _guard = tracing::subscriber::set_default(warnings.clone());
        let compare = |machine: u64| {
            clock.compare_machine(At(machine));
            std::mem::take(&mut *warnings.0.lock().unwrap())
        };
        // What clocks differ by anyway.
        for near in [4_000, 5_000, 6_000] {
            assert_eq!(compare(near), Vec::<String>::new());
        }
        let stepped = compare(65_000);
        let [warning] = &stepped[..] else {
            panic!("{stepped:?}")
        };
        assert!(warning.contains("or was set"), "{warning}");
        assert!(
            warning.contains("ahead_ms=60000 ahead_before_ms=0"),
            "{warning}"
        );
        tokio::time::advance(SECOND).await;
        assert_eq!(compare(66_000), Vec::<String>::new());
        let set_back = compare(6_000);
        assert!(
            set_back[0].contains("ahead_ms=0 ahead_before_ms=60000"),
            "{set_back:?}"
        );
        assert_eq!(clock.now(), At(6_000));
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_that_took_long_moves_nothing() {
        let clock = Clock::new(Duration::ZERO);
        assert!(clock.correct(At(5_000), Duration::ZERO, Duration::ZERO));
        tokio::time::advance(20 * SECOND).await;
        // Read when it was asked, and received 20 seconds later; or the other way round.
        for time in [5_000, 25_000] {
            assert!(!clock.correct(At(time), Duration::ZERO, 20 * SECOND));
        }
        assert_eq!(clock.now(), At(25_000));
    }
}
