//! Whose the chat is, where there are other servers.

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
            shared.held.add(&self.id, epoch);
            return Ok(());
        }
        let lease = journal.lease(&self.id).await?;
        self.let_go(moved());
        let address = lease.map(|lease| lease.holder.address);
        Err(EngineError::Elsewhere(address.unwrap_or_default()))
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
