//! How much one principal may have open and send, and that others do not notice.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;

use serde_json::{Value, json};

use crate::events::Events;
use crate::gemini::{gemini, saying};
use crate::process::{Server, adk_stream};
use crate::request::Answer;

pub(crate) type Key = (&'static str, &'static str);

pub(crate) const ALICE: Key = ("x-api-key", "alice-secret-key");
pub(crate) const BOB: Key = ("x-api-key", "bob-secret-key-0");

/// A server with quotas, and two who may speak.
pub(crate) fn limited(flags: &[&str]) -> Server {
    let serve = ["serve", "--listen", "127.0.0.1:0", "--pace", "0"];
    adk_stream(&[&serve, flags].concat())
        .variable(
            "ADK_STREAM_KEYS",
            "alice=alice-secret-key,bob=bob-secret-key-0",
        )
        .running()
}

/// The same with a model at this address, which has the demo's tools.
fn limited_model(url: &str, flags: &[&str]) -> Server {
    let serve = ["serve", "--listen", "127.0.0.1:0", "--agent", "gemini"];
    adk_stream(&[&serve[..], &["--gemini-base-url", url], flags].concat())
        .variable("GEMINI_API_KEY", "k3y-that-nobody-may-see")
        .variable("ADK_STREAM_DEMO_TOOLS", "true")
        .variable(
            "ADK_STREAM_KEYS",
            "alice=alice-secret-key,bob=bob-secret-key-0",
        )
        .running()
}

pub(crate) fn message(chat: &str, id: &str, words: &str) -> Value {
    let parts = json!([{"type": "text", "text": words}]);
    json!({"id": chat, "messages": [{"id": id, "role": "user", "parts": parts}]})
}

/// Asks for a payment, which waits for an approval.
pub(crate) fn ask(server: &Server, who: Key, chat: &str) -> Answer {
    let body = message(chat, &format!("{chat}-u1"), "Send $20 to Sam").to_string();
    server.post("/api/chat", &[who], &body)
}

fn approvals(server: &Server, who: Key) -> Vec<Value> {
    let list = server.request("GET", "/api/approvals", &[who]).json();
    list["approvals"].as_array().unwrap().clone()
}

pub(crate) fn assert_refused(answer: &Answer, code: &str) {
    assert_eq!(answer.status, 429, "{}", answer.text());
    assert_eq!(answer.json()["error"]["code"], code);
    let seconds = answer.header("retry-after").expect("when to come back");
    assert!(seconds.parse::<u32>().unwrap() >= 1, "{seconds}");
}

