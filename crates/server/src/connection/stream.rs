//! The bytes of a connection, with a note of what its client does.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::table::Slot;

/// A TCP stream, or TLS over one, that notes when bytes come, and when none are taken. Its place among the connections
/// is free once it is dropped, also where it has become a WebSocket.
pub(super) struct Stream<S> {
    inner: S,
    slot: Slot,
    is_stalled: bool,
}

impl<S> Stream<S> {
    pub(super) fn new(inner: S, slot: Slot) -> Self {
        Self {
            inner,
            slot,
            is_stalled: false,
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

impl<S: AsyncWrite + Unpin> AsyncWrite for Stream<S> {
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
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}
