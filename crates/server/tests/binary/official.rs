//! The AI SDK's own frames, with a plain WebSocket client. The official transport drives the same
//! server in the TypeScript tests.

use serde_json::{Value, json};

use crate::process::{adk_stream, serve};
use crate::socket::Client;

fn send(client: &mut Client, request: &str, chat: &str, text: &str) {
    let message = json!({"id": format!("u-{request}"), "role": "user", "parts": [{"type": "text", "text": text}]});
    client.send(
        &json!({"type": "send", "requestId": request, "id": chat, "trigger": "submit-message",
                        "messages": [message], "headers": {}, "body": {}}),
    );
}

/// The chunks of one request, whose sequence must have no gap.
fn chunks(frames: &[Value], request: &str) -> Vec<Value> {
    let frames = frames.iter().filter(|frame| frame["requestId"] == request);
    let chunks = frames.filter(|frame| frame["type"] == "chunk").enumerate();
    chunks
        .map(|(sequence, frame)| {
            assert_eq!(frame["sequence"], sequence);
            frame["chunk"].clone()
        })
        .collect()
}

#[test]
fn requests_are_multiplexed_and_end_each_for_itself() {
    let server = adk_stream(&["serve", "--listen", "127.0.0.1:0", "--pace", "1"]).running();
    let mut client = server.connect("/api/chat/live");
    send(&mut client, "r1", "c1", "What is the weather in Oslo?");
    send(&mut client, "r2", "c2", "What is the weather in Tokyo?");
    let mut frames = client.frames_until("end");
    frames.extend(client.frames_until("end"));
    for request in ["r1", "r2"] {
        let chunks = chunks(&frames, request);
        assert_eq!(chunks[0]["type"], "start");
        assert_eq!(chunks.last().unwrap()["type"], "finish");
    }
    // They ran side by side.
    let first_end = frames
        .iter()
        .position(|frame| frame["type"] == "end")
        .unwrap();
    let both = ["r1", "r2"].map(|id| {
        frames[..first_end]
            .iter()
            .any(|frame| frame["requestId"] == id)
    });
    assert_eq!(both, [true, true]);
}

#[test]
fn resume_replays_what_runs_and_says_where_nothing_does() {
    let server = adk_stream(&["serve", "--listen", "127.0.0.1:0", "--pace", "1"]).running();
    let mut client = server.connect("/live");
    send(&mut client, "r1", "c1", "take your time");
    while client.frame()["chunk"]["type"] != "text-delta" {}
    // Closing a window leaves the turn running.
    client.send(&json!({"type": "abort", "requestId": "r1"}));
    let mut other = server.connect("/live");
    other
        .send(&json!({"type": "resume", "requestId": "r2", "id": "c1", "headers": {}, "body": {}}));
    let frames = other.frames_until("end");
    let chunks = chunks(&frames, "r2");
    assert_eq!(chunks[0]["type"], "start");
    assert_eq!(
        chunks.last().unwrap()["messageMetadata"]["turn"],
        "finished"
    );
    other
        .send(&json!({"type": "resume", "requestId": "r3", "id": "c1", "headers": {}, "body": {}}));
    assert_eq!(
        other.frame(),
        json!({"type": "no-active", "requestId": "r3"})
    );
}

#[test]
fn resume_after_a_place_tells_a_turn_that_ended_since() {
    let server = adk_stream(&["serve", "--listen", "127.0.0.1:0", "--pace", "1"]).running();
    let mut client = server.connect("/live");
    send(&mut client, "r1", "c1", "take your time");
    while client.frame()["chunk"]["type"] != "text-delta" {}
    let loaded = server.get("/api/chat/c1").json();
    assert_eq!(loaded["status"], "running");
    assert_eq!(server.post("/api/chat/c1/stop", &[], "{}").status, 200);
    let served = server.get("/api/chat/c1").json();
    assert_eq!(served["status"], "stopped");

    let resume = |after: &Value| {
        let mut client = server.connect("/live");
        client.send(
            &json!({"type": "resume", "requestId": "r2", "id": "c1", "headers": {},
                            "body": {"after": after}}),
        );
        client
    };
    let frames = resume(&loaded["seq"]).frames_until("end");
    let chunks = chunks(&frames, "r2");
    let message = &served["messages"][1];
    assert_eq!(chunks[0]["messageId"], message["id"]);
    let deltas = chunks.iter().filter_map(|chunk| chunk["delta"].as_str());
    let texts = message["parts"].as_array().unwrap().iter();
    let texts = texts.filter_map(|part| part["text"].as_str());
    assert_eq!(deltas.collect::<String>(), texts.collect::<String>());
    let finish = chunks.last().unwrap();
    assert_eq!(finish["messageMetadata"]["turn"], "stopped");

    // A client that has everything gets `no-active`.
    let frame = resume(&served["seq"]).frame();
    assert_eq!(frame, json!({"type": "no-active", "requestId": "r2"}));
    let frame = resume(&json!("yesterday")).frame();
    assert_eq!(frame["type"], "error");
    let problem = frame["errorText"].as_str().unwrap();
    assert!(problem.starts_with("body.after: "), "{problem}");
}

#[test]
fn abort_stops_the_turn_where_the_operator_says_so() {
    let arguments = [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--pace",
        "5",
        "--on-abort",
        "stop",
    ];
    let server = adk_stream(&arguments).running();
    let mut client = server.connect("/live");
    send(&mut client, "r1", "c1", "take your time");
    while client.frame()["chunk"]["type"] != "text-delta" {}
    client.send(&json!({"type": "abort", "requestId": "r1"}));
    // Frames are taken in order: the answer to this one comes after the stop.
    client
        .send(&json!({"type": "resume", "requestId": "r2", "id": "c1", "headers": {}, "body": {}}));
    client.frames_until("no-active");
    assert_eq!(server.get("/api/chat/c1").json()["status"], "stopped");
}