#[test]
fn one_principal_can_not_park_approvals_without_end() {
    let server = limited(&["--max-open-approvals", "3"]);
    for chat in ["a1", "a2", "a3"] {
        assert_eq!(ask(&server, ALICE, chat).status, 200);
    }
    assert_refused(&ask(&server, ALICE, "a4"), "too_many_open_approvals");
    assert_refused(&ask(&server, ALICE, "a5"), "too_many_open_approvals");
    // Not a trace of what was refused.
    let view = server.request("GET", "/api/chat/a4", &[ALICE]);
    assert_eq!(view.status, 404);
    // Nobody else is concerned.
    assert_eq!(ask(&server, BOB, "b1").status, 200);

    // A new message in a chat that waits takes the place of what waits there.
    let body = message("a1", "a1-u2", "Send $30 to Sam").to_string();
    assert_eq!(server.post("/api/chat", &[ALICE], &body).status, 200);
    assert_refused(&ask(&server, ALICE, "a4"), "too_many_open_approvals");

    // Answers and stops make room, and are not refused.
    let waiting = approvals(&server, ALICE);
    assert_eq!(waiting.len(), 3);
    let path = format!(
        "/api/approvals/{}",
        waiting[0]["approvalId"].as_str().unwrap()
    );
    let answer = server.post(&path, &[ALICE], r#"{"approved":false}"#);
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(ask(&server, ALICE, "a4").status, 200);
    assert_refused(&ask(&server, ALICE, "a5"), "too_many_open_approvals");
    let stop = server.post("/api/chat/a3/stop", &[ALICE], "");
    assert_eq!(stop.status, 200);
    assert_eq!(ask(&server, ALICE, "a5").status, 200);
}

/// A model that makes many calls in a step. Turns that begin before the first of them asks are let in; those
/// after that are not, however many turns the quota had room for.
#[test]
fn turns_that_ask_many_times_stay_near_the_quota() {
    const CALLS: usize = 16;
    const AT_ONCE: usize = 20;
    const QUOTA: usize = 64;
    let call = json!({"functionCall": {"name": "process_payment",
                                       "args": {"amount": 5, "recipient": "Sam"}}});
    let saying = saying(json!(vec![call; CALLS]));
    let (url, _requests) = gemini(vec![saying; 4 * AT_ONCE]);
    let quota = QUOTA.to_string();
    let server = limited_model(&url, &["--max-open-approvals", &quota]);
    let begin = |round: usize, number: usize| {
        let chat = format!("c{round}-{number}");
        let body = message(&chat, "u1", "Pay").to_string();
        server.post("/api/chat", &[ALICE], &body)
    };
    for round in 0..4 {
        let answers: Vec<Answer> = thread::scope(|scope| {
            let turns: Vec<_> = (0..AT_ONCE)
                .map(|number| scope.spawn(move || begin(round, number)))
                .collect();
            turns.into_iter().map(|turn| turn.join().unwrap()).collect()
        });
        for answer in answers.iter().filter(|answer| answer.status != 200) {
            assert_refused(answer, "too_many_open_approvals");
        }
    }
    let mut open = 0;
    let mut page = list_of(&server, "?limit=200");
    loop {
        open += page["approvals"].as_array().unwrap().len();
        let Some(cursor) = page["nextCursor"].as_str() else {
            break;
        };
        page = list_of(&server, &format!("?limit=200&cursor={cursor}"));
    }
    let in_flight = AT_ONCE * CALLS;
    println!("{open} open");
    assert!(open >= QUOTA, "{open} open");
    assert!(open <= QUOTA + in_flight, "{open} open");
    assert_refused(&begin(4, 0), "too_many_open_approvals");
}

fn list_of(server: &Server, query: &str) -> Value {
    let path = format!("/api/approvals{query}");
    server.request("GET", &path, &[ALICE]).json()
}

#[test]
fn step_of_more_calls_than_may_be_asks_about_no_more_than_those() {
    let call = json!({"functionCall": {"name": "process_payment",
                                       "args": {"amount": 5, "recipient": "Sam"}}});
    let (url, requests) = gemini(vec![
        saying(json!(vec![call; 40])),
        saying(json!([{"text": "None was paid."}])),
    ]);
    let server = limited_model(&url, &[]);
    let body = message("c1", "u1", "Pay").to_string();
    assert_eq!(server.post("/api/chat", &[ALICE], &body).status, 200);
    let waiting = list_of(&server, "?limit=200");
    let waiting = waiting["approvals"].as_array().unwrap();
    assert_eq!(waiting.len(), 32);
    for asked in waiting {
        let path = format!("/api/approvals/{}", asked["approvalId"].as_str().unwrap());
        let denied = server.post(&path, &[ALICE], r#"{"approved":false}"#);
        assert_eq!(denied.status, 200);
    }
    // The model gets an error for each of the others.
    requests.recv().unwrap();
    let (_, sent) = requests.recv().unwrap();
    let sent = sent.to_string();
    assert_eq!(sent.matches("more than 32 calls in one step").count(), 8);
}

#[test]
fn an_answer_in_a_message_is_taken_though_the_quota_is_used_up() {
    let server = limited(&["--max-open-approvals", "1", "--max-open-chats", "1"]);
    assert_eq!(ask(&server, ALICE, "c1").status, 200);
    assert_refused(&ask(&server, ALICE, "c2"), "too_many_open_approvals");
    let chat = server.request("GET", "/api/chat/c1", &[ALICE]).json();
    let mut messages = chat["messages"].clone();
    let part = messages[1]["parts"].as_array_mut().unwrap();
    let part = part.iter_mut().find(|part| part["approval"].is_object());
    let part = part.unwrap();
    part["state"] = "approval-responded".into();
    part["approval"]["approved"] = true.into();
    let body = json!({"id": "c1", "trigger": "submit-message", "messages": messages});
    let answer = server.post("/api/chat", &[ALICE], &body.to_string());
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert_eq!(approvals(&server, ALICE).len(), 0);
    assert_eq!(ask(&server, ALICE, "c2").status, 200);
}

#[test]
fn one_principal_can_not_open_chats_without_end() {
    let server = limited(&["--max-open-chats", "2", "--max-open-approvals", "none"]);
    for chat in ["a1", "a2"] {
        assert_eq!(ask(&server, ALICE, chat).status, 200);
    }
    assert_refused(&ask(&server, ALICE, "a3"), "too_many_open_chats");
    assert_eq!(ask(&server, BOB, "b1").status, 200);
    let gone = server.request("DELETE", "/api/chat/a1", &[ALICE]);
    assert_eq!(gone.status, 204);
    assert_eq!(ask(&server, ALICE, "a3").status, 200);
}

#[test]
fn quotas_hold_on_a_socket_too() {
    let server = limited(&["--max-open-approvals", "1"]);
    let mut socket = server.try_connect("/api/chat/live", &[ALICE]).unwrap();
    let mut send = |request: &str, chat: &str| {
        let mut frame = message(chat, &format!("{chat}-u1"), "Send $20 to Sam");
        frame["type"] = "send".into();
        frame["requestId"] = request.into();
        frame["trigger"] = "submit-message".into();
        socket.send(&frame);
    };
    send("r1", "c1");
    send("r2", "c2");
    let refused = loop {
        let frame = socket.frame();
        if frame["requestId"] == "r2" {
            break frame;
        }
    };
    assert_eq!(refused["type"], "error", "{refused}");
    let text = refused["errorText"].as_str().unwrap();
    assert!(text.starts_with("too_many_open_approvals: "), "{text}");

    // The legacy bridge gets a chunk.
    let mut legacy = server.try_connect("/live", &[ALICE]).unwrap();
    let mut frame = message("c3", "c3-u1", "Send $20 to Sam");
    frame["type"] = "message".into();
    frame["version"] = "1.0".into();
    frame["data"] = json!({"messages": frame["messages"]});
    legacy.send(&frame);
    let text = legacy.next().unwrap();
    assert!(text.contains("too_many_open_approvals"), "{text}");
}

/// Messages that are not the last of their request open turns too: a limit that looks at the last one counts
/// nothing.
#[test]
fn every_request_that_opens_a_turn_is_counted() {
    let server = limited(&["--max-open-approvals", "1"]);
    assert_eq!(ask(&server, ALICE, "first").status, 200);
    let said =
        json!({"id": "m1", "role": "user", "parts": [{"type": "text", "text": "Send $20 to Sam"}]});
    let after =
        json!({"id": "x", "role": "assistant", "parts": [{"type": "text", "text": "Hello"}]});
    let named = |chat: &str| {
        let messages = [&said, &after];
        json!({"id": chat, "messageId": "m1", "trigger": "submit-message", "messages": messages})
    };
    let answer = server.post("/api/chat", &[ALICE], &named("named").to_string());
    assert_refused(&answer, "too_many_open_approvals");

    let mut socket = server.try_connect("/api/chat/live", &[ALICE]).unwrap();
    let mut frame = named("framed");
    frame["type"] = "send".into();
    frame["requestId"] = "r1".into();
    socket.send(&frame);
    let refused = socket.frame();
    assert_eq!(refused["type"], "error", "{refused}");
    assert_eq!(refused["code"], "too_many_open_approvals", "{refused}");

    let mut legacy = server.try_connect("/live", &[ALICE]).unwrap();
    let messages = json!([after, {"role": "user", "parts": said["parts"]}]);
    let data = json!({"messages": messages, "messageId": "x"});
    legacy.send(&json!({"type": "message", "version": "1.0", "id": "legacy", "data": data}));
    let text = legacy.next().unwrap();
    assert!(text.contains("too_many_open_approvals"), "{text}");

    let user = json!({"role": "user", "id": "m1", "content": "Send $20 to Sam"});
    let agent = json!({"role": "assistant", "id": "x", "content": "Hello"});
    let resume = json!([{"interruptId": "none", "status": "resolved", "payload": true}]);
    let runs = [
        json!({"messages": [user, agent], "forwardedProps": {"messageId": "m1"}}),
        json!({"messages": [user], "resume": resume}),
        json!({"messages": [user], "resume": resume, "forwardedProps": {"messageId": "m1"}}),
        json!({"messages": [agent, user], "resume": resume, "forwardedProps": {"messageId": "none"}}),
    ];
    for (number, mut run) in runs.into_iter().enumerate() {
        run["threadId"] = format!("run{number}").into();
        run["runId"] = "r".into();
        let answer = server.post("/api/ag-ui", &[ALICE], &run.to_string());
        assert_refused(&answer, "too_many_open_approvals");
    }
    assert_eq!(approvals(&server, ALICE).len(), 1);
}

#[test]
fn a_list_is_a_page_also_for_those_who_ask_for_all_of_it() {
    let server = limited(&[]);
    for number in 0..51 {
        assert_eq!(ask(&server, ALICE, &format!("a{number}")).status, 200);
    }
    let list = |query: &str| {
        let path = format!("/api/approvals{query}");
        server.request("GET", &path, &[ALICE])
    };
    let page = list("").json();
    assert_eq!(page["approvals"].as_array().unwrap().len(), 50);
    let rest = list(&format!("?cursor={}", page["nextCursor"].as_str().unwrap()));
    assert_eq!(rest.json()["approvals"].as_array().unwrap().len(), 1);
    assert_eq!(list("?limit=201").status, 400);
}

/// All that waits is many times what a page holds. Sixteen ask for it at once, and two hundred for what changes
/// in it, while somebody else is served.
#[test]
fn lists_of_large_approvals_take_no_more_memory_than_their_pages() {
    const CHATS: usize = 12;
    const CALLS: usize = 16;
    let letter = "x".repeat(60_000);
    let input = json!({"amount": 5, "recipient": "Sam", "description": letter});
    let call = json!({"functionCall": {"name": "process_payment", "args": input}});
    let (url, _requests) = gemini(vec![saying(json!(vec![call; CALLS])); CHATS]);
    let flags = ["serve", "--listen", "127.0.0.1:0", "--agent", "gemini"];
    let server = adk_stream(&[&flags[..], &["--gemini-base-url", &url]].concat())
        .variable("GEMINI_API_KEY", "k3y-that-nobody-may-see")
        .variable("ADK_STREAM_DEMO_TOOLS", "true")
        .variable(
            "ADK_STREAM_KEYS",
            "alice=alice-secret-key,bob=bob-secret-key-0",
        )
        .variable("ADK_STREAM_MAX_EVENT_STREAMS", "none")
        .running();
    for number in 0..CHATS {
        let body = message(&format!("c{number}"), "u1", "Pay").to_string();
        assert_eq!(server.post("/api/chat", &[ALICE], &body).status, 200);
    }
    let before = server.peak_memory();
    let list = |cursor: &str| {
        let path = format!("/api/approvals?limit=200{cursor}");
        let answer = server.request("GET", &path, &[ALICE]);
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert!(answer.body.len() < 2 * 1024 * 1024, "{}", answer.body.len());
        answer.json()
    };
    let events = || Events::open(&server, &[ALICE]);
    thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| list(""));
        }
        let streams: Vec<_> = (0..200).map(|_| scope.spawn(events)).collect();
        for _ in 0..20 {
            assert_eq!(server.request("GET", "/api/chats", &[BOB]).status, 200);
        }
        for stream in streams {
            stream.join().unwrap().event("reset");
        }
    });
    let peak = server.peak_memory();
    println!(
        "peak memory: {} MiB, {} MiB before",
        peak >> 20,
        before >> 20
    );
    // Sixteen times all that waits is 176 MiB, without what it takes to make it.
    assert!(peak - before < 150 * 1024 * 1024, "{} MiB", peak >> 20);
    // Page by page, all of it is there.
    let (mut page, mut found) = (list(""), 0);
    loop {
        found += page["approvals"].as_array().unwrap().len();
        let Some(cursor) = page["nextCursor"].as_str() else {
            break;
        };
        page = list(&format!("&cursor={cursor}"));
    }
    assert_eq!(found, CHATS * CALLS);
}

