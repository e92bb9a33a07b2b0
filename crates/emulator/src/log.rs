//! The log of requests and responses, for tests to read.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use axum::http::HeaderMap;
use serde::Serialize;
use serde_json::{Map, Value};
use tokio::sync::watch;

/// How many entries are kept, and how many bytes of them: the oldest are dropped.
const ENTRIES: usize = 20_000;
const BYTES: usize = 64 << 20;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entry {
    /// Its number, from 1, with no gaps.
    pub seq: u64,
    /// When, in milliseconds since 1970.
    pub at: u64,
    /// The request or the socket that it belongs to, from 1.
    pub exchange: u64,
    /// What.
    #[serde(flatten)]
    pub happening: Happening,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Happening {
    /// A request to the API came.
    Request {
        /// Its method.
        method: String,
        /// Its path.
        path: String,
        /// Its query, without the key.
        query: String,
        /// Its headers, without the key.
        headers: Map<String, Value>,
        /// Its body; as text where it is no JSON.
        body: Value,
    },
    /// It is answered.
    Answer {
        /// With this status.
        status: u16,
        /// And this body, where it is not streamed.
        body: Value,
    },
    /// A chunk of its answer was sent.
    Chunk {
        /// The chunk; as text where it is no JSON.
        data: Value,
    },
    /// Its answer is over.
    Ended {
        /// Whether it was cut off: by a fault, or because the client went away.
        cut: bool,
    },
    /// A live socket was opened.
    Opened {
        /// Its path.
        path: String,
        /// Its query, without the key.
        query: String,
        /// Its headers, without the key.
        headers: Map<String, Value>,
    },
    /// The client sent a frame.
    Received {
        /// The frame; as text where it is no JSON.
        data: Value,
    },
    /// The client was sent a frame.
    Sent {
        /// The frame; bytes of media are replaced by their number.
        data: Value,
    },
    /// The socket is closed.
    Closed {
        /// With this code; none where there was no end.
        code: Option<u16>,
        /// Why.
        reason: String,
        /// Whether the emulator closed it.
        by_emulator: bool,
    },
}

/// Everything that happened, up to a bound.
#[derive(Debug)]
pub(crate) struct Log {
    kept: Mutex<Kept>,
    seq: watch::Sender<u64>,
    exchanges: std::sync::atomic::AtomicU64,
}

#[derive(Debug, Default)]
struct Kept {
    entries: VecDeque<(usize, Entry)>,
    bytes: usize,
    seq: u64,
}

impl Log {
    pub(crate) fn new() -> Self {
        Self {
            kept: Mutex::default(),
            seq: watch::Sender::new(0),
            exchanges: std::sync::atomic::AtomicU64::new(1),
        }
    }

    /// The number of a new request or socket.
    pub(crate) fn exchange(&self) -> u64 {
        self.exchanges
            .fetch_add(1, std::sync::atomic::Ordering::Relaxed)
    }

    /// Writes something down.
    pub(crate) fn write(&self, exchange: u64, happening: Happening) {
        let size = size(&happening);
        let mut kept = self.kept();
        kept.seq += 1;
        kept.bytes += size;
        let entry = Entry {
            seq: kept.seq,
            at: now(),
            exchange,
            happening,
        };
        kept.entries.push_back((size, entry));
        while kept.entries.len() > ENTRIES || kept.bytes > BYTES {
            let Some((size, _)) = kept.entries.pop_front() else {
                break;
            };
            kept.bytes -= size;
        }
        // Under the lock, so that a waiter that is woken finds the entry.
        self.seq.send_replace(kept.seq);
    }

    /// What came after an entry.
    pub(crate) fn after(&self, seq: u64) -> Vec<Entry> {
        let kept = self.kept();
        let later = kept.entries.iter().filter(|(_, entry)| entry.seq > seq);
        later.map(|(_, entry)| entry.clone()).collect()
    }

    /// Forgets everything but how far it counted.
    pub(crate) fn clear(&self) {
        let mut kept = self.kept();
        kept.entries.clear();
        kept.bytes = 0;
    }

    /// The number of the last entry, whenever it changes.
    pub(crate) fn watch(&self) -> watch::Receiver<u64> {
        self.seq.subscribe()
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}

/// How much room something takes, about.
fn size(happening: &Happening) -> usize {
    fn of(value: &Value) -> usize {
        match value {
            Value::String(text) => text.len() + 32,
            Value::Array(items) => items.iter().map(of).sum::<usize>() + 32,
            Value::Object(fields) => {
                let fields = fields.iter().map(|(key, value)| key.len() + of(value) + 32);
                fields.sum::<usize>() + 32
            }
            _ => 32,
        }
    }
    200 + match happening {
        Happening::Request { body, .. } | Happening::Answer { body, .. } => of(body),
        Happening::Chunk { data } | Happening::Received { data } | Happening::Sent { data } => {
            of(data)
        }
        _ => 0,
    }
}

/// Text as JSON, or as a string where it is none.
pub(crate) fn json_or_text(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes)
        .unwrap_or_else(|_| Value::String(String::from_utf8_lossy(bytes).into_owned()))
}

/// Headers without the key.
pub(crate) fn headers(headers: &HeaderMap) -> Map<String, Value> {
    const SECRET: [&str; 3] = ["x-goog-api-key", "authorization", "cookie"];
    let pairs = headers.iter().map(|(name, value)| {
        let name = name.as_str();
        let value = String::from_utf8_lossy(value.as_bytes());
        let value = if SECRET.contains(&name) {
            REDACTED.to_owned()
        } else {
            value.into_owned()
        };
        (name.to_owned(), Value::String(value))
    });
    pairs.collect()
}

/// A query without the key.
pub(crate) fn query(query: Option<&str>) -> String {
    const SECRET: [&str; 2] = ["key", "access_token"];
    let pairs = query.unwrap_or_default().split('&').map(|pair| {
        let name = pair.split('=').next().unwrap_or_default();
        if SECRET.contains(&name) {
            format!("{name}={REDACTED}")
        } else {
            pair.to_owned()
        }
    });
    pairs.collect::<Vec<_>>().join("&")
}

/// What replaces a key.
const REDACTED: &str = "redacted";

/// A frame whose media is replaced by its length.
pub(crate) fn without_media(mut frame: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                let is_media = fields.contains_key("mimeType");
                for (name, value) in fields.iter_mut() {
                    match value {
                        Value::String(data) if is_media && name == "data" => {
                            *value = Value::String(format!("{} characters of base64", data.len()));
                        }
                        _ => strip(value),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    strip(&mut frame);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_are_not_written_down() {
        let mut sent = HeaderMap::new();
        sent.insert("x-goog-api-key", "secret".parse().unwrap());
        sent.insert("user-agent", "test".parse().unwrap());
        let logged = headers(&sent);
        assert_eq!(logged["x-goog-api-key"], "redacted");
        assert_eq!(logged["user-agent"], "test");
        assert_eq!(query(Some("alt=sse&key=secret")), "alt=sse&key=redacted");
        assert_eq!(query(None), "");
    }

    #[test]
    fn the_oldest_entries_make_room() {
        let log = Log::new();
        let large = "x".repeat(BYTES / 2);
        for _ in 0..3 {
            let data = json!(large);
            log.write(1, Happening::Received { data });
        }
        let seqs: Vec<_> = log.after(0).iter().map(|entry| entry.seq).collect();
        assert_eq!(seqs, [3]);
    }

    #[test]
    fn media_is_replaced_by_its_length() {
        let frame = json!({"parts": [{"inlineData": {"mimeType": "audio/pcm", "data": "AAAA"}}]});
        let logged = without_media(frame);
        assert_eq!(
            logged["parts"][0]["inlineData"]["data"],
            "4 characters of base64"
        );
    }

    #[test]
    fn an_entry_is_flat() {
        let log = Log::new();
        log.write(7, Happening::Ended { cut: true });
        let entry = json!(log.after(0)[0]);
        assert_eq!(entry["kind"], "ended");
        assert_eq!(entry["exchange"], 7);
        assert_eq!(entry["cut"], true);
    }
}
