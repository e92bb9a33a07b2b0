//! A journal whose operations are counted and timed, and whose entries are counted once they are stored.

use std::sync::Arc;
use std::time::{Duration, Instant};

use store::{
    Appended, ApprovalIdPage, Bounds, ChangeFeed, ChatList, ChatPage, ChatQuery, EntryPage,
    GatePage, GatePlace, GateRecord, Holder, Journal, LabelChange, Lease, Leases, ListedChat,
    NewEntry, Reply, StoreError, Tail, Usage,
};
use turn::{At, CallId, ChatId, Entry, GateId, Principal};

use super::observed_entry::{AskedAt, ObservedEntry};
use super::{GaugeGuard, Metrics};

/// The operations, as labels name them.
pub(super) const OPERATIONS: &[&str] = &[
    "append", "read", "list", "look_up", "lease", "maintain", "relabel", "delete",
];

/// A journal that is observed.
pub(super) struct ObservedJournal {
    journal: Arc<dyn Journal>,
    metrics: Metrics,
    asked: AskedAt,
}

impl ObservedJournal {
    pub(super) fn new(journal: Arc<dyn Journal>, metrics: Metrics) -> Self {
        Self {
            journal,
            metrics,
            asked: AskedAt::default(),
        }
    }

    /// Times an operation, and counts it if it fails.
    fn timed<'a, T: Send + 'a>(
        &'a self,
        operation: &'static str,
        reply: Reply<'a, T>,
    ) -> Reply<'a, T> {
        Box::pin(self.time(operation, reply))
    }

    async fn time<T>(&self, operation: &'static str, reply: Reply<'_, T>) -> Result<T, StoreError> {
        let all = &*self.metrics.0;
        let labels = [("operation", operation)];
        let _in_flight = GaugeGuard::new(all.store_in_flight.clone());
        let began = Instant::now();
        let done = reply.await;
        let histogram = all.store_seconds.get_or_create(&labels);
        histogram.observe(began.elapsed().as_secs_f64());
        drop(histogram);
        if done.is_err() {
            all.store_errors.get_or_create(&labels).inc();
        }
        done
    }

    /// Finds out when gates were asked that were opened elsewhere, or before this server started.
    fn look_up(&self, closed: Vec<(GateId, &'static str)>) {
        if closed.is_empty() {
            return;
        }
        let (journal, metrics) = (self.journal.clone(), self.metrics.clone());
        tokio::spawn(async move {
            for (gate, decision) in closed {
                // A delay that can't be found out is not counted.
                if let Ok(Some(record)) = journal.gate(&gate).await
                    && let Some(closed) = record.closed
                {
                    metrics.answered(decision, record.asked, closed.at);
                }
            }
        });
    }
}

