//! In-memory index from approvals to the chats of this process that wait for them, so that an answer
//! need not look for its chat in the store.
//!
//! It is a hint: an approval that is not here may be in the journal, and one that is here is looked
//! at by the task of its chat, which knows.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use turn::{ChatId, GateId};

/// The chats of approvals that are open in this process.
#[derive(Default)]
pub(crate) struct ApprovalIndex(Mutex<HashMap<GateId, ChatId>>);

impl ApprovalIndex {
    /// The chat of an approval, if it is here.
    pub(crate) fn chat_of(&self, gate: &GateId) -> Option<ChatId> {
        self.lock().get(gate).cloned()
    }

    /// Notes an approval that a chat waits for.
    pub(crate) fn add(&self, gate: &GateId, chat: &ChatId) {
        self.lock().insert(gate.clone(), chat.clone());
    }

    /// Forgets an approval that is closed, or whose chat is evicted.
    pub(crate) fn remove(&self, gate: &GateId) {
        self.lock().remove(gate);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<GateId, ChatId>> {
        // Nothing that holds the lock can panic half-way through a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
