//! The stream of what changes in a principal's lists.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::chats::{ALICE, BOB, patch, say, server};
use crate::process::Server;

/// How long an event may take: one that takes longer never comes.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// A stream of events that is open.
pub(crate) struct Events {
    stream: TcpStream,
    /// What came and was not waited for yet.
    text: String,
}

impl Events {
    pub(crate) fn open(server: &Server, headers: &[(&str, &str)]) -> Self {
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.set_read_timeout(Some(TIME_LIMIT)).unwrap();
        let request = crate::request::text("GET", "/api/events", headers, "");
        stream.write_all(request.as_bytes()).unwrap();
        let text = String::new();
        let mut events = Self { stream, text };
        let head = events.until("\r\n\r\n");
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        assert!(head.contains("content-type: text/event-stream"), "{head}");
        events
    }

    /// Everything up to some words, which have to come.
    fn until(&mut self, words: &str) -> String {
        let mut buffer = [0; 4096];
        loop {
            if let Some(place) = self.text.find(words) {
                let rest = self.text.split_off(place + words.len());
                return std::mem::replace(&mut self.text, rest);
            }
            let count = self.stream.read(&mut buffer).expect("an event in time");
            assert!(count > 0, "it ended: {}", self.text);
            self.text
                .push_str(&String::from_utf8_lossy(&buffer[..count]));
        }
    }

    /// The next event of a name: its id and its data.
    pub(crate) fn event(&mut self, name: &str) -> (String, serde_json::Value) {
        let before = self.until(&format!("event: {name}\ndata: "));
        let id = before.rsplit("id: ").next().unwrap();
        let id = id.lines().next().unwrap().to_owned();
        let data = self.until("\n\n");
        (id, serde_json::from_str(data.trim()).unwrap())
    }
}

#[test]
fn principal_gets_chats_and_approvals_that_change() {
    let server = server(&[]);
    let mut alice = Events::open(&server, &[ALICE]);
    let mut bob = Events::open(&server, &[BOB]);
    alice.event("reset");
    bob.event("reset");
    assert_eq!(say(&server, ALICE, "c1", "Send $20 to Sam").status, 200);
    let (_, opened) = alice.event("approval-opened");
    assert_eq!(opened["chatId"], "c1");
    let (_, row) = alice.event("chat");
    assert_eq!(
        (&row["id"], &row["title"]),
        (&"c1".into(), &"Send $20 to Sam".into())
    );
    assert_eq!(
        (&row["status"], &row["waiting"]),
        (&"parked".into(), &1.into())
    );

    let approval = opened["approvalId"].as_str().unwrap();
    let path = format!("/api/approvals/{approval}");
    assert_eq!(
        server.post(&path, &[ALICE], r#"{"approved":true}"#).status,
        200
    );
    assert_eq!(alice.event("approval-closed").1["approvalId"], approval);
    while alice.event("chat").1["status"] != "finished" {}
    assert_eq!(
        patch(&server, ALICE, "c1", r#"{"title":"Sam"}"#).status,
        200
    );
    while alice.event("chat").1["title"] != "Sam" {}
    assert_eq!(
        server.request("DELETE", "/api/chats/c1", &[ALICE]).status,
        204
    );
    assert_eq!(alice.event("chat-deleted").1["id"], "c1");

    // Of all that, nothing was sent to bob.
    assert_eq!(say(&server, BOB, "b1", "Hello").status, 200);
    assert_eq!(bob.event("chat").1["id"], "b1");
}

#[test]
fn client_that_comes_back_gets_what_it_missed_or_a_reset() {
    let server = server(&[]);
    let mut stream = Events::open(&server, &[ALICE]);
    let (id, _) = stream.event("reset");
    drop(stream);
    assert_eq!(say(&server, ALICE, "c1", "Hello").status, 200);
    let mut stream = Events::open(&server, &[ALICE, ("last-event-id", &id)]);
    let before = stream.until("event: chat\ndata: ");
    assert!(!before.contains("event: reset"), "{before}");
    for unknown in ["other.7", "nonsense"] {
        let mut stream = Events::open(&server, &[ALICE, ("last-event-id", unknown)]);
        stream.event("reset");
    }
}

#[test]
fn streams_end_when_the_server_shuts_down() {
    let server = server(&[]);
    let mut stream = Events::open(&server, &[ALICE]);
    stream.event("reset");
    server.signal("TERM");
    // The last chunk of the response.
    stream.until("0\r\n\r\n");
}
