//! Journals in one SQLite file: the store for everybody who has one server.
//!
//! One thread writes and commits in groups (`writer`); a few connections read beside it. Several
//! processes may have the file open: the lock that comes with a transaction decides between their
//! appends, and what another process appended reaches tails within a quarter of a second. What
//! another process deleted does not end them.

mod append;
mod chat_list;
mod connection;
mod failure;
mod files;
mod index;
mod lease;
mod limits;
mod read;
mod readers;
mod schema;
mod write_connection;
mod writer;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;
use turn::{At, CallId, ChatId, Entry, GateId, Principal};

use crate::backlog::{Backlog, OpenGates};
use crate::change_feed::ChangeFeed;
use crate::change_notifier::ChangeNotifier;
use crate::chat_list::{ApprovalIdPage, ChatList, ChatPage, ChatQuery, LabelChange, ListedChat};
use crate::clock::machine_time;
use crate::error::StoreError;
use crate::inspection::{Inspection, Schema};
use crate::journal::{
    Appended, Bounds, EntryPage, GatePage, GatePlace, GateRecord, Journal, NewEntry, Reply, Usage,
};
use crate::lease::{Holder, Lease, Leases};
use crate::nonce::Nonces;
use crate::probe::Probe;
use crate::tail::Tail;
use append::Append;
pub use files::Files;
use readers::Readers;
use write_connection::WriteConnection;
use writer::Writer;

/// How long another process may hold the file before a probe reports it: a fraction of the probe's own
/// time limit.
const LOCKED: Duration = Duration::from_millis(500);

/// How many entries a tail reads at once.
const PAGE: u32 = 256;

/// Journals in one SQLite file. Needs a tokio runtime around it.
///
/// Dropping it waits for what was already asked of it, and closes the file.
pub struct SqliteStore {
    // Dropped before the writer, whose connection then is the last and tidies the file up.
    readers: Arc<Readers>,
    notifier: Arc<ChangeNotifier>,
    writer: Writer,
}

impl SqliteStore {
    /// Opens a file, or creates it where there is none. The folder has to be there.
    pub async fn open(path: PathBuf) -> Result<Self, StoreError> {
        let opening = tokio::task::spawn_blocking(move || {
            let connection = connection::open_writer(&path)?;
            Self::on(connection, path)
        });
        opening.await.unwrap_or(Err(StoreError::Closed))
    }

    /// What a file holds, found out without a change.
    pub(crate) async fn inspect(path: PathBuf) -> Result<Inspection, StoreError> {
        let looking = tokio::task::spawn_blocking(move || {
            let folder = path.parent().filter(|folder| *folder != Path::new(""));
            if folder.is_some_and(|folder| !folder.is_dir()) {
                return Err(StoreError::FolderMissing { path });
            }
            if !path.exists() {
                return Ok(Inspection::new(Schema::Missing));
            }
            let connection = connection::open_reader(&path)?;
            schema::state(&connection, &path).map(Inspection::new)
        });
        looking.await.unwrap_or(Err(StoreError::Closed))
    }

    /// What an operator should know of the file at a path.
    pub(crate) fn warnings(path: &Path) -> Vec<String> {
        files::warnings(path)
    }

    /// A store on a connection that may write to this file.
    fn on(connection: Connection, path: PathBuf) -> Result<Self, StoreError> {
        let notifier = Arc::new(ChangeNotifier::default());
        let files = Files::of(&connection, &path)?;
        match Writer::start(connection, files.clone(), Arc::clone(&notifier)) {
            Ok(writer) => Ok(Self {
                readers: Arc::new(Readers::new(path, files)),
                notifier,
                writer,
            }),
            Err(error) => Err(StoreError::Unopenable {
                path,
                problem: error.to_string(),
            }),
        }
    }
}

impl fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore").finish_non_exhaustive()
    }
}

