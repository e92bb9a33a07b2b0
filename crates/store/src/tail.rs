//! A journal as it grows.

use std::collections::VecDeque;
use std::fmt;
use std::time::Duration;

use turn::Entry;

use crate::change_notifier::Listener;
use crate::error::StoreError;
use crate::journal::Reply;

/// How long a tail waits before it asks a database again that was away.
const AGAIN: Duration = Duration::from_secs(1);

/// How a tail reads: the entries after a place, in order; all of them, or at least the first. Nothing
/// at all, if the chat that it followed is no more.
type Read = Box<dyn Fn(u64) -> Reply<'static, Option<Vec<Entry>>> + Send + Sync>;

/// A journal as it grows: the entries after a place, and then each one that is appended.
///
/// Entries come from reading alone, and each read starts where the last one ended, so there can be
/// no gap and no duplicate however often the [`crate::change_notifier::ChangeNotifier`] notifies.
pub struct Tail {
    after: u64,
    ready: VecDeque<Entry>,
    listener: Listener,
    read: Read,
}

impl Tail {
    /// A tail for a store: listening comes before reading, so the listener is asked for first.
    pub fn new(
        after: u64,
        listener: Listener,
        read: impl Fn(u64) -> Reply<'static, Option<Vec<Entry>>> + Send + Sync + 'static,
    ) -> Self {
        Self {
            after,
            ready: VecDeque::new(),
            listener,
            read: Box::new(read),
        }
    }

    /// The next entry, once there is one; nothing when the chat was deleted or the store closed.
    ///
    /// While the database is away it waits. It may be dropped while it waits, and called again after
    /// an error: no entry is lost.
    pub async fn next(&mut self) -> Result<Option<Entry>, StoreError> {
        let mut can_grow = true;
        loop {
            if let Some(entry) = self.ready.pop_front() {
                return Ok(Some(entry));
            }
            self.listener.mark_seen();
            let entries = match (self.read)(self.after).await {
                Err(StoreError::Unavailable { .. }) if can_grow => {
                    can_grow = self.listener.notified_within(AGAIN).await;
                    continue;
                }
                entries => entries?,
            };
            // Asked after reading: these may be the entries of a later chat under the same id.
            let Some(entries) = entries.filter(|_| !self.listener.is_deleted()) else {
                return Ok(None);
            };
            if let Some(last) = entries.last() {
                self.after = last.seq;
                self.ready = entries.into();
            } else if can_grow {
                // Once the notifier is silent for good, one more read finds what it last rang for.
                can_grow = self.listener.notified().await;
            } else {
                return Ok(None);
            }
        }
    }
}

impl fmt::Debug for Tail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tail")
            .field("after", &self.after)
            .field("ready", &self.ready.len())
            .finish_non_exhaustive()
    }
}
