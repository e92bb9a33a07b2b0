//! The clock of this machine, for stores that have none of their own.

use std::time::{SystemTime, UNIX_EPOCH};

use tokio::time::Instant;
use turn::At;

/// What time it is, by the clock of this machine.
pub(crate) fn machine_time() -> At {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    At(now.map_or(0, |now| u64::try_from(now.as_millis()).unwrap_or(u64::MAX)))
}

/// The machine's clock as it was once, which goes on steadily from there: nobody outside of the process
/// compares what it says, and tests that pause time pause it too.
#[derive(Debug)]
pub(crate) struct SteadyClock {
    began: (Instant, At),
}

impl Default for SteadyClock {
    fn default() -> Self {
        Self {
            began: (Instant::now(), machine_time()),
        }
    }
}

impl SteadyClock {
    pub(crate) fn now(&self) -> At {
        let (began, at) = self.began;
        at + began.elapsed()
    }
}
