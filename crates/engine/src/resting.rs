//! Idle chats, kept in memory for clients that come back: up to a number of bytes, the least recently
//! used evicted first.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use turn::ChatId;

use crate::actor::Message;
use crate::engine::Engine;

/// How many bytes resting chats may take, unless it is said otherwise.
pub(crate) const MEMORY: usize = 64 * 1024 * 1024;

/// The chats that rest.
#[derive(Debug)]
pub(crate) struct Resting {
    limit: usize,
    chats: Mutex<Chats>,
}

#[derive(Debug, Default)]
struct Chats {
    /// In the order in which they came to rest.
    order: BTreeMap<u64, (ChatId, usize)>,
    places: HashMap<ChatId, u64>,
    bytes: usize,
    last: u64,
    /// How many had to go for others.
    evictions: u64,
}

impl Chats {
    fn remove(&mut self, chat: &ChatId) {
        if let Some(place) = self.places.remove(chat)
            && let Some((_, bytes)) = self.order.remove(&place)
        {
            self.bytes -= bytes;
        }
    }

    fn pop_first(&mut self) -> Option<ChatId> {
        let (_, (chat, bytes)) = self.order.pop_first()?;
        self.places.remove(&chat);
        self.bytes -= bytes;
        Some(chat)
    }
}

impl Resting {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit,
            chats: Mutex::default(),
        }
    }

    /// Adds an idle chat of this many bytes, and returns those that are to be evicted for it.
    fn add(&self, chat: &ChatId, bytes: usize) -> Vec<ChatId> {
        let mut chats = self.lock();
        chats.remove(chat);
        chats.last += 1;
        let place = chats.last;
        chats.order.insert(place, (chat.clone(), bytes));
        chats.places.insert(chat.clone(), place);
        chats.bytes += bytes;
        let mut gone = Vec::new();
        while chats.bytes > self.limit
            && let Some(first) = chats.pop_first()
        {
            gone.push(first);
        }
        chats.evictions += gone.len() as u64;
        gone
    }

    /// Notes that a chat does not rest any more, or is gone.
    pub(crate) fn remove(&self, chat: &ChatId) {
        self.lock().remove(chat);
    }

    /// How many rest, in how many bytes, and how many had to go for others so far.
    pub(crate) fn totals(&self) -> (usize, usize, u64) {
        let chats = self.lock();
        (chats.order.len(), chats.bytes, chats.evictions)
    }

    fn lock(&self) -> MutexGuard<'_, Chats> {
        // Nothing that holds the lock can panic half-way through a change.
        self.chats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine {
    /// Adds an idle chat of this many bytes, and evicts others if there are too many.
    pub(crate) fn rest(&self, chat: &ChatId, bytes: usize) {
        for gone in self.shared.resting.add(chat, bytes) {
            if let Some(sender) = self.existing(&gone) {
                // One that is busy does not rest.
                let _ = sender.try_send(Box::new(Message::Evict));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_recently_used_go_first() {
        let resting = Resting::new(100);
        let [a, b, c, d] = ["a", "b", "c", "d"].map(ChatId::from);
        assert_eq!(resting.add(&a, 40), []);
        assert_eq!(resting.add(&b, 40), []);
        // It was used since, and is larger.
        assert_eq!(resting.add(&a, 50), []);
        assert_eq!(resting.add(&c, 40), [b]);
        resting.remove(&a);
        assert_eq!(resting.add(&d, 60), []);
        // One that is too large alone goes at once, with all others.
        assert_eq!(resting.add(&a, 101), [c, d, a]);
        assert_eq!(resting.totals(), (0, 0, 4));
    }
}
