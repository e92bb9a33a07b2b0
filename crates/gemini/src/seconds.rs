//! Durations as protobuf writes them: `"17s"`, `"0.5s"`.

use std::fmt;
use std::time::Duration;

use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::record::Field;

/// A duration, on the wire a string of seconds with up to nine decimals and an `s`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seconds(pub Duration);

impl Seconds {
    /// Reads `"17s"` or `"0.5s"`; nothing for what is negative, or no duration.
    pub fn parse(text: &str) -> Option<Self> {
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.strip_suffix('s')?;
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() || fraction.len() > 9 || !digits(whole) || !digits(fraction) {
            return None;
        }
        let nanos = format!("{fraction:0<9}").parse().ok()?;
        Some(Self(Duration::new(whole.parse().ok()?, nanos)))
    }
}

impl fmt::Display for Seconds {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fraction = format!("{:09}", self.0.subsec_nanos());
        match fraction.trim_end_matches('0') {
            "" => write!(out, "{}s", self.0.as_secs()),
            fraction => write!(out, "{}.{fraction}s", self.0.as_secs()),
        }
    }
}

impl Serialize for Seconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl Field for Seconds {
    fn fits(value: &Value) -> bool {
        value.as_str().and_then(Self::parse).is_some()
    }

    fn read(value: Value) -> Option<Self> {
        value.as_str().and_then(Self::parse)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_and_written() {
        for (text, millis) in [("17s", 17_000), ("0.5s", 500), ("3.002s", 3002), ("0s", 0)] {
            let seconds = Seconds::parse(text).unwrap();
            assert_eq!(seconds.0, Duration::from_millis(millis));
            assert_eq!(seconds.to_string(), text);
        }
        assert_eq!(Seconds::parse("1.000000001s").unwrap().0.subsec_nanos(), 1);
        assert_eq!(Seconds::parse("0.500s").unwrap().to_string(), "0.5s");
    }

    #[test]
    fn what_is_no_duration_is_not_one() {
        for text in [
            "",
            "s",
            "17",
            "-1s",
            "1.s1",
            ".5s",
            "1e3s",
            "+1s",
            "1.0000000001s",
            "17 s",
            "99999999999999999999s",
        ] {
            assert_eq!(Seconds::parse(text), None, "{text}");
        }
    }
}
