//! Spans that wait to be exported. Nothing that makes spans waits for it: what does not fit is dropped,
//! and counted.

use opentelemetry_sdk::trace::SpanData;
use tokio::sync::mpsc;

use crate::metrics::Metrics;

/// How many spans may wait.
const CAPACITY: usize = 8192;

/// The way to the exporter. Cloning it gives the same.
#[derive(Clone)]
pub(super) struct Queue {
    sender: mpsc::Sender<SpanData>,
    metrics: Metrics,
}

impl Queue {
    pub(super) fn new(metrics: Metrics) -> (Self, mpsc::Receiver<SpanData>) {
        let (sender, spans) = mpsc::channel(CAPACITY);
        (Self { sender, metrics }, spans)
    }

    pub(super) fn push(&self, spans: Vec<SpanData>) {
        for span in spans {
            if self.sender.try_send(span).is_err() {
                self.metrics.spans("dropped", 1);
            }
        }
    }
}
