//! The bytes of a connection, with a note of what its client does.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

use super::table::Slot;

/// How long a client may continue to send a refused body after the refusal was written. If the
/// connection were closed at once, the system would reset it, and the client, or a proxy before it, might lose
/// the refusal.
const LINGER: Duration = Duration::from_secs(5);

/// How many connections end in this way at once: what they send is work, and an attacker may send it on
/// purpose. Others are closed at once.
const LINGERING: usize = 64;

/// How many bytes are taken of each before it has to wait, and for how long; longer where others end in the
/// same way, so that all together send no more than a few could.
const PIECE: usize = 64 * 1024;
const PAUSE: Duration = Duration::from_millis(10);
const UNSLOWED: usize = 4;

/// How many connections end in this way.
static ENDING: AtomicUsize = AtomicUsize::new(0);

/// The end of a connection whose client is still sending.
struct Linger {
    end: Pin<Box<Sleep>>,
    pause: Pin<Box<Sleep>>,
}

impl Linger {
    /// Nothing if too many others do the same.
    fn begin() -> Option<Self> {
        if ENDING.fetch_add(1, Ordering::Relaxed) >= LINGERING {
            ENDING.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        Some(Self {
            end: Box::pin(tokio::time::sleep(LINGER)),
            pause: Box::pin(tokio::time::sleep(Duration::ZERO)),
        })
    }

    /// Takes what still comes, piece by piece, and drops it; ready when the client has closed, or has had its
    /// time.
    fn poll<S: AsyncRead + Unpin>(
        &mut self,
        stream: &mut S,
        context: &mut Context<'_>,
    ) -> Poll<()> {
        if self.end.as_mut().poll(context).is_ready() {
            return Poll::Ready(());
        }
        let mut space = [0; 8 * 1024];
        loop {
            ready!(self.pause.as_mut().poll(context));
            let mut taken = 0;
            while taken < PIECE {
                let mut buffer = ReadBuf::new(&mut space);
                match ready!(Pin::new(&mut *stream).poll_read(context, &mut buffer)) {
                    Ok(()) if !buffer.filled().is_empty() => taken += buffer.filled().len(),
                    _ => return Poll::Ready(()),
                }
            }
            let times = ENDING.load(Ordering::Relaxed).div_ceil(UNSLOWED).max(1);
            let pause = PAUSE * u32::try_from(times).unwrap_or(u32::MAX);
            self.pause.as_mut().reset(Instant::now() + pause);
        }
    }
}

impl Drop for Linger {
    fn drop(&mut self) {
        ENDING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A TCP stream, or TLS over one, that notes when bytes come, and when none are taken. Its place among the connections
/// is free once it is dropped, also where it has become a WebSocket.
pub(super) struct Stream<S> {
    inner: S,
    slot: Slot,
    is_stalled: bool,
    linger: Option<Linger>,
}

impl<S> Stream<S> {
    pub(super) fn new(inner: S, slot: Slot) -> Self {
        Self {
            inner,
            slot,
            is_stalled: false,
            linger: None,
        }
    }

    /// Notes whether the client took something.
    fn wrote<T>(&mut self, written: Poll<T>) -> Poll<T> {
        if self.is_stalled != written.is_pending() {
            self.is_stalled = written.is_pending();
            self.slot.connection().set_stalled(self.is_stalled);
        }
        written
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Stream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.inner).poll_read(context, buffer);
        let bytes = buffer.filled().len() - before;
        if bytes > 0 {
            self.slot.connection().received(bytes);
        }
        read
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Stream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write(context, bytes);
        self.wrote(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write_vectored(context, slices);
        self.wrote(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // It is asked for once all was written, of which TLS may still hold a part.
        let flushed = Pin::new(&mut self.inner).poll_flush(context);
        if flushed.is_ready() {
            self.slot.flushed();
        }
        self.wrote(flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.linger.is_none() {
            ready!(Pin::new(&mut this.inner).poll_shutdown(context))?;
            if this.slot.connection().has_refused_body() {
                this.linger = Linger::begin();
            }
        }
        match &mut this.linger {
            Some(linger) => linger.poll(&mut this.inner, context).map(Ok),
            None => Poll::Ready(Ok(())),
        }
    }
}
