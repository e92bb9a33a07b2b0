//! One HTTP request over a plain socket, so that a test sees how an answer ends.

use adk_stream_emulator::Emulator;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::soon;

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
    /// Whether it came to its end.
    pub(crate) is_whole: bool,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{} is no JSON", self.body))
    }

    /// What is in the events of a stream.
    pub(crate) fn events(&self) -> Vec<&str> {
        let events = self
            .body
            .split("\r\n\r\n")
            .filter(|event| !event.is_empty());
        events
            .map(|event| event.strip_prefix("data: ").unwrap_or(event))
            .collect()
    }

    /// The chunks of a stream.
    pub(crate) fn chunks(&self) -> Vec<Value> {
        let events = self.events().into_iter();
        events
            .map(|event| serde_json::from_str(event).unwrap_or_else(|_| panic!("{event}")))
            .collect()
    }

    /// The words of a stream.
    pub(crate) fn text(&self) -> String {
        let chunks = self.chunks();
        let parts = chunks
            .iter()
            .filter_map(|chunk| chunk["candidates"][0]["content"]["parts"].as_array())
            .flatten();
        parts.filter_map(|part| part["text"].as_str()).collect()
    }
}

/// Writes a request.
pub(crate) async fn write(
    stream: &mut (impl AsyncWrite + Unpin),
    method: &str,
    path: &str,
    headers: &str,
    body: &str,
) {
    let length = body.len();
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: here\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
    );
    stream.write_all(request.as_bytes()).await.unwrap();
}

/// Reads an answer to its end, whatever that is.
pub(crate) async fn read(stream: &mut (impl AsyncRead + Unpin)) -> Answer {
    let mut bytes = Vec::new();
    // A connection that is cut may end in an error: what came before it counts.
    let _ = soon(stream.read_to_end(&mut bytes)).await;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, rest) = text.split_once("\r\n\r\n").expect("an answer has a head");
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let head = head.to_lowercase();
    let (body, is_whole) = if head.contains("transfer-encoding: chunked") {
        unchunked(rest)
    } else {
        (rest.to_owned(), true)
    };
    Answer {
        status,
        head,
        body,
        is_whole,
    }
}

fn unchunked(mut rest: &str) -> (String, bool) {
    let mut body = String::new();
    while let Some((size, after)) = rest.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            return (body, true);
        }
        let Some(chunk) = after.get(..size) else {
            break;
        };
        body.push_str(chunk);
        rest = after.get(size + 2..).unwrap_or_default();
    }
    (body, false)
}

/// One request.
pub(crate) async fn request(emulator: &Emulator, method: &str, path: &str, body: &str) -> Answer {
    let mut stream = TcpStream::connect(emulator.address()).await.unwrap();
    write(&mut stream, method, path, "x-goog-api-key: k\r\n", body).await;
    read(&mut stream).await
}

/// A request to generate, with a prompt and the demo's tools.
pub(crate) fn asking(prompt: &str) -> Value {
    let tools = ["get_weather", "process_payment"];
    let tools = tools.map(|name| json!({ "name": name }));
    json!({
        "contents": [{"role": "user", "parts": [{"text": prompt}]}],
        "tools": [{"functionDeclarations": tools}],
    })
}

/// The path of a model's streamed answer.
pub(crate) fn stream_of(model: &str) -> String {
    format!("/v1beta/models/{model}:streamGenerateContent?alt=sse")
}

/// Asks, and reads the streamed answer.
pub(crate) async fn ask(emulator: &Emulator, prompt: &str) -> Answer {
    let body = asking(prompt).to_string();
    request(emulator, "POST", &stream_of("gemini-2.5-flash"), &body).await
}
