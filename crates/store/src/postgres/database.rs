//! Connections of one's own to a store's database, for tables that are kept beside the journals.

use std::fmt;
use std::sync::Arc;

use super::address::Address;
use super::outage::Outage;
use super::pool::Pool;
use super::session::Session;
use super::url::PostgresUrl;
use crate::error::StoreError;

/// A few connections to the database of a store, configured as the store's own are: statements see
/// the schema of the journals, are durable, and take no longer than the URL allows.
pub struct Database {
    pool: Pool,
}

impl Database {
    /// At most this many connections, none of which is opened yet.
    pub fn new(url: PostgresUrl, connections: usize) -> Result<Self, StoreError> {
        let outage = Arc::new(Outage::new(url.time_limit));
        let pool = Pool::new(Address::new(url)?, outage, connections);
        Ok(Self { pool })
    }

    /// Does something on a connection of its own. If that breaks, it is done again on another, for
    /// as long as an outage is waited out: so it must be something that can be done twice.
    pub async fn run<T, F>(&self, work: impl Fn(Arc<Session>) -> F) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, StoreError>>,
    {
        self.pool.run(work).await
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database").finish_non_exhaustive()
    }
}
