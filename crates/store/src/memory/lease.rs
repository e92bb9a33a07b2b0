//! Leases in this process: of use to tests that run several engines over one journal.

use std::collections::HashSet;
use std::time::Duration;

use turn::{At, ChatId};

use super::{MemoryJournal, State, lock};
use crate::journal::Reply;
use crate::lease::{Holder, Lease, Leases, MAX_ADDRESSES};

impl State {
    fn hold(
        &mut self,
        holder: &Holder,
        chats: &[(ChatId, u64)],
        now: At,
        expires: At,
    ) -> Vec<ChatId> {
        let mut refused = HashSet::new();
        for (chat, epoch) in chats {
            let held = self.leases.get(chat);
            let yields = held.is_none_or(|lease| lease.yields_to(&holder.owner, *epoch, now));
            if yields && self.chats.contains_key(chat) {
                let lease = Lease {
                    chat: chat.clone(),
                    epoch: *epoch,
                    holder: holder.clone(),
                    expires,
                };
                self.leases.insert(chat.clone(), lease);
            }
        }
        // Asked at the end: of a chat that was named twice, one may have been refused.
        refused.extend(chats.iter().filter_map(|(chat, _)| {
            let lease = self.leases.get(chat);
            let is_ours = lease.is_some_and(|lease| lease.holder.owner == holder.owner);
            (!is_ours).then(|| chat.clone())
        }));
        refused.into_iter().collect()
    }

    fn orphaned(&self, now: At, limit: usize) -> Vec<ChatId> {
        let mut chats = self.longest_untouched(|id, chat| {
            let lease = self.leases.get(id);
            chat.open.as_ref().is_some_and(|open| open.is_running)
                && lease.is_none_or(|lease| lease.expires <= now)
        });
        chats.truncate(limit);
        chats
    }
}

impl Leases for MemoryJournal {
    fn time(&self) -> Reply<'_, At> {
        Box::pin(std::future::ready(Ok(self.clock.now())))
    }

    fn hold<'a>(
        &'a self,
        owner: &'a Holder,
        chats: &'a [(ChatId, u64)],
        lease: Duration,
    ) -> Reply<'a, Vec<ChatId>> {
        Box::pin(async move {
            let now = self.clock.now();
            Ok(lock(&self.state).hold(owner, chats, now, now + lease))
        })
    }

    fn lease<'a>(&'a self, chat: &'a ChatId) -> Reply<'a, Option<Lease>> {
        Box::pin(async move { Ok(lock(&self.state).leases.get(chat).cloned()) })
    }

    fn release<'a>(&'a self, owner: &'a str, chats: &'a [ChatId]) -> Reply<'a, ()> {
        Box::pin(async move {
            let chats: HashSet<_> = chats.iter().collect();
            let is_kept =
                |lease: &Lease| lease.holder.owner != owner || !chats.contains(&lease.chat);
            lock(&self.state).leases.retain(|_, lease| is_kept(lease));
            Ok(())
        })
    }

    fn orphaned(&self, limit: usize) -> Reply<'_, Vec<ChatId>> {
        Box::pin(async move { Ok(lock(&self.state).orphaned(self.clock.now(), limit)) })
    }

    fn addresses(&self) -> Reply<'_, Vec<String>> {
        Box::pin(async move {
            let state = lock(&self.state);
            let addresses = state.leases.values().map(|lease| &lease.holder.address);
            let addresses: HashSet<&String> = addresses.collect();
            Ok(addresses.into_iter().take(MAX_ADDRESSES).cloned().collect())
        })
    }
}
