//! A stream of events that an async function sends.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use tokio::sync::mpsc;
use turn::agent::AgentEvent;

use crate::agent::AgentStream;

/// Where an async function sends its events.
#[derive(Debug)]
pub(crate) struct EventSender(mpsc::UnboundedSender<AgentEvent>);

impl EventSender {
    /// Sends an event. A receiver that is gone has also dropped the function that sends.
    pub(crate) fn send(&self, event: AgentEvent) {
        let _ = self.0.send(event);
    }

    /// Sends events in their order.
    pub(crate) fn send_all(&self, events: impl IntoIterator<Item = AgentEvent>) {
        events.into_iter().for_each(|event| self.send(event));
    }
}

/// The events that a function sends, as a stream. The function runs only while the stream is polled and
/// every event that it has sent was taken, and is dropped with the stream.
pub(crate) fn stream_from_fn<F>(function: impl FnOnce(EventSender) -> F) -> AgentStream
where
    F: Future<Output = ()> + Send + 'static,
{
    let (sender, events) = mpsc::unbounded_channel();
    Box::pin(FunctionStream {
        function: Some(Box::pin(function(EventSender(sender)))),
        events,
    })
}

struct FunctionStream {
    function: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    events: mpsc::UnboundedReceiver<AgentEvent>,
}

impl Stream for FunctionStream {
    type Item = AgentEvent;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        if let Ok(event) = self.events.try_recv() {
            return Poll::Ready(Some(event));
        }
        if let Some(function) = &mut self.function
            && function.as_mut().poll(context).is_ready()
        {
            self.function = None;
        }
        // Once the function is over its end of the channel is gone, and this ends too.
        self.events.poll_recv(context)
    }
}
