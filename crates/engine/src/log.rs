//! What all windows of a turn read from: its transcript, shared, and word of when it grows.
//!
//! A slow client costs nothing here: it reads when it can, and blocks no other reader.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};

use view::Line;
use wire::Chunk;
use wire::chunk::Data;

/// How many bytes of signals are kept for those who read slowly: half a minute of speech.
const SIGNAL_BYTES: usize = 2 * 1024 * 1024;

/// The shared transcript of one turn.
#[derive(Debug)]
pub(crate) struct Log {
    message_id: String,
    lines: Mutex<Lines>,
    signals: Mutex<Signals>,
    /// How many signals there were, to be seen without a lock.
    signalled: AtomicUsize,
    /// Whether the turn is not open yet: windows on it say nothing.
    is_waiting: AtomicBool,
    /// The log that windows read from in its place, once the message that waited was given to another turn.
    replaced_by: OnceLock<Arc<Log>>,
}

/// The transcript, and who waits for more of it: under one lock, since a reader that finds nothing waits.
#[derive(Debug, Default)]
struct Lines {
    items: Vec<Line>,
    /// A place for each reader, with its waker while it waits.
    readers: Vec<Place>,
}

#[derive(Debug)]
enum Place {
    Free,
    Reads,
    Waits(Waker),
}

impl Lines {
    /// The wakers of the readers that wait: usually one, which is woken once the lock is free.
    fn take_waiting(&mut self) -> Waiting {
        let mut waiting = Waiting::default();
        for place in &mut self.readers {
            if matches!(place, Place::Waits(_))
                && let Place::Waits(waker) = std::mem::replace(place, Place::Reads)
            {
                match waiting.first {
                    None => waiting.first = Some(waker),
                    Some(_) => waiting.rest.push(waker),
                }
            }
        }
        waiting
    }
}

/// Readers that are to be woken.
#[derive(Debug, Default)]
struct Waiting {
    first: Option<Waker>,
    rest: Vec<Waker>,
}

impl Waiting {
    fn wake(self) {
        self.first
            .into_iter()
            .chain(self.rest)
            .for_each(Waker::wake);
    }
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
            lines: Mutex::new(Lines {
                items: items.to_vec(),
                readers: Vec::new(),
            }),
            signals: Mutex::default(),
            signalled: AtomicUsize::new(0),
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
        self.wake();
    }

    /// No turn is opened: windows read from another log instead.
    pub(crate) fn replace(&self, by: &Arc<Self>) {
        // The first one counts.
        let _ = self.replaced_by.set(by.clone());
        self.wake();
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
        let mut lines = self.lines();
        let known = lines.items.len();
        if transcript.len() > known {
            lines.items.extend_from_slice(&transcript[known..]);
            let waiting = lines.take_waiting();
            drop(lines);
            waiting.wake();
        }
    }

    /// Adds a line that is in no transcript.
    pub(crate) fn push(&self, line: Line) {
        self.lines().items.push(line);
        self.wake();
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
        self.wake();
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

    fn lines(&self) -> MutexGuard<'_, Lines> {
        // Nothing that holds the lock can panic half-way through a change.
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self) {
        // In a statement of its own: the lock is free when they are woken.
        let waiting = self.lines().take_waiting();
        waiting.wake();
    }
}

/// One who reads a log, and may wait for more of it.
#[derive(Debug)]
pub(crate) struct LogReader {
    log: Arc<Log>,
    /// Its place among the readers.
    place: usize,
}

impl LogReader {
    pub(crate) fn new(log: Arc<Log>) -> Self {
        let mut lines = log.lines();
        let free = lines
            .readers
            .iter()
            .position(|place| matches!(place, Place::Free));
        let place = free.unwrap_or(lines.readers.len());
        match lines.readers.get_mut(place) {
            Some(free) => *free = Place::Reads,
            None => lines.readers.push(Place::Reads),
        }
        drop(lines);
        Self { log, place }
    }

    pub(crate) fn log(&self) -> &Arc<Log> {
        &self.log
    }

    /// Reads the transcript as it is. Where `read` finds nothing in it, the waker is called as soon as
    /// there is more.
    pub(crate) fn poll<T>(
        &self,
        context: &Context<'_>,
        read: impl FnOnce(&Log, &[Line]) -> Poll<T>,
    ) -> Poll<T> {
        let mut lines = self.log.lines();
        let found = read(&self.log, &lines.items);
        if found.is_pending()
            && let Some(place) = lines.readers.get_mut(self.place)
        {
            *place = Place::Waits(context.waker().clone());
        }
        found
    }

    /// Reads the transcript as it is.
    pub(crate) fn read<T>(&self, read: impl FnOnce(&[Line]) -> T) -> T {
        read(&self.log.lines().items)
    }
}

impl Drop for LogReader {
    fn drop(&mut self) {
        let mut lines = self.log.lines();
        if let Some(place) = lines.readers.get_mut(self.place) {
            *place = Place::Free;
        }
        while matches!(lines.readers.last(), Some(Place::Free)) {
            lines.readers.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU8;
    use std::task::Wake;

    use super::*;

    #[derive(Default)]
    struct Count(AtomicU8);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Looks for more than `known` lines.
    fn poll(reader: &LogReader, known: usize, waker: &Arc<Count>) -> bool {
        let waker = Waker::from(waker.clone());
        let read = |_: &Log, items: &[Line]| match items.len() > known {
            true => Poll::Ready(()),
            false => Poll::Pending,
        };
        reader.poll(&Context::from_waker(&waker), read).is_ready()
    }

    #[test]
    fn each_reader_that_waits_is_woken_once() {
        let log = Arc::new(Log::new("m", &[]));
        let readers = [(); 3].map(|()| (LogReader::new(log.clone()), Arc::<Count>::default()));
        for (reader, waker) in &readers {
            assert!(!poll(reader, 0, waker) && !poll(reader, 0, waker));
        }
        log.push(Line::StepBegun);
        log.push(Line::StepEnded);
        for (reader, waker) in &readers {
            assert_eq!(waker.0.load(Ordering::Relaxed), 1);
            assert!(poll(reader, 0, waker) && poll(reader, 1, waker));
        }
    }

    #[test]
    fn reader_that_has_left_is_neither_woken_nor_kept() {
        let log = Arc::new(Log::new("m", &[]));
        let stays = LogReader::new(log.clone());
        let waker = Arc::<Count>::default();
        for _ in 0..10 {
            let leaves = LogReader::new(log.clone());
            assert!(!poll(&leaves, 0, &waker));
        }
        assert_eq!(log.lines().readers.len(), 1);
        log.push(Line::StepBegun);
        assert_eq!(waker.0.load(Ordering::Relaxed), 0);
        assert_eq!(Arc::strong_count(&waker), 1);
        drop(stays);
        assert!(log.lines().readers.is_empty());
    }
}
