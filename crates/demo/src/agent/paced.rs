//! Events that come one after the other, with a pause before each delta.

use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use tokio::time::Sleep;
use turn::agent::AgentEvent;

/// A stream of events that were known beforehand.
pub(super) struct Paced {
    events: VecDeque<AgentEvent>,
    pause: Duration,
    /// The pause before the next event, once it was begun.
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Paced {
    /// Streams these events. Without a pause no timer is needed, and so no runtime.
    pub(super) fn new(events: impl IntoIterator<Item = AgentEvent>, pause: Duration) -> Self {
        Self {
            events: events.into_iter().collect(),
            pause,
            sleep: None,
        }
    }
}

impl Stream for Paced {
    type Item = AgentEvent;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        let next = self.events.front();
        let is_delta = matches!(
            next,
            Some(AgentEvent::Text { .. } | AgentEvent::Reasoning { .. })
        );
        if is_delta && !self.pause.is_zero() {
            let pause = self.pause;
            let sleep = self
                .sleep
                .get_or_insert_with(|| Box::pin(tokio::time::sleep(pause)));
            if sleep.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            self.sleep = None;
        }
        Poll::Ready(self.events.pop_front())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.events.len(), Some(self.events.len()))
    }
}
