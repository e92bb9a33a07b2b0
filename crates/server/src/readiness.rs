//! Whether this server can do its work: found out by writing to the store.
//!
//! Nobody needs a key to ask, so nobody can make it work by asking: one look at a time, and its
//! answer is good for a second.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use store::{Probe, StoreError};
use tokio::sync::Mutex;
use tokio::time::Instant;
use turn::At;

/// How long an answer is good.
const FRESH: Duration = Duration::from_secs(1);

/// How long the store may take.
const TIME_LIMIT: Duration = Duration::from_secs(2);

/// Looks whether the store takes writes. Cloning it gives the same.
#[derive(Clone)]
pub(crate) struct Readiness {
    probe: Arc<dyn Probe>,
    /// Held while somebody looks: whoever asks meanwhile is given the same answer.
    last: Arc<Mutex<Option<Look>>>,
}

/// What was found when somebody looked.
#[derive(Clone, Copy)]
struct Look {
    at: Instant,
    found: Result<(), Reason>,
}

/// Why the server is not ready, as a program reads it.
type Reason = &'static str;

impl Readiness {
    pub(crate) fn new(probe: Arc<dyn Probe>) -> Self {
        Self {
            probe,
            last: Arc::default(),
        }
    }

    /// What `/readyz` answers.
    pub(crate) async fn answer(&self) -> Response {
        let (status, body) = match self.look().await {
            Ok(()) => (StatusCode::OK, json!({"status": "ready"})),
            Err(reason) => {
                let body = json!({"status": "unavailable", "reason": reason});
                (StatusCode::SERVICE_UNAVAILABLE, body)
            }
        };
        (status, [(header::CACHE_CONTROL, "no-store")], Json(body)).into_response()
    }

    async fn look(&self) -> Result<(), Reason> {
        let mut last = self.last.lock().await;
        if let Some(look) = *last
            && look.at.elapsed() < FRESH
        {
            return look.found;
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0, |now| u64::try_from(now.as_millis()).unwrap_or(u64::MAX));
        let probe = self.probe.probe(At(now));
        let found = match tokio::time::timeout(TIME_LIMIT, probe).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => {
                tracing::error!("the store takes no writes: {error}");
                Err(reason(&error))
            }
            Err(_) => {
                tracing::error!("the store has not taken a write for {TIME_LIMIT:?}");
                Err("timeout")
            }
        };
        let at = Instant::now();
        *last = Some(Look { at, found });
        found
    }
}

/// Where the store is, and what it said, is for the operator.
fn reason(error: &StoreError) -> Reason {
    match error {
        StoreError::Busy => "locked",
        StoreError::Full => "full",
        StoreError::Moved { .. } => "moved",
        StoreError::Corrupt { .. } | StoreError::NotADatabase { .. } => "corrupt",
        StoreError::Unwritable { .. } | StoreError::ReadOnly { .. } => "unwritable",
        StoreError::Unavailable { .. } => "away",
        _ => "failed",
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// A store that is full, or says nothing, and counts who asks.
    #[derive(Default)]
    struct Broken {
        asked: AtomicUsize,
        is_silent: bool,
    }

    impl Probe for Broken {
        fn probe(&self, _now: At) -> store::Reply<'_, ()> {
            self.asked.fetch_add(1, Ordering::SeqCst);
            match self.is_silent {
                true => Box::pin(std::future::pending()),
                false => Box::pin(async { Err(StoreError::Full) }),
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn many_who_ask_at_once_are_one_write() {
        let store = Arc::new(Broken::default());
        let readiness = Readiness::new(store.clone());
        let all = (0..100).map(|_| readiness.look());
        let answers = futures_util::future::join_all(all).await;
        assert!(answers.iter().all(|answer| *answer == Err("full")));
        assert_eq!(store.asked.load(Ordering::SeqCst), 1);
        tokio::time::advance(FRESH).await;
        assert_eq!(readiness.look().await, Err("full"));
        assert_eq!(store.asked.load(Ordering::SeqCst), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn store_that_says_nothing_is_not_waited_for() {
        let store = Arc::new(Broken {
            is_silent: true,
            ..Broken::default()
        });
        let readiness = Readiness::new(store);
        let before = Instant::now();
        assert_eq!(readiness.look().await, Err("timeout"));
        assert!(before.elapsed() <= TIME_LIMIT + FRESH);
    }
}
