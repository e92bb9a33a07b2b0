//! A TCP stream that notes what its client does.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::table::Slot;

/// A TCP stream that notes when bytes come, and when none are taken. Its place among the connections
/// is free once it is dropped, also where it has become a WebSocket.
pub(super) struct Stream {
    tcp: TcpStream,
    slot: Slot,
    is_stalled: bool,
}

impl Stream {
    pub(super) fn new(tcp: TcpStream, slot: Slot) -> Self {
        Self {
            tcp,
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

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.tcp).poll_read(context, buffer);
        let bytes = buffer.filled().len() - before;
        if bytes > 0 {
            self.slot.connection().received(bytes);
        }
        read
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.tcp).poll_write(context, bytes);
        self.wrote(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.tcp).poll_write_vectored(context, slices);
        self.wrote(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.tcp.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // It is asked for once all was written.
        self.slot.flushed();
        Pin::new(&mut self.tcp).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_shutdown(context)
    }
}
