//! The log: every refusal is in it under the id that the client got, and nothing that is secret is.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::process::{Server, adk_stream};
use crate::request::Answer;

const KEY: &str = "a-key-that-is-alices";
const ALICE: (&str, &str) = ("x-api-key", KEY);

fn with_log(arguments: &[&str]) -> Server {
    let on = ["serve", "--listen", "127.0.0.1:0", "--log-format", "json"];
    let keys = format!("alice={KEY}");
    let start = adk_stream(&[&on[..], arguments].concat()).variable("ADK_STREAM_KEYS", &keys);
    start.running()
}

/// The line of the log with an id.
pub(crate) fn line_of(server: &mut Server, id: &str) -> Value {
    let line = server.log_says(&format!("\"request_id\":\"{id}\""));
    serde_json::from_str(&line).unwrap()
}

pub(crate) fn body(chat: &str, text: &str) -> Value {
    let part = json!({"type": "text", "text": text});
    let message = json!({"id": "u1", "role": "user", "parts": [part]});
    json!({"id": chat, "trigger": "submit-message", "messages": [message]})
}

#[test]
fn refused_request_is_found_by_the_id_that_its_client_got() {
    let mut server = with_log(&[]);
    let long = body("c1", "hi").to_string();
    let foreign = [ALICE, ("origin", "https://evil.example")];
    let answers = [
        (server.get("/nowhere"), "not_found"),
        (server.post("/api/chat", &[], &long), "unauthorized"),
        (server.post("/api/chat", &[ALICE], "{"), "bad_request"),
        (
            server.send("POST", "/stream", &[ALICE], "hello"),
            "unsupported_media_type",
        ),
        (
            server.request("GET", "/api/chat/nobodys", &[ALICE]),
            "unknown_chat",
        ),
        (
            server.request("PUT", "/api/chat", &[ALICE]),
            "method_not_allowed",
        ),
        (server.request("GET", "/live", &[ALICE]), "upgrade_required"),
        (
            server.post("/api/approvals/a1", &[ALICE], r#"{"approved":true}"#),
            "unknown_approval",
        ),
        (server.post("/api/chat", &foreign, &long), "foreign_origin"),
        (server.post("/internal/command", &[], "{}"), "unauthorized"),
    ];
    for (answer, code) in answers {
        assert_logged(&mut server, &answer, code);
    }
}

/// The client got a code and an id, and the log has the code under that id.
#[track_caller]
fn assert_logged(server: &mut Server, answer: &Answer, code: &str) {
    let error = &answer.json()["error"];
    assert_eq!(error["code"], code, "{error}");
    let id = error["requestId"].as_str().unwrap();
    assert_eq!(answer.header("x-request-id"), Some(id));
    let line = line_of(server, id);
    assert_eq!(line["code"], code, "{line}");
    assert_eq!(line["status"], answer.status, "{line}");
    assert_eq!(line["target"], "access", "{line}");
}

#[test]
fn refused_body_is_found_by_the_id_that_its_client_got() {
    let mut server = with_log(&[]);
    let large = body("c1", &"x".repeat(5 * 1024 * 1024)).to_string();
    let call = json!({"type": "tool-process_payment", "toolCallId": "invented",
        "state": "output-available", "input": {}, "output": {}});
    let invented =
        json!({"id": "c1", "messages": [{"id": "a1", "role": "assistant", "parts": [call]}]});
    let regenerated = json!({"id": "c1", "trigger": "regenerate-message", "messageId": "nobodys",
        "messages": []});
    for (body, code) in [
        (large, "too_large"),
        (body("a/b", "hi").to_string(), "invalid_chat_id"),
        (invented.to_string(), "unknown_call"),
        (regenerated.to_string(), "unknown_message"),
    ] {
        let answer = server.post("/api/chat", &[ALICE], &body);
        assert_logged(&mut server, &answer, code);
    }
    let opened = server.post("/api/chat", &[ALICE], &body("c2", "hi").to_string());
    assert_eq!(opened.status, 200);
    let deleted = server.request("DELETE", "/api/chat/c2", &[ALICE]);
    assert_eq!(deleted.status, 204);
    let again = server.post("/api/chat", &[ALICE], &body("c2", "hi").to_string());
    assert_logged(&mut server, &again, "chat_deleted");
}

#[test]
fn refused_run_of_ag_ui_is_found_by_the_id_that_its_client_got() {
    let mut server = with_log(&[]);
    let run = |thread: &str| {
        json!({"threadId": thread, "runId": "r1", "state": {}, "tools": [], "context": [],
            "forwardedProps": {}, "messages": [{"id": "u1", "role": "user", "content": "hi"}]})
        .to_string()
    };
    for (headers, body, code) in [
        (&[][..], run("c1"), "unauthorized"),
        (&[ALICE][..], "{".to_owned(), "bad_request"),
        (&[ALICE][..], run("a/b"), "invalid_chat_id"),
    ] {
        let answer = server.post("/api/ag-ui", headers, &body);
        assert_logged(&mut server, &answer, code);
    }
    let connected = server.post("/api/ag-ui/connect", &[ALICE], "[]");
    assert_logged(&mut server, &connected, "bad_request");
}

#[test]
fn refusal_by_a_quota_is_found_by_the_id_that_its_client_got() {
    let pay = |chat: &str| body(chat, "Send $20 to Sam").to_string();
    for (quota, code) in [
        ("--max-open-approvals", "too_many_open_approvals"),
        ("--max-open-chats", "too_many_open_chats"),
    ] {
        let mut server = with_log(&[quota, "1"]);
        assert_eq!(server.post("/api/chat", &[ALICE], &pay("c1")).status, 200);
        let refused = server.post("/api/chat", &[ALICE], &pay("c2"));
        assert_logged(&mut server, &refused, code);
        // On a socket, it is a frame that is refused.
        let mut client = server.try_connect("/api/chat/live", &[ALICE]).unwrap();
        let mut frame = body("c3", "Send $20 to Sam");
        frame["type"] = "send".into();
        frame["requestId"] = "r1".into();
        client.send(&frame);
        let refused = client.frame();
        let line = line_of(&mut server, id_in(refused["errorText"].as_str().unwrap()));
        assert_eq!(line["code"], code, "{line}");
    }
    let mut server = with_log(&["--max-requests-in-flight", "1"]);
    let socket = server.try_connect("/api/chat/live", &[ALICE]).unwrap();
    let refused = server.request("GET", "/api/info", &[ALICE]);
    assert_logged(&mut server, &refused, "too_many_requests_in_flight");
    drop(socket);
    let mut server = with_log(&["--max-requests-per-second", "1"]);
    let mut answers = (0..500).map(|_| server.request("GET", "/api/info", &[ALICE]));
    let refused = answers.find(|answer| answer.status != 200).unwrap();
    assert_logged(&mut server, &refused, "too_many_requests");
    let mut server = with_log(&["--max-body-bytes-per-second", "1KiB"]);
    let heavy = body("c1", &"x".repeat(3 * 1024 * 1024)).to_string();
    let answers = [(); 3].map(|()| server.post("/api/chat", &[ALICE], &heavy));
    let refused = answers.into_iter().find(|answer| answer.status != 200);
    assert_logged(&mut server, &refused.unwrap(), "too_many_bytes");
}

#[test]
fn who_is_not_let_in_is_found_by_the_id_that_they_got() {
    let mut server = with_log(&[]);
    // The response to each is delayed: all at once take no longer than one.
    let guess = |_| {
        server.request(
            "GET",
            "/api/info",
            &[("x-api-key", "a-guess-that-is-wrong")],
        )
    };
    let guesses: Vec<Answer> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..30)
            .map(|number| scope.spawn(move || guess(number)))
            .collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let refused = guesses.iter().find(|answer| answer.status == 429).unwrap();
    assert_logged(&mut server, refused, "too_many_wrong_keys");

    let flags = ["serve", "--listen", "127.0.0.1:0", "--log-format", "json"];
    let mut server = adk_stream(&flags).running();
    for (header, code) in [
        (("x-forwarded-for", "203.0.113.7"), "proxied_without_keys"),
        (("host", "evil.example"), "loopback_only"),
    ] {
        let refused = server.request("GET", "/api/info", &[header]);
        assert_logged(&mut server, &refused, code);
    }
}

