//! One of several servers over one store.
//!
//! A chat that something happens to belongs to one server at a time: the one that holds its lease.
//! Commands for such a chat that reach another server are forwarded to the owner, windows too, so the database
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

use crate::command::{Command, Reply};
use crate::engine::Engine;
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
    /// Forwards a command to the server at an address, and gives its reply.
    fn forward<'a>(
        &'a self,
        address: &'a str,
        command: &'a Command,
    ) -> Pin<Box<dyn Future<Output = Result<Reply, NotForwarded>> + Send + 'a>>;
}

/// Why a command was not carried out elsewhere.
#[derive(Debug)]
pub enum NotForwarded {
    /// Nobody is there, or it is not the owner any more: nothing was done.
    Nowhere,
    /// The owner refused.
    Refused(EngineError),
}

impl Engine {
    /// Carries a command out, here or where its chat is.
    pub async fn run(&self, command: Command) -> Result<Reply, EngineError> {
        let Some(replica) = &self.shared.replica else {
            return self.run_here(command).await;
        };
        // Whoever had the chat and died is believed in until its lease is over.
        let time_limit = Instant::now() + replica.lease * 2;
        let mut tries = 0;
        while Instant::now() <= time_limit {
            if let Some(reply) = self.attempt(&command).await? {
                return Ok(reply);
            }
            tries += 1;
            // It may just have changed hands. If not, what can be read is better than nothing.
            if tries > 1
                && let Some(reply) = self.read_along(&command).await?
            {
                return Ok(reply);
            }
            tokio::time::sleep(replica.lease / 20).await;
        }
        Err(EngineError::OwnerAway)
    }

    /// Carries a command out, here or where its chat is. Nothing comes of it where the owner can't be reached,
    /// or has just lost the chat.
    pub(crate) async fn attempt(&self, command: &Command) -> Result<Option<Reply>, EngineError> {
        let address = match self.run_here(command.clone()).await {
            Err(EngineError::Elsewhere(address)) => address,
            done => return done.map(Some),
        };
        let Some(replica) = &self.shared.replica else {
            return Ok(None);
        };
        match replica.peers.forward(&address, command).await {
            Ok(reply) => Ok(Some(reply)),
            Err(NotForwarded::Refused(error)) => Err(error),
            Err(NotForwarded::Nowhere) => Ok(None),
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
    /// Notes that a chat is held, with its epoch and how far its journal was seen, or is not.
    pub(crate) fn set(&self, chat: &ChatId, place: Option<(u64, u64)>) {
        let mut chats = self.chats();
        match place {
            Some((epoch, seq)) => drop(chats.insert(chat.clone(), Place { epoch, seq })),
            None => drop(chats.remove(chat)),
        }
    }

    pub(crate) fn has(&self, chat: &ChatId) -> bool {
        self.chats().contains_key(chat)
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
