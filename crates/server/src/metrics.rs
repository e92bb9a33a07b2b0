//! Metrics for Prometheus: what this server does, as numbers.
//!
//! No label holds the id of a chat or the name of a principal: every label has few values, which this
//! server's own code names. Turns, steps, calls and gates are counted where they are stored
//! ([`Metrics::observe`]), so nothing is counted twice after a conflict, and nothing for each delta.
//!
//! An application that embeds the routes reads them by [`Metrics::text`].

#[cfg(feature = "cli")]
mod endpoint;
mod observed_entry;
mod observed_journal;

use std::fmt;
use std::sync::Arc;

use engine::Engine;
use prometheus_client::encoding::text;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;
use store::{Journal, OpenGates};
use turn::At;

#[cfg(feature = "cli")]
pub(crate) use self::endpoint::Endpoint;
use self::observed_journal::ObservedJournal;
use crate::token_prices::TokenPrices;

/// One label and its value. Values are named by code, so there are few.
type Label = [(&'static str, &'static str); 1];

/// Two labels.
type Labels = [(&'static str, &'static str); 2];

/// Sums of money, by direction.
type Costs = Family<Label, Counter<f64, std::sync::atomic::AtomicU64>>;

type Histograms = Family<Label, Histogram, fn() -> Histogram>;

/// Metrics of one server. Cloning it gives the same.
#[derive(Clone)]
pub struct Metrics(Arc<Families>);

struct Families {
    registry: Registry,
    turns_opened: Counter,
    turns_ended: Family<Labels, Counter>,
    steps: Family<Label, Counter>,
    tokens: Family<Label, Counter>,
    /// Only where tokens have prices.
    cost: Option<(TokenPrices, Costs)>,
    calls: Family<Label, Counter>,
    gates_opened: Family<Label, Counter>,
    gates_closed: Family<Label, Counter>,
    answer_delay: Histograms,
    takeovers: Counter,
    conflicts: Counter,
    store_seconds: Histograms,
    store_errors: Family<Label, Counter>,
    store_in_flight: Gauge,
    http_requests: Family<Label, Counter>,
    refusals: Family<Labels, Counter>,
    windows: Family<Label, Gauge>,
    sockets: Gauge,
    chats: Gauge,
    queued: Gauge,
    leases: Gauge,
    resting_chats: Gauge,
    resting_bytes: Gauge,
    evictions: Counter,
    retries: Gauge,
    open_gates: Family<Label, Gauge>,
    oldest_gate: Gauge<f64, std::sync::atomic::AtomicU64>,
    spans: Family<Label, Counter>,
}

/// From a tenth of a millisecond to ten seconds.
fn store_buckets() -> Histogram {
    Histogram::new([
        0.0001, 0.000_25, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0,
        2.5, 5.0, 10.0,
    ])
}

/// From a second to a week: people answer when they can.
fn answer_buckets() -> Histogram {
    Histogram::new([
        0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 14_400.0, 86_400.0, 604_800.0,
    ])
}

impl Metrics {
    /// The content type of [`Metrics::text`], as Prometheus wants it.
    pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

    /// Metrics that nothing was counted in yet.
    pub fn new() -> Self {
        Self::of(None)
    }

    /// The same, with what tokens cost.
    pub fn with_token_prices(prices: TokenPrices) -> Self {
        Self::of(Some(prices))
    }

