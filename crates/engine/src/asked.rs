//! Where the approvals are that chats of this process wait for, so that who answers one need not look
//! for its chat in the store.
//!
//! It is a hint: an approval that is not here may be in the journal, and one that is here is looked
//! at by the task of its chat, which knows.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use turn::gate::GateKind;
use turn::{Chat, ChatId, Event, GateId};

/// The chats of approvals that are open in this process.
#[derive(Default)]
pub(crate) struct Asked(Mutex<HashMap<GateId, ChatId>>);

impl Asked {
    /// The chat of an approval, if it is here.
    pub(crate) fn chat_of(&self, gate: &GateId) -> Option<ChatId> {
        self.lock().get(gate).cloned()
    }

    /// Takes in what a chat has appended.
    pub(crate) fn note(&self, chat: &ChatId, events: &[Event]) {
        for event in events {
            match event {
                Event::GateOpened { gate, .. }
                    if matches!(gate.kind, GateKind::Approval { .. }) =>
                {
                    self.lock().insert(gate.id.clone(), chat.clone());
                }
                Event::GateClosed { gate, .. } => drop(self.lock().remove(gate)),
                _ => {}
            }
        }
    }

    /// Forgets the approvals of a chat that is let go.
    pub(crate) fn forget(&self, chat: Option<&Chat>) {
        let turn = chat.and_then(Chat::current);
        for gate in turn.into_iter().flat_map(|turn| turn.open_gates()) {
            self.lock().remove(&gate.id);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<GateId, ChatId>> {
        // Nothing that holds the lock can panic half-way through a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
