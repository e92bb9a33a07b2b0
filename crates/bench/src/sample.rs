//! Numbers that were measured.

use std::time::Duration;

/// Spans of time, to be asked for a share of them.
#[derive(Debug, Clone, Default)]
pub struct Sample(Vec<Duration>);

impl Sample {
    /// Takes one more.
    pub fn push(&mut self, span: Duration) {
        self.0.push(span);
    }

    /// Takes all of another.
    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The span that this many of a hundred are not longer than, in milliseconds.
    pub fn percentile(&self, percent: usize) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let last = sorted.len().saturating_sub(1);
        let index = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
        let span = sorted.get(index.min(last));
        span.map_or(f64::NAN, |span| span.as_secs_f64() * 1e3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_what_was_measured() {
        let mut sample = Sample::default();
        for milliseconds in (1..=100).rev() {
            sample.push(Duration::from_millis(milliseconds));
        }
        let read = [50, 99, 100].map(|percent| sample.percentile(percent));
        assert_eq!(read, [50.0, 99.0, 100.0]);
        assert!(Sample::default().percentile(50).is_nan());
    }
}
