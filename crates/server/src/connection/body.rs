//! Bodies: a request's, which has to come at a certain rate, and a response's, whose end is noted.

use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::time::{Instant, Sleep};

use super::limits::ConnectionLimits;
use super::state::Connection;
use super::table::Table;
use crate::access_log::AccessLine;

/// A body that did not come in time.
#[derive(Debug)]
pub(crate) struct TooSlow;

impl fmt::Display for TooSlow {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the body did not come in time")
    }
}

impl Error for TooSlow {}

impl TooSlow {
    /// Whether it is why a body could not be read.
    pub(crate) fn is_cause_of(error: &(dyn Error + 'static)) -> bool {
        let mut cause = Some(error);
        while let Some(error) = cause {
            if error.is::<Self>() {
                return true;
            }
            cause = error.source();
        }
        false
    }
}

/// The body of a request. It fails when nothing comes for a time, or less than a certain rate.
pub(super) struct RequestBody<B = Incoming> {
    body: B,
    connection: Arc<Connection>,
    has_ended: bool,
    timeout: Duration,
    /// Once something was waited for.
    wait: Option<Pin<Box<Wait>>>,
    received: u64,
}

/// A wait for what a client sends.
struct Wait {
    began: Instant,
    progress: Instant,
    timer: Pin<Box<Sleep>>,
}

impl<B> RequestBody<B> {
    pub(super) fn new(body: B, timeout: Duration, connection: Arc<Connection>) -> Self {
        Self {
            body,
            connection,
            has_ended: false,
            timeout,
            wait: None,
            received: 0,
        }
    }
}

impl<B> Drop for RequestBody<B> {
    fn drop(&mut self) {
        if !self.has_ended {
            self.connection.refuse_body();
        }
    }
}

impl Wait {
    /// When the body has come too slowly.
    fn deadline(&self, timeout: Duration, received: u64) -> Instant {
        let rate = f64::from(ConnectionLimits::MIN_BODY_RATE);
        // More than a body may hold is no longer exact, and need not be.
        #[expect(
            clippy::cast_precision_loss,
            reason = "bodies hold less than 2^53 bytes"
        )]
        let earned = Duration::from_secs_f64(received as f64 / rate);
        (self.progress + timeout).min(self.began + timeout + earned)
    }
}

impl<B> Body for RequestBody<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    type Data = Bytes;
    type Error = Box<dyn Error + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let this = &mut *self;
        if let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(context) {
            let data = frame.as_ref().and_then(|frame| frame.as_ref().ok());
            let length = data.and_then(Frame::data_ref).map_or(0, Bytes::len);
            this.received += length as u64;
            this.has_ended = frame.is_none() || this.body.is_end_stream();
            if let Some(wait) = &mut this.wait {
                wait.progress = Instant::now();
            }
            return Poll::Ready(frame.map(|frame| frame.map_err(Into::into)));
        }
        let (timeout, received) = (this.timeout, this.received);
        let wait = this.wait.get_or_insert_with(|| {
            let now = Instant::now();
            Box::pin(Wait {
                began: now,
                progress: now,
                timer: Box::pin(tokio::time::sleep_until(now + timeout)),
            })
        });
        // The timer is only moved when it has run out: the deadline moves at every frame.
        loop {
            ready!(wait.timer.as_mut().poll(context));
            let deadline = wait.deadline(timeout, received);
            if deadline <= Instant::now() {
                return Poll::Ready(Some(Err(TooSlow.into())));
            }
            wait.timer.as_mut().reset(deadline);
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The body of a response, which notes what is to be written of it, and when it has ended.
pub(super) struct ResponseBody {
    body: axum::body::Body,
    request: ServedRequest,
    table: Arc<Table>,
    line: Option<AccessLine>,
}

impl ResponseBody {
    pub(super) fn new(
        body: axum::body::Body,
        request: ServedRequest,
        table: Arc<Table>,
        line: Option<AccessLine>,
    ) -> Self {
        Self {
            body,
            request,
            table,
            line,
        }
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        let data = frame.as_ref().and_then(|frame| frame.as_ref().ok());
        let bytes = data.and_then(Frame::data_ref).map_or(0, Bytes::len);
        if let Some(line) = &mut self.line {
            line.sent(bytes);
        }
        let cut = self.table.respond(&self.request.0, bytes);
        if cut > 0 {
            tracing::info!(connections = cut, "cut off clients that do not read");
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A request that is being served, until it is dropped.
pub(super) struct ServedRequest(Arc<Connection>);

impl ServedRequest {
    pub(super) fn begin(connection: Arc<Connection>) -> Self {
        connection.begin_request();
        Self(connection)
    }
}

impl Drop for ServedRequest {
    fn drop(&mut self) {
        self.0.end_request();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::StreamExt;
    use tokio::sync::mpsc;

    const TIMEOUT: Duration = Duration::from_secs(10);

    /// A body that is sent piece by piece, and what becomes of it.
    fn body() -> (
        mpsc::UnboundedSender<&'static [u8]>,
        tokio::task::JoinHandle<Result<usize, bool>>,
    ) {
        let (sender, receiver) = mpsc::unbounded_channel::<&'static [u8]>();
        let pieces = futures_util::stream::unfold(receiver, async |mut receiver| {
            let piece = Bytes::from_static(receiver.recv().await?);
            Some((Ok::<_, std::convert::Infallible>(piece), receiver))
        });
        let connection = Arc::new(Connection::new(Instant::now()));
        let body = RequestBody::new(axum::body::Body::from_stream(pieces), TIMEOUT, connection);
        let mut stream = axum::body::Body::new(body).into_data_stream();
        let reader = tokio::spawn(async move {
            let mut length = 0;
            while let Some(piece) = stream.next().await {
                length += piece.map_err(|error| TooSlow::is_cause_of(&error))?.len();
            }
            Ok(length)
        });
        (sender, reader)
    }

    #[tokio::test(start_paused = true)]
    async fn body_that_comes_at_the_rate_is_read() {
        let (sender, reader) = body();
        for _ in 0..60 {
            sender.send(&[0; 1024]).unwrap();
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        drop(sender);
        assert_eq!(reader.await.unwrap(), Ok(60 * 1024));
    }

    #[tokio::test(start_paused = true)]
    async fn body_that_trickles_is_given_up() {
        let (sender, reader) = body();
        let began = Instant::now();
        while sender.send(b"x").is_ok() {
            assert!(began.elapsed() < TIMEOUT * 2, "it is still read");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        assert_eq!(reader.await.unwrap(), Err(true));
        let took = began.elapsed();
        assert!(took >= TIMEOUT && took < TIMEOUT * 2, "{took:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn body_that_stops_in_the_middle_is_given_up() {
        let (sender, reader) = body();
        sender.send(&[0; 1024 * 1024]).unwrap();
        let began = Instant::now();
        assert_eq!(reader.await.unwrap(), Err(true));
        assert!(began.elapsed() <= TIMEOUT * 2);
        drop(sender);
    }
}
