//! A journal around another: it does what the other does, except where it says otherwise.

use std::time::Duration;

use turn::{At, CallId, ChatId, Entry, GateId, Principal};

use crate::change_feed::ChangeFeed;
use crate::chat_list::{ApprovalIdPage, ChatList, ChatPage, ChatQuery, LabelChange, ListedChat};
use crate::journal::{
    Appended, Bounds, EntryPage, GatePage, GatePlace, GateRecord, Journal, NewEntry, Reply, Usage,
};
use crate::lease::{Holder, Lease, Leases};
use crate::tail::Tail;

/// A kind of operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// An entry is appended.
    Append,
    /// Entries are read.
    Read,
    /// Chats or gates of an owner are listed.
    List,
    /// Something is looked up by its id.
    LookUp,
    /// Leases are acquired, read or released.
    Lease,
    /// What a server does by itself, now and then.
    Maintain,
    /// A chat is named or archived.
    Relabel,
    /// A chat is deleted.
    Delete,
}

impl Operation {
    /// The names of all of them, in their order.
    pub const NAMES: &[&str] = &[
        "append", "read", "list", "look_up", "lease", "maintain", "relabel", "delete",
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

/// A layer around a journal, which is a journal too. What it does not define, it passes on.
pub trait Layer: Send + Sync + 'static {
    /// The journal that it is around.
    fn inner(&self) -> &dyn Journal;

    /// Wraps the reply to an operation.
    fn around<'a, T: Send + 'a>(
        &'a self,
        _operation: Operation,
        reply: Reply<'a, T>,
    ) -> Reply<'a, T> {
        reply
    }

    /// See [`Journal::append`].
    fn append<'a>(
        &'a self,
        chat: &'a ChatId,
        expected_seq: u64,
        entry: NewEntry,
    ) -> Reply<'a, Appended> {
        let appended = self.inner().append(chat, expected_seq, entry);
        self.around(Operation::Append, appended)
    }

    /// See [`Journal::read`].
    fn read<'a>(&'a self, chat: &'a ChatId, after: u64) -> Reply<'a, Vec<Entry>> {
        self.around(Operation::Read, self.inner().read(chat, after))
    }

    /// A chat is about to be deleted, for good or not.
    fn before_delete(&self, _chat: &ChatId) {}
}

impl<L: Layer> Journal for L {
    fn append<'a>(
        &'a self,
        chat: &'a ChatId,
        expected_seq: u64,
        entry: NewEntry,
    ) -> Reply<'a, Appended> {
        Layer::append(self, chat, expected_seq, entry)
    }

    fn read<'a>(&'a self, chat: &'a ChatId, after: u64) -> Reply<'a, Vec<Entry>> {
        Layer::read(self, chat, after)
    }

    fn read_page<'a>(
        &'a self,
        chat: &'a ChatId,
        after: u64,
        bounds: Bounds,
    ) -> Reply<'a, EntryPage> {
        let page = self.inner().read_page(chat, after, bounds);
        self.around(Operation::Read, page)
    }

    fn tail(&self, chat: &ChatId, after: u64) -> Tail {
        self.inner().tail(chat, after)
    }

    fn open_gates<'a>(
        &'a self,
        owner: &'a Principal,
        after: Option<GatePlace>,
        limit: usize,
    ) -> Reply<'a, GatePage> {
        let gates = self.inner().open_gates(owner, after, limit);
        self.around(Operation::List, gates)
    }

    fn usage<'a>(
        &'a self,
        owner: &'a Principal,
        chat: &'a ChatId,
        limit: usize,
    ) -> Reply<'a, Usage> {
        let usage = self.inner().usage(owner, chat, limit);
        self.around(Operation::LookUp, usage)
    }

    fn gate<'a>(&'a self, id: &'a GateId) -> Reply<'a, Option<GateRecord>> {
        self.around(Operation::LookUp, self.inner().gate(id))
    }

    fn call<'a>(&'a self, id: &'a CallId) -> Reply<'a, Option<ChatId>> {
        self.around(Operation::LookUp, self.inner().call(id))
    }

    fn overdue_gates(&self, by: At, limit: usize) -> Reply<'_, Vec<(ChatId, GateId)>> {
        self.around(Operation::Maintain, self.inner().overdue_gates(by, limit))
    }

    fn outdated<'a>(&'a self, seen: &'a [(ChatId, u64)]) -> Reply<'a, Vec<ChatId>> {
        self.around(Operation::Maintain, self.inner().outdated(seen))
    }

    fn owner<'a>(&'a self, chat: &'a ChatId) -> Reply<'a, Option<Principal>> {
        self.around(Operation::LookUp, self.inner().owner(chat))
    }

    fn delete<'a>(&'a self, chat: &'a ChatId) -> Reply<'a, bool> {
        self.before_delete(chat);
        self.around(Operation::Delete, self.inner().delete(chat))
    }
}

