//! A chat's journal and its recording.

use serde_json::{Value, json};

use crate::process::{Server, adk_stream};

fn served(keys: &str) -> Server {
    adk_stream(&["serve", "--listen", "127.0.0.1:0", "--pace", "0"])
        .variable("ADK_STREAM_KEYS", keys)
        .running()
}

const ALICE: (&str, &str) = ("x-api-key", "secret-a");
const BOB: (&str, &str) = ("x-api-key", "secret-b");

fn say(server: &Server, text: &str) {
    let body = json!({"id": "c1", "messages": [
        {"id": "u1", "role": "user", "parts": [{"type": "text", "text": text}]}
    ]});
    let answer = server.post("/api/chat", &[ALICE], &body.to_string());
    assert_eq!(answer.status, 200);
}

fn events(entries: &Value) -> Vec<String> {
    let entries = entries.as_array().unwrap().iter();
    let events = entries.flat_map(|entry| entry["events"].as_array().unwrap().clone());
    events
        .map(|event| event["event"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn journal_says_who_decided_what_to_its_owner_alone() {
    let server = served("alice=secret-a,bob=secret-b");
    say(&server, "Send $20 to Sam");
    let waiting = server.request("GET", "/api/approvals", &[ALICE]).json();
    let id = waiting["approvals"][0]["approvalId"]
        .as_str()
        .unwrap()
        .to_owned();
    let answer = format!("/api/approvals/{id}");
    let answer = server.post(&answer, &[ALICE], r#"{"approved":false,"reason":"no"}"#);
    assert_eq!(answer.status, 200);

    let journal = server
        .request("GET", "/api/chat/c1/journal", &[ALICE])
        .json();
    assert_eq!(journal["chat"], "c1");
    let entries = journal["entries"].as_array().unwrap();
    assert_eq!(entries[0]["seq"], 1);
    assert_eq!(entries[0]["actor"], "alice");
    assert!(entries[0]["at"].as_u64().unwrap() > 1_600_000_000_000);
    let all = events(&journal["entries"]);
    assert_eq!(all[..2], ["chat-opened", "turn-opened"]);
    assert!(all.contains(&"gate-closed".to_owned()), "{all:?}");

    let rest = server
        .request("GET", "/api/chat/c1/journal?after=1", &[ALICE])
        .json();
    assert_eq!(rest["entries"][0]["seq"], 2);
    for path in ["/api/chat/c1/journal", "/api/chat/c1/recording"] {
        let foreign = server.request("GET", path, &[BOB]);
        assert_eq!(foreign.status, 404);
        assert_eq!(foreign.json()["error"]["code"], "unknown_chat");
    }
    let bad = server.request("GET", "/api/chat/c1/journal?after=x", &[ALICE]);
    assert_eq!(bad.status, 400);
}

#[test]
fn recording_tells_each_turn_as_clients_were_told_it() {
    let server = served("alice=secret-a");
    say(&server, "What is the weather in Tokyo?");
    let recording = server
        .request("GET", "/api/chat/c1/recording", &[ALICE])
        .json();
    let frames = recording["frames"].as_array().unwrap();
    assert_eq!(frames[0]["opens"]["message"]["id"], "u1");
    assert_eq!(frames[0]["opens"]["after"], Value::Null);
    let mut last = 0;
    for frame in frames {
        let at = frame["at"].as_u64().unwrap();
        assert!(at >= last, "time goes on");
        last = at;
        assert_eq!(frame["messageId"], frames[0]["messageId"]);
    }
    let chunks = frames
        .iter()
        .flat_map(|frame| frame["chunks"].as_array().unwrap());
    let kinds: Vec<_> = chunks
        .map(|chunk| chunk["type"].as_str().unwrap())
        .filter(|kind| !kind.starts_with("reasoning") && !kind.starts_with("text"))
        .collect();
    assert_eq!(
        kinds,
        [
            "start-step",
            "tool-input-start",
            "tool-input-available",
            "tool-output-available",
            "finish-step",
            "start-step",
            "finish-step",
            "finish",
        ]
    );
}

#[test]
fn info_says_who_answers_to_whom() {
    let server = served("alice=secret-a");
    assert_eq!(server.request("GET", "/api/info", &[]).status, 401);
    let info = server.request("GET", "/api/info", &[ALICE]).json();
    assert_eq!(info["agent"], "demo");
    assert_eq!(info["hears"], false);
    assert_eq!(info["principal"], "alice");
}

#[test]
fn page_of_a_folder_is_served_in_place_of_the_built_in_one() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("index.html"), "<p>mine</p>").unwrap();
    let path = folder.path().to_str().unwrap();
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--page", path];
    let server = adk_stream(&arguments).running();
    assert_eq!(server.get("/").text(), "<p>mine</p>");
    assert_eq!(server.get("/favicon.svg").status, 404);
    assert_eq!(server.get("/healthz").status, 200);

    adk_stream(&["serve", "--page", "nowhere"])
        .refused()
        .says("--page: `nowhere` is not a folder with an index.html");
}
