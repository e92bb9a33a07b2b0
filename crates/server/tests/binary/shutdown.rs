//! How the server ends.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::Value;
use testkit::postgres::Cluster;

use crate::process::{Server, adk_stream, serve};
use crate::replicas::{answer, begin, finished, payments, question, say};

#[test]
fn sigterm_and_sigint_end_it_well() {
    for name in ["TERM", "INT"] {
        let mut server = serve();
        server.signal(name);
        assert_eq!(server.ended().code(), Some(0), "SIG{name}");
    }
}

#[test]
fn it_prints_nothing_but_refusals_until_it_is_stopped() {
    let mut server = serve();
    assert_eq!(server.get("/healthz").status, 200);
    assert_eq!(server.get("/nothing").status, 404);
    let line = server.log_line();
    assert!(line.contains("request refused"), "{line}");
    server.signal("TERM");
    let line = server.log_line();
    assert!(line.contains("SIGTERM: no new connections"), "{line}");
    assert_eq!(server.log_line(), "");
}

#[test]
fn an_idle_connection_does_not_hold_it_up() {
    let mut server = serve();
    let mut idle = TcpStream::connect(server.address).unwrap();
    idle.write_all(b"GET /healthz HTTP/1.1\r\nhost: test\r\n\r\n")
        .unwrap();
    let mut first = [0; 12];
    idle.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    server.signal("TERM");
    assert_eq!(server.ended().code(), Some(0));
    let mut rest = Vec::new();
    idle.read_to_end(&mut rest).unwrap();
    // Had the grace run out, it would have said so.
    assert!(server.log_line().contains("SIGTERM"));
    assert_eq!(server.log_line(), "");
}

const ON: [&str; 3] = ["serve", "--listen", "127.0.0.1:0"];

/// A server over a file, whose reports take twenty times the pace.
fn over_file(store: &str, flags: &[&str]) -> Server {
    let server = adk_stream(&[&ON, flags].concat());
    server.variable("ADK_STREAM_STORE", store).running()
}

/// Has a report begun, and returns while it is being written.
fn begin_report(server: &Server) -> TcpStream {
    let window = begin(server, "c1", "Write a report about tea");
    let journal = || server.get("/api/chat/c1/journal");
    while !journal().text().contains("pending") {}
    window
}

/// Restarts a server while it writes a report, and gives the outcome of it.
fn restarted_over_a_report(flags: &[&str]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", folder.path().join("chats.db").display());
    let mut server = over_file(&store, flags);
    let _window = begin_report(&server);
    server.signal("TERM");
    assert_eq!(server.ended().code(), Some(0));
    let server = over_file(&store, &["--pace", "0"]);
    let chat = loop {
        let chat = finished(&server, "c1");
        // The first answer says that it will take a while.
        if chat["messages"].as_array().unwrap().len() > 2 {
            break chat;
        }
    };
    let journal = server.get("/api/chat/c1/journal").json().to_string();
    assert_eq!(chat["messages"].as_array().unwrap().len(), 3, "{journal}");
    let journal: Value = serde_json::from_str(&journal).unwrap();
    let entries = journal["entries"].as_array().unwrap().iter();
    let events = entries.flat_map(|entry| entry["events"].as_array().unwrap());
    let mut causes = events.filter_map(|event| event.get("cause"));
    let is_result = |cause: &&Value| cause["cause"] == "result";
    causes.find(is_result).unwrap().clone()
}

#[test]
fn running_work_is_waited_for() {
    let came = restarted_over_a_report(&["--pace", "40"]);
    assert_eq!(came["outcome"]["outcome"], "output", "{came}");
}

#[test]
fn work_that_takes_longer_than_the_grace_is_said_to_be_unknown() {
    let came = restarted_over_a_report(&["--pace", "40", "--drain", "0.05"]);
    assert_eq!(came["outcome"]["outcome"], "unknown", "{came}");
}

#[test]
fn a_second_signal_does_not_wait_for_work() {
    // The report takes 6 s.
    let flags = ["--pace", "300", "--drain", "3600"];
    let mut server = adk_stream(&[&ON[..], &flags].concat()).running();
    let _window = begin_report(&server);
    let begun = Instant::now();
    for _ in 0..2 {
        server.signal("TERM");
        server.log_says("SIGTERM");
    }
    assert_eq!(server.ended().code(), Some(0));
    assert!(begun.elapsed() < Duration::from_secs(5));
}

/// One of several servers over a database.
fn over_database(cluster: &Cluster, pace: &str) -> Server {
    adk_stream(&[&ON[..], &["--pace", pace]].concat())
        .variable("ADK_STREAM_STORE", &cluster.url("chats"))
        .variable("ADK_STREAM_CLUSTER_KEY", "known-to-this-cluster-alone")
        .running()
}

#[test]
fn a_running_payment_is_recorded_and_the_turn_continues_elsewhere() {
    let cluster = Cluster::start();
    cluster.database("chats");
    let mut leaving = over_database(&cluster, "0");
    let staying = over_database(&cluster, "0");
    say(&leaving, "c1", "Send $20 to Sam");
    let asked = question(&leaving, "c1");
    // Somebody keeps the wallets locked, so that the payment stays at work.
    let lock = "BEGIN; LOCK TABLE adk_stream.wallet; SELECT pg_sleep(2); COMMIT";
    let is_locked = "SELECT count(*) FROM pg_locks JOIN pg_class ON pg_class.oid = relation
        WHERE relname = 'wallet' AND mode = 'AccessExclusiveLock' AND granted";
    std::thread::scope(|scope| {
        scope.spawn(|| cluster.sql("chats", lock));
        while cluster.sql("chats", is_locked).trim() != "1" {}
        assert_eq!(answer(&leaving, &asked, true), 200);
        leaving.signal("TERM");
        assert_eq!(leaving.ended().code(), Some(0));
    });
    let chat = finished(&staying, "c1").to_string();
    assert!(chat.contains("output-available"), "{chat}");
    assert_eq!(payments(&staying), 1);
}

#[test]
fn a_window_is_handed_over_and_the_text_comes_elsewhere() {
    let cluster = Cluster::start();
    cluster.database("chats");
    let mut leaving = over_database(&cluster, "50");
    let staying = over_database(&cluster, "0");
    std::thread::scope(|scope| {
        let streamed = scope.spawn(|| say(&leaving, "c1", "take your time"));
        while staying.get("/api/chat/c1").status != 200 {}
        leaving.signal("TERM");
        let streamed = streamed.join().unwrap();
        assert!(streamed.contains("handed_over: "), "{streamed}");
        assert!(!streamed.contains("word-200"), "{streamed}");
    });
    let chat = finished(&staying, "c1").to_string();
    assert!(chat.contains("word-200"), "{chat}");
    assert_eq!(leaving.ended().code(), Some(0));
}
