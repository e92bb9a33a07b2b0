//! What is to be sent on a socket: a queue that is bounded by its bytes.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::ws::{Message, WebSocket};
use futures_util::SinkExt;
use futures_util::stream::SplitSink;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::task::JoinHandle;

/// How many bytes may wait. A message that is larger waits for an empty queue, and then alone.
const BYTES: u32 = 128 * 1024;

/// What a message costs beside its bytes.
const OVERHEAD: u32 = 64;

/// How many bytes are put there in one go.
const BATCH: u32 = 16 * 1024;

/// The queue of messages to a client. A client that does not read holds up the senders: its windows
/// and its own questions, and never a turn.
#[derive(Clone)]
pub(super) struct Outbox {
    queue: mpsc::UnboundedSender<Batch>,
    room: Arc<Semaphore>,
}

/// Messages that were put there in one go, and the room that they take.
type Batch = (Vec<Message>, OwnedSemaphorePermit);

/// The client is gone, or does not read.
pub(super) struct Gone;

impl Outbox {
    /// Sends what is put into it, until the last holder lets it go, a close was sent, or the client
    /// took nothing for the given time.
    pub(super) fn open(
        sink: SplitSink<WebSocket, Message>,
        stall: Duration,
    ) -> (Self, JoinHandle<()>) {
        let room = Arc::new(Semaphore::new(BYTES as usize));
        let (queue, waiting) = mpsc::unbounded_channel();
        let writer = tokio::spawn(write(sink, waiting, room.clone(), stall));
        (Self { queue, room }, writer)
    }

    /// Puts a message behind the others, once there is room for it.
    pub(super) async fn send(&self, message: Message) -> Result<(), Gone> {
        let bytes = match &message {
            Message::Text(text) => text.len(),
            Message::Binary(bytes) | Message::Ping(bytes) | Message::Pong(bytes) => bytes.len(),
            Message::Close(_) => 0,
        };
        self.put(vec![message], cost(bytes)).await
    }

    /// Puts texts behind the others in their order, many in one go.
    pub(super) async fn say_all(&self, texts: impl Iterator<Item = String>) -> Result<(), Gone> {
        let (mut batch, mut taken) = (Vec::new(), 0);
        for text in texts {
            let more = cost(text.len());
            if taken + more > BATCH && !batch.is_empty() {
                self.put(std::mem::take(&mut batch), taken).await?;
                taken = 0;
            }
            batch.push(Message::Text(text.into()));
            taken += more;
        }
        match batch.is_empty() {
            true => Ok(()),
            false => self.put(batch, taken).await,
        }
    }

    async fn put(&self, messages: Vec<Message>, cost: u32) -> Result<(), Gone> {
        let room = self.room.clone().acquire_many_owned(cost.min(BYTES)).await;
        let room = room.map_err(|_| Gone)?;
        self.queue.send((messages, room)).map_err(|_| Gone)
    }

    /// Puts a text behind the others.
    pub(super) async fn say(&self, text: String) -> Result<(), Gone> {
        self.send(Message::Text(text.into())).await
    }
}

/// The room that a message of this many bytes takes.
fn cost(bytes: usize) -> u32 {
    let bytes = u32::try_from(bytes).unwrap_or(BYTES);
    bytes.saturating_add(OVERHEAD).min(BYTES)
}

async fn write(
    mut sink: SplitSink<WebSocket, Message>,
    mut waiting: mpsc::UnboundedReceiver<Batch>,
    room: Arc<Semaphore>,
    stall: Duration,
) {
    let mut is_last = false;
    while let Some(batch) = waiting.recv().await {
        let mut next = Some(batch);
        let sent = tokio::time::timeout(stall, async {
            // What waits already goes out with it.
            while let Some((messages, taken)) = next.take() {
                for message in messages {
                    is_last |= matches!(message, Message::Close(_));
                    sink.feed(message).await?;
                }
                drop(taken);
                if !is_last {
                    next = waiting.try_recv().ok();
                }
            }
            sink.flush().await
        });
        if !matches!(sent.await, Ok(Ok(()))) || is_last {
            break;
        }
    }
    room.close();
}

#[cfg(test)]
mod tests {
    use std::task::{Context, Waker};

    use super::*;

    #[tokio::test]
    async fn sender_of_more_than_fits_waits_until_something_was_taken() {
        let (queue, mut waiting) = mpsc::unbounded_channel();
        let room = Arc::new(Semaphore::new(BYTES as usize));
        let outbox = Outbox { queue, room };
        let text = || Message::Text("x".repeat(BYTES as usize / 2).into());
        assert!(outbox.send(text()).await.is_ok());
        // It costs a little more than its bytes.
        let mut second = std::pin::pin!(outbox.send(text()));
        let mut context = Context::from_waker(Waker::noop());
        assert!(second.as_mut().poll(&mut context).is_pending());
        drop(waiting.recv().await);
        assert!(second.await.is_ok());
    }
}
