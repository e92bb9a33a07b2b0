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
use tokio::time::Instant;
use turn::ChatId;

use crate::engine::Engine;
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

impl Engine {
    /// The same as one of several servers over one store. To be said before the engine is cloned.
    #[must_use]
    pub fn with_replica(mut self, replica: Replica) -> Self {
        if let Some(shared) = Arc::get_mut(&mut self.shared) {
            shared.replica = Some(replica);
        }
        self
    }

    /// Does an errand, here or where its chat is.
    pub async fn run(&self, errand: Errand) -> Result<Done, EngineError> {
        let Some(replica) = &self.shared.replica else {
            return self.run_here(errand).await;
        };
        // Whoever had the chat and died is believed in until its lease is over.
        let patience = Instant::now() + replica.lease * 2;
        let mut tries = 0;
        while Instant::now() <= patience {
            if let Some(done) = self.attempt(&errand).await? {
                return Ok(done);
            }
            tries += 1;
            // It may just have changed hands. If not, what can be read is better than nothing.
            if tries > 1
                && let Some(done) = self.read_along(&errand).await?
            {
                return Ok(done);
            }
            tokio::time::sleep(replica.lease / 20).await;
        }
        Err(EngineError::OwnerAway)
    }

    /// Does an errand, here or where its chat is. Nothing comes of it where the owner can't be reached,
    /// or has just lost the chat.
    pub(crate) async fn attempt(&self, errand: &Errand) -> Result<Option<Done>, EngineError> {
        let address = match self.run_here(errand.clone()).await {
            Err(EngineError::Elsewhere(address)) => address,
            done => return done.map(Some),
        };
        let Some(replica) = &self.shared.replica else {
            return Ok(None);
        };
        match replica.peers.carry(&address, errand).await {
            Ok(done) => Ok(Some(done)),
            Err(Carried::Refused(error)) => Err(error),
            Err(Carried::Nowhere) => Ok(None),
        }
    }
}

/// The chats that this server has the leases of.
#[derive(Debug, Default)]
pub(crate) struct Held(Mutex<HashMap<ChatId, Place>>);

/// How far this server has come with a chat.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// Of its claim.
    epoch: u64,
    /// Of the last entry that it has seen.
    seq: u64,
}

impl Held {
    pub(crate) fn add(&self, chat: &ChatId, epoch: u64, seq: u64) {
        self.chats().insert(chat.clone(), Place { epoch, seq });
    }

    /// Notes that the chat's journal has grown by what was decided here.
    pub(crate) fn grew(&self, chat: &ChatId, seq: u64) {
        if let Some(place) = self.chats().get_mut(chat) {
            place.seq = seq;
        }
    }

    pub(crate) fn has(&self, chat: &ChatId) -> bool {
        self.chats().contains_key(chat)
    }

    pub(crate) fn remove(&self, chat: &ChatId) -> bool {
        self.chats().remove(chat).is_some()
    }

    /// All, with the epochs of this server's claims.
    pub(crate) fn epochs(&self) -> Vec<(ChatId, u64)> {
        let chats = self.chats();
        let chats = chats
            .iter()
            .map(|(chat, place)| (chat.clone(), place.epoch));
        chats.collect()
    }

    /// All, with how far this server has seen their journals.
    pub(crate) fn seen(&self) -> Vec<(ChatId, u64)> {
        let chats = self.chats();
        let chats = chats.iter().map(|(chat, place)| (chat.clone(), place.seq));
        chats.collect()
    }

    fn chats(&self) -> MutexGuard<'_, HashMap<ChatId, Place>> {
        // Nothing that holds the lock can panic half-way through a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
