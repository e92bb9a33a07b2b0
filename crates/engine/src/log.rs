//! What all windows of a turn read from: its transcript, shared, and a bell that rings when it grows.
//!
//! A slow client costs nothing here: it reads when it can, and nobody waits for it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use turn::transcript::Item;

/// The shared transcript of one turn.
#[derive(Debug)]
pub(crate) struct Log {
    message_id: String,
    items: Mutex<Vec<Item>>,
    bell: watch::Sender<usize>,
}

impl Log {
    pub(crate) fn new(message_id: &str, items: &[Item]) -> Self {
        Self {
            message_id: message_id.to_owned(),
            items: Mutex::new(items.to_vec()),
            bell: watch::Sender::new(items.len()),
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
            self.bell.send_replace(transcript.len());
        }
    }

    pub(crate) fn items(&self) -> MutexGuard<'_, Vec<Item>> {
        // Nothing that holds the lock can panic half-way through a change.
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn listen(&self) -> watch::Receiver<usize> {
        self.bell.subscribe()
    }
}