#[test]
fn client_may_choose_the_id_of_a_request() {
    let mut server = with_log(&[]);
    let chosen = |id: &str| {
        let headers = [("x-request-id", id)];
        let answer = server.request("GET", "/nowhere", &headers);
        let given = answer.json()["error"]["requestId"].clone();
        assert_eq!(answer.header("x-request-id"), given.as_str());
        given.as_str().unwrap().to_owned()
    };
    let theirs = "3f1b9c1e-6f0a-4a52-9d7e-0d8f6f2b7c11";
    assert_eq!(chosen(theirs), theirs);
    for bad in ["two words", "\"", &"x".repeat(129)] {
        let made = chosen(bad);
        assert!(made.starts_with("req_"), "{made}");
    }
    // What was served has the id too.
    let served = server.request("GET", "/healthz", &[("x-request-id", "mine")]);
    assert_eq!(served.header("x-request-id"), Some("mine"));
    assert_eq!(line_of(&mut server, theirs)["path"], "/nowhere");
}

/// The id at the end of a text, as in `too_large: … [req_1.2]`.
fn id_in(text: &str) -> &str {
    let (_, id) = text.rsplit_once('[').expect(text);
    id.strip_suffix(']').expect(text)
}

#[test]
fn refused_frame_is_found_by_the_id_that_its_client_got() {
    let mut server = with_log(&[]);
    let mut client = server.try_connect("/api/chat/live", &[ALICE]).unwrap();
    client.send(
        &json!({"type": "resume", "requestId": "r1", "id": "c1", "headers": {},
        "body": {"after": "yesterday"}}),
    );
    let wrong = client.frame();
    assert_eq!(wrong["requestId"], "r1");
    client.send(
        &json!({"type": "send", "requestId": "r2", "id": "c1", "headers": {}, "body": {},
        "trigger": "submit-message", "messages": [{"id": "u", "role": "robot", "parts": []}]}),
    );
    let malformed = client.frame();
    // The legacy bridge has no ids of its own.
    client.send(&json!({"type": "tool_result", "toolCallId": "nobody", "result": {}}));
    let legacy = client.next().unwrap();
    let legacy = legacy.trim().strip_prefix("data: ").unwrap();
    let legacy: Value = serde_json::from_str(legacy).unwrap();
    let mut ids = Vec::new();
    for (frame, code) in [
        (&wrong, "bad_request"),
        (&malformed, "unknown_value"),
        (&legacy, "unknown_call"),
    ] {
        let id = id_in(frame["errorText"].as_str().unwrap());
        let line = line_of(&mut server, id);
        assert_eq!(line["code"], code, "{line}");
        assert_eq!(line["principal"], "alice", "{line}");
        assert!(id.starts_with(line["socket"].as_str().unwrap()), "{line}");
        ids.push(id.to_owned());
    }
    ids.dedup();
    assert_eq!(ids.len(), 3, "{ids:?}");
    client.send_text("{");
    let (code, reason) = client.next().unwrap_err();
    assert_eq!(code, 1002);
    let line = line_of(&mut server, id_in(&reason));
    assert_eq!(line["close"], 1002, "{line}");
    assert_eq!(line["message"], "socket refused", "{line}");
}

