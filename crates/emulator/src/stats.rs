//! What is open now, and what ever was.

use std::sync::Arc;

use serde::Serialize;
use tokio::sync::watch;

/// What is open now, and what ever was.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stats {
    /// Requests to the API that came, whatever became of them.
    pub requests: u64,
    /// HTTP answers that are being streamed.
    pub streams_open: u64,
    /// HTTP answers that ever were.
    pub streams_total: u64,
    /// Live sockets that are open.
    pub sockets_open: u64,
    /// Live sockets that ever were.
    pub sockets_total: u64,
}

/// The counters, which can be waited on.
#[derive(Debug, Clone)]
pub(crate) struct Counters(Arc<watch::Sender<Stats>>);

/// Something that is open until this is dropped.
#[derive(Debug)]
pub(crate) struct Open {
    counters: Counters,
    close: fn(&mut Stats),
}

impl Counters {
    pub(crate) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(Stats::default())))
    }

    /// The counts now, and whenever they change.
    pub(crate) fn watch(&self) -> watch::Receiver<Stats> {
        self.0.subscribe()
    }

    /// Counts a request.
    pub(crate) fn request(&self) {
        self.0.send_modify(|stats| stats.requests += 1);
    }

    /// Counts a stream, until what is returned is dropped.
    pub(crate) fn stream(&self) -> Open {
        self.open(
            |stats| {
                stats.streams_open += 1;
                stats.streams_total += 1;
            },
            |stats| stats.streams_open -= 1,
        )
    }

    /// Counts a socket, until what is returned is dropped.
    pub(crate) fn socket(&self) -> Open {
        self.open(
            |stats| {
                stats.sockets_open += 1;
                stats.sockets_total += 1;
            },
            |stats| stats.sockets_open -= 1,
        )
    }

    fn open(&self, open: fn(&mut Stats), close: fn(&mut Stats)) -> Open {
        self.0.send_modify(open);
        Open {
            counters: self.clone(),
            close,
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.counters.0.send_modify(self.close);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_dropped_is_open_no_more_and_was_once() {
        let counters = Counters::new();
        let (first, second) = (counters.stream(), counters.stream());
        assert_eq!(counters.watch().borrow().streams_open, 2);
        drop((first, second));
        let stats = *counters.watch().borrow();
        assert_eq!((stats.streams_open, stats.streams_total), (0, 2));
    }
}
