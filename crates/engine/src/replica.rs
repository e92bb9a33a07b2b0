//! One of several servers over one store.
//!
//! A chat that something happens to belongs to one server at a time: the one that holds its lease.
//! Commands for such a chat that reach another server are forwarded to the owner, windows too, so the database
//! sees a few writes a step and no words. A lease is a hint: what keeps two servers from doing the
//! same thing is the journal, where a turn that was running is claimed before anything is done for
//! it, and where the later one conflicts.

use std::collections::HashMap;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use store::{Holder, Lease};
use tokio::time::Instant;
use turn::ChatId;

use crate::command::{Command, Reply};
use crate::engine::Engine;
use crate::error::EngineError;

/// How long a read waits for the owner of a chat before it is served from the journal.
const READ_TIME_LIMIT: Duration = Duration::from_secs(2);

/// How long the owner of a chat may send nothing of a window, not even a sign of life, before it is asked
/// whether it still has the chat's lease.
const SILENCE: Duration = Duration::from_secs(2);

/// How many owners may lose a chat, one after the other, while a command waits for them.
const MAX_LOST: usize = 8;

/// How long the owner of a chat is left alone at the most before it is tried again. A lease that was
/// given back may look valid for a moment, where this server's idea of the store's clock is behind.
const MAX_PAUSE: Duration = Duration::from_millis(500);

/// One of several servers over one store.
#[derive(Clone)]
pub struct Replica {
    /// A name that no other server has, and another one after each start; and where other servers
    /// reach it.
    pub holder: Holder,
    /// How other servers are reached.
    pub peers: Arc<dyn Peers>,
    /// How long a server that gives no sign of life counts as alive.
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

    /// Tells the server at an address what this one has seen of the database, and learns what that one
    /// has. A server that does not answer is not an error.
    fn compare<'a>(&'a self, address: &'a str) -> Pin<Box<dyn Future<Output = ()> + Send + 'a>>;
}

/// Why a command was not carried out elsewhere.
#[derive(Debug)]
pub enum NotForwarded {
    /// No server responds, or it is no longer the owner: nothing was done.
    Nowhere,
    /// It was sent, and no answer came: whether it was carried out is unknown.
    Silent,
    /// The owner refused.
    Refused(EngineError),
}

/// What came of one try to have a command carried out.
pub(crate) enum Attempt {
    /// It was carried out.
    Done(Reply),
    /// Nothing was done.
    Nowhere,
    /// Whether it was carried out is unknown.
    Silent,
    /// The same, and the owner has lost the chat since: the next try may take it up.
    Lost,
}

impl Engine {
    /// Carries a command out, here or where its chat is.
    pub async fn run(&self, command: Command) -> Result<Reply, EngineError> {
        let Some(replica) = &self.shared.replica else {
            return self.run_here(command).await;
        };
        // A server that had the chat and died counts as alive until its lease is over.
        let time_limit = Instant::now() + replica.lease * 2;
        let mut tries = 0;
        loop {
            let attempt = self.attempt(&command).await?;
            tries += 1;
            match attempt {
                Attempt::Done(reply) => return Ok(reply),
                Attempt::Silent | Attempt::Lost if !command.kind.may_be_repeated() => {
                    return Err(EngineError::OwnerAway);
                }
                // Whatever time it took: nobody is waited for any more.
                Attempt::Lost if tries < MAX_LOST => continue,
                // It may just have changed hands.
                Attempt::Nowhere if tries == 1 && command.kind.is_read() => continue,
                Attempt::Nowhere | Attempt::Silent | Attempt::Lost => {}
            }
            // What can be read is better than nothing.
            if let Some(reply) = self.read_along(&command).await? {
                return Ok(reply);
            }
            if Instant::now() > time_limit {
                return Err(EngineError::OwnerAway);
            }
            tokio::time::sleep(MAX_PAUSE.min(replica.lease / 20)).await;
        }
    }