#[test]
fn requests_in_flight_are_limited_and_sockets_are_among_them() {
    let server = limited(&["--max-requests-in-flight", "2"]);
    let socket = server.try_connect("/api/chat/live", &[ALICE]).unwrap();
    let other = server.try_connect("/api/chat/live", &[ALICE]).unwrap();
    let info = |who| server.request("GET", "/api/info", &[who]);
    assert_refused(&info(ALICE), "too_many_requests_in_flight");
    assert_eq!(
        server.try_connect("/api/chat/live", &[ALICE]).err(),
        Some(429)
    );
    assert_eq!(info(BOB).status, 200);
    drop(socket);
    // The server notices in its own time.
    while info(ALICE).status != 200 {
        thread::yield_now();
    }
    drop(other);
}

#[test]
fn requests_that_come_too_fast_are_refused() {
    let server = limited(&["--max-requests-per-second", "1"]);
    let info = |who| server.request("GET", "/api/info", &[who]);
    let mut answers = (0..500).map(|_| info(ALICE));
    let refused = answers.find(|answer| answer.status != 200);
    assert_refused(&refused.expect("one is too many"), "too_many_requests");
    assert_eq!(info(BOB).status, 200);
    // A request without a principal has no quota, and gets no answer.
    let stranger = server.request("GET", "/api/info", &[("x-api-key", "no-key-of-anyone")]);
    assert_eq!(stranger.status, 401);
}

