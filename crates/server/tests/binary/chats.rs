//! The list of chats: what it shows, and what its owner does with it.

use serde_json::{Value, json};

use crate::process::{Server, adk_stream};
use crate::request::Answer;

type Key = (&'static str, &'static str);

pub(crate) const ALICE: Key = ("x-api-key", "alice-secret-key");
pub(crate) const BOB: Key = ("x-api-key", "bob-secret-key-0");

/// A server with two who may speak.
pub(crate) fn server(flags: &[&str]) -> Server {
    let serve = ["serve", "--listen", "127.0.0.1:0", "--pace", "0"];
    adk_stream(&[&serve, flags].concat())
        .variable(
            "ADK_STREAM_KEYS",
            "alice=alice-secret-key,bob=bob-secret-key-0",
        )
        .running()
}

pub(crate) fn say(server: &Server, who: Key, chat: &str, words: &str) -> Answer {
    let parts = json!([{"type": "text", "text": words}]);
    // An id is on one line, as words need not be.
    let id = format!("{chat}-{}", words.len());
    let body = json!({"id": chat, "messages": [{"id": id, "role": "user", "parts": parts}]});
    server.post("/api/chat", &[who], &body.to_string())
}

fn list(server: &Server, who: Key, query: &str) -> Value {
    let answer = server.request("GET", &format!("/api/chats{query}"), &[who]);
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

fn ids(list: &Value) -> Vec<&str> {
    let chats = list["chats"].as_array().unwrap().iter();
    chats.map(|chat| chat["id"].as_str().unwrap()).collect()
}

pub(crate) fn patch(server: &Server, who: Key, chat: &str, body: &str) -> Answer {
    let path = format!("/api/chats/{chat}");
    let json = ("content-type", "application/json");
    server.send("PATCH", &path, &[who, json], body)
}

#[test]
fn chats_are_listed_for_their_owner_newest_first() {
    let server = server(&[]);
    assert_eq!(list(&server, ALICE, ""), json!({"chats": []}));
    for (chat, words) in [
        ("c1", "What's the weather in Tokyo?"),
        ("c2", "Send $20 to Sam"),
        ("c3", "  Hello\n there "),
    ] {
        assert_eq!(say(&server, ALICE, chat, words).status, 200);
    }
    assert_eq!(say(&server, BOB, "b1", "Hello").status, 200);
    let all = list(&server, ALICE, "");
    assert_eq!(ids(&all), ["c3", "c2", "c1"]);
    let paying = &all["chats"][1];
    assert_eq!(paying["title"], "Send $20 to Sam");
    assert_eq!(
        (&paying["status"], &paying["waiting"]),
        (&"parked".into(), &1.into())
    );
    assert_eq!(all["chats"][0]["title"], "Hello there");
    assert_eq!(all["chats"][2]["status"], "finished");
    assert!(paying["updatedAt"].as_u64() >= paying["createdAt"].as_u64());

    let first = list(&server, ALICE, "?limit=2");
    assert_eq!(ids(&first), ["c3", "c2"]);
    let cursor = first["nextCursor"].as_str().unwrap();
    let second = list(&server, ALICE, &format!("?limit=2&cursor={cursor}"));
    assert_eq!(
        (ids(&second), &second["nextCursor"]),
        (vec!["c1"], &Value::Null)
    );
    assert_eq!(ids(&list(&server, ALICE, "?q=WEATHER+in%20")), ["c1"]);
    assert_eq!(ids(&list(&server, BOB, "?q=")), ["b1"]);
    for query in ["?cursor=x", "?limit=0", "?archived=1", "?q=%zz"] {
        let refused = server.request("GET", &format!("/api/chats{query}"), &[ALICE]);
        assert_eq!(refused.status, 400, "{query}");
        assert_eq!(refused.json()["error"]["code"], "bad_request");
    }

    // An answer in an old chat does not move it, a message does.
    assert_eq!(say(&server, ALICE, "c1", "and in Osaka?").status, 200);
    assert_eq!(ids(&list(&server, ALICE, "")), ["c1", "c3", "c2"]);
}

#[test]
fn chat_is_renamed_and_archived_by_its_owner_alone() {
    let server = server(&[]);
    assert_eq!(say(&server, ALICE, "c1", "Hello").status, 200);
    for chat in ["c1", "none"] {
        let refused = patch(&server, BOB, chat, r#"{"title":"mine"}"#);
        assert_eq!(refused.status, 404);
        assert_eq!(refused.json()["error"]["code"], "unknown_chat");
    }
    let renamed = patch(&server, ALICE, "c1", r#"{"title":" 旅行\n計画 "}"#);
    assert_eq!(renamed.status, 200, "{}", renamed.text());
    assert_eq!(renamed.json()["title"], "旅行 計画");
    assert_eq!(renamed.json()["archived"], false);
    let archived = patch(&server, ALICE, "c1", r#"{"archived":true}"#).json();
    assert_eq!(
        (&archived["title"], &archived["archived"]),
        (&"旅行 計画".into(), &true.into())
    );
    assert_eq!(ids(&list(&server, ALICE, "?archived=true")), ["c1"]);
    assert!(ids(&list(&server, ALICE, "?archived=false")).is_empty());
    assert_eq!(ids(&list(&server, ALICE, "?q=%E8%A8%88")), ["c1"]);
    // The next message in it leaves its name alone.
    assert_eq!(say(&server, ALICE, "c1", "More").status, 200);
    assert_eq!(list(&server, ALICE, "")["chats"][0]["title"], "旅行 計画");
    let restored = patch(&server, ALICE, "c1", r#"{"title":"","archived":false}"#).json();
    assert_eq!(restored["title"], "Hello");

    let long = json!({"title": "x".repeat(201)}).to_string();
    for body in [r#"{"name":"x"}"#, r#"{"title":5}"#, "[]", &long] {
        let refused = patch(&server, ALICE, "c1", body);
        assert_eq!(refused.status, 400, "{body}");
        assert_eq!(refused.json()["error"]["code"], "bad_request");
    }
}

#[test]
fn deleted_chat_is_gone_and_stays_gone() {
    let server = server(&["--max-open-chats", "1"]);
    assert_eq!(say(&server, ALICE, "c1", "Send $20 to Sam").status, 200);
    assert_eq!(
        server.request("DELETE", "/api/chats/c1", &[BOB]).status,
        404
    );
    assert_eq!(say(&server, ALICE, "c2", "Hello").status, 429);
    assert_eq!(
        server.request("DELETE", "/api/chats/c1", &[ALICE]).status,
        204
    );
    assert_eq!(
        server.request("DELETE", "/api/chats/c1", &[ALICE]).status,
        404
    );
    for path in ["/api/chat/c1", "/api/chat/c1/journal"] {
        assert_eq!(server.request("GET", path, &[ALICE]).status, 404, "{path}");
    }
    assert!(ids(&list(&server, ALICE, "")).is_empty());
    let approvals = server.request("GET", "/api/approvals", &[ALICE]).json();
    assert_eq!(approvals, json!({"approvals": []}));
    // A tab that still shows it does not bring it back.
    for who in [ALICE, BOB] {
        let late = say(&server, who, "c1", "Hello again");
        assert_eq!(late.status, 410, "{}", late.text());
        assert_eq!(late.json()["error"]["code"], "chat_deleted");
    }
    assert_eq!(server.request("GET", "/api/chat/c1", &[ALICE]).status, 404);
    // It does not count any more.
    assert_eq!(say(&server, ALICE, "c2", "Hello").status, 200);
    assert_eq!(ids(&list(&server, ALICE, "")), ["c2"]);
}
