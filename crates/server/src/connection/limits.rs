//! How many connections there may be, and how long each may take.

use std::sync::OnceLock;
use std::time::Duration;

/// Descriptors that connections never take: for the store, for agents and tools, and for files.
const RESERVE: std::ops::RangeInclusive<usize> = 32..=1024;

/// The most connections unless an operator asks for more: each takes some kilobytes.
const DEFAULT_MAX: usize = 65_536;

/// How many descriptors are assumed where the system does not report the limit.
const ASSUMED_DESCRIPTORS: usize = 1024;

/// How many connections there may be, and how long each may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// How many connections may be open, WebSockets included. By default as many as the process has
    /// descriptors, less a reserve.
    pub max: Option<usize>,
    /// How many of them may come from one address (from one /64 network in IPv6). By default half.
    pub max_per_address: Option<usize>,
    /// How long a client may take to send the whole head of a request.
    pub header_timeout: Duration,
    /// How long a connection may wait for its next request.
    pub keep_alive: Duration,
    /// How long a client may send nothing of a body, and the time after which it has to have sent
    /// [`ConnectionLimits::MIN_BODY_RATE`] on average.
    pub body_timeout: Duration,
    /// How long a client may read nothing of a response.
    pub write_timeout: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            max: None,
            max_per_address: None,
            header_timeout: Duration::from_secs(10),
            // Longer than load balancers keep idle connections, so that they are the ones to close.
            keep_alive: Duration::from_secs(75),
            body_timeout: Duration::from_secs(10),
            write_timeout: Duration::from_secs(30),
        }
    }
}

impl ConnectionLimits {
    /// How fast a body has to come on average, in bytes a second.
    pub const MIN_BODY_RATE: u32 = 1024;

    /// How many connections there may be with this many descriptors.
    pub(crate) fn max_within(&self, descriptors: usize) -> usize {
        let wanted = self.max.unwrap_or(DEFAULT_MAX);
        wanted.min(possible(descriptors)).max(1)
    }

    /// The caps on connections: in all, and for each address.
    pub(super) fn caps(&self, descriptors: Option<usize>) -> Caps {
        let descriptors = descriptors.unwrap_or(ASSUMED_DESCRIPTORS);
        let possible = possible(descriptors);
        let wanted = self.max.unwrap_or(DEFAULT_MAX);
        if self.max.is_some() && wanted > possible {
            tracing::warn!(
                wanted,
                possible,
                descriptors,
                "max-connections is more than the descriptor limit allows"
            );
        }
        let max = self.max_within(descriptors);
        let max_per_address = self.max_per_address.unwrap_or(max.div_ceil(2));
        Caps {
            max,
            max_per_address: max_per_address.clamp(1, max),
        }
    }
}

/// How many connections there may be with this many descriptors, at most.
fn possible(descriptors: usize) -> usize {
    let reserve = (descriptors / 8).clamp(*RESERVE.start(), *RESERVE.end());
    descriptors.saturating_sub(reserve).max(1)
}

/// The caps on connections, as they hold in this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Caps {
    pub(super) max: usize,
    pub(super) max_per_address: usize,
}

/// Raises the soft limit on descriptors to the hard one, once in the process, and returns how many there
/// are.
pub(crate) fn raise_descriptor_limit() -> Option<usize> {
    static DESCRIPTORS: OnceLock<Option<usize>> = OnceLock::new();
    *DESCRIPTORS.get_or_init(raise)
}

fn raise() -> Option<usize> {
    match rlimit::increase_nofile_limit(u64::MAX) {
        Ok(limit) => Some(usize::try_from(limit).unwrap_or(usize::MAX)),
        Err(error) => {
            tracing::warn!("can't raise the limit on descriptors: {error}");
            let (soft, _) = rlimit::Resource::NOFILE.get().ok()?;
            usize::try_from(soft).ok()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_are_left_for_the_store_and_for_agents() {
        let caps = |limits: ConnectionLimits, descriptors| {
            let caps = limits.caps(descriptors);
            (caps.max, caps.max_per_address)
        };
        let limits = ConnectionLimits::default();
        assert_eq!(caps(limits, Some(1024)), (896, 448));
        assert_eq!(caps(limits, Some(64)), (32, 16));
        assert_eq!(caps(limits, Some(1)), (1, 1));
        assert_eq!(caps(limits, Some(usize::MAX)), (65_536, 32_768));
        assert_eq!(caps(limits, None), (896, 448));
    }

    #[test]
    fn operator_decides_within_what_is_possible() {
        let limits = ConnectionLimits {
            max: Some(100_000),
            max_per_address: Some(7),
            ..ConnectionLimits::default()
        };
        let caps = |descriptors| limits.caps(Some(descriptors));
        assert_eq!(caps(1_000_000).max, 100_000);
        assert_eq!(caps(1024).max, 896);
        assert_eq!(caps(1024).max_per_address, 7);
    }
}
