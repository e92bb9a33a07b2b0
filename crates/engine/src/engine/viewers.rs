//! Who watches a chat: what an agent keeps open for it stays open as long as somebody does.

use std::collections::HashMap;
use std::sync::{MutexGuard, PoisonError};

use turn::ChatId;

use super::Engine;

/// Somebody who is there for a chat: [`Engine::register_viewer`].
pub struct ViewerGuard {
    engine: Engine,
    chat: ChatId,
}

impl Drop for ViewerGuard {
    fn drop(&mut self) {
        let mut viewers = self.engine.viewers();
        if let Some(count) = viewers.get_mut(&self.chat) {
            *count -= 1;
            if *count == 0 {
                viewers.remove(&self.chat);
            }
        }
    }
}

impl Engine {
    /// Says that somebody is there for a chat, as long as what is returned is held: what an agent
    /// keeps open for it stays open.
    pub fn register_viewer(&self, chat: &ChatId) -> ViewerGuard {
        *self.viewers().entry(chat.clone()).or_default() += 1;
        ViewerGuard {
            engine: self.clone(),
            chat: chat.clone(),
        }
    }

    pub(crate) fn has_viewer(&self, chat: &ChatId) -> bool {
        self.viewers().contains_key(chat)
    }

    fn viewers(&self) -> MutexGuard<'_, HashMap<ChatId, usize>> {
        let viewers = self.shared.viewers.lock();
        viewers.unwrap_or_else(PoisonError::into_inner)
    }
}
