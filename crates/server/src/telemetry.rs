//! Traces of turns for OpenTelemetry, by OTLP over HTTP. Built with the feature `otel`.
//!
//! Spans are made of what the journal has: each is exported once, by the server that stored its end, with
//! ids that follow from the journal ([`turn::trace`]). So a turn is one trace, whichever servers run it, and
//! whatever restarts come between; and nothing is done while words stream.
//!
//! - `names`: what spans and attributes are called; `fact`: what is read of events.
//! - `turn_spans`: the spans of one turn; `traced_journal`: where entries are seen.
//! - `queue`, `exporter`: the way to the collector. Nothing waits for it.

mod exporter;
mod fact;
mod names;
mod queue;
mod traced_journal;
mod turn_spans;

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agents::Agent;
use store::Journal;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use self::exporter::Exporter;
pub use self::fact::Contents;
use self::queue::Queue;
use self::traced_journal::{TracedJournal, Turns};
use self::turn_spans::Traced;
use crate::metrics::Metrics;

/// Where spans go, and what they say.
#[derive(Clone)]
pub struct TelemetryConfig {
    /// The collector's address, as `http://HOST:4318`.
    pub endpoint: String,
    /// The name of this service.
    pub service_name: String,
    /// Headers for the collector, which may be secret.
    pub headers: Vec<(String, String)>,
    /// Whether what was said goes into spans.
    pub contents: Contents,
}

impl fmt::Debug for TelemetryConfig {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("TelemetryConfig")
            .field("endpoint", &self.endpoint)
            .field("service_name", &self.service_name)
            .field("contents", &self.contents)
            .finish_non_exhaustive()
    }
}

/// Sends a collector no spans, as it would be sent some, and says what is wrong.
#[cfg(feature = "cli")]
pub(crate) async fn probe(address: &str, headers: &[(String, String)]) -> Result<(), String> {
    exporter::probe(address, headers).await
}

/// Exports traces of turns.
pub struct Telemetry {
    queue: Queue,
    contents: Contents,
    /// Tells the exporter to stop, and ends.
    running: Mutex<Option<(oneshot::Sender<()>, JoinHandle<()>)>>,
}

impl Telemetry {
    /// Starts to export. What is wrong with the configuration is said at once; a collector that is not
    /// there is not waited for.
    pub fn start(config: &TelemetryConfig, metrics: &Metrics) -> Result<Self, String> {
        let (queue, spans) = Queue::new(metrics.clone());
        let exporter = Exporter::new(config, spans, metrics.clone())?;
        let (stop, is_stopped) = oneshot::channel();
        let task = tokio::spawn(exporter.run(is_stopped));
        Ok(Self {
            queue,
            contents: config.contents,
            running: Mutex::new(Some((stop, task))),
        })
    }

    /// A journal whose entries become spans. The name is that of the agent, for people.
    pub fn observe(
        &self,
        journal: Arc<dyn Journal>,
        agent: &dyn Agent,
        name: &str,
    ) -> Arc<dyn Journal> {
        Arc::new(TracedJournal {
            journal,
            traced: Traced {
                agent: name.to_owned(),
                kind: agent.name().to_owned(),
                model: agent.model().map(str::to_owned),
            },
            contents: self.contents,
            queue: self.queue.clone(),
            turns: Turns::default(),
        })
    }

    /// Sends what waits, for so long at most. Says whether all was sent in time.
    pub async fn shut_down(&self, limit: Duration) -> bool {
        let running = self
            .running
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let Some((stop, mut task)) = running else {
            return true;
        };
        drop(stop);
        let is_done = tokio::time::timeout(limit, &mut task).await.is_ok();
        task.abort();
        is_done
    }
}