impl Journal for ObservedJournal {
    fn append<'a>(
        &'a self,
        chat: &'a ChatId,
        expected_seq: u64,
        entry: NewEntry,
    ) -> Reply<'a, Appended> {
        let observed = ObservedEntry::of(chat, &entry);
        Box::pin(async move {
            let append = self.journal.append(chat, expected_seq, entry);
            let appended = self.time("append", append).await?;
            match appended {
                Appended::Ok { .. } => self.look_up(observed.count(&self.metrics, &self.asked)),
                Appended::Conflict { .. } => drop(self.metrics.0.conflicts.inc()),
            }
            Ok(appended)
        })
    }

    fn read<'a>(&'a self, chat: &'a ChatId, after: u64) -> Reply<'a, Vec<Entry>> {
        self.timed("read", self.journal.read(chat, after))
    }

    fn read_page<'a>(
        &'a self,
        chat: &'a ChatId,
        after: u64,
        bounds: Bounds,
    ) -> Reply<'a, EntryPage> {
        self.timed("read", self.journal.read_page(chat, after, bounds))
    }

    fn tail(&self, chat: &ChatId, after: u64) -> Tail {
        self.journal.tail(chat, after)
    }

    fn open_gates<'a>(
        &'a self,
        owner: &'a Principal,
        after: Option<GatePlace>,
        limit: usize,
    ) -> Reply<'a, GatePage> {
        self.timed("list", self.journal.open_gates(owner, after, limit))
    }

    fn usage<'a>(
        &'a self,
        owner: &'a Principal,
        chat: &'a ChatId,
        limit: usize,
    ) -> Reply<'a, Usage> {
        self.timed("look_up", self.journal.usage(owner, chat, limit))
    }

    fn gate<'a>(&'a self, id: &'a GateId) -> Reply<'a, Option<GateRecord>> {
        self.timed("look_up", self.journal.gate(id))
    }

    fn call<'a>(&'a self, id: &'a CallId) -> Reply<'a, Option<ChatId>> {
        self.timed("look_up", self.journal.call(id))
    }

    fn overdue_gates(&self, by: At, limit: usize) -> Reply<'_, Vec<(ChatId, GateId)>> {
        self.timed("maintain", self.journal.overdue_gates(by, limit))
    }

    fn outdated<'a>(&'a self, seen: &'a [(ChatId, u64)]) -> Reply<'a, Vec<ChatId>> {
        self.timed("maintain", self.journal.outdated(seen))
    }

    fn owner<'a>(&'a self, chat: &'a ChatId) -> Reply<'a, Option<Principal>> {
        self.timed("look_up", self.journal.owner(chat))
    }

    fn delete<'a>(&'a self, chat: &'a ChatId) -> Reply<'a, bool> {
        self.timed("delete", self.journal.delete(chat))
    }
}

impl ChatList for ObservedJournal {
    fn chats<'a>(&'a self, owner: &'a Principal, query: &'a ChatQuery) -> Reply<'a, ChatPage> {
        self.timed("list", self.journal.chats(owner, query))
    }

    fn listed<'a>(&'a self, chats: &'a [ChatId]) -> Reply<'a, Vec<ListedChat>> {
        self.timed("look_up", self.journal.listed(chats))
    }

    fn deleted<'a>(&'a self, chats: &'a [ChatId]) -> Reply<'a, Vec<(ChatId, Principal)>> {
        self.timed("look_up", self.journal.deleted(chats))
    }

    fn open_approvals<'a>(&'a self, chats: &'a [ChatId]) -> Reply<'a, Vec<(ChatId, GateId)>> {
        self.timed("look_up", self.journal.open_approvals(chats))
    }

    fn approval_ids<'a>(
        &'a self,
        owner: &'a Principal,
        after: Option<GatePlace>,
        limit: usize,
    ) -> Reply<'a, ApprovalIdPage> {
        self.timed("list", self.journal.approval_ids(owner, after, limit))
    }

    fn relabel<'a>(
        &'a self,
        owner: &'a Principal,
        chat: &'a ChatId,
        change: &'a LabelChange,
    ) -> Reply<'a, Option<ListedChat>> {
        self.timed("relabel", self.journal.relabel(owner, chat, change))
    }

    fn delete_for_good<'a>(&'a self, chat: &'a ChatId, at: At) -> Reply<'a, bool> {
        self.timed("delete", self.journal.delete_for_good(chat, at))
    }

    fn changes(&self) -> ChangeFeed {
        self.journal.changes()
    }
}

impl Leases for ObservedJournal {
    fn time(&self) -> Reply<'_, At> {
        self.timed("maintain", self.journal.time())
    }

    fn hold<'a>(
        &'a self,
        owner: &'a Holder,
        chats: &'a [(ChatId, u64)],
        lease: Duration,
    ) -> Reply<'a, Vec<ChatId>> {
        self.timed("lease", self.journal.hold(owner, chats, lease))
    }

    fn lease<'a>(&'a self, chat: &'a ChatId) -> Reply<'a, Option<Lease>> {
        self.timed("lease", self.journal.lease(chat))
    }

    fn release<'a>(&'a self, owner: &'a str, chats: &'a [ChatId]) -> Reply<'a, ()> {
        self.timed("lease", self.journal.release(owner, chats))
    }

    fn orphaned(&self, limit: usize) -> Reply<'_, Vec<ChatId>> {
        self.timed("maintain", self.journal.orphaned(limit))
    }
}
