//! The connections that read, and do what is not an append: a few, opened when they are needed and
//! kept.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use tokio::sync::Semaphore;

use super::address::Address;
use super::failure::is_unavailable;
use super::outage::{Backoff, Outage};
use super::session::Session;
use crate::error::StoreError;

/// A few connections.
pub(super) struct Pool {
    address: Address,
    outage: Arc<Outage>,
    idle: Mutex<Vec<Arc<Session>>>,
    room: Semaphore,
}

impl Pool {
    pub(super) fn new(address: Address, outage: Arc<Outage>, connections: usize) -> Self {
        Self {
            address,
            outage,
            idle: Mutex::default(),
            room: Semaphore::new(connections),
        }
    }

    /// Does something on a connection of its own. If that breaks, it is done again on another, for
    /// as long as an outage is waited out: so it must be something that can be done twice.
    pub(super) async fn run<T, F>(&self, work: impl Fn(Arc<Session>) -> F) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, StoreError>>,
    {
        let begun = Instant::now();
        self.run_while(|| self.outage.goes_on(begun), work).await
    }

    /// The same for readiness probes: nothing is waited out. Only
    /// a connection that was kept and has broken is no answer yet.
    pub(super) async fn probe<T, F>(
        &self,
        work: impl Fn(Arc<Session>) -> F,
    ) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, StoreError>>,
    {
        let mut is_first = true;
        self.run_while(|| std::mem::take(&mut is_first), work).await
    }

    async fn run_while<T, F>(
        &self,
        mut goes_on: impl FnMut() -> bool,
        work: impl Fn(Arc<Session>) -> F,
    ) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, StoreError>>,
    {
        let time_limit = self.address.url.time_limit;
        let room = tokio::time::timeout(time_limit, self.room.acquire()).await;
        let room = room.map_err(|_| StoreError::Unavailable {
            problem: "all connections to it are in use".to_owned(),
        })?;
        let _room = room.map_err(|_| StoreError::Closed)?;
        let mut backoff = Backoff::default();
        loop {
            let failed = match self.session().await {
                Ok(session) => {
                    // A caller that stops waiting leaves a connection that is closed, not returned to the pool.
                    let work = work(Arc::clone(&session));
                    let limit = self.address.statement_limit();
                    match session.within(limit, work).await {
                        Err(error) => error,
                        Ok(Err(error)) if is_unavailable(&error) => error,
                        Ok(done) => {
                            self.outage.ends();
                            self.give_back(session);
                            return done;
                        }
                    }
                }
                Err(error) => error,
            };
            // What was idle while the server went away is of no use either.
            self.idle().clear();
            if !goes_on() {
                return Err(failed);
            }
            backoff.wait().await;
        }
    }

    async fn session(&self) -> Result<Arc<Session>, StoreError> {
        let idle = self.idle().pop().filter(|session| !session.is_closed());
        match idle {
            Some(session) => Ok(session),
            None => Ok(Arc::new(self.address.connect().await.map_err(away)?)),
        }
    }

    fn give_back(&self, session: Arc<Session>) {
        if !session.is_closed() {
            self.idle().push(session);
        }
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Session>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A database that accepted us once and does not now is away, whatever its error.
pub(super) fn away(error: StoreError) -> StoreError {
    match error {
        StoreError::Unavailable { .. } => error,
        error => StoreError::Unavailable {
            problem: error.to_string(),
        },
    }
}
