//! Whose the chat is, where there are other servers.

use turn::{Chat, Status, Turn};

use super::{Actor, moved};
use crate::engine::now;
use crate::error::EngineError;

impl Actor {
    /// Where there are other servers: whether none of them has the chat.
    pub(super) async fn require_free(&self) -> Result<(), EngineError> {
        let shared = &self.engine.shared;
        let Some(replica) = &shared.replica else {
            return Ok(());
        };
        let lease = shared.journal.lease(&self.id).await?;
        let others = lease
            .filter(|lease| lease.holder.owner != replica.holder.owner && lease.expires > now());
        match others {
            Some(lease) => Err(EngineError::Elsewhere(lease.holder.address)),
            None => Ok(()),
        }
    }

    /// Takes the chat's lease, where there are other servers; lets the chat go, if another has it.
    pub(super) async fn hold(&mut self) -> Result<(), EngineError> {
        let shared = &self.engine.shared;
        let (Some(replica), Some(chat)) = (&shared.replica, &self.chat) else {
            return Ok(());
        };
        if chat.seq() == 0 || shared.held.has(&self.id) {
            return Ok(());
        }
        let (at, epoch) = (now(), chat.epoch());
        let chats = [(self.id.clone(), epoch)];
        let expires = at + replica.lease;
        let journal = &shared.journal;
        let refused = journal.hold(&replica.holder, &chats, at, expires).await?;
        if refused.is_empty() {
            shared.held.add(&self.id, epoch, chat.seq());
            return Ok(());
        }
        let lease = journal.lease(&self.id).await?;
        self.let_go(moved());
        let address = lease.map(|lease| lease.holder.address);
        Err(EngineError::Elsewhere(address.unwrap_or_default()))
    }

    /// Lets the chat go, if somebody else wrote to its journal.
    pub(super) async fn compare(&mut self) -> Result<(), EngineError> {
        let Some(chat) = &self.chat else {
            return Ok(());
        };
        let seen = [(self.id.clone(), chat.seq())];
        if self.engine.shared.journal.outdated(&seen).await?.is_empty() {
            return Ok(());
        }
        self.let_go(moved());
        self.chat().await.map(drop)
    }

    /// Where the server leaves: lets the chat go, and gives it back, unless something is at work.
    pub(super) async fn depart(&mut self) {
        if self.leaving.is_none() || self.is_at_work() {
            return;
        }
        let shared = &self.engine.shared;
        let epoch = self.chat.as_ref().map(Chat::epoch);
        let epoch = epoch.filter(|_| shared.held.has(&self.id));
        self.let_go(moved());
        if let Some(epoch) = epoch {
            let chats = [(self.id.clone(), epoch)];
            // If it can't be given back, it expires.
            let _ = self.engine.give_back(&chats).await;
        }
        self.leaving = None;
    }

    /// Whether something would be lost if the server ended now. A tool that waits for an answer is run
    /// again when it comes; and a step is run again where another server can do that at once.
    fn is_at_work(&self) -> bool {
        let status = self.chat.as_ref().and_then(Chat::status);
        let is_alone = self.engine.shared.replica.is_none();
        let turn = self.chat.as_ref().and_then(Chat::current);
        let are_tools_running =
            self.tasks.are_tools_running() || turn.is_some_and(Turn::has_own_calls_at_work);
        let is_tool_at_work = status == Some(Status::Running) && are_tools_running;
        is_tool_at_work || self.tasks.is_any_going_on() || is_alone && self.tasks.is_speaking()
    }

    /// Gives the chat's lease back.
    pub(super) async fn release(&self) {
        let shared = &self.engine.shared;
        if let Some(replica) = &shared.replica
            && shared.held.remove(&self.id)
        {
            let chats = [self.id.clone()];
            let released = shared.journal.release(&replica.holder.owner, &chats);
            // If it can't be given back, it expires.
            let _ = released.await;
        }
    }
}
