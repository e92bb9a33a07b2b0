//! Where journals are kept, and opening what is there.

use std::path::PathBuf;
use std::sync::Arc;

use crate::error::StoreError;
use crate::journal::Journal;
use crate::memory::MemoryJournal;
use crate::nonce::Nonces;
use crate::postgres::{PostgresStore, PostgresUrl};
use crate::probe::Probe;
use crate::sqlite::SqliteStore;

/// Where journals are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Location {
    /// In this process, for as long as it lives.
    Memory,
    /// In one SQLite file.
    Sqlite(PathBuf),
    /// In a PostgreSQL database.
    Postgres(Box<PostgresUrl>),
}

/// What a location keeps.
#[derive(Clone)]
pub struct Stores {
    /// The journals.
    pub journal: Arc<dyn Journal>,
    /// What was used once.
    pub nonces: Arc<dyn Nonces>,
    /// Whether it can be written to.
    pub probe: Arc<dyn Probe>,
    /// What an operator should know, though the location could be opened.
    pub warnings: Vec<String>,
}

/// Opens a location, and creates what is not there yet.
pub async fn open(location: Location) -> Result<Stores, StoreError> {
    match location {
        Location::Memory => {
            let journal = Arc::new(MemoryJournal::default());
            Ok(Stores {
                journal: Arc::clone(&journal) as Arc<dyn Journal>,
                nonces: Arc::clone(&journal) as Arc<dyn Nonces>,
                probe: journal,
                warnings: Vec::new(),
            })
        }
        Location::Sqlite(path) => {
            let opened = path.clone();
            let store = Arc::new(SqliteStore::open(path).await?);
            Ok(Stores {
                journal: Arc::clone(&store) as Arc<dyn Journal>,
                nonces: Arc::clone(&store) as Arc<dyn Nonces>,
                probe: store,
                warnings: SqliteStore::warnings(&opened),
            })
        }
        Location::Postgres(url) => {
            let store = Arc::new(PostgresStore::open(*url).await?);
            Ok(Stores {
                journal: Arc::clone(&store) as Arc<dyn Journal>,
                nonces: Arc::clone(&store) as Arc<dyn Nonces>,
                probe: store,
                warnings: Vec::new(),
            })
        }
    }
}