impl<L: Layer> ChatList for L {
    fn chats<'a>(&'a self, owner: &'a Principal, query: &'a ChatQuery) -> Reply<'a, ChatPage> {
        self.around(Operation::List, self.inner().chats(owner, query))
    }

    fn listed<'a>(&'a self, chats: &'a [ChatId]) -> Reply<'a, Vec<ListedChat>> {
        self.around(Operation::LookUp, self.inner().listed(chats))
    }

    fn deleted<'a>(&'a self, chats: &'a [ChatId]) -> Reply<'a, Vec<(ChatId, Principal)>> {
        self.around(Operation::LookUp, self.inner().deleted(chats))
    }

    fn open_approvals<'a>(&'a self, chats: &'a [ChatId]) -> Reply<'a, Vec<(ChatId, GateId)>> {
        self.around(Operation::LookUp, self.inner().open_approvals(chats))
    }

    fn approval_ids<'a>(
        &'a self,
        owner: &'a Principal,
        after: Option<GatePlace>,
        limit: usize,
    ) -> Reply<'a, ApprovalIdPage> {
        let ids = self.inner().approval_ids(owner, after, limit);
        self.around(Operation::List, ids)
    }

    fn relabel<'a>(
        &'a self,
        owner: &'a Principal,
        chat: &'a ChatId,
        change: &'a LabelChange,
    ) -> Reply<'a, Option<ListedChat>> {
        let relabelled = self.inner().relabel(owner, chat, change);
        self.around(Operation::Relabel, relabelled)
    }

    fn delete_for_good<'a>(&'a self, chat: &'a ChatId, at: At) -> Reply<'a, bool> {
        self.before_delete(chat);
        self.around(Operation::Delete, self.inner().delete_for_good(chat, at))
    }

    fn changes(&self) -> ChangeFeed {
        self.inner().changes()
    }
}

impl<L: Layer> Leases for L {
    fn time(&self) -> Reply<'_, At> {
        self.around(Operation::Maintain, self.inner().time())
    }

    fn hold<'a>(
        &'a self,
        owner: &'a Holder,
        chats: &'a [(ChatId, u64)],
        lease: Duration,
    ) -> Reply<'a, Vec<ChatId>> {
        let refused = self.inner().hold(owner, chats, lease);
        self.around(Operation::Lease, refused)
    }

    fn lease<'a>(&'a self, chat: &'a ChatId) -> Reply<'a, Option<Lease>> {
        self.around(Operation::Lease, self.inner().lease(chat))
    }

    fn release<'a>(&'a self, owner: &'a str, chats: &'a [ChatId]) -> Reply<'a, ()> {
        self.around(Operation::Lease, self.inner().release(owner, chats))
    }

    fn orphaned(&self, limit: usize) -> Reply<'_, Vec<ChatId>> {
        self.around(Operation::Maintain, self.inner().orphaned(limit))
    }

    fn addresses(&self) -> Reply<'_, Vec<String>> {
        self.around(Operation::Maintain, self.inner().addresses())
    }
}
