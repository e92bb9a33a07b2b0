//! Where journals are kept, and opening what is there.

use std::path::PathBuf;
use std::sync::Arc;

use crate::error::StoreError;
use crate::journal::Journal;
use crate::ledger::Ledger;
use crate::memory::{MemoryJournal, MemoryLedger};
use crate::postgres::{PostgresStore, PostgresUrl};
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
    /// The demo's wallets.
    pub ledger: Arc<dyn Ledger>,
}

/// Opens a location, and creates what is not there yet.
pub async fn open(location: Location) -> Result<Stores, StoreError> {
    match location {
        Location::Memory => Ok(Stores {
            journal: Arc::new(MemoryJournal::default()),
            ledger: Arc::new(MemoryLedger::default()),
        }),
        Location::Sqlite(path) => {
            let store = Arc::new(SqliteStore::open(path).await?);
            Ok(Stores {
                journal: Arc::clone(&store) as Arc<dyn Journal>,
                ledger: store,
            })
        }
        Location::Postgres(url) => {
            let store = Arc::new(PostgresStore::open(*url).await?);
            Ok(Stores {
                journal: Arc::clone(&store) as Arc<dyn Journal>,
                ledger: store,
            })
        }
    }
}
