//! Who may read the metrics, and where.
//!
//! They say nothing of any chat, and yet how much a business does is not everybody's: they are served
//! with a key of their own, or on an address of their own that only this machine reaches.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{Extensions, HeaderMap, StatusCode};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use engine::Engine;
use store::Backlog;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::Metrics;
use crate::guard::{self, Guard};
use crate::identity::{NotLocal, bearer, check_local};
use crate::origin::Origins;
use crate::problem::Problem;
use crate::shared_key::SharedKey;

/// Where they are read.
pub(crate) const PATH: &str = "/metrics";

/// How long a count of the whole store's gates is good.
const FRESH: Duration = Duration::from_secs(10);

/// How long the store may take for it.
const TIME_LIMIT: Duration = Duration::from_secs(2);

/// How far gates are counted.
const COUNTED: usize = 100_000;

/// The metrics of a server, as they are served. Cloning it gives the same.
#[derive(Clone)]
pub(crate) struct Endpoint(Arc<Inner>);

struct Inner {
    metrics: Metrics,
    engine: Engine,
    backlog: Arc<dyn Backlog>,
    key: Option<SharedKey>,
    /// When the whole store's gates were counted. Held meanwhile, so that it is done once.
    counted: Mutex<Option<Instant>>,
}

impl Endpoint {
    pub(crate) fn new(
        metrics: Metrics,
        engine: Engine,
        backlog: Arc<dyn Backlog>,
        key: Option<SharedKey>,
    ) -> Self {
        Self(Arc::new(Inner {
            metrics,
            engine,
            backlog,
            key,
            counted: Mutex::default(),
        }))
    }

    /// The route, to be served behind a [`Guard`]. Without a key, only this machine may read them, as it may
    /// use the API without one.
    pub(crate) fn router<S: Clone + Send + Sync + 'static>(self) -> Router<S> {
        let answer = async move |request: Request| {
            let admitted = self.admit(request.headers(), request.extensions());
            match admitted {
                Ok(()) => self.read().await,
                Err(problem) => problem.into_response(),
            }
        };
        Router::new().route(PATH, get(answer))
    }

    /// The route on an address of its own.
    pub(crate) fn guarded_router(self) -> Router {
        let guard = Guard::new(Arc::default());
        self.router().layer(from_fn_with_state(guard, guard::check))
    }

    fn admit(&self, headers: &HeaderMap, extensions: &Extensions) -> Result<(), Problem> {
        match &self.0.key {
            Some(key) => match bearer(headers) {
                Some(given) if key.is(given.as_bytes()) => Ok(()),
                _ => Err(Problem::metrics_key_needed()),
            },
            None => match check_local(&Origins::default(), headers, extensions) {
                Ok(()) => Ok(()),
                Err(NotLocal::Proxied) => Err(Problem::proxied_metrics()),
                Err(NotLocal::Elsewhere) => Err(Problem::loopback_only()),
            },
        }
    }

    async fn read(&self) -> Response {
        self.count_gates().await;
        let text = self.0.metrics.text(&self.0.engine);
        let headers = [
            (CONTENT_TYPE, Metrics::CONTENT_TYPE),
            (CACHE_CONTROL, "no-store"),
        ];
        (StatusCode::OK, headers, text).into_response()
    }

    /// Counts the gates of the whole store, unless that was done a moment ago. If the store is away, the
    /// last count stays.
    async fn count_gates(&self) {
        let mut counted = self.0.counted.lock().await;
        if counted.is_some_and(|at| at.elapsed() < FRESH) {
            return;
        }
        *counted = Some(Instant::now());
        let open = self.0.backlog.open_gates_of_all(COUNTED);
        match tokio::time::timeout(TIME_LIMIT, open).await {
            Ok(Ok(open)) => {
                // By the clock that they were asked by.
                self.0.metrics.set_open_gates(open, self.0.engine.now());
            }
            Ok(Err(error)) => tracing::warn!(%error, "counting open gates failed"),
            Err(_) => tracing::warn!("counting open gates timed out"),
        }
    }
}

#[cfg(test)]
mod tests {
    use engine::Tools;
    use store::{Location, OpenGates, Reply};
    use turn::At;

    use super::*;

    /// One gate, which was asked when this began.
    struct OneGate(At);

    impl Backlog for OneGate {
        fn open_gates_of_all(&self, _: usize) -> Reply<'_, OpenGates> {
            let open = OpenGates {
                approvals: 1,
                oldest: Some(self.0),
                ..OpenGates::default()
            };
            Box::pin(std::future::ready(Ok(open)))
        }
    }

    #[tokio::test(start_paused = true)]
    async fn age_of_the_oldest_gate_is_by_the_clock_that_it_was_asked_by() {
        let stores = store::open(Location::Memory).await.unwrap();
        let agent = Arc::new(demo::Demo::new());
        let engine = Engine::builder(stores.journal, agent, Tools::new()).build();
        engine.compare_clocks().await.unwrap();
        let backlog = Arc::new(OneGate(engine.now()));
        let metrics = Metrics::new();
        let endpoint = Endpoint::new(metrics.clone(), engine.clone(), backlog, None);
        // This machine's clock is now behind the store's.
        tokio::time::advance(Duration::from_secs(3600)).await;
        endpoint.count_gates().await;
        let text = metrics.text(&engine);
        let mut ages = text.lines().filter_map(|line| {
            let age = line.strip_prefix("adk_stream_oldest_gate_age_seconds ")?;
            age.parse::<f64>().ok()
        });
        assert_eq!(ages.next(), Some(3600.0), "{text}");
    }
}
