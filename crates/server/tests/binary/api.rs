//! What the API answers to requests that it can't or won't serve, and to whom.

use serde_json::json;

use crate::process::{adk_stream, serve};

const HELLO: &str =
    r#"{"id":"c1","messages":[{"id":"u1","role":"user","parts":[{"type":"text","text":"hi"}]}]}"#;

#[test]
fn bad_requests_get_what_is_wrong_and_where() {
    let server = serve();
    let problem = |path: &str, body: &str| {
        let answer = server.post(path, &[], body);
        let error = answer.json()["error"].clone();
        (
            answer.status,
            error["code"].clone(),
            error["message"].clone(),
        )
    };
    let (status, code, message) = problem("/api/chat", "{");
    assert_eq!((status, code), (400, json!("bad_request")));
    assert!(
        message.as_str().unwrap().starts_with("not valid JSON"),
        "{message}"
    );
    let body = r#"{"id":"c","messages":[{"id":"u","role":"robot","parts":[]}]}"#;
    let (status, _, message) = problem("/api/chat", body);
    assert_eq!(status, 400);
    assert!(
        message.as_str().unwrap().starts_with("messages[0].role: "),
        "{message}"
    );
    let (status, code, _) = problem("/stream", r#"{"id":"c","messages":[]}"#);
    assert_eq!((status, code), (400, json!("bad_request")));
    let (status, code, _) = problem("/api/chat?profile=v9", HELLO);
    assert_eq!((status, code), (400, json!("bad_request")));
    let (status, code, _) = problem("/api/approvals/none", r#"{"approved":true}"#);
    assert_eq!((status, code), (404, json!("unknown_approval")));
    let (status, code, _) = problem("/api/approvals/none", r#"{"approved":"yes"}"#);
    assert_eq!((status, code), (400, json!("bad_request")));
    // The parser itself would take 128 levels.
    let deep = format!("{}1{}", "[".repeat(90), "]".repeat(90));
    let part = format!(r#"{{"type":"data-x","data":{deep}}}"#);
    let body = format!(r#"{{"id":"c","messages":[{{"id":"u","role":"user","parts":[{part}]}}]}}"#);
    let (status, _, message) = problem("/api/chat", &body);
    assert_eq!(status, 400);
    assert!(
        message.as_str().unwrap().contains("deeper than 64 levels"),
        "{message}"
    );
    let large = format!(r#"{{"id":"{}"}}"#, "x".repeat(5 * 1024 * 1024));
    let (status, code, _) = problem("/api/chat", &large);
    assert_eq!((status, code), (413, json!("too_large")));
}

#[test]
fn body_that_is_not_json_by_its_own_account_is_refused() {
    let server = serve();
    let form = ("content-type", "application/x-www-form-urlencoded");
    let text = ("content-type", "text/plain");
    // A browser that says nothing of the site which has it send the request.
    let silent = ("user-agent", "Mozilla/5.0");
    for (path, headers) in [
        ("/api/chat", &[form][..]),
        ("/api/chat", &[text, silent]),
        ("/api/chat", &[silent]),
        ("/stream", &[text]),
        ("/api/ag-ui", &[text]),
        ("/api/approvals/gate_1", &[text]),
    ] {
        let answer = server.send("POST", path, headers, HELLO);
        assert_eq!(answer.status, 415, "{path} {headers:?}");
        assert_eq!(answer.json()["error"]["code"], "unsupported_media_type");
    }
    // A form of another site can send a text without asking first.
    for site in ["https://other.example", "null"] {
        let headers = [text, ("origin", site), silent];
        let answer = server.send("POST", "/api/chat", &headers, HELLO);
        assert_eq!(answer.status, 403, "{site}");
        assert_eq!(answer.json()["error"]["code"], "foreign_origin");
    }
    let headers = [text, ("sec-fetch-site", "cross-site"), silent];
    assert_eq!(
        server.send("POST", "/api/chat", &headers, HELLO).status,
        403
    );
}

/// As `WorkflowChatTransport` sends it: from a browser, and from a program.
#[test]
fn chat_takes_a_body_without_a_type_and_names_its_run() {
    let server = serve();
    let label = ("content-type", "text/plain;charset=UTF-8");
    let agent = ("user-agent", "Mozilla/5.0");
    for headers in [
        &[label, ("origin", "http://localhost"), agent][..],
        &[label, ("sec-fetch-site", "same-origin"), agent],
        &[label],
        &[],
    ] {
        let answer = server.send("POST", "/api/chat", headers, HELLO);
        assert_eq!(answer.status, 200, "{headers:?}: {}", answer.text());
        let run = answer.header("x-workflow-run-id").unwrap();
        let sent = data(answer.text());
        // What it has of the window, again: nothing, some of it, all of it but the end.
        for start in [0, 2, sent.len() - 1] {
            let path = format!("/api/chat/{run}/stream?startIndex={start}");
            let rest = server.get(&path);
            assert_eq!(rest.status, 200, "{path}");
            assert_eq!(data(rest.text()), sent[start..], "{path}");
        }
    }
}

/// The events of a stream.
fn data(text: &str) -> Vec<&str> {
    let lines = text.lines();
    lines
        .filter_map(|line| line.strip_prefix("data: "))
        .collect()
}

#[test]
fn unknown_chats_are_not_found_and_there_is_nothing_to_resume() {
    let server = serve();
    assert_eq!(
        server.get("/api/chat/none").json()["error"]["code"],
        "unknown_chat"
    );
    assert_eq!(server.request("DELETE", "/api/chat/none", &[]).status, 404);
    assert_eq!(
        server.request("POST", "/api/chat/none/stop", &[]).status,
        404
    );
    assert_eq!(server.get("/api/chat/none/stream").status, 204);
}

#[test]
fn resume_after_a_place_tells_a_turn_that_ended_since() {
    let server = serve();
    assert_eq!(server.post("/api/chat", &[], HELLO).status, 200);
    let chat = server.get("/api/chat/c1").json();
    let resume = |query: &str| server.get(&format!("/api/chat/c1/stream{query}"));
    assert_eq!(resume("").status, 204);
    assert_eq!(resume(&format!("?after={}", chat["seq"])).status, 204);
    assert_eq!(resume("?after=yesterday").status, 400);
    // As for a page that loaded the chat while its turn was being said.
    let resumed = resume("?after=1");
    assert_eq!(resumed.status, 200);
    let said = chat["messages"][1]["parts"].as_array().unwrap().last();
    let said = &said.unwrap()["text"];
    let resumed = String::from_utf8(resumed.body).unwrap();
    assert!(resumed.contains(&format!(r#""delta":{said}"#)), "{resumed}");
    assert!(resumed.contains(r#""turn":"finished""#), "{resumed}");
}

#[test]
fn without_keys_a_name_that_is_not_this_machines_is_refused() {
    let server = serve();
    let answer = server.post("/api/chat", &[("host", "evil.example")], HELLO);
    assert_eq!(answer.status, 403);
    assert_eq!(answer.json()["error"]["code"], "loopback_only");
    assert_eq!(
        server
            .post("/api/chat", &[("host", "127.0.0.1:80")], HELLO)
            .status,
        200
    );
}

#[test]
fn keys_say_who_is_speaking_and_chats_belong_to_one() {
    let server = adk_stream(&["serve", "--listen", "127.0.0.1:0", "--pace", "0"])
        .variable(
            "ADK_STREAM_KEYS",
            "alice=a-key-of-alices-own,bob=the-key-of-bob-alone",
        )
        .running();
    let answer = server.post("/api/chat", &[], HELLO);
    assert_eq!(answer.status, 401);
    assert_eq!(answer.header("www-authenticate"), Some("Bearer"));
    assert_eq!(
        server
            .post("/api/chat", &[("x-api-key", "guess")], HELLO)
            .status,
        401
    );

    let (alice, bob) = (
        ("authorization", "Bearer a-key-of-alices-own"),
        ("x-api-key", "the-key-of-bob-alone"),
    );
    let answer = server.post("/api/chat", &[alice], HELLO);
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("x-vercel-ai-ui-message-stream"), Some("v1"));
    assert!(answer.text().contains("data: [DONE]\n\n"));

    let get = |key| server.request("GET", "/api/chat/c1", &[key]).status;
    assert_eq!((get(alice), get(bob)), (200, 404));
    assert_eq!(server.post("/api/chat", &[bob], HELLO).status, 404);
    assert_eq!(server.request("GET", "/healthz", &[]).status, 200);
}

#[test]
fn approvals_of_others_are_not_there() {
    let server = adk_stream(&["serve", "--listen", "127.0.0.1:0", "--pace", "0"])
        .variable(
            "ADK_STREAM_KEYS",
            "alice=a-key-of-alices-own,bob=the-key-of-bob-alone",
        )
        .running();
    let (alice, bob) = (
        ("x-api-key", "a-key-of-alices-own"),
        ("x-api-key", "the-key-of-bob-alone"),
    );
    let pay = HELLO.replace("hi", "Send $20 to Sam");
    assert_eq!(server.post("/api/chat", &[alice], &pay).status, 200);
    let list = |key| {
        let list = server.request("GET", "/api/approvals", &[key]).json();
        list["approvals"].as_array().unwrap().clone()
    };
    let asked = list(alice);
    assert_eq!((asked.len(), list(bob).len()), (1, 0));
    let path = format!(
        "/api/approvals/{}",
        asked[0]["approvalId"].as_str().unwrap()
    );
    for refused in [
        server.request("GET", &path, &[bob]),
        server.post(&path, &[bob], r#"{"approved":true}"#),
        server.post(&path, &[bob], r#"{"approved":false}"#),
    ] {
        assert_eq!(refused.status, 404, "{}", refused.text());
        assert_eq!(refused.json()["error"]["code"], "unknown_approval");
    }
    for (method, path) in [("POST", "/api/chat/c1/stop"), ("DELETE", "/api/chat/c1")] {
        let refused = server.request(method, path, &[bob]);
        assert_eq!(refused.status, 404, "{method} {path}");
        assert_eq!(refused.json()["error"]["code"], "unknown_chat");
    }
    assert_eq!(list(alice), asked);
    let answered = server.post(&path, &[alice], r#"{"approved":true}"#);
    assert_eq!(answered.status, 200, "{}", answered.text());
}

#[test]
fn worker_of_the_agents_settles_a_call_of_any_chat_with_the_agents_key() {
    let server = adk_stream(&["serve", "--listen", "127.0.0.1:0", "--pace", "0"])
        .variable(
            "ADK_STREAM_KEYS",
            "alice=a-key-of-alices-own,bob=the-key-of-bob-alone",
        )
        .variable("ADK_STREAM_AGENT_KEY", "the-key-of-the-agent")
        .running();
    let (alice, agent) = (
        ("authorization", "Bearer a-key-of-alices-own"),
        ("authorization", "Bearer the-key-of-the-agent"),
    );
    let music = HELLO.replace("hi", "Change the BGM to track 2");
    assert_eq!(server.post("/api/chat", &[alice], &music).status, 200);
    let chat = || server.request("GET", "/api/chat/c1", &[alice]).json();
    let call = |chat: &serde_json::Value| {
        let parts = chat["messages"][1]["parts"].as_array().unwrap();
        let call = parts.iter().find(|part| part["type"] == "tool-change_bgm");
        call.unwrap().clone()
    };
    let id = call(&chat())["toolCallId"].clone();
    let path = format!("/api/calls/{}", id.as_str().unwrap());
    let body = r#"{"output":{"track":2}}"#;

    let wrong = ("authorization", "Bearer the-key-of-another");
    for keys in [&[][..], &[wrong]] {
        let refused = server.post(&path, keys, body);
        assert_eq!(refused.status, 401);
        assert_eq!(refused.json()["error"]["code"], "unauthorized");
    }
    let bob = ("authorization", "Bearer the-key-of-bob-alone");
    for (path, key) in [(path.as_str(), bob), ("/api/calls/none", agent)] {
        let unknown = server.post(path, &[key], body);
        assert_eq!(unknown.status, 404);
        assert_eq!(unknown.json()["error"]["code"], "unknown_call");
    }

    let taken = |key| server.post(&path, &[key], body).json();
    // In a chat that it names, it may name the call as the agent does; the owner has no such way.
    for (chat, key, status) in [("c2", agent, 404), ("c1", alice, 400)] {
        let named = format!(r#"{{"chat":"{chat}","output":1}}"#);
        assert_eq!(server.post(&path, &[key], &named).status, status);
    }
    assert_eq!(taken(agent), json!({"toolCallId": id, "taken": true}));
    assert_eq!(taken(agent)["taken"], false);
    assert_eq!(taken(alice)["taken"], false);
    assert_eq!(call(&chat())["output"], json!({"track": 2}));
    // The journal says who it was.
    let journal = server.request("GET", "/api/chat/c1/journal", &[alice]);
    let entries = journal.json()["entries"].clone();
    let mut actors = entries.as_array().unwrap().iter();
    assert!(actors.any(|entry| entry["actor"] == "@agent"), "{entries}");
    // It is a key for nothing else of the chat.
    assert_eq!(server.request("GET", "/api/chat/c1", &[agent]).status, 401);
}
