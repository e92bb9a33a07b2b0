//! The connections that read, beside the one that writes: with a write-ahead log neither waits for
//! the other.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;
use tokio::sync::Semaphore;

use super::connection;
use crate::error::StoreError;

/// How many reads run at once. They take microseconds and the disk's time, not the processor's.
const READERS: usize = 4;

/// A few connections that only read.
pub(super) struct Readers {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
    room: Arc<Semaphore>,
}

impl Readers {
    /// Readers of a file that a writer has open. Each opens when it is first needed.
    pub(super) fn new(path: PathBuf) -> Self {
        Self {
            path,
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
        idle.map_or_else(|| connection::open_reader(&self.path), Ok)
    }

    fn give_back(&self, connection: Connection) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push(connection);
    }
}
