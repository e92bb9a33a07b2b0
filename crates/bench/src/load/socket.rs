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
        let buffer = vec![0; 64 * 1024];
        Ok(Self { stream, buffer })
    }

    /// Tells a chat something, and reads the window to its end.
    pub async fn stream(&mut self, frame: &[u8]) -> io::Result<Seen> {
        let begun = Instant::now();
        self.stream.write_all(frame).await?;
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

    /// The frame by which a chat is told something.
    pub fn chat(chat: &str, message: &str, order: &str) -> Vec<u8> {
        let text = format!(
            r#"{{"type":"send","requestId":"r","id":"{chat}","trigger":"submit-message","messages":[{{"id":"{message}","role":"user","parts":[{{"type":"text","text":"{order}"}}]}}],"headers":{{}},"body":{{}}}}"#
        );
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