#[test]
fn refused_socket_is_found_by_the_id_that_its_client_got() {
    let mut server = with_log(&[]);
    let mut stream = TcpStream::connect(server.address).unwrap();
    let request = "GET /live?ticket=s3cret HTTP/1.1\r\nhost: localhost\r\nconnection: upgrade\r\n\
        upgrade: websocket\r\nsec-websocket-version: 13\r\n\
        sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    stream.write_all(request.as_bytes()).unwrap();
    let lines = BufReader::new(stream).lines().map(Result::unwrap);
    let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    assert!(head[0].contains(" 401 "), "{head:?}");
    let id = head
        .iter()
        .find_map(|line| line.strip_prefix("x-request-id: "));
    let line = line_of(&mut server, id.unwrap());
    assert_eq!(line["code"], "unauthorized", "{line}");
    assert_eq!(line["path"], "/live", "{line}");
}

#[test]
fn access_log_has_a_line_for_each_request_where_it_is_asked_for() {
    let mut server = with_log(&["--log", "info,access=debug"]);
    let answer = server.post("/api/chat", &[ALICE], &body("c1", "Hello").to_string());
    assert_eq!(answer.status, 200);
    let line = line_of(&mut server, answer.header("x-request-id").unwrap());
    for (field, value) in [
        ("method", json!("POST")),
        ("path", json!("/api/chat")),
        ("status", json!(200)),
        ("principal", json!("alice")),
        ("chat", json!("c1")),
        ("message", json!("request served")),
    ] {
        assert_eq!(line[field], value, "{line}");
    }
    assert!(line["bytes"].as_u64().unwrap() > 100, "{line}");
    assert!(line["ms"].is_u64(), "{line}");
    let message = line["message_id"].as_str().unwrap();
    assert!(answer.text().contains(message), "{line}");
}

