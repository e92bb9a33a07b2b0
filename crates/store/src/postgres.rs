//! Journals in a PostgreSQL database: the store for many servers.
//!
//! One task writes and commits in groups (`writer`); a few connections read beside it (`pool`), and
//! one listens to what other servers append (`hints`). All servers are equal: the lock on a chat's
//! row decides between their appends, and what one appended reaches the tails of the others at once,
//! or within a second if a notification is lost.
//!
//! A database that is away for less than the time limit of the URL costs that time and nothing else.
//! After that, what is asked of the store fails with [`StoreError::Unavailable`] until it is back;
//! tails wait. All hosts of a URL are asked side by side for the primary (`address`), and one that was
//! replaced by another is not used again (`lineage`).

mod address;
mod append;
mod chat_list;
mod database;
mod failure;
mod flush;
mod hints;
mod lease;
mod limits;
mod lineage;
mod outage;
mod pool;
mod read;
mod schema;
mod search;
mod session;
mod tls;
mod url;
mod writer;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, AtomicI64, Ordering};
use std::time::Duration;

use turn::{At, CallId, ChatId, Entry, GateId, Principal};

use crate::backlog::{Backlog, OpenGates};
use crate::change_feed::ChangeFeed;
use crate::change_notifier::ChangeNotifier;
use crate::chat_list::{ApprovalIdPage, ChatList, ChatPage, ChatQuery, LabelChange, ListedChat};
use crate::error::StoreError;
use crate::inspection::{Inspection, Schema};
use crate::journal::{
    Appended, Bounds, EntryPage, GatePage, GatePlace, GateRecord, Journal, NewEntry, Reply, Usage,
};
use crate::lease::{Holder, Lease, Leases};
use crate::nonce::Nonces;
use crate::probe::Probe;
use crate::tail::Tail;
use address::Address;
use append::Append;
use hints::Hints;
use outage::Outage;
use pool::Pool;
use writer::Writer;

pub use database::Database;
pub use lineage::Lineage;
pub use session::Session;
pub use url::PostgresUrl;

/// Connections that do not read: one writes, one listens.
const APART: usize = 2;

/// Journals in a PostgreSQL database. Needs a tokio runtime around it.
///
/// What was already asked of it when it is dropped is done, as long as the runtime lives.
pub struct PostgresStore {
    pool: Arc<Pool>,
    notifier: Arc<ChangeNotifier>,
    writer: Writer,
    _hints: Hints,
}

impl PostgresStore {
    /// Opens a database, and creates what is not there yet. The database itself has to be there.
    pub async fn open(url: PostgresUrl) -> Result<Self, StoreError> {
        let (connections, time_limit) = (url.connections, url.time_limit);
        let address = Address::new(url)?;
        let session = address.connect().await?;
        schema::migrate(&session, &address).await?;
        let notifier = Arc::new(ChangeNotifier::default());
        let outage = Arc::new(Outage::new(time_limit));
        let process_id = Arc::new(AtomicI32::new(0));
        let writer = Writer::start(
            address.clone(),
            session,
            Arc::clone(&outage),
            Arc::clone(&notifier),
            Arc::clone(&process_id),
        );
        let writer = writer.await?;
        let pool = Pool::new(address.clone(), outage, connections - APART);
        Ok(Self {
            pool: Arc::new(pool),
            _hints: Hints::start(address, Arc::clone(&notifier), process_id),
            notifier,
            writer,
        })
    }
}

impl PostgresStore {
    /// What a database holds, found out without a change.
    pub(crate) async fn inspect(url: PostgresUrl) -> Result<Inspection, StoreError> {
        let address = Address::new(url)?;
        let session = address.connect().await?;
        let schema = schema::state(&session, &address).await?;
        let clock = limits::clock(&session).await?;
        let servers = match schema {
            Schema::Missing => Vec::new(),
            Schema::Older { .. } | Schema::Current => lease::servers(&session).await?,
        };
        Ok(Inspection {
            schema,
            clock: Some(clock),
            servers,
        })
    }
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore").finish_non_exhaustive()
    }
}

/// Runs something in a session of the pool, again if the session is lost.
macro_rules! run {
    ($store:expr, $($run:ident)::+($($argument:expr),*)) => {{
        let run = move |session: Arc<Session>| async move {
            $($run)::+(&session, $($argument),*).await
        };
        Box::pin($store.pool.run(run))
    }};
}

