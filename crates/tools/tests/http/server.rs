//! A server of a few lines that does what a test says, request by request.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What it does with one request.
#[derive(Debug, Clone)]
pub(crate) enum Reaction {
    /// Answers with a status, further headers and a body.
    Answer(u16, &'static str, String),
    /// Closes the connection without an answer.
    Cut,
    /// Promises more than it sends, and closes.
    CutInside,
    /// Never answers.
    Hang,
}

/// A request that came: its head, and its body.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (found, value) = line.split_once(": ")?;
            found.eq_ignore_ascii_case(name).then_some(value)
        })
    }
}

/// A running server. The last reaction stays.
pub(crate) struct TestServer {
    pub(crate) address: SocketAddr,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl TestServer {
    pub(crate) async fn start(reactions: impl IntoIterator<Item = Reaction>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let reactions: Arc<Mutex<VecDeque<Reaction>>> =
            Arc::new(Mutex::new(reactions.into_iter().collect()));
        let all = seen.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, reactions.clone(), all.clone()));
            }
        });
        Self { address, seen }
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }
}

async fn serve(
    mut stream: TcpStream,
    reactions: Arc<Mutex<VecDeque<Reaction>>>,
    seen: Arc<Mutex<Vec<Seen>>>,
) {
    let mut bytes = Vec::new();
    let end = loop {
        let mut part = [0; 4096];
        let read = stream.read(&mut part).await.unwrap_or(0);
        if read == 0 {
            return;
        }
        bytes.extend_from_slice(&part[..read]);
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end + 4;
        }
    };
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let mut request = Seen {
        head,
        body: String::new(),
    };
    let length = request
        .header("content-length")
        .map_or(0, |length| length.parse().unwrap());
    let mut body = bytes.split_off(end);
    while body.len() < length {
        let mut part = [0; 4096];
        let read = stream.read(&mut part).await.unwrap();
        body.extend_from_slice(&part[..read]);
    }
    request.body = String::from_utf8(body).unwrap();
    seen.lock().unwrap().push(request);
    let reaction = {
        let mut reactions = reactions.lock().unwrap();
        match reactions.len() {
            1 => reactions[0].clone(),
            _ => reactions.pop_front().unwrap(),
        }
    };
    match reaction {
        Reaction::Answer(status, headers, body) => {
            let length = body.len();
            let head = format!("HTTP/1.1 {status} X\r\n{headers}content-length: {length}\r\n\r\n");
            stream.write_all((head + &body).as_bytes()).await.unwrap();
        }
        Reaction::Cut => {}
        Reaction::CutInside => {
            let head = "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{\"half\":";
            stream.write_all(head.as_bytes()).await.unwrap();
        }
        Reaction::Hang => std::future::pending().await,
    }
}
