//! A client over a WebSocket, in the AI SDK's own frames.

use std::io;
use std::net::SocketAddr;
use std::time::Instant;

use memchr::memmem;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{Counter, Seen};

/// One socket, with one request at a time.
#[derive(Debug)]
pub struct Socket {
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// The last frame of a window. It is the last thing that comes, so that it ends a piece.
const END: &[u8] = br#"{"type":"end","requestId":"r"}"#;

impl Socket {
    /// Opens a socket.
    pub async fn open(address: SocketAddr) -> io::Result<Self> {
        Self::open_with(address, 64 * 1024).await
    }

    /// Opens a socket with a read buffer of this many bytes.
    pub async fn open_with(address: SocketAddr, buffer: usize) -> io::Result<Self> {
        let mut stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        // Any key will do: nobody here checks the answer.
        let request = "GET /api/chat/live HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\n\
             upgrade: websocket\r\nsec-websocket-version: 13\r\n\
             sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
        stream.write_all(request.as_bytes()).await?;
        let mut head = Vec::new();
        while memmem::find(&head, b"\r\n\r\n").is_none() {
            if stream.read_buf(&mut head).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        if !head.starts_with(b"HTTP/1.1 101") {
            let head = String::from_utf8_lossy(&head).into_owned();
            return Err(io::Error::other(head));
        }
        let buffer = vec![0; buffer];
        Ok(Self { stream, buffer })
    }

    /// Tells a chat something, and reads the window to its end.
    pub async fn stream(&mut self, frame: &[u8]) -> io::Result<Seen> {
        self.stream_with(frame, |_| ()).await
    }

    /// The same, and says how many deltas came with each piece of the stream.
    pub async fn stream_with(&mut self, frame: &[u8], on: impl FnMut(usize)) -> io::Result<Seen> {
        let begun = Instant::now();
        self.send(frame).await?;
        self.read_rest_with(begun, on).await
    }

    /// Sends a frame.
    pub async fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        self.stream.write_all(frame).await
    }

    /// Reads until bytes come that hold a text.
    pub async fn read_until(&mut self, text: &str) -> io::Result<()> {
        let mut all = Vec::new();
        while memmem::find(&all, text.as_bytes()).is_none() {
            if self.stream.read_buf(&mut all).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(())
    }

    /// Reads a window that was asked for to its end, and says how many deltas came with each piece.
    pub async fn read_rest_with(
        &mut self,
        begun: Instant,
        mut on: impl FnMut(usize),
    ) -> io::Result<Seen> {
        let mut seen = Seen::default();
        let mut counter = Counter::default();
        let mut tail = Vec::new();
        loop {
            let read = self.stream.read(&mut self.buffer).await?;
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            let piece = &self.buffer[..read];
            let before = seen.deltas;
            seen.deltas += counter.count(piece);
            on(seen.deltas - before);
            if before == 0 && seen.deltas > 0 {
                seen.first = begun.elapsed();
            }
            let from = piece.len().saturating_sub(END.len());
            tail.extend_from_slice(&piece[from..]);
            let excess = tail.len().saturating_sub(END.len());
            tail.drain(..excess);
            if tail == END {
                return Ok(seen);
            }
        }
    }

    /// The frame that sends a message to a chat.
    pub fn chat(chat: &str, message: &str, order: &str) -> Vec<u8> {
        let text = format!(
            r#"{{"type":"send","requestId":"r","id":"{chat}","trigger":"submit-message","messages":[{{"id":"{message}","role":"user","parts":[{{"type":"text","text":"{order}"}}]}}],"headers":{{}},"body":{{}}}}"#
        );
        Self::frame(&text)
    }

    /// The frame by which the window of a chat's turn is asked for.
    pub fn resume(chat: &str) -> Vec<u8> {
        let text = format!(
            r#"{{"type":"resume","requestId":"r","id":"{chat}","headers":{{}},"body":{{}}}}"#
        );
        Self::frame(&text)
    }

    /// A text as a client's frame.
    fn frame(text: &str) -> Vec<u8> {
        let mut frame = vec![0x81];
        // The length, and a mask of zeros, which leaves the text as it is.
        match u8::try_from(text.len()) {
            Ok(length) if length < 126 => frame.push(0x80 | length),
            _ => {
                frame.push(0x80 | 126);
                let length = u16::try_from(text.len()).unwrap_or(u16::MAX);
                frame.extend(length.to_be_bytes());
            }
        }
        frame.extend([0; 4]);
        frame.extend(text.as_bytes());
        frame
    }
}
