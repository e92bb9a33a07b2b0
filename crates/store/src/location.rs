//! Where journals are kept, and opening what is there.

use std::sync::Arc;

use crate::backlog::Backlog;
use crate::error::StoreError;
use crate::journal::Journal;
use crate::memory::MemoryJournal;
use crate::nonce::Nonces;
#[cfg(feature = "postgres")]
use crate::postgres::{PostgresStore, PostgresUrl};
use crate::probe::Probe;
#[cfg(feature = "sqlite")]
use crate::sqlite::SqliteStore;

/// Where journals are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Location {
    /// In this process, for as long as it lives.
    Memory,
    /// In one SQLite file.
    #[cfg(feature = "sqlite")]
    Sqlite(std::path::PathBuf),
    /// In a PostgreSQL database.
    #[cfg(feature = "postgres")]
    Postgres(Box<PostgresUrl>),
}

impl Location {
    /// The newest history of a PostgreSQL that was seen by what was opened here or with a clone, as
    /// text for [`Self::observe_lineage`] of another server.
    pub fn newest_lineage(&self) -> Option<String> {
        match self {
            #[cfg(feature = "postgres")]
            Self::Postgres(url) => Some(url.newest_lineage()?.to_string()),
            _ => None,
        }
    }

    /// Takes note of the history that another server over the same location has seen: a PostgreSQL that
    /// follows an older one is not used any more. What can't be read is ignored.
    pub fn observe_lineage(&self, seen: &str) {
        #[cfg(feature = "postgres")]
        if let (Self::Postgres(url), Ok(seen)) = (self, seen.parse()) {
            url.observe_lineage(seen);
        }
        #[cfg(not(feature = "postgres"))]
        let _ = seen;
    }
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
    /// How much waits in it.
    pub backlog: Arc<dyn Backlog>,
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
                probe: Arc::clone(&journal) as Arc<dyn Probe>,
                backlog: journal,
                warnings: Vec::new(),
            })
        }
        #[cfg(feature = "sqlite")]
        Location::Sqlite(path) => {
            let opened = path.clone();
            let store = Arc::new(SqliteStore::open(path).await?);
            Ok(Stores {
                journal: Arc::clone(&store) as Arc<dyn Journal>,
                nonces: Arc::clone(&store) as Arc<dyn Nonces>,
                probe: Arc::clone(&store) as Arc<dyn Probe>,
                backlog: store,
                warnings: SqliteStore::warnings(&opened),
            })
        }
        #[cfg(feature = "postgres")]
        Location::Postgres(url) => {
            let store = Arc::new(PostgresStore::open(*url).await?);
            Ok(Stores {
                journal: Arc::clone(&store) as Arc<dyn Journal>,
                nonces: Arc::clone(&store) as Arc<dyn Nonces>,
                probe: Arc::clone(&store) as Arc<dyn Probe>,
                backlog: store,
                warnings: Vec::new(),
            })
        }
    }
}
