//! Several servers over one PostgreSQL: a question asked at one is answered at another and seen at a
//! third; of two answers one wins; a server that dies or leaves loses nothing.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::postgres::execute;

use crate::events::Events;
use crate::process::{Server, adk_stream, repetitions};

pub(crate) struct Cluster {
    url: String,
}

impl Cluster {
    pub(crate) fn new() -> Self {
        let url = testkit::postgres::database();
        Self { url }
    }

    fn server(&self) -> Server {
        self.with_pace("0")
    }

    pub(crate) fn with_pace(&self, pace: &str) -> Server {
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
fn failover_that_another_server_has_seen_keeps_this_one_from_the_former_primary() {
    let cluster = Cluster::new();
    let mut server = cluster.server();
    let view = json!({"chat": "c", "principal": "local", "kind": "view"}).to_string();
    let tell = |server: &Server, seen: &str| {
        let key = "known-to-this-cluster-alone";
        let headers = [
            ("x-adk-stream-cluster", key),
            ("x-adk-stream-lineage", seen),
        ];
        let reply = server.post("/internal/command", &headers, &view);
        let newest = reply.header("x-adk-stream-lineage");
        newest.map(str::to_owned).expect("it says what it has seen")
    };
    let seen = tell(&server, "nonsense");
    let (system, timeline) = seen.split_once('/').unwrap();
    // Another cluster's history says nothing of this one.
    assert_eq!(tell(&server, "1/9"), seen);
    assert_eq!(server.get("/readyz").status, 200);
    let next = timeline.parse::<u32>().unwrap() + 1;
    let newer = format!("{system}/{next}");
    assert_eq!(tell(&server, &newer), newer);
    let refused = format!("PostgreSQL refused: timeline {timeline}, newest seen {next}");
    server.log_says(&refused);
}

#[test]
fn failover_is_learned_from_another_server_at_the_start() {
    let cluster = Cluster::new();
    let first = cluster.server();
    // It holds a lease, by which others find it.
    say(&first, "c1", "Send $20 to Sam");
    let key = ("x-adk-stream-cluster", "known-to-this-cluster-alone");
    let lineage = "x-adk-stream-lineage";
    let seen = first.request("GET", "/internal/lineage", &[key]);
    assert_eq!(seen.status, 204);
    let seen = seen.header(lineage).expect("it says what it has seen");
    let (system, timeline) = seen.split_once('/').unwrap();
    let next = timeline.parse::<u32>().unwrap() + 1;
    let newer = format!("{system}/{next}");
    let answered = first.request("GET", "/internal/lineage", &[key, (lineage, &newer)]);
    assert_eq!(answered.header(lineage), Some(&*newer));
    // To it the database is the former primary, and no command is forwarded.
    let mut late = cluster.server();
    late.log_says(&format!(
        "PostgreSQL refused: timeline {timeline}, newest seen {next}"
    ));
    assert_eq!(late.get("/readyz").status, 503);
    let known = late.request("GET", "/internal/lineage", &[key]);
    assert_eq!(known.header(lineage), Some(&*newer));
    assert_eq!(late.request("GET", "/internal/lineage", &[]).status, 401);
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
fn what_changes_at_one_server_is_sent_by_another_and_a_deleted_chat_stays_deleted_at_all() {
    let cluster = Cluster::new();
    let [a, b] = [(); 2].map(|()| cluster.server());
    let mut events = Events::open(&b, &[]);
    events.event("reset");
    say(&a, "c1", "Send $20 to Sam");
    assert_eq!(events.event("approval-opened").1["chatId"], "c1");
    while events.event("chat").1["status"] != "parked" {}
    let json = [("content-type", "application/json")];
    let renamed = a.send("PATCH", "/api/chats/c1", &json, r#"{"title":"Sam"}"#);
    assert_eq!(renamed.status, 200, "{}", renamed.text());
    while events.event("chat").1["title"] != "Sam" {}
    assert_eq!(b.get("/api/chats").json()["chats"][0]["title"], "Sam");
    // The chat is the first server's: it is the one that stops the turn and deletes it.
    assert_eq!(b.request("DELETE", "/api/chats/c1", &[]).status, 204);
    assert_eq!(events.event("chat-deleted").1["id"], "c1");
    let message = json!({"id": "u2", "role": "user", "parts": [{"type": "text", "text": "Hello"}]});
    let late = json!({"id": "c1", "messages": [message]}).to_string();
    for server in [&a, &b] {
        let late = server.post("/api/chat", &[], &late);
        assert_eq!(late.status, 410, "{}", late.text());
        assert_eq!(server.get("/api/chats").json(), json!({"chats": []}));
    }
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
                (0..repetitions(20, 500))
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
fn an_answer_is_honoured_whichever_server_died() {
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
fn an_answer_to_a_frozen_server_counts_after_the_takeover_and_reads_are_served() {
    let cluster = Cluster::new();
    let [a, b] = [(); 2].map(|()| cluster.server());
    say(&a, "c1", "Send $20 to Sam");
    let asked = question(&b, "c1");
    a.signal("STOP");
    let (answered, chat) = std::thread::scope(|scope| {
        let answered = scope.spawn(|| answer(&b, &asked, true));
        let chat = scope.spawn(|| b.get("/api/chat/c1").status);
        (answered.join().unwrap(), chat.join().unwrap())
    });
    assert_eq!((answered, chat), (200, 200));
    finished(&b, "c1");
    a.signal("CONT");
    // What was on its way to it when it stood still is not carried out again.
    finished(&a, "c1");
    assert_eq!(payments(&a), 1);
}

#[test]
fn a_resume_and_a_message_to_a_frozen_server_are_served_after_the_takeover() {
    let cluster = Cluster::new();
    let [a, b] = [(); 2].map(|()| cluster.server());
    say(&a, "c1", "Send $20 to Sam");
    a.signal("STOP");
    // The window is the question's, from the journal: nobody else has it.
    let resumed = b.get("/api/chat/c1/stream");
    assert_eq!(resumed.status, 200, "{}", resumed.text());
    assert!(
        resumed.text().contains("tool-approval-request"),
        "{}",
        resumed.text()
    );
    let parts = json!([{"type": "text", "text": "What is the weather in Tokyo?"}]);
    let message = json!({"id": "u2", "role": "user", "parts": parts});
    let body = json!({"id": "c1", "trigger": "submit-message", "messages": [message]}).to_string();
    let said = b.post("/api/chat", &[], &body);
    assert_eq!(said.status, 200, "{}", said.text());
    assert!(said.text().contains("Tokyo"), "{}", said.text());
    finished(&b, "c1");
    a.signal("CONT");
    // What was on its way to it when it stood still is not taken in again.
    let chat = finished(&a, "c1");
    let messages = chat["messages"].as_array().unwrap().iter();
    let sent = messages.filter(|message| message["id"] == "u2");
    assert_eq!(sent.count(), 1, "{chat}");
    assert_eq!(payments(&a), 0);
}

/// Reads a stream up to a line that has these words.
fn read_until(stream: &mut BufReader<TcpStream>, wanted: &str) {
    let time_limit = Some(Duration::from_secs(30));
    stream.get_ref().set_read_timeout(time_limit).unwrap();
    let (mut line, mut all) = (String::new(), String::new());
    while !line.contains(wanted) {
        line.clear();
        let read = stream.read_line(&mut line);
        assert!(read.is_ok_and(|length| length > 0), "no {wanted}: {all}");
        all += &line;
    }
}

#[test]
fn an_open_window_on_a_frozen_server_ends_with_its_lease_and_the_turn_goes_on() {
    let cluster = Cluster::new();
    let slow = cluster.with_pace("50");
    let other = cluster.server();
    let mut window = BufReader::new(begin(&slow, "c1", "take your time"));
    // Before it speaks, it has the lease.
    read_until(&mut window, "text-delta");
    let mut forwarded = BufReader::new(TcpStream::connect(other.address).unwrap());
    let request = "GET /api/chat/c1/stream HTTP/1.1\r\nhost: localhost\r\n\r\n";
    forwarded.get_mut().write_all(request.as_bytes()).unwrap();
    read_until(&mut forwarded, "text-delta");
    slow.signal("STOP");
    let frozen = Instant::now();
    read_until(&mut forwarded, "handed_over");
    // The connection to it stays open for 20 seconds.
    assert!(frozen.elapsed() < Duration::from_secs(18));
    let chat = finished(&other, "c1");
    assert!(chat["messages"].to_string().contains("word-200"));
    slow.signal("CONT");
}

/// A table that nobody else can write to.
pub(crate) struct HeldTable<'a> {
    url: &'a str,
    session: std::thread::JoinHandle<()>,
}

impl<'a> HeldTable<'a> {
    pub(crate) fn new(url: &'a str, table: &str) -> Self {
        let lock = format!("LOCK TABLE adk_stream.{table} IN EXCLUSIVE MODE");
        let hold = format!("BEGIN; {lock}; SELECT pg_sleep(600);");
        let session = {
            let url = url.to_owned();
            // It ends with an error when it is ended.
            std::thread::spawn(move || drop(std::panic::catch_unwind(|| execute(&url, &hold))))
        };
        until(url, &format!("SELECT EXISTS ({SESSIONS} {HOLDS})"));
        Self { url, session }
    }

    /// Waits until a statement waits for it.
    pub(crate) fn is_waited_for(&self) {
        until(self.url, &format!("SELECT EXISTS ({SESSIONS} {WAITS})"));
    }

    /// Cuts the connections of those who wait for it.
    fn cut_waiting(&self) {
        end_sessions(self.url, WAITS);
    }

    pub(crate) fn release(self) {
        end_sessions(self.url, HOLDS);
        self.session.join().unwrap();
    }
}

const SESSIONS: &str = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND";
const HOLDS: &str = "wait_event = 'PgSleep'";
const WAITS: &str = "wait_event_type = 'Lock'";

fn end_sessions(url: &str, which: &str) {
    let sessions = format!("({SESSIONS} {which}) AS session");
    execute(
        url,
        &format!("SELECT pg_terminate_backend(pid) FROM {sessions}"),
    );
}

/// Waits until a query says yes.
fn until(url: &str, query: &str) {
    let time_limit = Instant::now() + Duration::from_secs(30);
    while execute(url, query).trim() != "t" {
        assert!(Instant::now() < time_limit, "{query}");
        std::thread::yield_now();
    }
}

#[test]
fn a_payment_of_a_frozen_server_does_not_land_after_its_outcome_is_unknown() {
    let cluster = Cluster::new();
    let [a, b] = [(); 2].map(|()| cluster.server());
    say(&a, "c1", "Send $20 to Sam");
    let asked = question(&a, "c1");
    let wallets = HeldTable::new(&cluster.url, "wallet");
    assert_eq!(answer(&a, &asked, true), 200);
    // The call is started, and nothing of its payment is written.
    wallets.is_waited_for();
    a.signal("STOP");
    wallets.cut_waiting();
    wallets.release();
    let chat = finished(&b, "c1");
    assert!(chat["messages"].to_string().contains("unknown"), "{chat}");
    // It goes on with its payment, and can't renew its leases, so that nothing tells it to stop.
    let leases = HeldTable::new(&cluster.url, "lease");
    a.signal("CONT");
    // The turn is over for it when its tool is.
    finished(&a, "c1");
    leases.release();
    assert_eq!(payments(&b), 0);
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