/// Reads in a thread of the readers, with copies of what is named first.
macro_rules! read {
    ($store:expr, ($($name:ident),*) => $($read:ident)::+($($argument:expr),*)) => {{
        $(let $name = $name.to_owned();)*
        let read = move |connection: &Connection| $($read)::+(connection, $($argument),*);
        Box::pin($store.readers.read(read))
    }};
}

/// Writes in the writer's thread, with copies of what is named first.
macro_rules! write {
    ($store:expr, ($($name:ident),*) => $($write:ident)::+($($argument:expr),*)) => {{
        $(let $name = $name.to_owned();)*
        let write = move |connection: &mut WriteConnection| {
            $($write)::+(connection, $($argument),*)
        };
        Box::pin($store.writer.write(write))
    }};
}

impl Journal for SqliteStore {
    fn append<'a>(
        &'a self,
        chat: &'a ChatId,
        expected_seq: u64,
        entry: NewEntry,
    ) -> Reply<'a, Appended> {
        Box::pin(async move {
            let append = Append::new(chat.clone(), expected_seq, entry)?;
            let run = move |connection: &mut _| append.run(connection);
            self.writer.write(run).await
        })
    }

    fn read<'a>(&'a self, chat: &'a ChatId, after: u64) -> Reply<'a, Vec<Entry>> {
        read!(self, (chat) => read::entries(&chat, after, None))
    }

    fn read_page<'a>(
        &'a self,
        chat: &'a ChatId,
        after: u64,
        bounds: Bounds,
    ) -> Reply<'a, EntryPage> {
        read!(self, (chat) => read::page(&chat, after, bounds))
    }

    fn tail(&self, chat: &ChatId, after: u64) -> Tail {
        let listener = self.notifier.listen(chat);
        self.writer.listen();
        let readers = Arc::clone(&self.readers);
        let chat = chat.clone();
        Tail::new(after, listener, move |after| {
            let readers = Arc::clone(&readers);
            let chat = chat.clone();
            let read = move |connection: &_| read::entries(connection, &chat, after, Some(PAGE));
            Box::pin(async move { readers.read(read).await.map(Some) })
        })
    }

    fn open_gates<'a>(
        &'a self,
        owner: &'a Principal,
        after: Option<GatePlace>,
        limit: usize,
    ) -> Reply<'a, GatePage> {
        read!(self, (owner) => read::open_gates(&owner, after, limit))
    }

    fn usage<'a>(
        &'a self,
        owner: &'a Principal,
        chat: &'a ChatId,
        limit: usize,
    ) -> Reply<'a, Usage> {
        read!(self, (owner, chat) => limits::usage(&owner, &chat, limit))
    }

    fn gate<'a>(&'a self, id: &'a GateId) -> Reply<'a, Option<GateRecord>> {
        read!(self, (id) => read::gate(&id))
    }

    fn call<'a>(&'a self, id: &'a CallId) -> Reply<'a, Option<ChatId>> {
        read!(self, (id) => read::call(&id))
    }

    fn overdue_gates(&self, by: At, limit: usize) -> Reply<'_, Vec<(ChatId, GateId)>> {
        read!(self, () => read::overdue_gates(by, limit))
    }

    fn outdated<'a>(&'a self, seen: &'a [(ChatId, u64)]) -> Reply<'a, Vec<ChatId>> {
        read!(self, (seen) => read::outdated(&seen))
    }

    fn owner<'a>(&'a self, chat: &'a ChatId) -> Reply<'a, Option<Principal>> {
        read!(self, (chat) => read::owner(&chat))
    }

    fn delete<'a>(&'a self, chat: &'a ChatId) -> Reply<'a, bool> {
        write!(self, (chat) => append::delete(&chat))
    }
}

