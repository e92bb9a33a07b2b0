//! A client over HTTP/1.1, on one connection that is kept.

use std::io;
use std::net::SocketAddr;
use std::time::Instant;

use memchr::memmem;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{Counter, Seen};

/// One connection.
#[derive(Debug)]
pub struct Http {
    stream: TcpStream,
    buffer: Vec<u8>,
}

/// How a chunked body ends. In the bodies themselves, every line break of a text is escaped.
const END: &[u8] = b"0\r\n\r\n";

impl Http {
    /// Opens a connection.
    pub async fn open(address: SocketAddr) -> io::Result<Self> {
        Self::open_with(address, 64 * 1024).await
    }

    /// Opens a connection with a read buffer of this many bytes.
    pub async fn open_with(address: SocketAddr, buffer: usize) -> io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let buffer = vec![0; buffer];
        Ok(Self { stream, buffer })
    }

    /// Sends a request, and reads the stream that answers it to its end.
    pub async fn stream(&mut self, request: &[u8]) -> io::Result<Seen> {
        let begun = Instant::now();
        self.send(request).await?;
        self.read_stream(begun, |_| ()).await
    }

    /// The same, and says how many deltas came with each piece of the stream.
    pub async fn stream_with(&mut self, request: &[u8], on: impl FnMut(usize)) -> io::Result<Seen> {
        let begun = Instant::now();
        self.send(request).await?;
        self.read_stream(begun, on).await
    }

    /// Sends a request.
    pub async fn send(&mut self, request: &[u8]) -> io::Result<()> {
        self.stream.write_all(request).await
    }

    /// Reads until bytes come that hold a text.
    pub async fn read_until(&mut self, text: &str) -> io::Result<()> {
        let mut all = Vec::new();
        while memmem::find(&all, text.as_bytes()).is_none() {
            let read = self.read().await?;
            all.extend_from_slice(&self.buffer[..read]);
        }
        Ok(())
    }

    async fn read_stream(&mut self, begun: Instant, on: impl FnMut(usize)) -> io::Result<Seen> {
        let read = self.read().await?;
        if !self.buffer[..read].starts_with(b"HTTP/1.1 200") {
            let text = String::from_utf8_lossy(&self.buffer[..read]);
            return Err(io::Error::other(text.into_owned()));
        }
        self.read_on(begun, read, on).await
    }

    /// Reads a stream that has begun to its end.
    pub async fn read_rest(&mut self, begun: Instant) -> io::Result<Seen> {
        self.read_rest_with(begun, |_| ()).await
    }

    /// The same, and says how many deltas came with each piece of the stream.
    pub async fn read_rest_with(
        &mut self,
        begun: Instant,
        on: impl FnMut(usize),
    ) -> io::Result<Seen> {
        let read = self.read().await?;
        self.read_on(begun, read, on).await
    }

    async fn read_on(
        &mut self,
        begun: Instant,
        mut read: usize,
        mut on: impl FnMut(usize),
    ) -> io::Result<Seen> {
        let mut seen = Seen::default();
        let mut counter = Counter::default();
        let mut tail = Vec::new();
        loop {
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
            read = self.read().await?;
        }
    }

    /// Sends a request, and reads the whole answer: its head and its body as they came.
    pub async fn call(&mut self, request: &[u8]) -> io::Result<Vec<u8>> {
        self.send(request).await?;
        self.answer().await
    }

    /// Reads the whole answer to what was sent.
    pub async fn answer(&mut self) -> io::Result<Vec<u8>> {
        let mut answer = Vec::new();
        loop {
            let read = self.read().await?;
            answer.extend_from_slice(&self.buffer[..read]);
            if is_whole(&answer) {
                return Ok(answer);
            }
        }
    }

    async fn read(&mut self) -> io::Result<usize> {
        match self.stream.read(&mut self.buffer).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            read => Ok(read),
        }
    }
}

fn is_whole(answer: &[u8]) -> bool {
    let Some(head) = memmem::find(answer, b"\r\n\r\n") else {
        return false;
    };
    let body = answer.len() - head - 4;
    let head = String::from_utf8_lossy(&answer[..head]).to_ascii_lowercase();
    match head.split("content-length: ").nth(1) {
        Some(rest) => {
            let length = rest.split("\r\n").next().and_then(|n| n.parse().ok());
            body >= length.unwrap_or(0)
        }
        None => !head.contains("chunked") || answer.ends_with(END),
    }
}

/// A request with a JSON body.
pub(crate) fn post(path: &str, body: &str) -> Vec<u8> {
    format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

impl Http {
    /// The request that sends a message to a chat.
    pub fn chat(chat: &str, message: &str, order: &str) -> Vec<u8> {
        post("/api/chat", &body(chat, message, order))
    }

    /// A request with a JSON body.
    pub fn post(path: &str, body: &str) -> Vec<u8> {
        post(path, body)
    }

    /// The same request, by the owner of a key.
    pub fn with_key(request: &[u8], key: &str) -> Vec<u8> {
        let request = String::from_utf8_lossy(request);
        let header = format!("\r\nauthorization: Bearer {key}\r\n");
        request.replacen("\r\n", &header, 1).into_bytes()
    }

    /// A request without a body.
    pub fn get(path: &str) -> Vec<u8> {
        format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n").into_bytes()
    }
}

fn body(chat: &str, message: &str, order: &str) -> String {
    format!(
        r#"{{"id":"{chat}","trigger":"submit-message","messages":[{{"id":"{message}","role":"user","parts":[{{"type":"text","text":"{order}"}}]}}]}}"#
    )
}