    fn of(prices: Option<TokenPrices>) -> Self {
        let mut registry = Registry::with_prefix("adk_stream");
        let version = Info::new([("version", env!("CARGO_PKG_VERSION"))]);
        registry.register("build", "The version of adk-stream", version);
        /// Registers a metric, and gives it.
        macro_rules! add {
            ($name:literal, $help:literal) => {
                add!($name, $help, Default::default())
            };
            ($name:literal, $help:literal, $metric:expr) => {{
                let metric = $metric;
                registry.register($name, $help, Clone::clone(&metric));
                metric
            }};
        }
        let store_seconds = Family::new_with_constructor(store_buckets as fn() -> Histogram);
        let answer_delay = Family::new_with_constructor(answer_buckets as fn() -> Histogram);
        let turns_opened = add!("turns_opened", "Turns that were begun here");
        let turns_ended = add!("turns_ended", "Turns that ended here, by outcome and code");
        let steps = add!("steps", "Model calls that ended, by why they did");
        let tokens = add!("tokens", "Tokens that models say they used, by direction");
        let cost = prices.map(|prices| {
            let costs: Costs = add!("cost", "What tokens cost by the operator's prices");
            for direction in ["input", "output"] {
                drop(costs.get_or_create(&[("direction", direction)]));
            }
            (prices, costs)
        });
        let calls = add!("calls", "Tool calls that ended, by outcome");
        let gates_opened = add!("gates_opened", "Gates that were opened here, by kind");
        let gates_closed = add!("gates_closed", "Gates that were closed here, by decision");
        let answer_delay = add!(
            "answer_delay_seconds",
            "Time from a question to its decision, by decision",
            answer_delay
        );
        let takeovers = add!(
            "takeovers",
            "Turns that this server took over or took up again"
        );
        let conflicts = add!("conflicts", "Appends that another writer was ahead of");
        let store_seconds = add!(
            "store_operation_seconds",
            "Time that operations of the store take, by operation",
            store_seconds
        );
        let store_errors = add!("store_errors", "Operations of the store that failed");
        let store_in_flight = add!(
            "store_in_flight",
            "Operations of the store that are awaited"
        );
        let http_requests = add!("http_requests", "Requests, by status of the response");
        let refusals = add!(
            "refusals",
            "Refused requests and frames, by transport and code"
        );
        let windows = add!(
            "windows_open",
            "Windows that clients have open, by transport"
        );
        let sockets = add!("sockets_open", "WebSockets that are open");
        let chats = add!("chats_loaded", "Chats that are in memory");
        let queued = add!(
            "chat_queue_depth",
            "Messages that wait for the tasks of chats"
        );
        let leases = add!("leases_held", "Chats whose lease this server holds");
        let resting_chats = add!("chats_resting", "Chats in memory that nothing happens to");
        let resting_bytes = add!("chats_resting_bytes", "Memory of those, by estimate");
        let evictions = add!("evictions", "Resting chats that were evicted for others");
        let retries = add!(
            "chats_to_retry",
            "Chats that wait for the store to come back"
        );
        let open_gates = add!("gates_open", "Open gates of the whole store, by kind");
        let oldest_gate = add!(
            "oldest_gate_age_seconds",
            "How long the oldest open gate of the whole store waits"
        );
        let spans = add!(
            "trace_spans",
            "Spans of traced turns, by what became of them"
        );
        let metrics = Self(Arc::new(Families {
            registry,
            turns_opened,
            turns_ended,
            steps,
            tokens,
            cost,
            calls,
            gates_opened,
            gates_closed,
            answer_delay,
            takeovers,
            conflicts,
            store_seconds,
            store_errors,
            store_in_flight,
            http_requests,
            refusals,
            windows,
            sockets,
            chats,
            queued,
            leases,
            resting_chats,
            resting_bytes,
            evictions,
            retries,
            open_gates,
            oldest_gate,
            spans,
        }));
        metrics.begin_at_zero();
        metrics
    }

    /// Creates what is counted by labels. A counter that appears with its first event has not grown, as
    /// far as Prometheus can see, and no alert would come.
    fn begin_at_zero(&self) {
        let all = &*self.0;
        let families = [
            (&all.steps, "finish", observed_entry::FINISHES),
            (&all.tokens, "direction", &["input", "output"]),
            (&all.calls, "outcome", observed_entry::OUTCOMES),
            (&all.gates_opened, "kind", observed_entry::KINDS),
            (&all.gates_closed, "decision", observed_entry::DECISIONS),
            (&all.store_errors, "operation", store::Operation::NAMES),
            (&all.http_requests, "status", &["2xx", "4xx", "5xx"]),
            (&all.spans, "outcome", &["exported", "failed", "dropped"]),
        ];
        for (family, label, values) in families {
            for value in values {
                drop(family.get_or_create(&[(label, value)]));
            }
        }
        for outcome in ["finished", "stopped"] {
            let labels = [("outcome", outcome), ("code", "")];
            drop(all.turns_ended.get_or_create(&labels));
        }
        for code in observed_entry::FAILURES {
            let labels = [("outcome", "failed"), ("code", *code)];
            drop(all.turns_ended.get_or_create(&labels));
        }
        for transport in ["sse", "socket"] {
            drop(all.windows.get_or_create(&[("transport", transport)]));
        }
    }

