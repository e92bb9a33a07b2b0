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

/// Where messages are put. A client that does not read holds up whoever puts them here: its windows
/// and its own questions, and never a turn.
#[derive(Clone)]
pub(super) struct Outbox {
    queue: mpsc::UnboundedSender<(Message, OwnedSemaphorePermit)>,
    room: Arc<Semaphore>,
}

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
        let bytes = u32::try_from(bytes).unwrap_or(BYTES);
        let cost = bytes.saturating_add(OVERHEAD).min(BYTES);
        let room = self.room.clone().acquire_many_owned(cost).await;
        let room = room.map_err(|_| Gone)?;
        self.queue.send((message, room)).map_err(|_| Gone)
    }

    /// Puts a text behind the others.
    pub(super) async fn say(&self, text: String) -> Result<(), Gone> {
        self.send(Message::Text(text.into())).await
    }
}

async fn write(
    mut sink: SplitSink<WebSocket, Message>,
    mut waiting: mpsc::UnboundedReceiver<(Message, OwnedSemaphorePermit)>,
    room: Arc<Semaphore>,
    stall: Duration,
) {
    while let Some((message, taken)) = waiting.recv().await {
        let mut is_last = matches!(message, Message::Close(_));
        let sent = tokio::time::timeout(stall, async {
            sink.feed(message).await?;
            drop(taken);
            // What waits already goes out with it.
            while !is_last && let Ok((message, taken)) = waiting.try_recv() {
                is_last = matches!(message, Message::Close(_));
                sink.feed(message).await?;
                drop(taken);
            }
            sink.flush().await
        });
        if !matches!(sent.await, Ok(Ok(()))) || is_last {
            break;
        }
    }
    room.close();
}
