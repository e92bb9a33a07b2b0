//! One of several servers over one store.
//!
//! A chat that something happens to belongs to one server at a time: the one that holds its lease.
//! What another server is asked of such a chat it carries to the owner, windows too, so the database
//! sees a few writes a step and no words. A lease is a hint: what keeps two servers from doing the
//! same thing is the journal, where a turn that was running is claimed before anything is done for
//! it, and where whoever comes late conflicts.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use store::Holder;
use turn::ChatId;

use crate::errand::{Done, Errand};
use crate::error::EngineError;

/// One of several servers over one store.
#[derive(Clone)]
pub struct Replica {
    /// A name that no other server has, and that this one has anew after each start, and where other
    /// servers reach it.
    pub holder: Holder,
    /// How other servers are reached.
    pub peers: Arc<dyn Peers>,
    /// How long a server that gives no sign of life is believed in.
    pub lease: Duration,
}

/// The way to other servers.
pub trait Peers: Send + Sync + 'static {
    /// Carries an errand to the server at an address, and says what came of it there.
    fn carry<'a>(
        &'a self,
        address: &'a str,
        errand: &'a Errand,
    ) -> Pin<Box<dyn Future<Output = Result<Done, Carried>> + Send + 'a>>;
}

/// Why an errand was not done elsewhere.
#[derive(Debug)]
pub enum Carried {
    /// Nobody is there, or it is not the owner any more: nothing was done.
    Nowhere,
    /// The owner refused.
    Refused(EngineError),
}

/// The chats that this server has the leases of, with the epochs of its claims.
#[derive(Debug, Default)]
pub(crate) struct Held(Mutex<HashMap<ChatId, u64>>);

impl Held {
    pub(crate) fn add(&self, chat: &ChatId, epoch: u64) {
        self.chats().insert(chat.clone(), epoch);
    }

    pub(crate) fn has(&self, chat: &ChatId) -> bool {
        self.chats().contains_key(chat)
    }

    pub(crate) fn remove(&self, chat: &ChatId) -> bool {
        self.chats().remove(chat).is_some()
    }

    pub(crate) fn all(&self) -> Vec<(ChatId, u64)> {
        let chats = self.chats();
        let chats = chats.iter().map(|(chat, epoch)| (chat.clone(), *epoch));
        chats.collect()
    }

    fn chats(&self) -> MutexGuard<'_, HashMap<ChatId, u64>> {
        // Nothing that holds the lock can panic half-way through a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
