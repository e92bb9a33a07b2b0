//! What all windows of a turn read from: its transcript, shared, and a bell that rings when it grows.
//!
//! A slow client costs nothing here: it reads when it can, and nobody waits for it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use turn::transcript::Item;
use wire::Chunk;
use wire::chunk::Data;

/// How many bytes of signals are kept for those who read slowly: half a minute of speech.
const SIGNAL_BYTES: usize = 2 * 1024 * 1024;

/// The shared transcript of one turn.
#[derive(Debug)]
pub(crate) struct Log {
    message_id: String,
    items: Mutex<Vec<Item>>,
    signals: Mutex<Signals>,
    bell: watch::Sender<()>,
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
    pub(crate) fn new(message_id: &str, items: &[Item]) -> Self {
        Self {
            message_id: message_id.to_owned(),
            items: Mutex::new(items.to_vec()),
            signals: Mutex::default(),
            bell: watch::Sender::new(()),
        }
    }

    pub(crate) fn message_id(&self) -> &str {
        &self.message_id
    }

    /// Brings the log up to the transcript.
    pub(crate) fn follow(&self, transcript: &[Item]) {
        let mut items = self.items();
        let known = items.len();
        if transcript.len() > known {
            items.extend_from_slice(&transcript[known..]);
            drop(items);
            self.bell.send_replace(());
        }
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
        drop(signals);
        self.bell.send_replace(());
    }

    /// How many signals there were.
    pub(crate) fn signalled(&self) -> usize {
        let signals = self.signals();
        signals.gone + signals.kept.len()
    }

    /// The signals after so many, as far as they are kept, which are then seen.
    pub(crate) fn signals_after(&self, seen: &mut usize) -> Vec<Arc<Chunk>> {
        let signals = self.signals();
        let skip = seen.saturating_sub(signals.gone);
        *seen = signals.gone + signals.kept.len();
        let kept = signals.kept.iter().skip(skip);
        kept.map(|(chunk, _)| chunk.clone()).collect()
    }

    fn signals(&self) -> MutexGuard<'_, Signals> {
        self.signals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn items(&self) -> MutexGuard<'_, Vec<Item>> {
        // Nothing that holds the lock can panic half-way through a change.
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn listen(&self) -> watch::Receiver<()> {
        self.bell.subscribe()
    }
}