#[test]
fn abort_that_says_so_stops_the_turn_and_a_ping_is_answered() {
    let server = adk_stream(&["serve", "--listen", "127.0.0.1:0", "--pace", "1"]).running();
    let mut client = server.connect("/live");
    send(&mut client, "r1", "c1", "take your time");
    client.send(&json!({"type": "abort", "requestId": "r1", "stop": true}));
    // Frames are taken in order: the answer to this one comes after the stop.
    client.send(&json!({"type": "ping", "timestamp": 7}));
    let frames = client.frames_until("pong");
    assert_eq!(frames.last().unwrap()["timestamp"], 7);
    assert_eq!(server.get("/api/chat/c1").json()["status"], "stopped");
}

#[test]
fn errors_have_a_code_and_reach_one_request_only() {
    let server = serve();
    let mut client = server.connect("/live");
    client.send(&json!({"type": "send", "requestId": "r1", "id": "c1", "trigger": "submit-message",
                        "messages": [{"id": "u", "role": "robot", "parts": []}], "headers": {}, "body": {}}));
    let frame = client.frame();
    assert_eq!(
        (&frame["type"], &frame["requestId"]),
        (&json!("error"), &json!("r1"))
    );
    assert_eq!(frame["code"], "unknown_value");
    assert!(
        frame["errorText"]
            .as_str()
            .unwrap()
            .starts_with("messages[0].role: "),
        "{frame}"
    );
    client.send(&json!({"type": "polka", "requestId": "r2"}));
    assert_eq!(client.frame()["requestId"], "r2");
    client.send(&json!({"type": "abort", "requestId": "nobody"}));
    send(&mut client, "r3", "c1", "hello");
    assert_eq!(
        client.frames_until("end")[0],
        json!({"type": "start", "requestId": "r3"})
    );
}

#[test]
fn sockets_are_opened_by_key_or_ticket_and_only_from_allowed_sites() {
    let server = adk_stream(&[
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--origins",
        "https://app.example",
    ])
    .variable("ADK_STREAM_KEYS", "alice=a-key-of-alices-own")
    .running();
    let key = ("x-api-key", "a-key-of-alices-own");
    let refused =
        |path: &str, headers: &[(&'static str, &str)]| server.try_connect(path, headers).err();
    assert_eq!(refused("/live", &[]), Some(401));
    assert_eq!(refused("/live", &[key]), None);
    assert_eq!(
        refused("/live", &[key, ("origin", "https://evil.example")]),
        Some(403)
    );
    assert_eq!(
        refused("/live", &[key, ("origin", "https://app.example")]),
        None
    );

    assert_eq!(server.post("/api/ticket", &[], "").status, 401);
    let issue = || {
        let ticket = server.post("/api/ticket", &[key], "").json();
        ticket["ticket"].as_str().unwrap().to_owned()
    };
    let ticket = issue();
    assert_eq!(refused(&format!("/live?ticket={ticket}0"), &[]), Some(401));
    assert_eq!(refused(&format!("/live?ticket={ticket}"), &[]), None);
    let in_protocol = |ticket: &str| {
        let protocol = format!("adk-stream.ticket.{ticket}");
        refused("/live", &[("sec-websocket-protocol", &protocol)])
    };
    // A ticket opens one socket, whichever way it is brought.
    assert_eq!(refused(&format!("/live?ticket={ticket}"), &[]), Some(401));
    assert_eq!(in_protocol(&ticket), Some(401));
    let ticket = issue();
    assert_eq!(in_protocol(&ticket), None);
    assert_eq!(in_protocol(&ticket), Some(401));
    // A plain request is refused for the same reasons, and only then for being plain.
    let plain = |path: &str| server.get(path).json()["error"]["code"].clone();
    assert_eq!(plain("/live"), "unauthorized");
    let ticket = issue();
    assert_eq!(plain(&format!("/live?ticket={ticket}")), "upgrade_required");
}

#[test]
fn hostile_sockets_end_clearly_and_harm_nobody() {
    let server = serve();
    let mut other = server.connect("/live");
    let mut client = server.connect("/live");
    client.send_binary(vec![0xff; 1000]);
    assert_eq!(client.next().unwrap_err().0, 1003);
    let mut client = server.connect("/live");
    client.send_binary(vec![b' '; 5 * 1024 * 1024]);
    let (code, _) = client.next().unwrap_err();
    assert!([1006, 1009].contains(&code), "{code}");
    let mut client = server.connect("/live");
    for n in 0..10_000 {
        client.send(&json!({"type": "ping", "timestamp": n}));
        if n % 100 == 0 {
            while !client.next().unwrap().contains(&format!(":{n}}}")) {}
        }
    }
    other.send(&json!({"type": "ping", "timestamp": "still here"}));
    assert!(other.next().unwrap().contains("still here"));
}

#[test]
fn server_that_goes_away_says_so() {
    let server = serve();
    let mut client = server.connect("/live");
    client.send(&json!({"type": "ping", "timestamp": 1}));
    client.next().unwrap();
    server.signal("TERM");
    assert_eq!(
        client.next(),
        Err((1001, "the server goes away; come back".to_owned()))
    );
}
