//! The store of one chat: its journal and its lease. Faults are the world's.

use store::index::Standing;
use turn::{At, Chat, Entry, Event, Principal};

/// The journal and the lease of one chat.
#[derive(Default)]
pub(super) struct Store {
    pub(super) entries: Vec<Entry>,
    standing: Standing,
    pub(super) lease: Option<Lease>,
    /// The journal as it stands, folded entry by entry: what a page sees that sees everything.
    pub(super) truth: Chat,
}

/// Who is believed to run the chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lease {
    epoch: u64,
    pub(super) owner: String,
    /// Where it is reached.
    pub(super) server: usize,
    pub(super) expires: At,
}

impl Store {
    /// Appends behind the last entry that the caller has seen; nothing, if that is not the last.
    pub(super) fn append(
        &mut self,
        expected: u64,
        at: At,
        actor: Principal,
        events: Vec<Event>,
    ) -> Option<u64> {
        let seq = self.entries.len() as u64;
        if seq != expected {
            return None;
        }
        self.standing.apply(&events);
        let seq = seq + 1;
        let entry = Entry {
            seq,
            at,
            actor,
            events,
        };
        self.truth.append(&entry);
        self.entries.push(entry);
        Some(seq)
    }

    /// Takes or renews the lease, and says whether it was to be had, by the rule of `store::lease`.
    pub(super) fn hold(
        &mut self,
        owner: &str,
        server: usize,
        epoch: u64,
        now: At,
        expires: At,
    ) -> bool {
        let is_free = self.lease.as_ref().is_none_or(|lease| {
            lease.epoch < epoch
                || lease.epoch == epoch && (lease.owner == owner || lease.expires <= now)
        });
        if is_free && !self.entries.is_empty() {
            self.lease = Some(Lease {
                epoch,
                owner: owner.to_owned(),
                server,
                expires,
            });
        }
        is_free && !self.entries.is_empty()
    }

    pub(super) fn release(&mut self, owner: &str) {
        if self
            .lease
            .as_ref()
            .is_some_and(|lease| lease.owner == owner)
        {
            self.lease = None;
        }
    }

    /// Whether the turn needs somebody, and nobody's lease covers it.
    pub(super) fn is_ownerless(&self, now: At) -> bool {
        let is_covered = self.lease.as_ref().is_some_and(|lease| lease.expires > now);
        self.standing.is_running() && !is_covered
    }

    pub(super) fn is_running(&self) -> bool {
        self.standing.is_running()
    }
}
