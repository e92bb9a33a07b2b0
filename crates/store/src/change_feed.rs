//! Which chats change, as a stream of their ids, for lists of chats.

use tokio::sync::broadcast;
use turn::ChatId;

/// How many changes may wait for a slow reader. It then gets [`ChatChange::Any`].
pub(crate) const QUEUE: usize = 4096;

/// A change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChatChange {
    /// This chat changed: its journal grew, it was relabelled, or it was deleted.
    Chat(ChatId),
    /// Any chat may have changed.
    Any,
}

/// Which chats change. It carries no content: the reader looks the chats up.
#[derive(Debug)]
pub struct ChangeFeed {
    receiver: broadcast::Receiver<ChatChange>,
}

impl ChangeFeed {
    pub(crate) fn new(receiver: broadcast::Receiver<ChatChange>) -> Self {
        Self { receiver }
    }

    /// The next change, once there is one; nothing when the store was closed. It may be dropped while
    /// it waits.
    pub async fn next(&mut self) -> Option<ChatChange> {
        match self.receiver.recv().await {
            Ok(change) => Some(change),
            Err(broadcast::error::RecvError::Lagged(_)) => Some(ChatChange::Any),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}