#[test]
fn bytes_that_come_too_fast_are_refused() {
    let server = limited(&["--max-body-bytes-per-second", "1KiB"]);
    let heavy = message("c1", "u1", &"x".repeat(3 * 1024 * 1024)).to_string();
    let refused = [(); 3].map(|()| server.post("/api/chat", &[ALICE], &heavy));
    assert_eq!(refused[0].status, 200);
    assert_refused(&refused[1], "too_many_bytes");
    assert_refused(&refused[2], "too_many_bytes");
    assert_eq!(
        server.post("/api/chat", &[BOB], &heavy).status,
        404,
        "alice's"
    );
    // Frames of a socket are counted with the rest.
    let mut socket = server.try_connect("/api/chat/live", &[ALICE]).unwrap();
    socket.send_text(&heavy);
    let (code, reason) = socket.next().unwrap_err();
    assert_eq!(code, 1008);
    assert!(reason.starts_with("too_many_bytes [req_"), "{reason}");
}

/// Fifty bodies of four megabytes at once, each of which would be many times as large in memory.
#[test]
fn heavy_bodies_take_turns_and_leave_others_alone() {
    let server = limited(&["--max-body-bytes-per-second", "none"]);
    // As many values as may be, and words up to the limit.
    let junk = "0,".repeat(249_900);
    let words = "x".repeat(3 * 1024 * 1024 + 512 * 1024);
    let heavy = |junk: &str| {
        format!(
            r#"{{"id":"c1","messages":[{{"id":"u","role":"user","parts":[{{"type":"data-x","data":["{words}",{junk}0]}}]}},{{"id":7}}]}}"#
        )
    };
    let refused = server.post("/api/chat", &[ALICE], &heavy(&"0,".repeat(250_000)));
    assert_eq!(refused.status, 413, "{}", refused.text());
    let heavy = heavy(&junk);
    let is_over = AtomicBool::new(false);
    let attack = || {
        let mut statuses = Vec::new();
        while !is_over.load(Ordering::Relaxed) {
            statuses.extend(server.try_post("/api/chat", &[ALICE], &heavy));
        }
        statuses
    };
    thread::scope(|scope| {
        let attacks: Vec<_> = (0..50).map(|_| scope.spawn(attack)).collect();
        // Somebody who behaves is served while it goes on.
        for number in 0..20 {
            let chat = format!("b{number}");
            let body = message(&chat, "u1", "What is the weather in Tokyo?").to_string();
            assert_eq!(server.post("/api/chat", &[BOB], &body).status, 200);
        }
        is_over.store(true, Ordering::Relaxed);
        for attack in attacks {
            let statuses = attack.join().unwrap();
            let is_refused = |status: &u16| matches!(status, 400 | 429);
            assert!(statuses.iter().all(is_refused), "{statuses:?}");
        }
    });
    let peak = server.peak_memory();
    println!("peak memory: {} MiB", peak >> 20);
    assert!(peak < 300 * 1024 * 1024, "{} MiB", peak >> 20);
}

