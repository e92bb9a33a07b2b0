//! What a server does by itself, in a loop: it keeps the leases of its chats, looks whether others
//! wrote to them, and takes up what was left, by others or by itself while the store was away.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior};
use turn::{At, ChatId};

use crate::actor::Message;
use crate::driver::Input;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::replica::Replica;

/// How often a server looks around that is alone.
const ALONE: Duration = Duration::from_secs(1);

/// How many orphaned turns are taken over at a time.
const TAKEN_OVER: usize = 64;

/// How many gates whose time is up are closed at a time.
const CLOSED: usize = 1024;

/// How late a timer must be for its server to be taken for dead, where there are others.
const LATE: Duration = Duration::from_secs(2);

impl Engine {
    /// Goes on with what needs going on with, until the server leaves. To be spawned once.
    #[doc(hidden)]
    pub async fn keep(self) {
        // Side by side: a peer that does not answer must not keep leases from being renewed.
        tokio::join!(self.maintain(), self.compare_with_peers());
    }

    async fn maintain(&self) {
        let replica = self.shared.replica.clone();
        let period = replica.as_ref().map_or(ALONE, |replica| replica.lease / 4);
        let mut tick = tokio::time::interval(period);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut suspects = HashMap::new();
        loop {
            tick.tick().await;
            if self.is_leaving() {
                // Tools that are still at work keep their lease.
                if let Some(replica) = &replica
                    && let Err(error) = self.renew(replica).await
                {
                    tracing::warn!(%error, "renewing leases failed");
                }
                self.retry().await;
                continue;
            }
            if let Err(error) = self.compare_clocks().await {
                tracing::warn!(%error, "reading the store's clock failed");
            }
            if let Some(replica) = &replica {
                self.maintain_replica(replica, &mut suspects).await;
            }
            if let Err(error) = self.close_overdue(replica.is_some()).await {
                tracing::warn!(%error, "closing expired gates failed");
            }
            self.retry().await;
        }
    }

    /// Wakes the chats that the store failed in the middle of something.
    async fn retry(&self) {
        for chat in self.shared.retries.take() {
            // What fails again is left again.
            let _ = self.deliver(&chat, Message::Input(Input::Wake)).await;
        }
    }

    /// Learns what time it is at the store: by that clock all servers judge deadlines. [`Engine::keep`] does
    /// it now and then.
    #[doc(hidden)]
    pub async fn compare_clocks(&self) -> Result<(), EngineError> {
        if self.shared.clock.compare(&*self.shared.journal).await? {
            self.shared.deadlines.clock_was_set();
        }
        Ok(())
    }

    /// Among other servers.
    async fn maintain_replica(&self, replica: &Replica, suspects: &mut HashMap<ChatId, Instant>) {
        if let Err(error) = self.renew(replica).await {
            tracing::warn!(%error, "renewing leases failed");
        }
        if let Err(error) = self.compare().await {
            tracing::warn!(%error, "comparing chats with their journals failed");
        }
        if let Err(error) = self.take_over(replica, suspects).await {
            tracing::warn!(%error, "takeover failed");
        }
    }

    async fn renew(&self, replica: &Replica) -> Result<(), EngineError> {
        let chats = self.shared.leased.epochs();
        if chats.is_empty() {
            return Ok(());
        }
        let journal = &self.shared.journal;
        for lost in journal.hold(&replica.holder, &chats, replica.lease).await? {
            self.deliver(&lost, Message::Input(Input::Lost)).await?;
        }
        if self.is_leaving() {
            // What was given back meanwhile is not to be taken again.
            let held = &self.shared.leased;
            let gone = chats.into_iter().filter(|(chat, _)| !held.has(chat));
            self.give_back(&gone.collect::<Vec<_>>()).await?;
        }
        Ok(())
    }

    /// Looks whether others wrote to chats that are held here. A lease that ran out may have gone to
    /// another server and come back under the same epoch, and nothing else would tell.
    async fn compare(&self) -> Result<(), EngineError> {
        let seen = self.shared.leased.seen();
        if seen.is_empty() {
            return Ok(());
        }
        for chat in self.shared.journal.outdated(&seen).await? {
            // It may be what was appended here a moment ago: the chat's task knows.
            self.deliver(&chat, Message::Input(Input::Compare)).await?;
        }
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
        let orphaned = journal.orphaned(TAKEN_OVER).await?;
        suspects.retain(|chat, _| orphaned.contains(chat));
        for chat in orphaned {
            let seen = *suspects.entry(chat.clone()).or_insert_with(Instant::now);
            let was_left = journal.lease(&chat).await?.is_some();
            if was_left || seen.elapsed() > replica.lease / 2 {
                self.deliver(&chat, Message::Input(Input::Wake)).await?;
            }
        }
        Ok(())
    }

    /// Closes gates whose deadlines were lost with their server. Those that are set here come by themselves.
    async fn close_overdue(&self, are_others: bool) -> Result<(), EngineError> {
        let late = if are_others { LATE } else { Duration::ZERO };
        let late = u64::try_from(late.as_millis()).unwrap_or_default();
        let by = At(self.now().0.saturating_sub(late));
        let overdue = self.shared.journal.overdue_gates(by, CLOSED).await?;
        let deadlines = &self.shared.deadlines;
        for (chat, gate) in overdue {
            if deadlines.holds(&gate) {
                continue;
            }
            self.deliver(&chat, Message::Input(Input::TimedOut { gate }))
                .await?;
        }
        Ok(())
    }
}

/// Chats that were evicted in the middle of something because the store was away.
#[derive(Debug, Default)]
pub(crate) struct RetryQueue(Mutex<HashSet<ChatId>>);

impl RetryQueue {
    pub(crate) fn add(&self, chat: &ChatId) {
        let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        left.insert(chat.clone());
    }

    pub(crate) fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn take(&self) -> HashSet<ChatId> {
        let mut left = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut left)
    }
}
