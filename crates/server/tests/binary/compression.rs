//! Which responses are compressed, as a client sees them.

use std::io::Read;

use serde_json::{Value, json};

use crate::process::{Server, adk_stream};
use crate::request::Answer;

/// A server with a chat whose history is a few kilobytes.
fn with_history() -> Server {
    let server = adk_stream(&["serve", "--listen", "127.0.0.1:0", "--pace", "0"]).running();
    let text = "Hello, and again hello. ".repeat(200);
    let answer = say(&server, &text, "gzip, br");
    assert_eq!(answer.status, 200);
    server
}

fn say(server: &Server, text: &str, accepted: &str) -> Answer {
    let message = json!({"id": "u1", "role": "user", "parts": [{"type": "text", "text": text}]});
    let body = json!({"id": "c1", "messages": [message], "trigger": "submit-message"});
    let headers = [("accept-encoding", accepted)];
    server.post("/api/chat", &headers, &body.to_string())
}

fn history(server: &Server, accepted: &str) -> Answer {
    server.request("GET", "/api/chat/c1", &[("accept-encoding", accepted)])
}

#[test]
fn history_is_compressed_as_the_client_accepts_it() {
    let server = with_history();
    let plain = server.get("/api/chat/c1");
    assert_eq!(plain.header("content-encoding"), None);
    assert!(plain.values("vary").contains(&"accept-encoding"));
    let gzip = history(&server, "gzip, deflate");
    assert_eq!(gzip.header("content-encoding"), Some("gzip"));
    assert!(gzip.values("vary").contains(&"accept-encoding"));
    let length = gzip.body.len().to_string();
    assert_eq!(gzip.header("content-length"), Some(&*length));
    assert!(gzip.body.len() < plain.body.len() / 3);
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(&gzip.body[..])
        .read_to_end(&mut text)
        .unwrap();
    assert_eq!(
        serde_json::from_slice::<Value>(&text).unwrap(),
        plain.json()
    );

    for (accepted, encoding) in [
        ("gzip, deflate, br, zstd", Some("br")),
        ("br;q=0, gzip;q=0.5", Some("gzip")),
        ("identity", None),
        ("zstd", None),
    ] {
        let answer = history(&server, accepted);
        assert_eq!(answer.header("content-encoding"), encoding, "{accepted}");
        assert!(encoding.is_none() || answer.body.len() < plain.body.len() / 3);
    }
}

#[test]
fn streams_and_short_responses_are_never_compressed() {
    let server = with_history();
    let all = [("accept-encoding", "gzip, br, *")];
    let resumed = server.request("GET", "/api/chat/c1/stream?after=0", &all);
    let spoken = say(&server, "and more", "gzip, br, *");
    for stream in [resumed, spoken] {
        assert_eq!(stream.status, 200);
        assert_eq!(stream.header("content-type"), Some("text/event-stream"));
        assert_eq!(stream.header("content-encoding"), None);
        let text = String::from_utf8(stream.body).expect("plain text");
        assert!(text.contains("data: {"), "{text}");
    }
    let short = server.request("GET", "/api/info", &all);
    assert_eq!(short.header("content-encoding"), None);
    assert!(!short.values("vary").contains(&"accept-encoding"));
}
