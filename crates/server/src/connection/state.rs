//! What one connection is doing, and since when.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::limits::ConnectionLimits;

/// How long a response may have stalled before its connection is closed for another.
const STALLED: Duration = Duration::from_secs(2);

/// What a connection is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Phase {
    /// It has not sent a whole request yet.
    New,
    /// Its request is being served.
    Serving,
    /// The whole response is there, and some of it is still to be written.
    Flushing,
    /// Its last request was served, and nothing of the next one has come.
    Idle,
    /// A part of its next request has come.
    Head,
    /// It is a WebSocket now, which has limits of its own.
    Upgraded,
}

/// The time at which something began, as milliseconds after the table did; `NEVER` if it has not.
const NEVER: u64 = u64::MAX;

/// One open connection.
pub(super) struct Connection {
    epoch: Instant,
    phase: AtomicU8,
    /// When the phase began.
    since: AtomicU64,
    /// Since when the client takes nothing of what is written.
    stalled: AtomicU64,
    /// How many bytes of large responses are still to be written.
    unread: AtomicUsize,
    /// Since when there are such bytes.
    unread_since: AtomicU64,
    /// Whether its last request had a body that was not read to its end.
    refused_body: AtomicBool,
    pub(super) evicted: AtomicBool,
    task: OnceLock<AbortHandle>,
    meter: OnceLock<Meter>,
}

/// A callback for the bytes that come on a connection.
type Meter = Box<dyn Fn(usize) + Send + Sync>;

/// Lets the handler that upgrades a connection to a WebSocket count the bytes that come on it. Requests
/// have it among their extensions.
#[derive(Clone)]
pub(crate) struct Metered(pub(super) Arc<Connection>);

impl Metered {
    /// Calls a function for all bytes that come from now on, as they come.
    pub(crate) fn count(&self, meter: impl Fn(usize) + Send + Sync + 'static) {
        // A connection becomes a WebSocket once.
        let _ = self.0.meter.set(Box::new(meter));
    }
}

impl Connection {
    pub(super) fn new(epoch: Instant) -> Self {
        let connection = Self {
            epoch,
            phase: AtomicU8::new(Phase::New as u8),
            since: AtomicU64::new(0),
            stalled: AtomicU64::new(NEVER),
            unread: AtomicUsize::new(0),
            unread_since: AtomicU64::new(0),
            refused_body: AtomicBool::new(false),
            evicted: AtomicBool::new(false),
            task: OnceLock::new(),
            meter: OnceLock::new(),
        };
        connection.since.store(connection.now(), Ordering::Relaxed);
        connection
    }

    fn now(&self) -> u64 {
        u64::try_from(self.epoch.elapsed().as_millis()).unwrap_or(NEVER - 1)
    }

    fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Relaxed) {
            0 => Phase::New,
            1 => Phase::Serving,
            2 => Phase::Flushing,
            3 => Phase::Idle,
            4 => Phase::Head,
            _ => Phase::Upgraded,
        }
    }

    fn enter(&self, phase: Phase) {
        self.since.store(self.now(), Ordering::Relaxed);
        self.phase.store(phase as u8, Ordering::Relaxed);
    }

    /// A whole head has come: its request is served from here on.
    pub(super) fn begin_request(&self) {
        self.refused_body.store(false, Ordering::Relaxed);
        self.enter(Phase::Serving);
    }

    /// The body of the request was given up before its end.
    pub(super) fn refuse_body(&self) {
        self.refused_body.store(true, Ordering::Relaxed);
    }

    /// Whether its client may still be sending a body that is not read.
    pub(super) fn has_refused_body(&self) -> bool {
        self.refused_body.load(Ordering::Relaxed)
    }

    /// The whole response was handed over to be written.
    pub(super) fn end_request(&self) {
        if self.phase() == Phase::Serving {
            self.enter(Phase::Flushing);
        }
    }

    /// All that there was to write is written.
    pub(super) fn flushed(&self) -> usize {
        if self.phase() == Phase::Flushing {
            self.enter(Phase::Idle);
        }
        // Read first: most have none, and every delta comes by here.
        match self.unread.load(Ordering::Relaxed) {
            0 => 0,
            _ => self.unread.swap(0, Ordering::Relaxed),
        }
    }

    /// This many more bytes of large responses are to be written.
    pub(super) fn add_unread(&self, bytes: usize) {
        if self.unread.fetch_add(bytes, Ordering::Relaxed) == 0 {
            self.unread_since.store(self.now(), Ordering::Relaxed);
        }
    }

    /// Since when bytes of large responses are to be written, if there are any.
    pub(super) fn unread_since(&self) -> Option<u64> {
        let unread = self.unread.load(Ordering::Relaxed);
        (unread > 0).then(|| self.unread_since.load(Ordering::Relaxed))
    }

    /// It becomes a WebSocket.
    pub(super) fn upgrade(&self) {
        self.enter(Phase::Upgraded);
    }

    /// This many bytes have come.
    pub(super) fn received(&self, bytes: usize) {
        if self.phase() == Phase::Idle {
            self.enter(Phase::Head);
        }
        if let Some(meter) = self.meter.get() {
            meter(bytes);
        }
    }

    /// Whether it has sent nothing that waits for an answer.
    pub(super) fn is_quiet(&self) -> bool {
        matches!(self.phase(), Phase::New | Phase::Idle)
    }

    /// The client takes nothing of what is written, or takes something again.
    pub(super) fn set_stalled(&self, is_stalled: bool) {
        let since = if is_stalled { self.now() } else { NEVER };
        self.stalled.store(since, Ordering::Relaxed);
    }

    /// When its time is over, unless something happens before.
    pub(super) fn deadline(&self, limits: &ConnectionLimits) -> Option<(Instant, TimedOut)> {
        let after = |since: u64, span: Duration| self.epoch + Duration::from_millis(since) + span;
        let since = self.since.load(Ordering::Relaxed);
        let reading = match self.phase() {
            Phase::New | Phase::Head => {
                Some((after(since, limits.header_timeout), TimedOut::Header))
            }
            Phase::Idle => Some((after(since, limits.keep_alive), TimedOut::Idle)),
            Phase::Serving | Phase::Flushing | Phase::Upgraded => None,
        };
        let writing = match self.stalled.load(Ordering::Relaxed) {
            NEVER => None,
            since => Some((after(since, limits.write_timeout), TimedOut::Write)),
        };
        [reading, writing]
            .into_iter()
            .flatten()
            .min_by_key(|(deadline, _)| *deadline)
    }

    /// How readily it is closed for another connection, the readiest first; none if it is not.
    /// Those that never sent a whole request go first, then idle ones, then those that do not read.
    pub(super) fn eviction_rank(&self) -> Option<(u8, u64)> {
        let since = self.since.load(Ordering::Relaxed);
        match self.phase() {
            Phase::New => Some((0, since)),
            Phase::Idle | Phase::Head => Some((1, since)),
            Phase::Upgraded => None,
            Phase::Serving | Phase::Flushing => Some((2, self.stalled_for(STALLED)?)),
        }
    }

    /// Since when the client has taken nothing, if that is longer than a span.
    pub(super) fn stalled_for(&self, span: Duration) -> Option<u64> {
        let stalled = self.stalled.load(Ordering::Relaxed);
        self.is_past(stalled, span).then_some(stalled)
    }

    /// Whether more than a span has passed since a time.
    pub(super) fn is_past(&self, since: u64, span: Duration) -> bool {
        let span = u64::try_from(span.as_millis()).unwrap_or(NEVER);
        since.saturating_add(span) < self.now()
    }

    pub(super) fn evict(&self) {
        self.evicted.store(true, Ordering::Relaxed);
        if let Some(task) = self.task.get() {
            task.abort();
        }
    }

    /// Names the task that serves it.
    pub(super) fn served_by(&self, task: AbortHandle) {
        // It may have been evicted before it was served.
        if self.evicted.load(Ordering::Relaxed) {
            task.abort();
        }
        // It is named once.
        let _ = self.task.set(task);
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let phase = self.phase();
        out.debug_struct("Connection")
            .field("phase", &phase)
            .finish_non_exhaustive()
    }
}

/// Why a connection's time is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TimedOut {
    Header,
    Idle,
    Write,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn each_phase_has_its_deadline() {
        let connection = Connection::new(Instant::now());
        let limits = ConnectionLimits::default();
        let left = || {
            let (deadline, why) = connection.deadline(&limits)?;
            Some((deadline - Instant::now(), why))
        };
        assert_eq!(left(), Some((limits.header_timeout, TimedOut::Header)));
        tokio::time::advance(Duration::from_secs(1)).await;
        connection.received(1);
        let less = limits.header_timeout - Duration::from_secs(1);
        assert_eq!(left(), Some((less, TimedOut::Header)));
        connection.begin_request();
        assert_eq!(left(), None);
        connection.set_stalled(true);
        assert_eq!(left(), Some((limits.write_timeout, TimedOut::Write)));
        connection.set_stalled(false);
        connection.end_request();
        assert_eq!(left(), None);
        connection.flushed();
        assert_eq!(left(), Some((limits.keep_alive, TimedOut::Idle)));
        connection.received(1);
        assert_eq!(left(), Some((limits.header_timeout, TimedOut::Header)));
        connection.begin_request();
        connection.upgrade();
        connection.end_request();
        assert_eq!(left(), None);
    }
}
