//! A journal whose operations are counted and timed, and whose entries are counted once they are stored.

use std::sync::Arc;
use std::time::Instant;

use store::{Appended, Journal, Layer, NewEntry, Operation, Reply, StoreError};
use turn::{ChatId, GateId};

use super::observed_entry::{AskedAt, ObservedEntry};
use super::{GaugeGuard, Metrics};

/// A journal that is observed.
pub(super) struct ObservedJournal {
    journal: Arc<dyn Journal>,
    metrics: Metrics,
    asked: AskedAt,
}

impl ObservedJournal {
    pub(super) fn new(journal: Arc<dyn Journal>, metrics: Metrics) -> Self {
        Self {
            journal,
            metrics,
            asked: AskedAt::default(),
        }
    }

    async fn time<T>(&self, operation: Operation, reply: Reply<'_, T>) -> Result<T, StoreError> {
        let all = &*self.metrics.0;
        let labels = [("operation", operation.name())];
        let _in_flight = GaugeGuard::new(all.store_in_flight.clone());
        let began = Instant::now();
        let done = reply.await;
        let histogram = all.store_seconds.get_or_create(&labels);
        histogram.observe(began.elapsed().as_secs_f64());
        drop(histogram);
        if done.is_err() {
            all.store_errors.get_or_create(&labels).inc();
        }
        done
    }

    /// Finds out when gates were asked that were opened elsewhere, or before this server started.
    fn look_up(&self, closed: Vec<(GateId, &'static str)>) {
        if closed.is_empty() {
            return;
        }
        let (journal, metrics) = (self.journal.clone(), self.metrics.clone());
        tokio::spawn(async move {
            for (gate, decision) in closed {
                // A delay that can't be found out is not counted.
                if let Ok(Some(record)) = journal.gate(&gate).await
                    && let Some(closed) = record.closed
                {
                    metrics.answered(decision, record.asked, closed.at);
                }
            }
        });
    }
}

impl Layer for ObservedJournal {
    fn inner(&self) -> &dyn Journal {
        &*self.journal
    }

    /// Times an operation, and counts it if it fails.
    fn around<'a, T: Send + 'a>(
        &'a self,
        operation: Operation,
        reply: Reply<'a, T>,
    ) -> Reply<'a, T> {
        Box::pin(self.time(operation, reply))
    }

    fn append<'a>(
        &'a self,
        chat: &'a ChatId,
        expected_seq: u64,
        entry: NewEntry,
    ) -> Reply<'a, Appended> {
        let observed = ObservedEntry::of(chat, &entry);
        Box::pin(async move {
            let append = self.journal.append(chat, expected_seq, entry);
            let appended = self.time(Operation::Append, append).await?;
            match appended {
                Appended::Ok { .. } => self.look_up(observed.count(&self.metrics, &self.asked)),
                Appended::Conflict { .. } => drop(self.metrics.0.conflicts.inc()),
            }
            Ok(appended)
        })
    }
}
