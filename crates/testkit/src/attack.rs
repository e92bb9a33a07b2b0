//! Hostile clients on raw sockets, for tests and measurements of a server under attack.
//!
//! Every client that the server cuts off connects again, as an attacker's tool would.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;

/// Where hostile clients come from: not the address of the client that behaves.
pub const HOSTILE: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 66));

/// The pause before a client that was cut off connects again, and between the bytes of a slow one.
const PAUSE: Duration = Duration::from_millis(250);

/// What a hostile client does with its connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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
    /// What the server did to clients of each kind, and how often.
    by_client: Mutex<BTreeMap<(Client, Defence), usize>>,
}

/// What a server does to a hostile client.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Defence {
    /// It closes the connection.
    Cut,
    /// It answers with this status and this code.
    Refused(u16, String),
}

impl Defence {
    /// An answer with this status and this code.
    pub fn refused(status: u16, code: &str) -> Self {
        Self::Refused(status, code.to_owned())
    }
}

impl Counts {
    /// What the server did to clients of each kind so far, and how often.
    pub fn by_client(&self) -> BTreeMap<(Client, Defence), usize> {
        self.lock().clone()
    }

    fn note(&self, client: Client, defence: Defence) {
        let total = match defence {
            Defence::Cut => Some(&self.cut),
            Defence::Refused(429 | 503, _) => Some(&self.refused),
            Defence::Refused(..) => None,
        };
        if let Some(total) = total {
            total.fetch_add(1, Ordering::Relaxed);
        }
        *self.lock().entry((client, defence)).or_default() += 1;
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<(Client, Defence), usize>> {
        self.by_client
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
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
                client,
                server: self.server,
                key: self.key.clone(),
                name: format!("{client:?}-{number}"),
                counts,
            };
            self.clients.spawn(async move {
                for life in 0_usize.. {
                    // Whatever the server does to the connection, the next one follows.
                    if let Ok(stream) = attacker.connect().await {
                        let _ = attacker.live(stream, life).await;
                        attacker.counts.note(client, Defence::Cut);
                    }
                    tokio::time::sleep(PAUSE).await;
                }
            });
        }
    }
}

struct Attacker {
    client: Client,
    server: SocketAddr,
    key: String,
    name: String,
    counts: Arc<Counts>,
}

impl Attacker {
    /// One connection, until the server closes it.
    async fn live(&self, mut stream: TcpStream, life: usize) -> io::Result<()> {
        match self.client {
            Client::Silent => until_closed(&mut stream).await,
            Client::SlowHeader => {
                stream
                    .write_all(b"GET /api/info HTTP/1.1\r\nhost: localhost\r\n")
                    .await?;
                self.drip(&mut stream, b"x-more: yes\r\n").await
            }
            Client::SlowBody => {
                let head = self.head("POST /api/chat", 1 << 20);
                stream.write_all(head.as_bytes()).await?;
                self.drip(&mut stream, b" ").await
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
                self.drip(&mut stream, &[b' '; 1024]).await
            }
            Client::IdleEvents => {
                let head = self.head("GET /api/events", 0);
                stream.write_all(head.as_bytes()).await?;
                let mut answer = Vec::new();
                let mut is_begun = false;
                while !is_begun {
                    read_more(&mut stream, &mut answer).await?;
                    is_begun = answer.starts_with(b"HTTP/1.1 200") || is_whole(&answer);
                }
                self.note(&answer);
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

    async fn connect(&self) -> io::Result<TcpStream> {
        let socket = TcpSocket::new_v4()?;
        if self.client == Client::NeverRead {
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
        let mut answer = Vec::new();
        while !is_whole(&answer) {
            read_more(stream, &mut answer).await?;
        }
        self.note(&answer);
        Ok(())
    }

    /// Sends the same bytes over and over, slowly, until the server has closed.
    async fn drip(&self, stream: &mut TcpStream, bytes: &[u8]) -> io::Result<()> {
        let mut answer = Vec::new();
        let mut is_noted = false;
        loop {
            let (mut read, mut write) = stream.split();
            let mut buffer = [0; 1024];
            tokio::select! {
                read = read.read(&mut buffer) => match read? {
                    0 => return Ok(()),
                    read => answer.extend_from_slice(&buffer[..read]),
                },
                () = tokio::time::sleep(PAUSE) => write.write_all(bytes).await?,
            }
            if !is_noted && is_whole(&answer) {
                self.note(&answer);
                is_noted = true;
            }
        }
    }

    /// Counts an answer, as far as it has come.
    fn note(&self, answer: &[u8]) {
        let text = String::from_utf8_lossy(answer);
        let status = text.split(' ').nth(1).and_then(|code| code.parse().ok());
        match status {
            Some(status @ 400..) => {
                let code = text.split(r#""code":""#).nth(1);
                let code = code.and_then(|rest| rest.split('"').next());
                let code = code.unwrap_or_default();
                self.counts
                    .note(self.client, Defence::refused(status, code));
            }
            _ => {
                self.counts.served.fetch_add(1, Ordering::Relaxed);
            }
        }
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

/// Reads what comes next of an answer.
async fn read_more(stream: &mut TcpStream, answer: &mut Vec<u8>) -> io::Result<()> {
    match stream.read_buf(answer).await? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(()),
    }
}

/// Whether an answer has come to its end.
fn is_whole(answer: &[u8]) -> bool {
    let text = String::from_utf8_lossy(answer);
    let Some((head, body)) = text.split_once("\r\n\r\n") else {
        return false;
    };
    let head = head.to_ascii_lowercase();
    let length = head.split("content-length: ").nth(1);
    let length = length.and_then(|rest| rest.split("\r\n").next()?.parse::<usize>().ok());
    match length {
        Some(length) => body.len() >= length,
        None => body.ends_with("0\r\n\r\n"),
    }
}
