//! How much one principal may have open and send, as the operator says.

use std::num::NonZeroU32;
use std::str::FromStr;

use super::{Origin, Settings, pick};
use crate::error::Error;
use crate::quota::QuotaLimits;

/// A limit: as it is by default, a number, or none at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Limit {
    #[default]
    Default,
    None,
    Of(NonZeroU32),
}

impl Limit {
    pub(crate) fn or(self, default: Option<NonZeroU32>) -> Option<NonZeroU32> {
        match self {
            Self::Default => default,
            Self::None => None,
            Self::Of(limit) => Some(limit),
        }
    }
}

impl FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self::None);
        }
        let (digits, unit) = match text {
            _ if text.ends_with("KiB") => (text.trim_end_matches("KiB"), 1 << 10),
            _ if text.ends_with("MiB") => (text.trim_end_matches("MiB"), 1 << 20),
            _ => (text, 1),
        };
        let number = digits.trim().parse().ok();
        let number = number.and_then(|number: u32| NonZeroU32::new(number.checked_mul(unit)?));
        let wrong = || format!("`{text}` is neither none nor a number, from 1 on");
        number.map(Self::Of).ok_or_else(wrong)
    }
}

/// The quotas of each principal.
pub(super) fn of(layers: &[(Origin, Settings)]) -> Result<QuotaLimits, Error> {
    let default = QuotaLimits::default();
    let limit = |key, of| pick::<Limit>(layers, key, of);
    let open_chats = limit("max-open-chats", |layer| layer.max_open_chats.as_deref())?;
    let open_approvals = limit("max-open-approvals", |layer| {
        layer.max_open_approvals.as_deref()
    })?;
    let in_flight = limit("max-requests-in-flight", |layer| {
        layer.max_requests_in_flight.as_deref()
    })?;
    let event_streams = limit("max-event-streams", |layer| {
        layer.max_event_streams.as_deref()
    })?;
    let requests = limit("max-requests-per-second", |layer| {
        layer.max_requests_per_second.as_deref()
    })?;
    let bytes = limit("max-body-bytes-per-second", |layer| {
        layer.max_body_bytes_per_second.as_deref()
    })?;
    Ok(QuotaLimits {
        open_chats: open_chats.or(default.open_chats),
        open_approvals: open_approvals.or(default.open_approvals),
        requests_in_flight: in_flight.or(default.requests_in_flight),
        event_streams: event_streams.or(default.event_streams),
        requests_per_second: requests.or(default.requests_per_second),
        body_bytes_per_second: bytes.or(default.body_bytes_per_second),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limit_is_a_number_or_none() {
        let of = |number| Ok(Limit::Of(NonZeroU32::new(number).unwrap()));
        assert_eq!("1000".parse::<Limit>(), of(1000));
        assert_eq!("16MiB".parse::<Limit>(), of(16 << 20));
        assert_eq!("64 KiB".parse::<Limit>(), of(64 << 10));
        assert_eq!("none".parse::<Limit>(), Ok(Limit::None));
        for bad in ["", "0", "-1", "x", "0MiB", "9999999MiB", "MiB", "1GiB"] {
            assert!(bad.parse::<Limit>().is_err(), "{bad}");
        }
    }
}
