//! A stream of events that an async function tells.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;
use tokio::sync::mpsc;
use turn::agent::AgentEvent;

use crate::agent::AgentStream;

/// Where an async function says its events.
#[derive(Debug)]
pub(crate) struct Narrator(mpsc::UnboundedSender<AgentEvent>);

impl Narrator {
    /// Says an event. Whoever listens no more also drops the function that says it.
    pub(crate) fn say(&self, event: AgentEvent) {
        let _ = self.0.send(event);
    }

    /// Says events in their order.
    pub(crate) fn say_all(&self, events: impl IntoIterator<Item = AgentEvent>) {
        events.into_iter().for_each(|event| self.say(event));
    }
}

/// What a function says, as a stream. It runs only while the stream is polled and all that it has
/// said is taken, and it is dropped with the stream.
pub(crate) fn narrated<F>(tell: impl FnOnce(Narrator) -> F) -> AgentStream
where
    F: Future<Output = ()> + Send + 'static,
{
    let (said, events) = mpsc::unbounded_channel();
    Box::pin(Narrated {
        teller: Some(Box::pin(tell(Narrator(said)))),
        events,
    })
}

struct Narrated {
    teller: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
    events: mpsc::UnboundedReceiver<AgentEvent>,
}

impl Stream for Narrated {
    type Item = AgentEvent;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        if let Ok(event) = self.events.try_recv() {
            return Poll::Ready(Some(event));
        }
        if let Some(teller) = &mut self.teller
            && teller.as_mut().poll(context).is_ready()
        {
            self.teller = None;
        }
        // Once the function is over its end of the channel is gone, and this ends too.
        self.events.poll_recv(context)
    }
}
