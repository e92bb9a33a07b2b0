//! When something happened: a number that the engine brings.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A moment, in milliseconds since 1970.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct At(pub u64);

impl std::ops::Add<Duration> for At {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        let millis = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        Self(self.0.saturating_add(millis))
    }
}
