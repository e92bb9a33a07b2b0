//! The connections that read, beside the one that writes: with a write-ahead log neither waits for
//! the other.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::connection;
use super::files::Files;
use crate::error::StoreError;

/// How many reads run at once. They take microseconds and the disk's time, not the processor's.
const READERS: usize = 4;

/// A few connections that only read.
pub(super) struct Readers {
    path: PathBuf,
    files: Files,
    idle: Mutex<Vec<Connection>>,
    room: Arc<Semaphore>,
}

impl Readers {
    /// Readers of a file that a writer has open. Each opens when it is first needed.
    pub(super) fn new(path: PathBuf, files: Files) -> Self {
        Self {
            path,
            files,
            idle: Mutex::new(Vec::new()),
            room: Arc::new(Semaphore::new(READERS)),
        }
    }

    /// Reads, on a thread that may block.
    pub(super) async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        read: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let room = Arc::clone(&self.room).acquire_owned().await;
        let room = room.map_err(|_| StoreError::Closed)?;
        let readers = Arc::clone(self);
        let reading = tokio::task::spawn_blocking(move || {
            let connection = readers.take()?;
            let found = read(&connection);
            readers.give_back(connection);
            drop(room);
            found
        });
        // It ends without an answer only when the runtime shuts down, or by a panic of its own.
        reading.await.unwrap_or(Err(StoreError::Closed))
    }

    fn take(&self) -> Result<Connection, StoreError> {
        let idle = self
            .idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        idle.map_or_else(|| self.open(), Ok)
    }

    /// Opens another connection: to the file that the writer has, and no other under its name.
    fn open(&self) -> Result<Connection, StoreError> {
        let connection = connection::open_reader(&self.path);
        self.files.check_database()?;
        connection
    }

    /// Reads what is in the file now, through a connection that remembers nothing of it.
    pub(super) async fn probe(self: &Arc<Self>) -> Result<(), StoreError> {
        let readers = Arc::clone(self);
        let looking = tokio::task::spawn_blocking(move || {
            readers.files.clone().check()?;
            let connection = readers.open()?;
            let sql = "SELECT count(*) FROM sqlite_schema";
            connection.query_row(sql, (), |row| row.get::<_, i64>(0))?;
            Ok(())
        });
        looking.await.unwrap_or(Err(StoreError::Closed))
    }

    fn give_back(&self, connection: Connection) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push(connection);
    }
}