impl Journal for PostgresStore {
    fn append<'a>(
        &'a self,
        chat: &'a ChatId,
        expected_seq: u64,
        entry: NewEntry,
    ) -> Reply<'a, Appended> {
        Box::pin(async move {
            let append = Append::new(chat.clone(), expected_seq, entry)?;
            self.writer.append(append).await
        })
    }

    fn read<'a>(&'a self, chat: &'a ChatId, after: u64) -> Reply<'a, Vec<Entry>> {
        run!(self, read::entries(chat, after))
    }

    fn read_page<'a>(
        &'a self,
        chat: &'a ChatId,
        after: u64,
        bounds: Bounds,
    ) -> Reply<'a, EntryPage> {
        run!(self, read::bounded(chat, after, bounds))
    }

    fn tail(&self, chat: &ChatId, after: u64) -> Tail {
        let listener = self.notifier.listen(chat);
        let pool = Arc::clone(&self.pool);
        let chat = chat.clone();
        // Which of the chats that ever had this id is followed; 0 as long as none was seen.
        let followed = Arc::new(AtomicI64::new(0));
        Tail::new(after, listener, move |after| {
            let (pool, chat, followed) = (Arc::clone(&pool), chat.clone(), Arc::clone(&followed));
            Box::pin(async move {
                let chat = &chat;
                let read = move |session: Arc<Session>| async move {
                    read::page(&session, chat, after).await
                };
                let page = pool.run(read).await?;
                let position = page.as_ref().map_or(0, |page| page.position);
                let known = followed.swap(position, Ordering::Relaxed);
                if known != 0 && known != position {
                    // Another server may have deleted it. Once over, it stays over.
                    followed.store(-1, Ordering::Relaxed);
                    return Ok(None);
                }
                Ok(Some(page.map_or_else(Vec::new, |page| page.entries)))
            })
        })
    }

    fn open_gates<'a>(
        &'a self,
        owner: &'a Principal,
        after: Option<GatePlace>,
        limit: usize,
    ) -> Reply<'a, GatePage> {
        run!(self, read::open_gates(owner, after, limit))
    }

    fn usage<'a>(
        &'a self,
        owner: &'a Principal,
        chat: &'a ChatId,
        limit: usize,
    ) -> Reply<'a, Usage> {
        run!(self, limits::usage(owner, chat, limit))
    }

    fn gate<'a>(&'a self, id: &'a GateId) -> Reply<'a, Option<GateRecord>> {
        run!(self, read::gate(id))
    }

    fn call<'a>(&'a self, id: &'a CallId) -> Reply<'a, Option<ChatId>> {
        run!(self, read::call(id))
    }

    fn overdue_gates(&self, by: At, limit: usize) -> Reply<'_, Vec<(ChatId, GateId)>> {
        run!(self, read::overdue_gates(by, limit))
    }

    fn outdated<'a>(&'a self, seen: &'a [(ChatId, u64)]) -> Reply<'a, Vec<ChatId>> {
        run!(self, read::outdated(seen))
    }

    fn owner<'a>(&'a self, chat: &'a ChatId) -> Reply<'a, Option<Principal>> {
        run!(self, read::owner(chat))
    }

    fn delete<'a>(&'a self, chat: &'a ChatId) -> Reply<'a, bool> {
        Box::pin(self.writer.delete(chat.clone(), None))
    }
}

impl ChatList for PostgresStore {
    fn chats<'a>(&'a self, owner: &'a Principal, query: &'a ChatQuery) -> Reply<'a, ChatPage> {
        run!(self, chat_list::chats(owner, query))
    }

    fn listed<'a>(&'a self, chats: &'a [ChatId]) -> Reply<'a, Vec<ListedChat>> {
        run!(self, chat_list::listed(chats))
    }

    fn deleted<'a>(&'a self, chats: &'a [ChatId]) -> Reply<'a, Vec<(ChatId, Principal)>> {
        run!(self, chat_list::deleted(chats))
    }

    fn open_approvals<'a>(&'a self, chats: &'a [ChatId]) -> Reply<'a, Vec<(ChatId, GateId)>> {
        run!(self, chat_list::open_approvals(chats))
    }

    fn approval_ids<'a>(
        &'a self,
        owner: &'a Principal,
        after: Option<GatePlace>,
        limit: usize,
    ) -> Reply<'a, ApprovalIdPage> {
        let read = move |session: Arc<Session>| async move {
            chat_list::approval_ids(&session, owner, after, limit).await
        };
        Box::pin(self.pool.run(read))
    }

    fn relabel<'a>(
        &'a self,
        owner: &'a Principal,
        chat: &'a ChatId,
        change: &'a LabelChange,
    ) -> Reply<'a, Option<ListedChat>> {
        let relabelled: Reply<'a, _> = run!(self, chat_list::relabel(owner, chat, change));
        Box::pin(async move {
            let listed = relabelled.await?;
            if listed.is_some() {
                self.notifier.relabelled(chat);
            }
            Ok(listed)
        })
    }

    fn delete_for_good<'a>(&'a self, chat: &'a ChatId, at: At) -> Reply<'a, bool> {
        Box::pin(self.writer.delete(chat.clone(), Some(at)))
    }

    fn changes(&self) -> ChangeFeed {
        self.notifier.listen_to_all()
    }
}

impl Leases for PostgresStore {
    fn time(&self) -> Reply<'_, At> {
        run!(self, limits::clock())
    }

    fn hold<'a>(
        &'a self,
        owner: &'a Holder,
        chats: &'a [(ChatId, u64)],
        lease: Duration,
    ) -> Reply<'a, Vec<ChatId>> {
        // Renewed twice is renewed.
        run!(self, lease::hold(owner, chats, lease))
    }

    fn lease<'a>(&'a self, chat: &'a ChatId) -> Reply<'a, Option<Lease>> {
        run!(self, lease::lease(chat))
    }

    fn release<'a>(&'a self, owner: &'a str, chats: &'a [ChatId]) -> Reply<'a, ()> {
        run!(self, lease::release(owner, chats))
    }

    fn orphaned(&self, limit: usize) -> Reply<'_, Vec<ChatId>> {
        run!(self, lease::orphaned(limit))
    }

    fn addresses(&self) -> Reply<'_, Vec<String>> {
        run!(self, lease::addresses())
    }
}

impl Nonces for PostgresStore {
    fn spend<'a>(&'a self, nonce: &'a str, _now: At, expires: At) -> Reply<'a, bool> {
        run!(self, limits::spend(nonce, expires))
    }
}

impl Backlog for PostgresStore {
    fn open_gates_of_all(&self, limit: usize) -> Reply<'_, OpenGates> {
        run!(self, limits::open_gates(limit))
    }
}

impl Probe for PostgresStore {
    fn probe(&self, now: At) -> Reply<'_, ()> {
        let write = move |session: Arc<Session>| async move { limits::probe(&session, now).await };
        Box::pin(self.pool.probe(write))
    }
}