impl ChatList for SqliteStore {
    fn chats<'a>(&'a self, owner: &'a Principal, query: &'a ChatQuery) -> Reply<'a, ChatPage> {
        read!(self, (owner, query) => chat_list::chats(&owner, &query))
    }

    fn listed<'a>(&'a self, chats: &'a [ChatId]) -> Reply<'a, Vec<ListedChat>> {
        read!(self, (chats) => chat_list::listed(&chats))
    }

    fn deleted<'a>(&'a self, chats: &'a [ChatId]) -> Reply<'a, Vec<(ChatId, Principal)>> {
        read!(self, (chats) => chat_list::deleted(&chats))
    }

    fn open_approvals<'a>(&'a self, chats: &'a [ChatId]) -> Reply<'a, Vec<(ChatId, GateId)>> {
        read!(self, (chats) => chat_list::open_approvals(&chats))
    }

    fn approval_ids<'a>(
        &'a self,
        owner: &'a Principal,
        after: Option<GatePlace>,
        limit: usize,
    ) -> Reply<'a, ApprovalIdPage> {
        let owner = owner.clone();
        let read = move |connection: &_| chat_list::approval_ids(connection, &owner, after, limit);
        Box::pin(self.readers.read(read))
    }

    fn relabel<'a>(
        &'a self,
        owner: &'a Principal,
        chat: &'a ChatId,
        change: &'a LabelChange,
    ) -> Reply<'a, Option<ListedChat>> {
        write!(self, (owner, chat, change) => chat_list::relabel(&owner, &chat, &change))
    }

    fn delete_for_good<'a>(&'a self, chat: &'a ChatId, at: At) -> Reply<'a, bool> {
        write!(self, (chat) => chat_list::delete_for_good(&chat, at))
    }

    fn changes(&self) -> ChangeFeed {
        let feed = self.notifier.listen_to_all();
        self.writer.listen();
        feed
    }
}

impl Leases for SqliteStore {
    fn time(&self) -> Reply<'_, At> {
        Box::pin(std::future::ready(Ok(machine_time())))
    }

    fn hold<'a>(
        &'a self,
        owner: &'a Holder,
        chats: &'a [(ChatId, u64)],
        lease: Duration,
    ) -> Reply<'a, Vec<ChatId>> {
        write!(self, (owner, chats) => lease::hold(&owner, &chats, machine_time(), lease))
    }

    fn lease<'a>(&'a self, chat: &'a ChatId) -> Reply<'a, Option<Lease>> {
        read!(self, (chat) => lease::lease(&chat))
    }

    fn release<'a>(&'a self, owner: &'a str, chats: &'a [ChatId]) -> Reply<'a, ()> {
        write!(self, (owner, chats) => lease::release(&owner, &chats))
    }

    fn orphaned(&self, limit: usize) -> Reply<'_, Vec<ChatId>> {
        read!(self, () => lease::orphaned(machine_time(), limit))
    }

    fn addresses(&self) -> Reply<'_, Vec<String>> {
        read!(self, () => lease::addresses())
    }
}

impl Nonces for SqliteStore {
    fn spend<'a>(&'a self, nonce: &'a str, now: At, expires: At) -> Reply<'a, bool> {
        write!(self, (nonce) => limits::spend(&nonce, now, expires))
    }
}

impl Backlog for SqliteStore {
    fn open_gates_of_all(&self, limit: usize) -> Reply<'_, OpenGates> {
        read!(self, () => limits::open_gates(limit))
    }
}

impl Probe for SqliteStore {
    fn probe(&self, now: At) -> Reply<'_, ()> {
        Box::pin(async move {
            self.readers.probe().await?;
            let run = move |connection: &mut WriteConnection| limits::probe(connection, now);
            let mut write = std::pin::pin!(self.writer.write(run));
            loop {
                // A statement waits for the lock longer than the probe has time for.
                match tokio::time::timeout(LOCKED, &mut write).await {
                    Ok(written) => return written,
                    Err(_) if self.writer.is_locked_out(LOCKED) => return Err(StoreError::Busy),
                    Err(_) => {}
                }
            }
        })
    }
}
