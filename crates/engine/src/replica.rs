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

use crate::actor::Command;
use crate::engine::{Engine, now};
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

/// How many turns that nobody runs are taken up at a time.
const TAKEN_OVER: usize = 64;

/// How late a timer must be for its server to be taken for dead.
const LATE: Duration = Duration::from_secs(2);

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
        loop {
            let address = match self.run_here(errand.clone()).await {
                Err(EngineError::Elsewhere(address)) => address,
                done => return done,
            };
            match replica.peers.carry(&address, &errand).await {
                Ok(done) => return Ok(done),
                Err(Carried::Refused(error)) => return Err(error),
                Err(Carried::Nowhere) if Instant::now() > patience => {
                    return Err(EngineError::OwnerAway);
                }
                Err(Carried::Nowhere) => tokio::time::sleep(replica.lease / 20).await,
            }
        }
    }

    /// Among other servers: keeps the leases of this one's chats, and takes up what others left, until
    /// the engine is dropped. To be spawned once.
    pub async fn keep(self) {
        let Some(replica) = self.shared.replica.clone() else {
            return;
        };
        let mut beat = tokio::time::interval(replica.lease / 4);
        let mut beats = 0_u64;
        let mut suspects = HashMap::new();
        loop {
            beat.tick().await;
            beats += 1;
            if let Err(error) = self.renew(&replica).await {
                tracing::warn!(%error, "leases could not be renewed");
            }
            if let Err(error) = self.take_over(&replica, &mut suspects).await {
                tracing::warn!(%error, "what others left could not be taken over");
            }
            // The timers of a server that died.
            if beats.is_multiple_of(4)
                && let Ok(gates) = self.shared.journal.expiring_gates().await
            {
                let late = now().0.saturating_sub(LATE.as_millis() as u64);
                for (chat, gate, _) in gates.into_iter().take_while(|(.., at)| at.0 < late) {
                    let _ = self.command(&chat, Command::TimedOut { gate }).await;
                }
            }
        }
    }

    async fn renew(&self, replica: &Replica) -> Result<(), EngineError> {
        let chats = self.shared.held.all();
        if chats.is_empty() {
            return Ok(());
        }
        let (at, expires) = (now(), now() + replica.lease);
        let journal = &self.shared.journal;
        for lost in journal.hold(&replica.holder, &chats, at, expires).await? {
            self.command(&lost, Command::Lost).await?;
        }
        Ok(())
    }

    /// Among other servers: gives all chats back, so that others take them up at once.
    pub async fn leave(&self) -> Result<(), EngineError> {
        let Some(replica) = &self.shared.replica else {
            return Ok(());
        };
        let held = self.shared.held.all();
        for (chat, _) in &held {
            self.command(chat, Command::Lost).await?;
        }
        // Leases that are over say that somebody left; none at all would say that nobody came.
        let at = now();
        let journal = &self.shared.journal;
        journal.hold(&replica.holder, &held, at, at).await?;
        Ok(())
    }

    /// Takes up turns that others left. One whose lease is over is taken at once. One that never had
    /// a lease may have been opened a moment ago, and is given the time to get one.
    async fn take_over(
        &self,
        replica: &Replica,
        suspects: &mut HashMap<ChatId, Instant>,
    ) -> Result<(), EngineError> {
        let journal = &self.shared.journal;
        let ownerless = journal.ownerless(now(), TAKEN_OVER).await?;
        suspects.retain(|chat, _| ownerless.contains(chat));
        for chat in ownerless {
            let seen = *suspects.entry(chat.clone()).or_insert_with(Instant::now);
            let was_left = journal.lease(&chat).await?.is_some();
            if was_left || seen.elapsed() > replica.lease / 2 {
                self.command(&chat, Command::Wake).await?;
            }
        }
        Ok(())
    }
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
