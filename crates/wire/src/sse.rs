//! Server-sent events: chunks framed for HTTP, and a reader for them.

use crate::chunk::Chunk;

/// The headers of a UI message stream, as the SDK's own server sends them.
pub const HEADERS: [(&str, &str); 5] = [
    ("content-type", "text/event-stream"),
    ("cache-control", "no-cache"),
    ("connection", "keep-alive"),
    ("x-vercel-ai-ui-message-stream", "v1"),
    // Proxies that buffer would hold the window shut.
    ("x-accel-buffering", "no"),
];

/// The last event of a stream. Clients skip it: the end of the body is what counts.
pub const DONE: &str = "[DONE]";

/// Appends `data: {chunk}` and the blank line, without which clients lose the event.
pub fn write_chunk(out: &mut Vec<u8>, chunk: &Chunk) {
    out.extend_from_slice(b"data: ");
    chunk.write_json(out);
    out.extend_from_slice(b"\n\n");
}

/// Appends `data: {json}` and the blank line.
pub fn write_value(out: &mut Vec<u8>, value: &serde_json::Value) {
    out.extend_from_slice(b"data: ");
    // Writing to memory can't fail, and neither can a value.
    let _ = serde_json::to_writer(&mut *out, value);
    out.extend_from_slice(b"\n\n");
}

/// Appends the event `[DONE]`.
pub fn write_done(out: &mut Vec<u8>) {
    out.extend_from_slice(b"data: [DONE]\n\n");
}

/// Appends a comment, which keeps an idle connection alive and which clients ignore.
pub fn write_comment(out: &mut Vec<u8>, text: &str) {
    for line in text.lines() {
        out.extend_from_slice(b": ");
        out.extend_from_slice(line.as_bytes());
        out.push(b'\n');
    }
    out.push(b'\n');
}

/// One server-sent event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Event {
    /// The data, its lines joined.
    pub data: String,
    /// The name after `event:`, empty if none.
    pub event: String,
    /// The last id seen, empty if none.
    pub id: String,
}

/// Reads events from bytes as they arrive, cut anywhere.
#[derive(Debug, Default)]
pub struct Decoder {
    line: Vec<u8>,
    after_carriage_return: bool,
    any_line: bool,
    data: Option<String>,
    event: String,
    id: String,
}

impl Decoder {
    /// A reader at the start of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes more bytes, and gives the events that they complete.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        for &byte in bytes {
            // A line ends with LF, CR or both; of CR LF the second half ends nothing.
            let second_half = byte == b'\n' && std::mem::take(&mut self.after_carriage_return);
            match byte {
                b'\n' if second_half => {}
                b'\n' | b'\r' => {
                    self.after_carriage_return = byte == b'\r';
                    let line = std::mem::take(&mut self.line);
                    events.extend(self.end_line(&line));
                }
                _ => {
                    self.after_carriage_return = false;
                    self.line.push(byte);
                }
            }
        }
        events
    }

    /// Whether an event has begun that no blank line ended: clients lose it.
    pub fn is_incomplete(&self) -> bool {
        self.data.is_some() || !self.line.is_empty()
    }

    fn end_line(&mut self, line: &[u8]) -> Option<Event> {
        let line = if self.any_line {
            line
        } else {
            line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line)
        };
        self.any_line = true;
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            return self.data.take().map(|data| Event {
                data,
                event,
                id: self.id.clone(),
            });
        }
        let line = String::from_utf8_lossy(line);
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            "event" => value.clone_into(&mut self.event),
            "id" if !value.contains('\0') => value.clone_into(&mut self.id),
            // A comment (no name), `retry`, or a field of the future.
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::BlockDelta;

    fn data(text: &str) -> Vec<String> {
        let events = Decoder::new().push(text.as_bytes());
        events.into_iter().map(|event| event.data).collect()
    }

    #[test]
    fn chunk_is_one_event_and_newlines_stay_inside_it() {
        let chunk = Chunk::TextDelta(BlockDelta {
            id: "0".into(),
            delta: "a\n\ndata: b\r".into(),
            ..BlockDelta::default()
        });
        let mut bytes = Vec::new();
        write_comment(&mut bytes, "ping\npong");
        write_chunk(&mut bytes, &chunk);
        write_done(&mut bytes);
        let events = Decoder::new().push(&bytes);
        assert_eq!(events.len(), 2);
        assert_eq!(Chunk::from_slice(events[0].data.as_bytes()).unwrap(), chunk);
        assert_eq!(events[1].data, DONE);
    }

    #[test]
    fn every_kind_of_line_end_and_comments() {
        assert_eq!(
            data("data: 1\n\n:c\ndata:2\r\n\r\ndata: 3\r\rdata: a\ndata: b\n\n"),
            ["1", "2", "3", "a\nb"]
        );
        assert_eq!(data("\u{feff}data: bom\n\n"), ["bom"]);
    }

    #[test]
    fn cut_anywhere_gives_the_same_events() {
        let text =
            "event: e\r\nid: 7\r\ndata: é\r\ndata: ü\r\n\r\n: c\r\n\r\ndata: x\n\n".as_bytes();
        let whole = Decoder::new().push(text);
        assert_eq!(whole.len(), 2);
        for cut in 0..=text.len() {
            let mut decoder = Decoder::new();
            let mut events = decoder.push(&text[..cut]);
            events.extend(decoder.push(&text[cut..]));
            assert_eq!(events, whole, "cut at {cut}");
        }
    }

    #[test]
    fn event_without_its_blank_line_is_incomplete() {
        let mut decoder = Decoder::new();
        assert!(decoder.push(b"data: 1\n").is_empty());
        assert!(decoder.is_incomplete());
        assert_eq!(decoder.push(b"\n").len(), 1);
        assert!(!decoder.is_incomplete());
    }
}
