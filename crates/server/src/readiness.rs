//! Whether this server can do its work: found out by writing to the store.
//!
//! It needs no key, so requests must not cause work: one probe at a time, and its
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

/// Probes whether the store takes writes. Cloning it gives the same.
#[derive(Clone)]
pub(crate) struct Readiness {
    probe: Arc<dyn Probe>,
    /// Held during a probe: other requests get the same result.
    last: Arc<Mutex<Option<Probed>>>,
}

/// The result of a probe.
#[derive(Clone, Copy)]
struct Probed {
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
        let (status, body) = match self.probe_store().await {
            Ok(()) => (StatusCode::OK, json!({"status": "ready"})),
            Err(reason) => {
                let body = json!({"status": "unavailable", "reason": reason});
                (StatusCode::SERVICE_UNAVAILABLE, body)
            }
        };
        (status, [(header::CACHE_CONTROL, "no-store")], Json(body)).into_response()
    }

    async fn probe_store(&self) -> Result<(), Reason> {
        let mut last = self.last.lock().await;
        if let Some(probed) = *last
            && probed.at.elapsed() < FRESH
        {
            return probed.found;
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0, |now| u64::try_from(now.as_millis()).unwrap_or(u64::MAX));
        let probe = self.probe.probe(At(now));
        let found = match tokio::time::timeout(TIME_LIMIT, probe).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(error)) => {
                tracing::error!(%error, "readiness probe failed");
                Err(reason(&error))
            }
            Err(_) => {
                tracing::error!(time_limit = ?TIME_LIMIT, "readiness probe timed out");
                Err("timeout")
            }
        };
        let at = Instant::now();
        *last = Some(Probed { at, found });
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
        StoreError::Unavailable { .. } => "unreachable",
        _ => "failed",
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// A store that is full, or does not respond, and counts probes.
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
        let all = (0..100).map(|_| readiness.probe_store());
        let answers = futures_util::future::join_all(all).await;
        assert!(answers.iter().all(|answer| *answer == Err("full")));
        assert_eq!(store.asked.load(Ordering::SeqCst), 1);
        tokio::time::advance(FRESH).await;
        assert_eq!(readiness.probe_store().await, Err("full"));
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
        assert_eq!(readiness.probe_store().await, Err("timeout"));
        assert!(before.elapsed() <= TIME_LIMIT + FRESH);
    }
}
