//! Several servers over one PostgreSQL: a question asked at one is answered at another and seen at a
//! third; of two answers one wins; a server that dies or leaves loses nothing.

use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::process::{Server, adk_stream, repetitions};

struct Cluster {
    url: String,
}

impl Cluster {
    fn new() -> Self {
        let url = testkit::postgres::database();
        Self { url }
    }

    fn server(&self) -> Server {
        self.with_pace("0")
    }

    fn with_pace(&self, pace: &str) -> Server {
        let flags = [
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--pace",
            pace,
            "--lease",
            "1",
        ];
        adk_stream(&flags)
            .variable("ADK_STREAM_STORE", &self.url)
            .variable("ADK_STREAM_CLUSTER_KEY", "known-to-this-cluster-alone")
            .running()
    }
}

pub(crate) fn say(server: &Server, chat: &str, words: &str) -> String {
    let parts = json!([{"type": "text", "text": words}]);
    let message = json!({"id": format!("{chat}-u"), "role": "user", "parts": parts});
    let body = json!({"id": chat, "trigger": "submit-message", "messages": [message]});
    let answer = server.post("/api/chat", &[], &body.to_string());
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.text().to_owned()
}

pub(crate) fn question(server: &Server, chat: &str) -> String {
    let waiting = server.get("/api/approvals").json();
    let mut waiting = waiting["approvals"].as_array().unwrap().iter();
    let asked = waiting.find(|asked| asked["chatId"] == chat);
    asked.unwrap_or_else(|| panic!("{chat} asks nothing"))["approvalId"]
        .as_str()
        .unwrap()
        .to_owned()
}

pub(crate) fn answer(server: &Server, approval: &str, approved: bool) -> u16 {
    let body = json!({"approved": approved}).to_string();
    let path = format!("/api/approvals/{approval}");
    server.post(&path, &[], &body).status
}

/// Says something, and leaves the window open without a look at it.
pub(crate) fn begin(server: &Server, chat: &str, words: &str) -> TcpStream {
    let parts = json!([{"type": "text", "text": words}]);
    let message = json!({"id": "u1", "role": "user", "parts": parts});
    let body = json!({"id": chat, "messages": [message]}).to_string();
    let head = "POST /api/chat HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json";
    let request = format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let mut client = TcpStream::connect(server.address).unwrap();
    client.write_all(request.as_bytes()).unwrap();
    client
}

/// Waits until the turn is over, wherever it is, and gives the chat.
pub(crate) fn finished(server: &Server, chat: &str) -> Value {
    let time_limit = Instant::now() + Duration::from_secs(30);
    loop {
        let answer = server.get(&format!("/api/chat/{chat}"));
        if answer.status == 200 && answer.json()["status"] == "finished" {
            return answer.json();
        }
        assert!(Instant::now() < time_limit, "{}", answer.text());
        std::thread::yield_now();
    }
}

pub(crate) fn payments(server: &Server) -> usize {
    let wallet = server.get("/api/wallet").json();
    wallet["payments"].as_array().map_or(0, Vec::len)
}

#[test]
fn ticket_of_one_server_opens_one_socket_at_one_of_them() {
    let cluster = Cluster::new();
    let [a, b] = [(); 2].map(|()| cluster.server());
    let issue = || {
        let ticket = a.post("/api/ticket", &[], "").json();
        format!("/live?ticket={}", ticket["ticket"].as_str().unwrap())
    };
    let ticket = issue();
    assert_eq!(b.try_connect(&ticket, &[]).err(), None);
    for server in [&a, &b] {
        assert_eq!(server.try_connect(&ticket, &[]).err(), Some(401));
    }
    assert_eq!(a.try_connect(&issue(), &[]).err(), None);
    assert_eq!(b.get("/readyz").status, 200);
}

#[test]
fn what_one_server_asks_is_answered_at_another_and_seen_at_a_third() {
    let cluster = Cluster::new();
    let [a, b, c] = [(); 3].map(|()| cluster.server());
    let asked = say(&a, "c1", "Send $20 to Sam");
    assert!(asked.contains("tool-approval-request"), "{asked}");
    assert_eq!(answer(&b, &question(&c, "c1"), true), 200);
    finished(&c, "c1");
    assert_eq!(payments(&b), 1);
    // The next message lands elsewhere, and its window is the owner's.
    let body = c.get("/api/chat/c1").json()["messages"].clone();
    let mut messages = body.as_array().unwrap().clone();
    let parts = json!([{"type": "text", "text": "What is the weather in Tokyo?"}]);
    messages.push(json!({"id": "u2", "role": "user", "parts": parts}));
    let body = json!({"id": "c1", "trigger": "submit-message", "messages": messages});
    let answer = b.post("/api/chat", &[], &body.to_string());
    assert!(answer.text().contains("Tokyo"), "{}", answer.text());
    assert!(answer.text().contains("data: [DONE]"));
}

#[test]
fn of_two_answers_at_two_servers_one_wins_each_time() {
    let cluster = Cluster::new();
    let [a, b, c] = [(); 3].map(|()| cluster.server());
    let race = |chat: String| {
        say(&a, &chat, "Send $0.10 to Sam");
        let asked = question(&a, &chat);
        let (yes, no) = std::thread::scope(|scope| {
            let yes = scope.spawn(|| answer(&b, &asked, true));
            let no = scope.spawn(|| answer(&c, &asked, false));
            (yes.join().unwrap(), no.join().unwrap())
        });
        let mut both = [yes, no];
        both.sort_unstable();
        assert_eq!(both, [200, 409]);
        finished(&a, &chat);
        usize::from(yes == 200)
    };
    let approved: usize = std::thread::scope(|scope| {
        let lanes = [0, 1, 2, 3].map(|lane| {
            let race = &race;
            let races = move || {
                (0..repetitions(50, 500))
                    .map(|n| race(format!("race-{lane}-{n}")))
                    .sum::<usize>()
            };
            scope.spawn(races)
        });
        lanes.map(|lane| lane.join().unwrap()).into_iter().sum()
    });
    assert_eq!(payments(&c), approved);
}

#[test]
fn an_answer_is_honoured_whoever_died() {
    let cluster = Cluster::new();
    let [a, b] = [(); 2].map(|()| cluster.server());
    say(&a, "c1", "Send $20 to Sam");
    let asked = question(&b, "c1");
    a.signal("KILL");
    assert_eq!(answer(&b, &asked, true), 200);
    finished(&b, "c1");
    assert_eq!(payments(&b), 1);
}

#[test]
fn a_text_that_a_server_died_in_is_said_again_by_another() {
    let cluster = Cluster::new();
    let slow = cluster.with_pace("50");
    let other = cluster.server();
    let _window = begin(&slow, "c1", "take your time");
    let time_limit = Instant::now() + Duration::from_secs(20);
    while other.get("/api/chat/c1").status != 200 {
        assert!(Instant::now() < time_limit);
        std::thread::yield_now();
    }
    slow.signal("KILL");
    let chat = finished(&other, "c1");
    assert!(chat["messages"].to_string().contains("word-200"));
    let journal = other.get("/api/chat/c1/journal").json().to_string();
    assert!(journal.contains("turn-claimed"), "{journal}");
}

#[test]
fn servers_that_do_not_know_the_key_forward_no_commands() {
    let cluster = Cluster::new();
    let server = cluster.server();
    let command = json!({"chat": "c1", "principal": "ann", "kind": "view"}).to_string();
    for key in ["", "another-key-altogether"] {
        let headers = [("x-adk-stream-cluster", key)];
        assert_eq!(
            server.post("/internal/command", &headers, &command).status,
            401
        );
    }
}
