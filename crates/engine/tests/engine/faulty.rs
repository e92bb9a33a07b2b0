//! A journal that fails on request.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use store::{
    Appended, ApprovalIdPage, Bounds, ChangeFeed, ChatList, ChatPage, ChatQuery, EntryPage,
    GatePage, GatePlace, GateRecord, Holder, Journal, LabelChange, Lease, Leases, ListedChat,
    NewEntry, Reply, StoreError, Tail, Usage,
};
use turn::{At, CallId, ChatId, Entry, GateId, Principal};

/// A journal of which a number of appends fail, or in which all to one chat conflict, and nothing else.
pub(crate) struct Faulty {
    /// The chat to which nobody can append.
    pub(crate) contested: Option<ChatId>,
    pub(crate) inner: Arc<dyn Journal>,
    pub(crate) failures: AtomicUsize,
}

impl Faulty {
    pub(crate) fn over(inner: Arc<dyn Journal>) -> Arc<Self> {
        let failures = AtomicUsize::new(0);
        Arc::new(Self {
            contested: None,
            inner,
            failures,
        })
    }

    /// One in which somebody else is always first, in this chat.
    pub(crate) fn contesting(inner: Arc<dyn Journal>, chat: &ChatId) -> Arc<Self> {
        let failures = AtomicUsize::new(0);
        Arc::new(Self {
            contested: Some(chat.clone()),
            inner,
            failures,
        })
    }

    pub(crate) fn fail_once(&self) {
        self.failures.store(1, Ordering::SeqCst);
    }
}

impl Journal for Faulty {
    fn append<'a>(&'a self, chat: &'a ChatId, seq: u64, entry: NewEntry) -> Reply<'a, Appended> {
        if self.contested.as_ref() == Some(chat) {
            let conflict = Appended::Conflict { seq: seq + 1 };
            return Box::pin(std::future::ready(Ok(conflict)));
        }
        let failures = &self.failures;
        let one_less = |left: usize| left.checked_sub(1);
        if failures
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less)
            .is_ok()
        {
            return Box::pin(std::future::ready(Err(StoreError::Full)));
        }
        self.inner.append(chat, seq, entry)
    }

    fn read<'a>(&'a self, chat: &'a ChatId, after: u64) -> Reply<'a, Vec<Entry>> {
        self.inner.read(chat, after)
    }

    fn read_page<'a>(
        &'a self,
        chat: &'a ChatId,
        after: u64,
        bounds: Bounds,
    ) -> Reply<'a, EntryPage> {
        self.inner.read_page(chat, after, bounds)
    }

    fn tail(&self, chat: &ChatId, after: u64) -> Tail {
        self.inner.tail(chat, after)
    }

    fn open_gates<'a>(
        &'a self,
        owner: &'a Principal,
        after: Option<GatePlace>,
        limit: usize,
    ) -> Reply<'a, GatePage> {
        self.inner.open_gates(owner, after, limit)
    }

    fn usage<'a>(
        &'a self,
        owner: &'a Principal,
        chat: &'a ChatId,
        limit: usize,
    ) -> Reply<'a, Usage> {
        self.inner.usage(owner, chat, limit)
    }

    fn gate<'a>(&'a self, id: &'a GateId) -> Reply<'a, Option<GateRecord>> {
        self.inner.gate(id)
    }

    fn call<'a>(&'a self, id: &'a CallId) -> Reply<'a, Option<ChatId>> {
        self.inner.call(id)
    }

    fn overdue_gates(&self, by: At, limit: usize) -> Reply<'_, Vec<(ChatId, GateId)>> {
        self.inner.overdue_gates(by, limit)
    }

    fn outdated<'a>(&'a self, seen: &'a [(ChatId, u64)]) -> Reply<'a, Vec<ChatId>> {
        self.inner.outdated(seen)
    }

    fn owner<'a>(&'a self, chat: &'a ChatId) -> Reply<'a, Option<Principal>> {
        self.inner.owner(chat)
    }

    fn delete<'a>(&'a self, chat: &'a ChatId) -> Reply<'a, bool> {
        self.inner.delete(chat)
    }
}

impl ChatList for Faulty {
    fn chats<'a>(&'a self, owner: &'a Principal, query: &'a ChatQuery) -> Reply<'a, ChatPage> {
        self.inner.chats(owner, query)
    }

    fn listed<'a>(&'a self, chats: &'a [ChatId]) -> Reply<'a, Vec<ListedChat>> {
        self.inner.listed(chats)
    }

    fn deleted<'a>(&'a self, chats: &'a [ChatId]) -> Reply<'a, Vec<(ChatId, Principal)>> {
        self.inner.deleted(chats)
    }

    fn open_approvals<'a>(&'a self, chats: &'a [ChatId]) -> Reply<'a, Vec<(ChatId, GateId)>> {
        self.inner.open_approvals(chats)
    }

    fn approval_ids<'a>(
        &'a self,
        owner: &'a Principal,
        after: Option<GatePlace>,
        limit: usize,
    ) -> Reply<'a, ApprovalIdPage> {
        self.inner.approval_ids(owner, after, limit)
    }

    fn relabel<'a>(
        &'a self,
        owner: &'a Principal,
        chat: &'a ChatId,
        change: &'a LabelChange,
    ) -> Reply<'a, Option<ListedChat>> {
        self.inner.relabel(owner, chat, change)
    }

    fn delete_for_good<'a>(&'a self, chat: &'a ChatId, at: At) -> Reply<'a, bool> {
        self.inner.delete_for_good(chat, at)
    }

    fn changes(&self) -> ChangeFeed {
        self.inner.changes()
    }
}

impl Leases for Faulty {
    fn time(&self) -> Reply<'_, At> {
        self.inner.time()
    }

    fn hold<'a>(
        &'a self,
        owner: &'a Holder,
        chats: &'a [(ChatId, u64)],
        lease: Duration,
    ) -> Reply<'a, Vec<ChatId>> {
        self.inner.hold(owner, chats, lease)
    }

    fn lease<'a>(&'a self, chat: &'a ChatId) -> Reply<'a, Option<Lease>> {
        self.inner.lease(chat)
    }

    fn release<'a>(&'a self, owner: &'a str, chats: &'a [ChatId]) -> Reply<'a, ()> {
        self.inner.release(owner, chats)
    }

    fn orphaned(&self, limit: usize) -> Reply<'_, Vec<ChatId>> {
        self.inner.orphaned(limit)
    }
}
