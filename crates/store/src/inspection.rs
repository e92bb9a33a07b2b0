//! What a location holds, found out without changing anything: for those who look before they start.

use turn::At;

use crate::error::StoreError;
use crate::location::Location;
#[cfg(feature = "postgres")]
use crate::postgres::PostgresStore;
#[cfg(feature = "sqlite")]
use crate::sqlite::SqliteStore;

/// What a location holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// How far its schema is.
    pub schema: Schema,
    /// What time it is at the database, where that has a clock of its own.
    pub clock: Option<At>,
    /// The addresses of servers with a valid lease, in no order, at most a hundred.
    pub servers: Vec<String>,
}

/// How far a schema is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schema {
    /// Nothing is there yet: the first start creates it.
    Missing,
    /// An older version wrote it: the next start migrates it.
    Older {
        /// The version that was found.
        found: usize,
        /// The version that this program migrates to.
        known: usize,
    },
    /// It is the one that this program has.
    Current,
}

impl Schema {
    /// The state of a schema to which this many of the known migrations were applied.
    #[cfg(any(feature = "postgres", feature = "sqlite"))]
    pub(crate) fn of(found: usize, known: usize) -> Self {
        match found {
            0 => Self::Missing,
            found if found < known => Self::Older { found, known },
            _ => Self::Current,
        }
    }
}

impl Inspection {
    /// Of a place with a schema, and neither a clock nor servers.
    pub(crate) fn new(schema: Schema) -> Self {
        Self {
            schema,
            clock: None,
            servers: Vec::new(),
        }
    }
}

/// Looks at a location. A newer schema, or what is not adk-stream's, is an error.
pub async fn inspect(location: Location) -> Result<Inspection, StoreError> {
    match location {
        Location::Memory => Ok(Inspection::new(Schema::Current)),
        #[cfg(feature = "sqlite")]
        Location::Sqlite(path) => SqliteStore::inspect(path).await,
        #[cfg(feature = "postgres")]
        Location::Postgres(url) => PostgresStore::inspect(*url).await,
    }
}
