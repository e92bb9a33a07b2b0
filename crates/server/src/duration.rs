//! Spans of time, as an operator writes them.

use std::str::FromStr;
use std::time::Duration;

/// A number of seconds, or no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seconds(pub(crate) Option<Duration>);

impl FromStr for Seconds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let seconds = text.parse::<f64>().ok();
        let span = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        match span {
            Some(span) if !span.is_zero() => Ok(Self(Some(span))),
            _ => Err(format!(
                "`{text}` is not a number of seconds, as in 30 or 0.5"
            )),
        }
    }
}

/// How long something waits: a number of seconds, or never to end; nothing, if nothing is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TimeLimit(Option<Option<Duration>>);

impl TimeLimit {
    /// The default.
    pub(crate) fn or(self, default: Option<Duration>) -> Option<Duration> {
        self.0.unwrap_or(default)
    }
}

impl FromStr for TimeLimit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "never" {
            return Ok(Self(Some(None)));
        }
        match text.parse() {
            Ok(Seconds(seconds)) => Ok(Self(Some(seconds))),
            Err(problem) => Err(format!("{problem}, or never")),
        }
    }
}

/// A number of milliseconds: 15, if nothing is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Milliseconds(pub(crate) Duration);

impl Default for Milliseconds {
    fn default() -> Self {
        Self(Duration::from_millis(15))
    }
}

impl FromStr for Milliseconds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let millis = text.parse().map(Duration::from_millis);
        let problem = |_| format!("`{text}` is not a number of milliseconds, as in 15");
        millis.map(Self).map_err(problem)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_numbers() {
        let half = Seconds(Some(Duration::from_millis(500)));
        assert_eq!("0.5".parse(), Ok(half));
        assert_eq!("0".parse(), Ok(Milliseconds(Duration::ZERO)));
        for text in ["", "0", "-1", "1s", "inf", "nan"] {
            assert!(text.parse::<Seconds>().is_err(), "{text}");
        }
        assert!("-1".parse::<Milliseconds>().is_err());
    }
}
