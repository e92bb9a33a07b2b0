//! The emulator's own routes.

use adk_stream_emulator::Happening;
use serde_json::{Value, json};

use crate::http::{ask, request};
use crate::socket::Socket;
use crate::{emulator, soon};

#[tokio::test]
async fn a_script_is_set_added_to_shown_and_forgotten() {
    let emulator = emulator("[]").await;
    let path = "/emulator/script";
    let rule = json!({"on": "generate", "times": 1, "status": {"code": 500}});
    let script = json!({ "rules": [rule] }).to_string();
    assert_eq!(request(&emulator, "PUT", path, &script).await.status, 204);
    let more = json!({"on": "generate", "status": {"code": 503}}).to_string();
    assert_eq!(request(&emulator, "POST", path, &more).await.status, 204);
    let shown = request(&emulator, "GET", path, "").await.json();
    assert_eq!(shown["rules"].as_array().unwrap().len(), 2);
    let statuses = [
        ask(&emulator, "Hello").await.status,
        ask(&emulator, "Hello").await.status,
    ];
    assert_eq!(statuses, [500, 503]);
    let shown = request(&emulator, "GET", path, "").await.json();
    assert_eq!(shown["rules"].as_array().unwrap().len(), 1);
    assert_eq!(request(&emulator, "DELETE", path, "").await.status, 204);
    assert_eq!(ask(&emulator, "Hello").await.status, 200);
}

#[tokio::test]
async fn a_wrong_script_is_refused_and_changes_nothing() {
    let emulator = emulator(r#"[{"on": "generate", "status": {"code": 500}}]"#).await;
    for method in ["PUT", "POST"] {
        let script = r#"{"rules": [{"colour": "red"}]}"#;
        let answer = request(&emulator, method, "/emulator/script", script).await;
        assert_eq!(answer.status, 400);
        let message = &answer.json()["error"]["message"];
        let message = message.as_str().unwrap();
        assert!(message.contains("unknown field `colour`"), "{message}");
    }
    assert_eq!(ask(&emulator, "Hello").await.status, 500);
}

#[tokio::test]
async fn the_log_tells_what_was_asked_and_answered() {
    let emulator = emulator("[]").await;
    ask(&emulator, "Hello").await;
    let log = request(&emulator, "GET", "/emulator/log", "").await.json();
    let entries = log["entries"].as_array().unwrap();
    assert_eq!(entries[0]["kind"], "request");
    assert_eq!(entries[0]["headers"]["x-goog-api-key"], "redacted");
    assert_eq!(
        entries[0]["body"]["contents"][0]["parts"][0]["text"],
        "Hello"
    );
    assert_eq!(entries[1]["kind"], "answer");
    let last = entries.last().unwrap();
    assert_eq!(
        (&last["kind"], &last["cut"]),
        (&json!("ended"), &json!(false))
    );
    let after = last["seq"].as_u64().unwrap();

    // A request that waits for more gets it when it comes.
    let path = format!("/emulator/log?after={after}&wait=20");
    let (log, _) = tokio::join!(
        request(&emulator, "GET", &path, ""),
        ask(&emulator, "Hello")
    );
    let first = &log.json()["entries"][0];
    assert_eq!(
        (&first["kind"], &first["seq"]),
        (&json!("request"), &json!(after + 1))
    );

    assert_eq!(
        request(&emulator, "DELETE", "/emulator/log", "")
            .await
            .status,
        204
    );
    assert!(emulator.log().is_empty());
}

#[tokio::test]
async fn what_is_open_is_counted() {
    let emulator = emulator("[]").await;
    let socket = Socket::text(&emulator).await;
    ask(&emulator, "Hello").await;
    let stats = || async {
        request(&emulator, "GET", "/emulator/stats", "")
            .await
            .json()
    };
    let now = stats().await;
    let counts = |stats: &Value| (stats["socketsOpen"].clone(), stats["streamsTotal"].clone());
    assert_eq!(counts(&now), (json!(1), json!(1)));
    drop(socket);
    soon(emulator.counted(|stats| stats.sockets_open == 0)).await;
    assert_eq!(stats().await["socketsTotal"], 1);
}

#[tokio::test]
async fn open_sockets_are_acted_on() {
    let emulator = emulator("[]").await;
    let path = "/emulator/live";
    let close = json!({"close": {"code": 1011, "reason": "out of order"}}).to_string();
    let nobody = request(&emulator, "POST", path, &close).await.json();
    assert_eq!(nobody["sockets"], 0);
    let mut socket = Socket::text(&emulator).await;
    let done = request(&emulator, "POST", path, &close).await.json();
    assert_eq!(done["sockets"], 1);
    assert_eq!(socket.closed().await, (1011, "out of order".to_owned()));
    let entry = soon(emulator.logged(|entry| matches!(entry.happening, Happening::Closed { .. })));
    assert!(matches!(
        entry.await.happening,
        Happening::Closed {
            code: Some(1011),
            ..
        }
    ));
    let answer = request(&emulator, "POST", path, r#"{"dance": {}}"#).await;
    assert_eq!(answer.status, 400);
}
