//! Notifies listeners that a journal grew. A notification carries no entries: the listener reads them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{broadcast, watch};
use turn::ChatId;

use crate::change_feed::{ChangeFeed, ChatChange, QUEUE};

/// Notifies those who wait for the next entry of a chat.
#[derive(Debug, Default)]
pub struct ChangeNotifier {
    chats: Mutex<Chats>,
}

/// The chats that have listeners. A sender's value is whether the chat was deleted.
#[derive(Debug, Default)]
struct Chats {
    senders: HashMap<ChatId, watch::Sender<bool>>,
    /// For those who listen for all chats. Made for the first of them.
    feed: Option<broadcast::Sender<ChatChange>>,
    is_closed: bool,
}

impl Chats {
    fn feed(&mut self, change: impl FnOnce() -> ChatChange) {
        // Nobody may listen any more; the next who does makes it again.
        self.feed.take_if(|feed| feed.send(change()).is_err());
    }
}

impl ChangeNotifier {
    /// Listens for a chat, from now on.
    pub fn listen(self: &Arc<Self>, chat: &ChatId) -> Listener {
        let mut chats = self.lock();
        let receiver = if chats.is_closed {
            watch::channel(false).1
        } else {
            let sender = chats.senders.entry(chat.clone());
            sender
                .or_insert_with(|| watch::channel(false).0)
                .subscribe()
        };
        Listener {
            chat: chat.clone(),
            receiver: Some(receiver),
            notifier: Arc::downgrade(self),
        }
    }

    /// Listens for all chats, from now on.
    pub fn listen_to_all(&self) -> ChangeFeed {
        let mut chats = self.lock();
        let receiver = if chats.is_closed {
            broadcast::channel(1).1
        } else {
            let feed = chats
                .feed
                .get_or_insert_with(|| broadcast::channel(QUEUE).0);
            feed.subscribe()
        };
        ChangeFeed::new(receiver)
    }

    /// The chat's journal grew.
    pub fn notify(&self, chat: &ChatId) {
        let mut chats = self.lock();
        if let Some(sender) = chats.senders.get(chat) {
            sender.send_modify(|_| {});
        }
        chats.feed(|| ChatChange::Chat(chat.clone()));
    }

    /// Any journal may have grown.
    pub fn notify_all(&self) {
        let mut chats = self.lock();
        for sender in chats.senders.values() {
            sender.send_modify(|_| {});
        }
        chats.feed(|| ChatChange::Any);
    }

    /// What a list shows of the chat changed, and its journal did not.
    pub fn relabelled(&self, chat: &ChatId) {
        self.lock().feed(|| ChatChange::Chat(chat.clone()));
    }

    /// Changes were lost. Tails find out by themselves.
    #[cfg(feature = "postgres")]
    pub(crate) fn feed_all(&self) {
        self.lock().feed(|| ChatChange::Any);
    }

    /// The chat is no more. What comes under its id after this is another chat, so this must come
    /// before that can be read.
    pub fn end(&self, chat: &ChatId) {
        let mut chats = self.lock();
        if let Some(sender) = chats.senders.remove(chat) {
            sender.send_replace(true);
        }
        chats.feed(|| ChatChange::Chat(chat.clone()));
    }

    /// No more notifications will come.
    pub fn close(&self) {
        let mut chats = self.lock();
        chats.is_closed = true;
        chats.senders.clear();
        chats.feed = None;
    }

    /// The chats that have listeners.
    pub fn chats(&self) -> Vec<ChatId> {
        self.lock().senders.keys().cloned().collect()
    }

    /// Whether there are listeners.
    pub fn has_listeners(&self) -> bool {
        let chats = self.lock();
        let feed = chats.feed.as_ref();
        !chats.senders.is_empty() || feed.is_some_and(|feed| feed.receiver_count() > 0)
    }