/// Bodies that are announced as large and hardly come hold the room that they need.
#[test]
fn large_bodies_that_hardly_come_hold_up_nobody_else() {
    let flags = [
        "--max-body-bytes-per-second",
        "none",
        "--body-timeout",
        "3600",
    ];
    let server = limited(&flags);
    let (name, key) = ALICE;
    let head = format!(
        "POST /api/chat HTTP/1.1\r\nhost: localhost\r\n{name}: {key}\r\n\
         content-type: application/json\r\ncontent-length: 4194304\r\n\r\n"
    );
    // From 64 KiB on a body needs room. Nothing is sent after that, so that none is refused while it sends.
    let start = [head.as_bytes(), &[b' '; 64 * 1024]].concat();
    let (refused, refusals) = mpsc::channel();
    for _ in 0..16 {
        let mut stream = TcpStream::connect(server.address).unwrap();
        stream.write_all(&start).unwrap();
        let refused = refused.clone();
        thread::spawn(move || {
            let mut status = [0; 12];
            if stream.read_exact(&mut status).is_ok() {
                let _ = refused.send(status);
            }
        });
    }
    // Four of hers hold all that she may, whichever came first.
    for _ in 0..12 {
        assert_eq!(&refusals.recv().unwrap(), b"HTTP/1.1 429");
    }
    let body = message("b1", "u1", &"x".repeat(100 * 1024)).to_string();
    assert_eq!(server.post("/api/chat", &[BOB], &body).status, 200);
    assert!(refusals.try_recv().is_err(), "four of hers still wait");
}