    /// A journal whose operations are counted.
    pub fn observe(&self, journal: Arc<dyn Journal>) -> Arc<dyn Journal> {
        Arc::new(ObservedJournal::new(journal, self.clone()))
    }

    /// All metrics, as Prometheus reads them ([`Metrics::CONTENT_TYPE`]).
    pub fn text(&self, engine: &Engine) -> String {
        self.read_load(engine);
        let mut text = String::new();
        match text::encode(&mut text, &self.0.registry) {
            Ok(()) => text,
            // Nothing that writes to a string fails; half a document would be worse than none.
            Err(fmt::Error) => String::new(),
        }
    }

    fn read_load(&self, engine: &Engine) {
        let load = engine.load();
        let all = &*self.0;
        for (gauge, count) in [
            (&all.chats, load.chats),
            (&all.queued, load.queued),
            (&all.leases, load.leases),
            (&all.resting_chats, load.resting_chats),
            (&all.resting_bytes, load.resting_bytes),
            (&all.retries, load.retries),
        ] {
            gauge.set(number(count));
        }
        let evictions = load.evictions.saturating_sub(all.evictions.get());
        all.evictions.inc_by(evictions);
    }

    /// Notes what waits in the whole store at a moment ([`store::Backlog`]).
    pub fn set_open_gates(&self, open: OpenGates, now: At) {
        let all = &*self.0;
        let set = |kind, count| {
            let gauge = all.open_gates.get_or_create(&[("kind", kind)]);
            gauge.set(number(count));
        };
        set("approval", open.approvals);
        set("question", open.questions);
        set("client_call", open.client_calls);
        let age = open.oldest.map_or(0, |asked| now.0.saturating_sub(asked.0));
        all.oldest_gate
            .set(std::time::Duration::from_millis(age).as_secs_f64());
    }

    /// A response was sent.
    pub(crate) fn responded(&self, status: u16, code: Option<&'static str>) {
        let status = match status {
            100..=199 => "1xx",
            200..=299 => "2xx",
            300..=399 => "3xx",
            400..=499 => "4xx",
            _ => "5xx",
        };
        self.0
            .http_requests
            .get_or_create(&[("status", status)])
            .inc();
        if let Some(code) = code {
            self.refused("http", code);
        }
    }

    /// A frame or a socket was refused.
    pub(crate) fn refused(&self, transport: &'static str, code: &'static str) {
        let labels = [("transport", transport), ("code", code)];
        self.0.refusals.get_or_create(&labels).inc();
    }

    /// Spans were exported, could not be, or did not fit into the queue.
    #[cfg(feature = "otel")]
    pub(crate) fn spans(&self, outcome: &'static str, count: u64) {
        let labels = [("outcome", outcome)];
        self.0.spans.get_or_create(&labels).inc_by(count);
    }

    /// A window is open for as long as what is returned is held.
    pub(crate) fn window(&self, transport: &'static str) -> GaugeGuard {
        let labels = [("transport", transport)];
        GaugeGuard::new(self.0.windows.get_or_create_owned(&labels))
    }

    /// A socket is open for as long as what is returned is held.
    pub(crate) fn socket(&self) -> GaugeGuard {
        GaugeGuard::new(self.0.sockets.clone())
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}

/// Counts as one while it is held.
pub(crate) struct GaugeGuard(Gauge);

impl GaugeGuard {
    fn new(gauge: Gauge) -> Self {
        gauge.inc();
        Self(gauge)
    }
}

impl Drop for GaugeGuard {
    fn drop(&mut self) {
        self.0.dec();
    }
}

fn number(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
