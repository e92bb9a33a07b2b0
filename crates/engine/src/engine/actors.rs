//! The tasks of chats: started where something happens to one, retired where nothing does.

use std::collections::HashMap;
use std::sync::{MutexGuard, PoisonError};

use tokio::sync::mpsc;
use turn::ChatId;

use super::Engine;
use crate::actor::{self, Message};
use crate::error::EngineError;

impl Engine {
    /// Delivers a message to the task of a chat, and starts one where there is none.
    pub(crate) async fn deliver(&self, chat: &ChatId, message: Message) -> Result<(), EngineError> {
        let mut message = Box::new(message);
        // A task that has just retired gives the message back.
        for _ in 0..8 {
            let sender = self.sender(chat);
            match sender.send(message).await {
                Ok(()) => return Ok(()),
                Err(back) => message = back.0,
            }
            self.chats().remove(chat);
        }
        Err(EngineError::Closed)
    }

    pub(super) fn sender(&self, chat: &ChatId) -> mpsc::Sender<Box<Message>> {
        let mut chats = self.chats();
        let sender = chats.entry(chat.clone());
        sender
            .or_insert_with(|| actor::start(self.clone(), chat.clone()))
            .clone()
    }

    /// The task of a chat, if it has one.
    pub(crate) fn existing(&self, chat: &ChatId) -> Option<mpsc::Sender<Box<Message>>> {
        self.chats().get(chat).cloned()
    }

    /// The tasks of all chats that something happens to.
    pub(crate) fn senders(&self) -> Vec<mpsc::Sender<Box<Message>>> {
        self.chats().values().cloned().collect()
    }

    /// Lets the task of a chat go, unless it has something to do.
    pub(crate) fn retire(&self, chat: &ChatId, messages: &mpsc::Receiver<Box<Message>>) -> bool {
        let mut chats = self.chats();
        // A caller that has found the task holds a sender beside the one that is kept here, and is
        // about to send: nobody would listen to what such a task begins.
        let is_quiet = messages.is_empty() && messages.sender_strong_count() == 1;
        if is_quiet {
            chats.remove(chat);
        }
        is_quiet
    }

    fn chats(&self) -> MutexGuard<'_, HashMap<ChatId, mpsc::Sender<Box<Message>>>> {
        // Nothing that holds the lock can panic half-way through a change.
        let chats = self.shared.chats.lock();
        chats.unwrap_or_else(PoisonError::into_inner)
    }
}
