//! Lines within bounds: one JSON-RPC message each.

use rmcp::model::RequestId;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// How many times as long as allowed a line may be before it is no message any more, but a flood.
const MAX_SKIPPED: usize = 32;

/// How much room a reader keeps between two lines.
const KEPT_BYTES: usize = 64 * 1024;

/// How long an id may be.
const MAX_ID_BYTES: usize = 128;

/// Reads lines, and never keeps more of one than is allowed.
pub(super) struct LineReader<R> {
    read: BufReader<R>,
    line: Vec<u8>,
    max: usize,
    /// What is skipped of a line that is too long.
    skipped: Option<Skipped>,
    is_taken: bool,
}

struct Skipped {
    bytes: usize,
    ids: IdScanner,
}

/// What was read.
pub(super) enum LineRead {
    /// A line is there.
    Line,
    /// A line was too long, and answered this request.
    TooLong { id: Option<RequestId>, bytes: usize },
    /// A line does not end.
    Flood,
    /// There is no more.
    End,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(super) fn new(read: R, max: usize) -> Self {
        Self {
            read: BufReader::with_capacity(KEPT_BYTES, read),
            line: Vec::new(),
            max,
            skipped: None,
            is_taken: false,
        }
    }

    /// The line that was read.
    pub(super) fn line(&self) -> &[u8] {
        &self.line
    }

    /// Reads the next line. It can be dropped at any time: what was read so far is kept.
    pub(super) async fn next(&mut self) -> LineRead {
        if std::mem::take(&mut self.is_taken) {
            self.line.clear();
            self.line.shrink_to(KEPT_BYTES);
        }
        loop {
            let available = match self.read.fill_buf().await {
                Ok([]) | Err(_) => return LineRead::End,
                Ok(available) => available,
            };
            let newline = memchr::memchr(b'\n', available);
            let bytes = &available[..newline.unwrap_or(available.len())];
            if let Some(skipped) = &mut self.skipped {
                skipped.add(bytes);
            } else if self.line.len() + bytes.len() > self.max {
                let mut skipped = Skipped {
                    bytes: 0,
                    ids: IdScanner::default(),
                };
                skipped.add(&self.line);
                skipped.add(bytes);
                self.line = Vec::new();
                self.skipped = Some(skipped);
            } else {
                self.line.extend_from_slice(bytes);
            }
            let read = bytes.len() + usize::from(newline.is_some());
            self.read.consume(read);
            let is_flood = |skipped: &Skipped| skipped.bytes / MAX_SKIPPED > self.max;
            match (newline, &self.skipped) {
                (None, Some(skipped)) if is_flood(skipped) => return LineRead::Flood,
                (None, _) => {}
                (Some(_), None) => {
                    self.is_taken = true;
                    return LineRead::Line;
                }
                (Some(_), Some(_)) => {
                    let skipped = self.skipped.take();
                    return LineRead::TooLong {
                        bytes: skipped.as_ref().map_or(0, |skipped| skipped.bytes),
                        id: skipped.and_then(|skipped| skipped.ids.answered()),
                    };
                }
            }
        }
    }
}

impl Skipped {
    fn add(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len();
        self.ids.scan(bytes);
    }
}

/// Finds the `id` of a message without keeping it: the text may be cut anywhere.
#[derive(Default)]
struct IdScanner {
    depth: usize,
    is_string: bool,
    is_escaped: bool,
    /// The key or scalar that is being read, if it belongs to the message itself.
    token: Vec<u8>,
    key: Vec<u8>,
    id: Option<RequestId>,
    has_method: bool,
}

impl IdScanner {
    fn scan(&mut self, mut bytes: &[u8]) {
        while let Some((byte, rest)) = bytes.split_first() {
            bytes = rest;
            if self.is_string {
                self.keep(*byte);
                match byte {
                    _ if self.is_escaped => self.is_escaped = false,
                    b'\\' => self.is_escaped = true,
                    b'"' => self.is_string = false,
                    // A long text is what makes a message long: it is skipped in one go.
                    _ if self.depth != 1 => {
                        let end = memchr::memchr2(b'"', b'\\', bytes);
                        bytes = &bytes[end.unwrap_or(bytes.len())..];
                    }
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => {
                    self.is_string = true;
                    self.keep(*byte);
                }
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.end_value();
                    self.depth = self.depth.saturating_sub(1);
                }
                b':' if self.depth == 1 => self.key = std::mem::take(&mut self.token),
                b',' => self.end_value(),
                b' ' | b'\t' | b'\r' | b'\n' => {}
                other => self.keep(*other),
            }
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.token.len() <= MAX_ID_BYTES {
            self.token.push(byte);
        }
    }

    fn end_value(&mut self) {
        if self.depth == 1 {
            match self.key.as_slice() {
                b"\"id\"" => self.id = serde_json::from_slice(&self.token).ok(),
                b"\"method\"" => self.has_method = true,
                _ => {}
            }
            self.key.clear();
            self.token.clear();
        }
    }

    /// The request that the message answers. One with a method asks something itself.
    fn answered(self) -> Option<RequestId> {
        self.id.filter(|_| !self.has_method)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    async fn read(text: &str, max: usize) -> Vec<String> {
        let mut reader = LineReader::new(text.as_bytes(), max);
        let mut lines = Vec::new();
        loop {
            lines.push(match reader.next().await {
                LineRead::Line => String::from_utf8(reader.line().to_vec()).unwrap(),
                LineRead::TooLong { id, bytes } => format!("too long: {id:?} {bytes}"),
                LineRead::Flood => "flood".to_owned(),
                LineRead::End => return lines,
            });
            if lines.last().is_some_and(|line| line == "flood") {
                return lines;
            }
        }
    }

    #[tokio::test]
    async fn line_that_is_too_long_is_skipped_and_the_next_is_read() {
        let long = "x".repeat(200_000);
        let text = format!("one\n{long}\ntwo\n");
        let lines = read(&text, 100).await;
        assert_eq!(lines[0], "one");
        assert!(lines[1].starts_with("flood") || lines[1].starts_with("too long"));
        let text = format!("one\n{}\ntwo\nunfinished", "x".repeat(101));
        let lines = read(&text, 100).await;
        assert_eq!(lines, ["one", "too long: None 101", "two"]);
        assert_eq!(read(&long, 100).await, ["flood"]);
    }

    #[tokio::test]
    async fn answer_that_is_too_long_is_known_by_its_id_wherever_that_is() {
        let text = "a \"quoted\", {braced} [text] \\ with \"id\": 9,";
        for message in [
            json!({"jsonrpc": "2.0", "id": 7, "result": {"id": 8, "text": text}}),
            json!({"result": {"id": 8, "deep": [{"id": 1}], "text": text}, "jsonrpc": "2.0", "id": 7}),
            json!({"result": [text, {"id": [{"id": 3}]}], "id": 7, "x": "\\"}),
        ] {
            let lines = read(&format!("{message}\n"), 50).await;
            assert!(lines[0].contains("Some(Number(7))"), "{lines:?}");
        }
        let named = json!({"id": "a-b", "result": text.repeat(3)});
        let lines = read(&format!("{named}\n"), 50).await;
        assert!(lines[0].contains("String(\"a-b\")"), "{lines:?}");
        for other in [
            json!({"id": 7, "method": "ping", "params": text}),
            json!({"method": "x", "params": {"id": 7, "text": text}}),
            json!([{"id": 7, "result": text}]),
        ] {
            let lines = read(&format!("{other}\n"), 20).await;
            assert!(lines[0].contains("None"), "{lines:?}");
        }
    }
}
