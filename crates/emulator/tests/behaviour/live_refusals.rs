//! What Live refuses, and with which end.

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use crate::emulator;
use crate::socket::{MODEL, Socket, setup};

#[tokio::test]
async fn a_setup_that_is_wrong_is_refused() {
    let emulator = emulator("[]").await;
    let modalities = json!({"generationConfig": {"responseModalities": ["TEXT", "AUDIO"]}});
    let odd = json!({"generationConfig": {"responseModalities": ["SMELL"]}});
    let twice = json!({"tools": [{"functionDeclarations": [{"name": "a"}, {"name": "a"}]}]});
    for (frame, code, words) in [
        (
            json!({"realtimeInput": {"text": "x"}}),
            1007,
            "setup must be the first",
        ),
        (json!({"set_up": {}}), 1007, "Unknown name \"set_up\""),
        (json!([1]), 1007, "Invalid JSON payload"),
        (
            json!({"setup": {"model": "models/elephant"}}),
            1008,
            "models/elephant is not found",
        ),
        (
            json!({"setup": setup(modalities)}),
            1007,
            "At most one response modality",
        ),
        (json!({"setup": setup(odd)}), 1007, "SMELL"),
        (
            json!({"setup": setup(twice)}),
            1007,
            "Duplicate function declaration",
        ),
        (
            json!({"setup": setup(json!({"sessionResumption": {"handle": "x"}}))}),
            1008,
            "session not found",
        ),
    ] {
        let mut socket = Socket::open(&emulator).await;
        socket.send(frame.clone()).await;
        let (found, reason) = socket.closed().await;
        assert_eq!(found, code, "{frame}: {reason}");
        assert!(reason.contains(words), "{frame}: {reason}");
        assert!(reason.len() <= 123);
    }
}

#[tokio::test]
async fn a_frame_that_is_wrong_is_refused() {
    let emulator = emulator("[]").await;
    let media = json!({"mimeType": "audio/pcm", "data": "AAAA"});
    let unknown = json!({"id": "never", "name": "get_weather", "response": {}});
    let cases: [(Value, &str); 6] = [
        (
            json!({"setup": {"model": MODEL}}),
            "setup must be the first",
        ),
        (
            json!({"realtimeInput": {"mediaChunks": [media]}}),
            "media_chunks is deprecated",
        ),
        (
            json!({"realtimeInput": {"activityStart": {}}}),
            "automatic activity detection",
        ),
        (
            json!({"realtimeInput": {"audio": {"mimeType": "audio/pcm", "data": "#"}}}),
            "invalid argument",
        ),
        (
            json!({"toolResponse": {"functionResponses": [unknown]}}),
            "unknown function call",
        ),
        (json!({"sing": true}), "Unknown name \"sing\""),
    ];
    for (frame, words) in cases {
        let mut socket = Socket::text(&emulator).await;
        socket.send(frame.clone()).await;
        let (code, reason) = socket.closed().await;
        assert_eq!(code, 1007, "{frame}");
        assert!(reason.contains(words), "{frame}: {reason}");
    }
    let mut socket = Socket::text(&emulator).await;
    socket.send_raw(Message::text("{")).await;
    assert_eq!(socket.closed().await.0, 1007);
}
