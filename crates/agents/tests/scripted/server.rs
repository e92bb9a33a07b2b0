//! A server that answers one request after the other, as a script says.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::time::sleep;

/// What to answer.
pub(crate) enum Answer {
    /// Chunks, and the end.
    Chunks(Vec<Value>),
    /// Chunks, and then nothing until the client goes.
    Hold(Vec<Value>),
    /// Chunks, and then another one again and again, until the client goes.
    Drip(Vec<Value>, Value),
    /// Bytes after the head of a stream, and the end.
    Body(Vec<u8>),
    /// An HTTP status, a header and a body.
    Status(u16, &'static str, String),
    /// An HTTP status, and a body that comes byte by byte and never ends.
    Trickle(u16),
    /// Nothing until the client goes.
    Silence,
    /// Nothing, and the end.
    HangUp,
}

/// A request that came.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) head: String,
    pub(crate) body: Value,
}

pub(crate) struct Server {
    pub(crate) url: String,
    requests: Arc<Mutex<Vec<Request>>>,
    gone: mpsc::UnboundedReceiver<()>,
}

impl Server {
    pub(crate) async fn answering(script: impl IntoIterator<Item = Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (goes, gone) = mpsc::unbounded_channel();
        let mut script: VecDeque<_> = script.into_iter().collect();
        let seen = requests.clone();
        tokio::spawn(async move {
            while let Some(answer) = script.pop_front() {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(serve(stream, answer, seen.clone(), goes.clone()));
            }
        });
        Self {
            url,
            requests,
            gone,
        }
    }

    /// Answers with chunks, once.
    pub(crate) async fn saying(chunks: Vec<Value>) -> Self {
        Self::answering([Answer::Chunks(chunks)]).await
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    pub(crate) fn last(&self) -> Request {
        self.requests().pop().unwrap()
    }

    /// Waits until a client has gone that was held.
    pub(crate) async fn client_gone(&mut self) {
        self.gone.recv().await.unwrap();
    }
}

async fn serve(
    stream: TcpStream,
    answer: Answer,
    requests: Arc<Mutex<Vec<Request>>>,
    goes: mpsc::UnboundedSender<()>,
) {
    let mut stream = BufReader::new(stream);
    let Some(request) = read(&mut stream).await else {
        return;
    };
    requests.lock().unwrap().push(request);
    let stream_head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n";
    // Cut anywhere: a reader must not depend on where packets end.
    let mut bytes = Vec::new();
    let mut is_held = false;
    let mut drip = None;
    match answer {
        Answer::Chunks(chunks) => {
            bytes.extend_from_slice(format!("{stream_head}\r\n").as_bytes());
            chunks.iter().for_each(|chunk| event(&mut bytes, chunk));
        }
        Answer::Hold(chunks) => {
            bytes.extend_from_slice(format!("{stream_head}\r\n").as_bytes());
            chunks.iter().for_each(|chunk| event(&mut bytes, chunk));
            is_held = true;
        }
        Answer::Drip(chunks, again) => {
            bytes.extend_from_slice(format!("{stream_head}\r\n").as_bytes());
            chunks.iter().for_each(|chunk| event(&mut bytes, chunk));
            let mut drop = Vec::new();
            event(&mut drop, &again);
            drip = Some((Duration::from_millis(100), drop));
        }
        Answer::Body(body) => {
            bytes.extend_from_slice(format!("{stream_head}\r\n").as_bytes());
            bytes.extend_from_slice(&body);
        }
        Answer::Status(status, header, body) => {
            let head = format!("HTTP/1.1 {status} Status\r\n{header}\r\nconnection: close\r\n");
            let length = body.len();
            bytes.extend_from_slice(
                format!("{head}content-length: {length}\r\n\r\n{body}").as_bytes(),
            );
        }
        Answer::Trickle(status) => {
            let head = format!("HTTP/1.1 {status} Status\r\ncontent-length: 100000\r\n\r\n");
            bytes.extend_from_slice(head.as_bytes());
            drip = Some((Duration::from_secs(4), b" ".to_vec()));
        }
        Answer::Silence => is_held = true,
        Answer::HangUp => return,
    }
    for piece in bytes.chunks(97) {
        if stream.write_all(piece).await.is_err() {
            break;
        }
        stream.flush().await.unwrap();
    }
    if let Some((pause, drop)) = drip {
        while stream.write_all(&drop).await.is_ok() && stream.flush().await.is_ok() {
            sleep(pause).await;
        }
    }
    if is_held {
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest).await;
        let _ = goes.send(());
    }
}

/// As Google writes it.
fn event(bytes: &mut Vec<u8>, chunk: &Value) {
    bytes.extend_from_slice(format!("data: {chunk}\r\n\r\n").as_bytes());
}

async fn read(stream: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.ok()?);
    }
    let head = String::from_utf8(head).unwrap();
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        let is_length = name.eq_ignore_ascii_case("content-length");
        is_length.then(|| value.parse().unwrap())
    });
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body).await.ok()?;
    let body = match body.is_empty() {
        true => Value::Null,
        false => serde_json::from_slice(&body).unwrap(),
    };
    Some(Request { head, body })
}
