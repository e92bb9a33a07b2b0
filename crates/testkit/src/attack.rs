//! Hostile clients on raw sockets, for tests and measurements of a server under attack.
//!
//! Every client that the server cuts off connects again, as an attacker's tool would.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;

/// Where hostile clients come from: not the address of the client that behaves.
pub const HOSTILE: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 66));

/// The pause before a client that was cut off connects again, and between the bytes of a slow one.
const PAUSE: Duration = Duration::from_millis(250);

/// What a hostile client does with its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
    /// Connects and says nothing.
    Silent,
    /// Sends one header line at a time, and never the last.
    SlowHeader,
    /// Announces a large body, and sends a byte at a time.
    SlowBody,
    /// Asks for the page again and again on one connection, and reads nothing.
    NeverRead,
    /// Begins one turn after another that asks for an approval, each in a chat of its own, and lists
    /// what waits.
    ParkApprovals,
    /// Sends large bodies that are hard to parse, one after another.
    HeavyBody,
    /// Opens a WebSocket, and sends the most of a large frame.
    UnfinishedFrame,
    /// Announces a large body, and sends as much of it as reserves memory.
    UnfinishedBody,
    /// Opens a stream of events, and holds it.
    IdleEvents,
}

/// Two thousand connections, 32 of which use up what a key may, and 80 more its streams of events.
pub const CLIENTS: [(usize, Client); 9] = [
    (728, Client::Silent),
    (80, Client::IdleEvents),
    (500, Client::SlowHeader),
    (400, Client::SlowBody),
    (228, Client::NeverRead),
    (12, Client::UnfinishedFrame),
    (20, Client::UnfinishedBody),
    (16, Client::ParkApprovals),
    (16, Client::HeavyBody),
];

/// What became of the attack so far.
#[derive(Debug, Default)]
pub struct Counts {
    /// Connections that were made.
    pub connected: AtomicUsize,
    /// Connections that the server closed.
    pub cut: AtomicUsize,
    /// Requests that were served.
    pub served: AtomicUsize,
    /// Requests that were answered by 429 or 503.
    pub refused: AtomicUsize,
}

/// Hostile clients at work; they stop when this is dropped.
#[derive(Debug)]
pub struct Attack {
    server: SocketAddr,
    key: String,
    /// What became of it so far.
    pub counts: Arc<Counts>,
    clients: JoinSet<()>,
}

impl Attack {
    /// An attack on a server, by a principal with a key of its own.
    pub fn on(server: SocketAddr, key: &str) -> Self {
        Self {
            server,
            key: key.to_owned(),
            counts: Arc::default(),
            clients: JoinSet::new(),
        }
    }

    /// Adds this many clients that do this.
    pub fn add(&mut self, count: usize, client: Client) {
        for number in 0..count {
            let counts = self.counts.clone();
            let attacker = Attacker {
                server: self.server,
                key: self.key.clone(),
                name: format!("{client:?}-{number}"),
                counts,
            };
            self.clients.spawn(async move {
                for life in 0_usize.. {
                    // Whatever the server does to the connection, the next one follows.
                    let _ = attacker.live(client, life).await;
                    attacker.counts.cut.fetch_add(1, Ordering::Relaxed);
                    tokio::time::sleep(PAUSE).await;
                }
            });
        }
    }
}

struct Attacker {
    server: SocketAddr,
    key: String,
    name: String,
    counts: Arc<Counts>,
}

