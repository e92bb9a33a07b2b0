//! The connection that writes, and what it knows of the chats that it wrote to.
//!
//! A turn is several appends to one chat, and each rests on what the one before it left. What is known
//! of it need not be read again, as long as no other process has written to the file; that is checked at the
//! beginning of every transaction.

use std::collections::HashMap;
use std::ops::Deref;

use rusqlite::Connection;
use turn::{ChatId, OpenTurn};

use super::files::Files;
use crate::error::StoreError;

/// How many chats are known at most: far more than write at the same time.
const CHATS: usize = 4096;

/// The connection that writes.
pub(super) struct WriteConnection {
    connection: Connection,
    /// Of chats whose turn has not ended: they will be written to again.
    heads: HashMap<ChatId, Head>,
    /// SQLite's number for what other connections have committed.
    version: Option<i64>,
    files: Files,
}

/// The state of a chat after its last entry.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Head {
    pub(super) seq: u64,
    pub(super) owner: String,
    pub(super) open: Option<OpenTurn>,
}

impl WriteConnection {
    pub(super) fn new(connection: Connection, files: Files) -> Self {
        Self {
            files,
            version: data_version(&connection),
            heads: HashMap::new(),
            connection,
        }
    }

    /// Begins a transaction, and returns whether others have written since this was asked last.
    ///
    /// IMMEDIATE: the lock comes before the first read of a journal, or another process could append
    /// between that read and our own append.
    pub(super) fn begin(&mut self) -> Result<bool, StoreError> {
        if !self.connection.is_autocommit() {
            // A transaction that could not even be rolled back, when the disk failed.
            self.roll_back()?;
        }
        // Before anything is written, so that nothing is half known; and again before it counts.
        self.files.check()?;
        execute(&self.connection, "BEGIN IMMEDIATE")?;
        Ok(self.others_wrote())
    }

    /// Ends a transaction. What was written to a file that is gone, or was by the time that it was
    /// written, is not stored.
    pub(super) fn commit(&mut self) -> Result<(), StoreError> {
        execute(&self.connection, "COMMIT")?;
        self.files.check().inspect_err(|_| self.heads.clear())
    }

    /// Ends a transaction that failed, unless SQLite has ended it.
    pub(super) fn roll_back(&mut self) -> Result<(), StoreError> {
        self.heads.clear();
        match self.connection.is_autocommit() {
            true => Ok(()),
            false => execute(&self.connection, "ROLLBACK"),
        }
    }

    /// Whether others have written since this was asked last.
    pub(super) fn others_wrote(&mut self) -> bool {
        let version = data_version(&self.connection);
        let is_news = version != self.version;
        if is_news {
            self.version = version;
            self.heads.clear();
        }
        is_news
    }

    /// The cached state of a chat. The caller puts it back, if it is still true.
    pub(super) fn take_head(&mut self, chat: &ChatId) -> Option<Head> {
        self.heads.remove(chat)
    }

    pub(super) fn keep_head(&mut self, chat: &ChatId, head: Head) {
        if head.open.is_none() {
            return;
        }
        if self.heads.len() >= CHATS {
            self.heads.clear();
        }
        self.heads.insert(chat.clone(), head);
    }
}

/// For all that needs no more than a connection.
impl Deref for WriteConnection {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

fn execute(connection: &Connection, sql: &str) -> Result<(), StoreError> {
    connection.prepare_cached(sql)?.execute(())?;
    Ok(())
}

fn data_version(connection: &Connection) -> Option<i64> {
    let sql = "PRAGMA data_version";
    let mut statement = connection.prepare_cached(sql).ok()?;
    statement.query_row((), |row| row.get(0)).ok()
}
