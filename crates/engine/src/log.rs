//! What all windows of a turn read from: its transcript, shared, and word of when it grows.
//!
//! A slow client costs nothing here: it reads when it can, and nobody waits for it.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::sync::Notify;
use tokio::sync::futures::Notified;
use view::Line;
use wire::Chunk;
use wire::chunk::Data;

/// How many bytes of signals are kept for those who read slowly: half a minute of speech.
const SIGNAL_BYTES: usize = 2 * 1024 * 1024;

/// The shared transcript of one turn.
#[derive(Debug)]
pub(crate) struct Log {
    message_id: String,
    items: Mutex<Vec<Line>>,
    signals: Mutex<Signals>,
    /// How many signals there were, to be seen without a lock.
    signalled: AtomicUsize,
    changed: Notify,
    /// Whether the turn is not open yet: windows on it say nothing.
    is_waiting: AtomicBool,
    /// The log that windows read from in its place, once the message that waited was given to another turn.
    replaced_by: OnceLock<Arc<Log>>,
}

/// What is only for those who watch just now. The oldest make room for the newest.
#[derive(Debug, Default)]
struct Signals {
    /// How many came before those that are kept.
    gone: usize,
    kept: VecDeque<(Arc<Chunk>, usize)>,
    bytes: usize,
}

impl Log {
    pub(crate) fn new(message_id: &str, items: &[Line]) -> Self {
        Self {
            message_id: message_id.to_owned(),
            items: Mutex::new(items.to_vec()),
            signals: Mutex::default(),
            signalled: AtomicUsize::new(0),
            changed: Notify::new(),
            is_waiting: AtomicBool::new(false),
            replaced_by: OnceLock::new(),
        }
    }

    /// Of a turn that is yet to be opened.
    pub(crate) fn waiting(message_id: &str) -> Self {
        let log = Self::new(message_id, &[]);
        log.is_waiting.store(true, Ordering::Release);
        log
    }

    /// Whether its turn is not open yet.
    pub(crate) fn is_waiting(&self) -> bool {
        self.is_waiting.load(Ordering::Acquire)
    }

    /// The turn is open, and has said this.
    pub(crate) fn begin(&self, transcript: &[Line]) {
        self.follow(transcript);
        self.is_waiting.store(false, Ordering::Release);
        self.changed.notify_waiters();
    }

    /// No turn is opened: windows read from another log instead.
    pub(crate) fn replace(&self, by: &Arc<Self>) {
        // The first one counts.
        let _ = self.replaced_by.set(by.clone());
        self.changed.notify_waiters();
    }

    /// The log that windows read from in its place.
    pub(crate) fn replaced_by(&self) -> Option<&Arc<Self>> {
        self.replaced_by.get()
    }

    pub(crate) fn message_id(&self) -> &str {
        &self.message_id
    }

    /// Brings the log up to the transcript.
    pub(crate) fn follow(&self, transcript: &[Line]) {
        let mut items = self.items();
        let known = items.len();
        if transcript.len() > known {
            items.extend_from_slice(&transcript[known..]);
            drop(items);
            self.changed.notify_waiters();
        }
    }

    /// Adds a line that is in no transcript.
    pub(crate) fn push(&self, line: Line) {
        self.items().push(line);
        self.changed.notify_waiters();
    }

    /// Shows something to those who watch just now.
    pub(crate) fn signal(&self, data: Data) {
        let bytes = data.data.as_object().map_or(0, |fields| {
            let texts = fields.values().filter_map(serde_json::Value::as_str);
            texts.map(str::len).sum()
        });
        let mut signals = self.signals();
        signals.kept.push_back((Arc::new(Chunk::from(data)), bytes));
        signals.bytes += bytes;
        while signals.bytes > SIGNAL_BYTES
            && let Some((_, bytes)) = signals.kept.pop_front()
        {
            signals.bytes -= bytes;
            signals.gone += 1;
        }
        let signalled = signals.gone + signals.kept.len();
        self.signalled.store(signalled, Ordering::Release);
        drop(signals);
        self.changed.notify_waiters();
    }

    /// How many signals there were.
    pub(crate) fn signalled(&self) -> usize {
        self.signalled.load(Ordering::Acquire)
    }

    /// The signals after the first `seen`, as far as they are kept; then they count as seen.
    pub(crate) fn signals_after(&self, seen: &mut usize) -> Vec<Arc<Chunk>> {
        if self.signalled() == *seen {
            return Vec::new();
        }
        let signals = self.signals();
        let skip = seen.saturating_sub(signals.gone);
        *seen = signals.gone + signals.kept.len();
        let kept = signals.kept.iter().skip(skip);
        kept.map(|(chunk, _)| chunk.clone()).collect()
    }

    fn signals(&self) -> MutexGuard<'_, Signals> {
        self.signals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn items(&self) -> MutexGuard<'_, Vec<Line>> {
        // Nothing that holds the lock can panic half-way through a change.
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until there is more. Who enables it, and reads once more before waiting, misses nothing.
    pub(crate) fn changed(&self) -> Notified<'_> {
        self.changed.notified()
    }
}