    /// Carries a command out, here or where its chat is, if its owner can be reached.
    pub(crate) async fn attempt(&self, command: &Command) -> Result<Attempt, EngineError> {
        let address = match self.run_here(command.clone()).await {
            Err(EngineError::Elsewhere(address)) => address,
            done => return done.map(Attempt::Done),
        };
        let Some(replica) = &self.shared.replica else {
            return Ok(Attempt::Nowhere);
        };
        let forwarded = tokio::select! {
            forwarded = replica.peers.forward(&address, command) => forwarded,
            given_up = self.give_up_on(replica, &address, command) => return Ok(given_up),
        };
        match forwarded {
            Ok(Reply::Window(Some(window))) => {
                let watch = OwnerWatch::new(self.clone(), address, command.chat.clone());
                Ok(Attempt::Done(Reply::Window(Some(window.watched(watch)))))
            }
            Ok(reply) => Ok(Attempt::Done(reply)),
            Err(NotForwarded::Refused(error)) => Err(error),
            Err(NotForwarded::Nowhere) => Ok(Attempt::Nowhere),
            Err(NotForwarded::Silent) => Ok(Attempt::Silent),
        }
    }

    /// Waits until it is no use any more to wait for the owner of a chat: it may be frozen, and then a
    /// connection to it stays open for longer than its lease lasts.
    async fn give_up_on(&self, replica: &Replica, address: &str, command: &Command) -> Attempt {
        if command.kind.is_read() {
            tokio::time::sleep(READ_TIME_LIMIT).await;
            return Attempt::Silent;
        }
        if !command.kind.may_be_repeated() {
            // An answer that comes late is better than none.
            return std::future::pending().await;
        }
        loop {
            tokio::time::sleep(replica.lease / 4).await;
            if self.has_lost(address, &command.chat).await {
                return Attempt::Lost;
            }
        }
    }

    /// Whether the server at an address is known to own a chat no longer.
    async fn has_lost(&self, address: &str, chat: &ChatId) -> bool {
        // A store that is away says nothing of the owner.
        let Ok(lease) = self.shared.journal.lease(chat).await else {
            return false;
        };
        let is_owner =
            |lease: &Lease| lease.holder.address == address && lease.expires > self.now();
        !lease.as_ref().is_some_and(is_owner)
    }
}

/// What becomes of the owner of a chat while one of its windows is passed on. The connection to one that is
/// frozen stays open for longer than its lease lasts.
pub(crate) struct OwnerWatch {
    engine: Engine,
    address: String,
    chat: ChatId,
    /// When it last gave a sign of life, or was last found to have the lease.
    seen: Instant,
}

impl OwnerWatch {
    fn new(engine: Engine, address: String, chat: ChatId) -> Self {
        Self {
            engine,
            address,
            chat,
            seen: Instant::now(),
        }
    }

    /// The owner gave a sign of life.
    pub(crate) fn is_alive(&mut self) {
        self.seen = Instant::now();
    }

    /// Waits until the owner is silent and has lost the chat. It may be dropped and called again.
    pub(crate) async fn lost(&mut self) {
        loop {
            tokio::time::sleep_until(self.seen + SILENCE).await;
            if self.engine.has_lost(&self.address, &self.chat).await {
                return;
            }
            self.is_alive();
        }
    }
}

impl fmt::Debug for OwnerWatch {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("OwnerWatch")
            .field("address", &self.address)
            .field("chat", &self.chat)
            .finish_non_exhaustive()
    }
}

/// The chats that this server has the leases of.
#[derive(Debug, Default)]
pub(crate) struct LeasedChats(Mutex<HashMap<ChatId, Place>>);

/// How far this server has come with a chat.
#[derive(Debug, Clone, Copy)]
struct Place {
    /// Of its claim.
    epoch: u64,
    /// Of the last entry that it has seen.
    seq: u64,
}

impl LeasedChats {
    /// Notes that a chat is held, with its epoch and how far its journal was seen, or is not.
    pub(crate) fn set(&self, chat: &ChatId, place: Option<(u64, u64)>) {
        let mut chats = self.chats();
        match place {
            Some((epoch, seq)) => drop(chats.insert(chat.clone(), Place { epoch, seq })),
            None => drop(chats.remove(chat)),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.chats().len()
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
