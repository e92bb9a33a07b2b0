//! A window as an SSE response.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Poll, Waker};
use std::time::Duration;
use std::vec;

use axum::body::{Body, Bytes};
use axum::response::{IntoResponse, Response};
use engine::WindowStream;
use futures_util::stream::unfold;
use tokio::task::coop::unconstrained;
use tokio::time::{Instant, Sleep};
use wire::{Chunk, sse};

use crate::metrics::GaugeGuard;

/// How long a window may be silent: proxies close connections that are.
const KEEPALIVE: Duration = Duration::from_secs(15);

/// About how many bytes a chunk takes. Most are deltas.
const CHUNK: usize = 80;

/// About how many bytes are written at once. A client that does not read has as many made for it, and
/// not a whole turn.
const BATCH: usize = 64 * 1024;

/// The response of a window. The client may disconnect at any time; the turn continues.
///
/// The connection itself asks for what comes next, once it has written what came before: a client
/// that does not read holds up this window, and nothing else.
pub(crate) fn response(window: WindowStream, open: GaugeGuard) -> Response {
    let events = unfold(Some((Events::new(window), open)), async |state| {
        let (mut events, open) = state?;
        let (bytes, is_open) = events.next().await;
        Some((
            Ok::<_, Infallible>(bytes),
            is_open.then_some((events, open)),
        ))
    });
    let headers = sse::HEADERS.into_iter();
    // Hop-by-hop headers are the HTTP library's.
    let mut response = Body::from_stream(events).into_response();
    for (name, value) in headers.filter(|(name, _)| *name != "connection") {
        let value = axum::http::HeaderValue::from_static(value);
        response.headers_mut().insert(name, value);
    }
    response
}

/// A window, as events.
struct Events {
    window: WindowStream,
    /// Chunks that were read and are not written yet.
    ready: vec::IntoIter<Arc<Chunk>>,
    /// Runs out after a silence, or earlier.
    timer: Pin<Box<Sleep>>,
    /// Whom the timer wakes when it does, and when that is.
    timed: Option<(Waker, Instant)>,
}

/// Nothing has come for a while.
struct Silent;

impl Events {
    fn new(window: WindowStream) -> Self {
        Self {
            window,
            ready: Vec::new().into_iter(),
            timer: Box::pin(tokio::time::sleep(KEEPALIVE)),
            timed: None,
        }
    }

    /// What is to be written next, and whether anything follows. What is ready at the same moment is
    /// written at once, each chunk as an event of its own.
    async fn next(&mut self) -> (Bytes, bool) {
        if self.ready.len() == 0 {
            let mut bytes = Vec::new();
            match self.read().await {
                Ok(Some(chunks)) => self.ready = chunks.into_iter(),
                Ok(None) => {
                    sse::write_done(&mut bytes);
                    return (bytes.into(), false);
                }
                Err(Silent) => {
                    sse::write_comment(&mut bytes, "still here");
                    return (bytes.into(), true);
                }
            }
        }
        (batch(&mut self.ready), true)
    }

    /// The chunks that come next, or nothing once the window is closed.
    async fn read(&mut self) -> Result<Option<Vec<Arc<Chunk>>>, Silent> {
        let Self {
            window,
            timer,
            timed,
            ..
        } = self;
        let mut next = pin!(window.next());
        let began = Instant::now();
        let deadline = began + KEEPALIVE;
        let mut now = Some(began);
        poll_fn(|context| {
            if let Poll::Ready(chunks) = next.as_mut().poll(context) {
                return Poll::Ready(Ok(chunks));
            }
            // At most deltas it has been set before, and is far away: it is not even looked at.
            let now = now.take().unwrap_or_else(Instant::now);
            if let Some((waker, at)) = timed
                && waker.will_wake(context.waker())
                && now < *at
            {
                return Poll::Pending;
            }
            // The timer is only moved when it has run out: the deadline moves at every delta. And it is set
            // also where this task has done its share for now.
            while pin!(unconstrained(timer.as_mut())).poll(context).is_ready() {
                if deadline <= Instant::now() {
                    return Poll::Ready(Err(Silent));
                }
                timer.as_mut().reset(deadline);
            }
            *timed = Some((context.waker().clone(), timer.deadline()));
            Poll::Pending
        })
        .await
    }
}

/// As many chunks as are written at once.
fn batch(chunks: &mut vec::IntoIter<Arc<Chunk>>) -> Bytes {
    let mut bytes = Vec::with_capacity((chunks.len() * CHUNK).min(BATCH));
    for chunk in chunks {
        sse::write_chunk(&mut bytes, &chunk);
        if bytes.len() >= BATCH {
            break;
        }
    }
    bytes.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[tokio::test(start_paused = true)]
    async fn silent_window_gets_a_keepalive_after_each_silence() {
        let (sender, chunks) = tokio::sync::mpsc::channel(1);
        let mut events = Events::new(WindowStream::elsewhere("m".to_owned(), chunks));
        let delta = json!({"type": "text-delta", "id": "t", "delta": "x"});
        let delta = Arc::new(Chunk::decode(delta).unwrap());
        let began = Instant::now();
        let writer = tokio::spawn(async move {
            for _ in 0..3 {
                tokio::time::sleep(KEEPALIVE * 2 / 3).await;
                sender.send(vec![delta.clone()].into()).await.unwrap();
            }
            tokio::time::sleep(KEEPALIVE * 5 / 2).await;
        });
        let mut seen = Vec::new();
        loop {
            let (bytes, is_open) = events.next().await;
            if !is_open {
                break;
            }
            let silences = began.elapsed().as_secs_f64() / KEEPALIVE.as_secs_f64();
            seen.push((bytes.starts_with(b":"), (silences * 3.0).round()));
        }
        let deltas = [(false, 2.0), (false, 4.0), (false, 6.0)];
        let comments = [(true, 9.0), (true, 12.0)];
        assert_eq!(seen, [&deltas[..], &comments].concat());
        writer.await.unwrap();
    }

    #[test]
    fn long_turn_is_written_in_batches() {
        let delta = json!({"type": "text-delta", "id": "t", "delta": "x".repeat(1000)});
        let delta = Arc::new(Chunk::decode(delta).unwrap());
        let mut chunks = vec![delta; 1000].into_iter();
        let (mut batches, mut events) = (0, 0);
        while chunks.len() > 0 {
            let bytes = batch(&mut chunks);
            assert!(bytes.len() < BATCH + 2000, "{}", bytes.len());
            let text = String::from_utf8(bytes.to_vec()).unwrap();
            events += text.matches("\n\n").count();
            batches += 1;
        }
        assert_eq!(events, 1000);
        assert!(batches > 10, "{batches}");
    }
}
