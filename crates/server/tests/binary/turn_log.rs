//! Lines of the log about turns: they have the ids of the request, of the turn and of its trace.

use serde_json::Value;

use crate::log::{body, line_of};
use crate::process::{Server, adk_stream};

/// A server whose model nobody serves, so that every turn fails.
fn failing() -> Server {
    let nobody = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    let flags = [
        "--log",
        "info,access=debug,turn=debug",
        "--log-format",
        "json",
    ];
    let collector = format!("http://{nobody}");
    let traces = ["--otlp-endpoint", &collector, "--agent", "openai"];
    adk_stream(&[&["serve", "--listen", "127.0.0.1:0"], &flags[..], &traces].concat())
        .variable("ADK_STREAM_OPENAI_MODEL", "m-1")
        .variable("ADK_STREAM_OPENAI_API", "chat-completions")
        .variable("ADK_STREAM_OPENAI_BASE_URL", &format!("http://{nobody}/v1"))
        .running()
}

#[test]
fn line_of_a_turn_has_the_ids_of_its_request_and_of_its_trace() {
    let mut server = failing();
    let headers = [
        ("x-request-id", "asked-by-a-page"),
        (
            "traceparent",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        ),
    ];
    let said = server.post("/api/chat", &headers, &body("c1", "Hello").to_string());
    assert_eq!(said.status, 200);
    let opened: Value = serde_json::from_str(&server.log_says("\"turn opened\"")).unwrap();
    // What the agent logs belongs to the turn, too.
    let agent: Value = serde_json::from_str(&server.log_says("\"model unreachable\"")).unwrap();
    assert_eq!(agent["span"]["request_id"], "asked-by-a-page", "{agent}");
    assert_eq!(agent["span"]["chat"], "c1", "{agent}");
    assert_eq!(agent["span"]["turn"], opened["turn"], "{agent}");
    // The turn fails by itself, long after its request was carried out.
    let failed: Value = serde_json::from_str(&server.log_says("\"turn failed\"")).unwrap();
    let served: Value = serde_json::from_str(&server.log_says("\"request served\"")).unwrap();
    for line in [&opened, &failed, &served] {
        assert_eq!(line["request_id"], "asked-by-a-page", "{line}");
        assert_eq!(
            line["trace_id"], "4bf92f3577b34da6a3ce929d0e0e4736",
            "{line}"
        );
        assert_eq!(line["chat"], "c1", "{line}");
        assert_eq!(line["turn"], opened["turn"], "{line}");
    }
    assert!(opened["turn"].is_string(), "{opened}");
}

#[test]
fn line_of_a_turn_has_the_id_of_the_request_that_answered() {
    let url = testkit::postgres::database();
    let server = || {
        let flags = [
            "--log",
            "info,access=debug,turn=debug",
            "--log-format",
            "json",
        ];
        let pace = ["--pace", "0"];
        adk_stream(&[&["serve", "--listen", "127.0.0.1:0"], &flags[..], &pace].concat())
            .variable("ADK_STREAM_STORE", &url)
            .variable("ADK_STREAM_CLUSTER_KEY", "known-to-this-cluster-alone")
            .running()
    };
    let (mut owner, mut other) = (server(), server());
    let said = body("c1", "Send $20 to Sam").to_string();
    let id = [("x-request-id", "asked-by-a-page")];
    assert_eq!(owner.post("/api/chat", &id, &said).status, 200);
    let asked: Value = serde_json::from_str(&owner.log_says("\"gate opened\"")).unwrap();
    assert_eq!(asked["request_id"], "asked-by-a-page", "{asked}");
    // A window that another server forwards is on the same turn.
    let id = [("x-request-id", "read-elsewhere")];
    let resumed = other.request("GET", "/api/chat/c1/stream", &id);
    assert_eq!(resumed.status, 200);
    let line = line_of(&mut other, "read-elsewhere");
    assert_eq!(line["turn"], asked["turn"], "{line}");
    let gate = asked["gate"].as_str().unwrap();
    let id = [("x-request-id", "answered-elsewhere")];
    let path = format!("/api/approvals/{gate}");
    let answered = other.post(&path, &id, r#"{"approved":false}"#);
    assert_eq!(answered.status, 200, "{}", answered.text());
    let closed = [&mut owner, &mut other].map(|server| {
        server.signal("TERM");
        server.ended();
        server.log()
    });
    let closed = closed.iter().flat_map(|log| log.lines());
    let mut closed = closed.filter(|line| line.contains("\"gate closed\""));
    let closed: Value = serde_json::from_str(closed.next().unwrap()).unwrap();
    assert_eq!(closed["request_id"], "answered-elsewhere", "{closed}");
    assert_eq!(closed["turn"], asked["turn"], "{closed}");
}