    /// A panic elsewhere leaves the map whole: every change to it is one step.
    fn lock(&self) -> MutexGuard<'_, Chats> {
        self.chats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A listener that waits for a chat's next entry.
#[derive(Debug)]
pub struct Listener {
    chat: ChatId,
    /// Always there until the listener is dropped.
    receiver: Option<watch::Receiver<bool>>,
    /// Weak, so that listeners do not keep a closed store's notifier.
    notifier: Weak<ChangeNotifier>,
}

impl Listener {
    /// Marks all notifications so far as seen.
    pub(crate) fn mark_seen(&mut self) {
        if let Some(receiver) = &mut self.receiver {
            receiver.mark_unchanged();
        }
    }

    /// Waits for a notification since the last [`Listener::mark_seen`]; `false` when none can come any more.
    pub(crate) async fn notified(&mut self) -> bool {
        match &mut self.receiver {
            Some(receiver) => receiver.changed().await.is_ok(),
            None => false,
        }
    }

    /// Waits as [`Listener::notified`] does, and no longer than this; `true` if none has come by then.
    pub(crate) async fn notified_within(&mut self, time: Duration) -> bool {
        let rang = tokio::time::timeout(time, self.notified()).await;
        rang.unwrap_or(true)
    }

    /// Whether the chat was deleted.
    pub(crate) fn is_deleted(&self) -> bool {
        self.receiver
            .as_ref()
            .is_some_and(|receiver| *receiver.borrow())
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.receiver = None;
        // Or the map would keep every chat that was ever listened for. Receivers are made under
        // this lock alone, so a count of none is none.
        if let Some(notifier) = self.notifier.upgrade() {
            let mut chats = notifier.lock();
            let sender = chats.senders.get(&self.chat);
            if sender.is_some_and(|sender| sender.receiver_count() == 0) {
                chats.senders.remove(&self.chat);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn listener_to_all_gets_every_chat_or_that_some_were_missed() {
        let notifier = Arc::new(ChangeNotifier::default());
        let chat = ChatId::from("a");
        notifier.notify(&chat);
        let mut feed = notifier.listen_to_all();
        assert!(notifier.has_listeners());
        notifier.notify(&chat);
        notifier.notify_all();
        notifier.end(&chat);
        let changed = Some(ChatChange::Chat(chat.clone()));
        assert_eq!(feed.next().await, changed);
        assert_eq!(feed.next().await, Some(ChatChange::Any));
        assert_eq!(feed.next().await, changed);
        for _ in 0..=QUEUE {
            notifier.relabelled(&chat);
        }
        assert_eq!(feed.next().await, Some(ChatChange::Any));
        assert_eq!(feed.next().await, changed);
        drop(feed);
        notifier.notify(&chat);
        assert!(!notifier.has_listeners());
        notifier.close();
        assert_eq!(notifier.listen_to_all().next().await, None);
    }

    #[tokio::test]
    async fn a_ring_between_two_waits_is_not_lost() {
        let notifier = Arc::new(ChangeNotifier::default());
        let (a, b) = (ChatId::from("a"), ChatId::from("b"));
        let mut listener = notifier.listen(&a);
        notifier.notify(&b);
        notifier.notify(&a);
        assert!(listener.notified().await);
        notifier.notify_all();
        assert!(listener.notified().await);
        notifier.close();
        assert!(!listener.notified().await);
        assert!(!listener.is_deleted());
        assert!(!notifier.listen(&a).notified().await);
    }

    #[tokio::test]
    async fn the_end_of_a_chat_is_not_the_end_of_the_next_under_its_id() {
        let notifier = Arc::new(ChangeNotifier::default());
        let chat = ChatId::from("a");
        let old = notifier.listen(&chat);
        notifier.end(&chat);
        let mut new = notifier.listen(&chat);
        assert!(old.is_deleted());
        drop(old);
        notifier.notify(&chat);
        assert!(new.notified().await);
        assert!(!new.is_deleted());
    }

    #[test]
    fn chats_that_nobody_listens_for_are_forgotten() {
        let notifier = Arc::new(ChangeNotifier::default());
        let chat = ChatId::from("a");
        let (first, second) = (notifier.listen(&chat), notifier.listen(&chat));
        drop(first);
        assert!(notifier.has_listeners());
        drop(second);
        assert!(!notifier.has_listeners());
    }
}