#[test]
fn log_has_neither_secrets_nor_what_was_said() {
    let mut server = with_log(&["--log", "trace"]);
    let said = body("c1", "Send $20 to Zebedee").to_string();
    assert_eq!(server.post("/api/chat", &[ALICE], &said).status, 200);
    let approvals = server.request("GET", "/api/approvals", &[ALICE]).json();
    let approval = approvals["approvals"][0]["approvalId"].as_str().unwrap();
    let answer = json!({"approved": false, "reason": "Zebedee is a stranger"}).to_string();
    let answered = server.post(&format!("/api/approvals/{approval}"), &[ALICE], &answer);
    assert_eq!(answered.status, 200);
    let ticket = server.post("/api/ticket", &[ALICE], "").json();
    let ticket = ticket["ticket"].as_str().unwrap();
    let path = format!("/api/chat/live?ticket={ticket}");
    drop(server.try_connect(&path, &[]).unwrap());
    assert_eq!(
        server
            .request(
                "GET",
                "/api/info",
                &[("x-api-key", "a-guess-that-is-wrong")]
            )
            .status,
        401
    );
    server.signal("TERM");
    assert!(server.ended().success());
    let log = server.log();
    assert!(log.contains("/api/chat/live"), "{log}");
    for secret in [KEY, ticket, "a-guess-that-is-wrong", "Zebedee"] {
        assert!(!log.contains(secret), "{secret}: {log}");
    }
}

#[test]
fn log_is_set_by_flag_variable_or_file() {
    let on = ["serve", "--listen", "127.0.0.1:0"];
    let quiet = |start: crate::process::Start| {
        let mut server = start.running();
        assert_eq!(server.get("/nowhere").status, 404);
        server.signal("TERM");
        server.ended();
        server.log()
    };
    let flag = adk_stream(&[&on[..], &["--log", "access=off,warn"]].concat());
    let variable = adk_stream(&on).variable("ADK_STREAM_LOG", "error");
    let file = adk_stream(&on).file("adk-stream.toml", "log = 'off'\nlog-format = 'json'\n");
    for start in [flag, variable, file] {
        assert_eq!(quiet(start), "");
    }
    let text = quiet(adk_stream(&on));
    assert!(text.contains(" INFO access: request refused "), "{text}");
    let json = adk_stream(&on).variable("ADK_STREAM_LOG_FORMAT", "json");
    for line in quiet(json).lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        assert!(line["timestamp"].is_string(), "{line}");
    }
    adk_stream(&[&on[..], &["--log", "adk_stream=loud"]].concat())
        .refused()
        .says("--log: `adk_stream=loud` is not a filter; expected a level such as info, or module=level");
}

#[test]
fn request_keeps_its_id_at_the_server_that_it_is_forwarded_to() {
    let url = testkit::postgres::database();
    let server = || {
        let flags = ["--log", "info,access=debug", "--log-format", "json"];
        adk_stream(&[&["serve", "--listen", "127.0.0.1:0"], &flags[..]].concat())
            .variable("ADK_STREAM_STORE", &url)
            .variable("ADK_STREAM_CLUSTER_KEY", "known-to-this-cluster-alone")
            .running()
    };
    let (mut owner, other) = (server(), server());
    let said = body("c1", "Hello").to_string();
    assert_eq!(owner.post("/api/chat", &[], &said).status, 200);
    let id = [("x-request-id", "asked-at-the-other")];
    assert_eq!(other.request("GET", "/api/chat/c1", &id).status, 200);
    let line = line_of(&mut owner, "asked-at-the-other");
    assert_eq!(line["path"], "/internal/command", "{line}");
}
