//! Sessions that are resumed.

use adk_stream_emulator::Emulator;
use serde_json::{Value, json};

use crate::emulator;
use crate::socket::{Socket, setup, text_of};

async fn resumable(emulator: &Emulator, resumption: Value) -> Socket {
    let more = json!({ "sessionResumption": resumption });
    Socket::with(emulator, setup(more)).await
}

async fn handle(socket: &mut Socket) -> String {
    let (_, handle) = socket.until("/sessionResumptionUpdate/newHandle").await;
    handle.as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_handle_brings_back_what_was_said() {
    let emulator = emulator("[]").await;
    let mut socket = resumable(&emulator, json!({})).await;
    let empty = handle(&mut socket).await;
    socket.say("A first message").await;
    socket.turn().await;
    let full = handle(&mut socket).await;
    drop(socket);
    let mut counts = Vec::new();
    for handle in [&empty, &full, &full] {
        let mut socket = resumable(&emulator, json!({ "handle": handle })).await;
        socket.say("Hello").await;
        let (before, count) = socket.until("/usageMetadata/promptTokenCount").await;
        assert!(text_of(&before).contains("\"Hello\""));
        counts.push(count.as_u64().unwrap());
    }
    // A handle belongs to a moment, and can be used again.
    assert_eq!(counts[1], counts[2]);
    assert!(counts[1] > counts[0] + 20, "{counts:?}");
}

#[tokio::test]
async fn a_handle_is_refused_on_request() {
    let rules = r#"[{"on": "connect", "nth": 2, "refuseHandle": true}]"#;
    let emulator = emulator(rules).await;
    let mut socket = resumable(&emulator, json!({})).await;
    let handle = handle(&mut socket).await;
    let resumption = json!({"sessionResumption": {"handle": handle}});
    let mut refused = Socket::open(&emulator).await;
    refused.send(json!({"setup": setup(resumption)})).await;
    let (code, reason) = refused.closed().await;
    assert_eq!(
        (code, reason.as_str()),
        (1008, "BidiGenerateContent session not found")
    );
    resumable(&emulator, json!({ "handle": handle })).await;
}

#[tokio::test]
async fn nobody_is_given_handles_who_did_not_ask() {
    let emulator = emulator("[]").await;
    let mut socket = Socket::text(&emulator).await;
    socket.say("Hello").await;
    let frames = socket.turn().await;
    assert!(
        frames
            .iter()
            .all(|frame| frame.get("sessionResumptionUpdate").is_none())
    );
}

#[tokio::test]
async fn client_gets_how_much_of_it_was_received() {
    let emulator = emulator("[]").await;
    let mut socket = resumable(&emulator, json!({"transparent": true})).await;
    handle(&mut socket).await;
    socket.say("Hello").await;
    let pointer = "/sessionResumptionUpdate/lastConsumedClientMessageIndex";
    let (_, index) = socket.until(pointer).await;
    assert_eq!(index, 0);
}
