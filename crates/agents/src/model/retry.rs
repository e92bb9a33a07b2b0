//! When to ask again, and how long to wait.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use super::failure::Failure;

/// How often to ask again while nothing has come, and how long to wait before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retries {
    /// How many times to ask again.
    pub limit: u32,
    /// How long to wait before the first time; twice as long before each next.
    pub first: Duration,
    /// How long to wait at most. If the model wants more, the step fails at once and says when to come back.
    pub longest: Duration,
}

impl Default for Retries {
    fn default() -> Self {
        Self {
            limit: 3,
            first: Duration::from_millis(500),
            longest: Duration::from_secs(5),
        }
    }
}

/// How long to wait for a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Until it is connected.
    pub connect: Duration,
    /// Until the answer begins; a model that thinks in silence takes its time.
    pub first_byte: Duration,
    /// Until more of it comes.
    pub idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(180),
            idle: Duration::from_secs(90),
        }
    }
}

impl Retries {
    /// How long to wait before asking again; nothing, if it is not to be asked again. `asked` is how
    /// often it was, and `chance` a number from 0 to 1.
    pub(crate) fn wait(&self, asked: u32, failure: &Failure, chance: f64) -> Option<Duration> {
        if !failure.is_transient || asked > self.limit {
            return None;
        }
        match failure.retry_after {
            // Clients that got the same time must not return at the same moment.
            Some(wanted) => {
                (wanted <= self.longest).then(|| wanted + self.first.mul_f64(chance / 2.0))
            }
            None => {
                let doubled = self.first.saturating_mul(1 << (asked - 1).min(16));
                Some(doubled.min(self.longest).mul_f64(0.5 + chance / 2.0))
            }
        }
    }
}

/// A number from 0 to 1, of no more than spreading quality.
pub(crate) fn chance() -> f64 {
    let random = RandomState::new().hash_one(0_u8);
    f64::from(u32::try_from(random >> 32).unwrap_or_default()) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RETRIES: Retries = Retries {
        limit: 3,
        first: Duration::from_millis(500),
        longest: Duration::from_millis(1500),
    };

    fn failure(is_transient: bool, retry_after: Option<u64>) -> Failure {
        Failure {
            is_transient,
            retry_after: retry_after.map(Duration::from_millis),
            ..Failure::new("rate_limited", "")
        }
    }

    #[test]
    fn waits_double_up_to_the_longest_and_then_end() {
        let waits = |chance| {
            let wait = |asked| RETRIES.wait(asked, &failure(true, None), chance);
            (1..=4)
                .map(|asked| wait(asked).map(|wait| wait.as_millis()))
                .collect::<Vec<_>>()
        };
        assert_eq!(waits(1.0), [Some(500), Some(1000), Some(1500), None]);
        assert_eq!(waits(0.0), [Some(250), Some(500), Some(750), None]);
    }

    #[test]
    fn what_the_model_wants_is_waited_for_unless_it_is_too_long() {
        let wait = |after| RETRIES.wait(1, &failure(true, Some(after)), 0.0);
        assert_eq!(wait(1500), Some(Duration::from_millis(1500)));
        assert_eq!(wait(0), Some(Duration::ZERO));
        assert_eq!(wait(1501), None);
        let later = RETRIES.wait(1, &failure(true, Some(100)), 1.0);
        assert_eq!(later, Some(Duration::from_millis(350)));
    }

    #[test]
    fn what_will_not_get_better_is_not_asked_again() {
        assert_eq!(RETRIES.wait(1, &failure(false, Some(1)), 0.5), None);
        assert_eq!(RETRIES.wait(1, &failure(false, None), 0.5), None);
    }

    #[test]
    fn many_times_over_nothing_overflows() {
        let endless = Retries {
            limit: u32::MAX,
            ..RETRIES
        };
        let wait = endless.wait(u32::MAX, &failure(true, None), 1.0);
        assert_eq!(wait, Some(RETRIES.longest));
    }

    #[test]
    fn chance_is_spread_between_none_and_all() {
        let chances: Vec<_> = (0..100).map(|_| chance()).collect();
        assert!(chances.iter().all(|chance| (0.0..=1.0).contains(chance)));
        assert!(chances.iter().any(|chance| *chance < 0.5));
        assert!(chances.iter().any(|chance| *chance > 0.5));
    }
}
