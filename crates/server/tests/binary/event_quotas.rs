//! Streams of events, and sessions that are cleared: how much of them one principal may have, and that others do
//! not notice.

use std::thread;

use serde_json::{Value, json};

use crate::events::Events;
use crate::quotas::{ALICE, BOB, ask, assert_refused, limited};

/// How many streams one principal may have unless an operator says otherwise.
const MOST: usize = 64;

/// A stream costs its client nothing, and the server a connection for as long as the client likes.
#[test]
fn one_principal_holds_so_many_streams_of_events_and_no_more() {
    let server = limited(&[]);
    let open = || Events::open(&server, &[ALICE]);
    let mut streams: Vec<Events> = (0..MOST).map(|_| open()).collect();
    for _ in 0..3 {
        let refused = server.request("GET", "/api/events", &[ALICE]);
        assert_refused(&refused, "too_many_event_streams");
    }
    // Nothing else is refused to her, and nobody else notices.
    assert_eq!(server.request("GET", "/api/chats", &[ALICE]).status, 200);
    Events::open(&server, &[BOB]).event("reset");
    // All of hers get what changes.
    assert_eq!(ask(&server, ALICE, "c1").status, 200);
    for stream in &mut streams {
        assert_eq!(stream.event("approval-opened").1["chatId"], "c1");
    }
    let peak = server.peak_memory();
    assert!(peak < 300 * 1024 * 1024, "{} MiB", peak >> 20);
    // The server notices in its own time that one has left.
    streams.pop();
    let again = || crate::request::try_head(server.address, "/api/events", &[ALICE]);
    while again() != 200 {
        thread::yield_now();
    }
}

#[test]
fn operator_decides_how_many_streams_of_events_there_may_be() {
    let server = limited(&["--max-event-streams", "1"]);
    let _stream = Events::open(&server, &[ALICE]);
    let refused = server.request("GET", "/api/events", &[ALICE]);
    assert_refused(&refused, "too_many_event_streams");
    Events::open(&server, &[BOB]).event("reset");
}

/// With as few descriptors as many systems give, one key from two addresses could hold every connection.
#[test]
fn requests_in_flight_of_one_principal_leave_connections_to_others() {
    let server = limited(&[
        "--max-connections",
        "8",
        "--max-connections-per-address",
        "8",
    ]);
    let sockets: Vec<_> = (0..4)
        .map(|_| server.try_connect("/api/chat/live", &[ALICE]).unwrap())
        .collect();
    let refused = server.request("GET", "/api/info", &[ALICE]);
    assert_refused(&refused, "too_many_requests_in_flight");
    assert_eq!(server.request("GET", "/api/info", &[BOB]).status, 200);
    drop(sockets);
}

/// Each chat that is cleared is stopped and archived: two writes, however many calls ask for it.
#[test]
fn sessions_are_cleared_once_however_many_ask_for_it_and_others_are_served() {
    const CHATS: usize = 120;
    let server = limited(&[]);
    for number in 0..CHATS {
        let said = json!({"id": format!("u{number}"), "role": "user", "content": "Hello"});
        let body = json!({"messages": [said]}).to_string();
        assert_eq!(server.post("/stream", &[ALICE], &body).status, 200);
    }
    let clear = || server.post("/clear-sessions", &[ALICE], "").json();
    let cleared = |answer: &Value| answer["cleared"].as_u64().unwrap();
    thread::scope(|scope| {
        let calls: Vec<_> = (0..10).map(|_| scope.spawn(clear)).collect();
        for _ in 0..20 {
            assert_eq!(server.request("GET", "/api/chats", &[BOB]).status, 200);
        }
        let answers: Vec<Value> = calls.into_iter().map(|call| call.join().unwrap()).collect();
        let sum: u64 = answers.iter().map(cleared).sum();
        assert_eq!(sum, CHATS as u64, "{answers:?}");
    });
    assert_eq!(cleared(&clear()), 0);
}