impl Attacker {
    /// One connection, until the server closes it.
    async fn live(&self, client: Client, life: usize) -> io::Result<()> {
        let mut stream = self.connect(client).await?;
        match client {
            Client::Silent => until_closed(&mut stream).await,
            Client::SlowHeader => {
                stream
                    .write_all(b"GET /api/info HTTP/1.1\r\nhost: localhost\r\n")
                    .await?;
                drip(&mut stream, b"x-more: yes\r\n").await
            }
            Client::SlowBody => {
                let head = self.head("POST /api/chat", 1 << 20);
                stream.write_all(head.as_bytes()).await?;
                drip(&mut stream, b" ").await
            }
            Client::NeverRead => loop {
                stream
                    .write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")
                    .await?;
            },
            Client::ParkApprovals => {
                for number in 0_usize.. {
                    let chat = format!("{}-{life}-{number}", self.name);
                    self.call(&mut stream, "POST /api/chat", &message(&chat))
                        .await?;
                    self.call(&mut stream, "GET /api/approvals", "").await?;
                }
                Ok(())
            }
            Client::UnfinishedFrame => {
                let upgrade = format!(
                    "GET /api/chat/live HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\n\
                     connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n\
                     sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
                    self.key
                );
                stream.write_all(upgrade.as_bytes()).await?;
                // Its mask is zero, so that the payload is sent as it is.
                let length = 4_000_000_u64.to_be_bytes();
                let head = [&[0x81, 0xff][..], &length, &[0; 4]].concat();
                stream.write_all(&head).await?;
                stream.write_all(&vec![b'x'; 3_000_000]).await?;
                until_closed(&mut stream).await
            }
            Client::UnfinishedBody => {
                let head = self.head("POST /api/chat", 4 << 20);
                stream.write_all(head.as_bytes()).await?;
                stream.write_all(&vec![b' '; 100_000]).await?;
                drip(&mut stream, &[b' '; 1024]).await
            }
            Client::IdleEvents => {
                let head = self.head("GET /api/events", 0);
                stream.write_all(head.as_bytes()).await?;
                let mut status = [0; 12];
                stream.read_exact(&mut status).await?;
                match &status {
                    b"HTTP/1.1 200" => self.counts.served.fetch_add(1, Ordering::Relaxed),
                    _ => self.counts.refused.fetch_add(1, Ordering::Relaxed),
                };
                until_closed(&mut stream).await
            }
            Client::HeavyBody => {
                let body = format!("[{}0]", "[],".repeat(1_300_000));
                loop {
                    self.call(&mut stream, "POST /api/chat", &body).await?;
                }
            }
        }
    }

    async fn connect(&self, client: Client) -> io::Result<TcpStream> {
        let socket = TcpSocket::new_v4()?;
        if client == Client::NeverRead {
            // Little is taken by the system in the client's place.
            socket.set_recv_buffer_size(4096)?;
        }
        socket.bind(SocketAddr::new(HOSTILE, 0))?;
        let stream = socket.connect(self.server).await?;
        self.counts.connected.fetch_add(1, Ordering::Relaxed);
        Ok(stream)
    }

    fn head(&self, line: &str, length: usize) -> String {
        format!(
            "{line} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\n\
             content-type: application/json\r\ncontent-length: {length}\r\n\r\n",
            self.key
        )
    }

    /// Sends a request and reads its answer to the end.
    async fn call(&self, stream: &mut TcpStream, line: &str, body: &str) -> io::Result<()> {
        stream
            .write_all(self.head(line, body.len()).as_bytes())
            .await?;
        stream.write_all(body.as_bytes()).await?;
        let status = read_answer(stream).await?;
        let count = match status {
            429 | 503 => &self.counts.refused,
            _ => &self.counts.served,
        };
        count.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

fn message(chat: &str) -> String {
    format!(
        r#"{{"id":"{chat}","messages":[{{"id":"m","role":"user","parts":[{{"type":"text","text":"Send $1 to Mallory"}}]}}]}}"#
    )
}

async fn until_closed(stream: &mut TcpStream) -> io::Result<()> {
    let mut buffer = [0; 1024];
    while stream.read(&mut buffer).await? > 0 {}
    Ok(())
}

/// Sends the same bytes over and over, slowly, until the server has closed.
async fn drip(stream: &mut TcpStream, bytes: &[u8]) -> io::Result<()> {
    let (mut read, mut write) = stream.split();
    let mut buffer = [0; 1024];
    loop {
        tokio::select! {
            answer = read.read(&mut buffer) => match answer? {
                0 => return Ok(()),
                _ => continue,
            },
            () = tokio::time::sleep(PAUSE) => write.write_all(bytes).await?,
        }
    }
}

/// Reads an answer to its end, and returns its status.
async fn read_answer(stream: &mut TcpStream) -> io::Result<u16> {
    let mut answer = Vec::new();
    let mut buffer = vec![0; 16 * 1024];
    loop {
        let read = stream.read(&mut buffer).await?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        answer.extend_from_slice(&buffer[..read]);
        let text = String::from_utf8_lossy(&answer);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let head = head.to_ascii_lowercase();
        let length = head.split("content-length: ").nth(1);
        let length = length.and_then(|rest| rest.split("\r\n").next()?.parse::<usize>().ok());
        let is_whole = match length {
            Some(length) => body.len() >= length,
            None => body.ends_with("0\r\n\r\n"),
        };
        if is_whole {
            let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
            return status.ok_or_else(|| io::ErrorKind::InvalidData.into());
        }
    }
}
