//! What goes wrong with Live, on request.

use std::time::Duration;

use adk_stream_emulator::{Command, Emulator};
use serde_json::json;

use crate::emulator;
use crate::socket::{Socket, setup, text_of};

const WEATHER: &str = "What is the weather in Tokyo?";

#[tokio::test]
async fn a_setup_is_refused_or_cut() {
    let rules = r#"[
        {"on": "connect", "nth": 1, "close": {"code": 1011, "reason": "quota"}},
        {"on": "connect", "nth": 2, "cut": {}},
        {"on": "connect", "nth": 3, "respond": [{"setupComplete": {}}, "{"]}
    ]"#;
    let emulator = emulator(rules).await;
    let frame = json!({"setup": setup(json!({}))});
    for end in [(1011, "quota".to_owned()), (1006, String::new())] {
        let mut socket = Socket::open(&emulator).await;
        socket.send(frame.clone()).await;
        assert_eq!(socket.closed().await, end);
    }
    let mut socket = Socket::text(&emulator).await;
    assert_eq!(socket.next_raw().await.into_data(), "{");
}

#[tokio::test]
async fn an_answer_is_cut_closed_or_malformed() {
    let rules = r#"[
        {"on": "answer", "nth": 1, "cut": {"after": 1}},
        {"on": "answer", "nth": 2, "close": {"code": 1008, "reason": "no more", "after": 1}},
        {"on": "answer", "nth": 3, "malformed": {"after": 1}}
    ]"#;
    let emulator = emulator(rules).await;
    for end in [(1006, String::new()), (1008, "no more".to_owned())] {
        let mut socket = Socket::text(&emulator).await;
        socket.say("Hello").await;
        assert_eq!(text_of(&[socket.next().await]), "You");
        assert_eq!(socket.closed().await, end);
    }
    let mut socket = Socket::text(&emulator).await;
    socket.say("Hello").await;
    socket.next().await;
    let broken = socket.next_raw().await.into_data();
    assert!(serde_json::from_slice::<serde_json::Value>(&broken).is_err());
    assert!(text_of(&socket.turn().await).starts_with(" said:"));
}

#[tokio::test]
async fn a_socket_is_cut_while_a_call_is_open() {
    let emulator = emulator(r#"[{"on": "answer", "cut": {"after": 1}}]"#).await;
    let mut socket = Socket::text(&emulator).await;
    socket.say(WEATHER).await;
    assert_eq!(socket.calls().await.len(), 1);
    assert_eq!(socket.closed().await.0, 1006);
}

#[tokio::test]
async fn what_calls_brought_can_be_answered_with_a_fault() {
    let rules = r#"[{"on": "answer", "contains": "Fog", "close": {"code": 1011}}]"#;
    let emulator = emulator(rules).await;
    let mut socket = Socket::text(&emulator).await;
    socket.say(WEATHER).await;
    let call = socket.calls().await.remove(0);
    socket
        .bring(&call, json!({"condition": "Fog"}), json!({}))
        .await;
    assert_eq!(socket.closed().await.0, 1011);
}

#[tokio::test]
async fn the_connection_is_said_to_be_closed_in_the_middle() {
    let rule = r#"[{"on": "answer", "goAway": {"timeLeftSeconds": 9, "after": 1, "closeAfterMs": 1}, "paceMs": 50}]"#;
    let emulator = emulator(rule).await;
    let mut socket = Socket::text(&emulator).await;
    socket.say("Hello").await;
    let (before, time_left) = socket.until("/goAway/timeLeft").await;
    assert_eq!(text_of(&before), "You");
    assert_eq!(time_left, "9s");
    assert_eq!(socket.closed().await.0, 1008);
}

#[tokio::test]
async fn a_connection_has_a_lifetime_and_is_warned_before() {
    let lifetime = Duration::from_millis(200);
    let emulator = Emulator::builder()
        .lifetime(lifetime)
        .start()
        .await
        .unwrap();
    let mut socket = Socket::text(&emulator).await;
    let (_, time_left) = socket.until("/goAway/timeLeft").await;
    assert_eq!(time_left, "0.1s");
    assert_eq!(socket.closed().await.0, 1008);
}

#[tokio::test]
async fn calls_are_taken_back_and_the_turn_is_over() {
    let emulator = emulator("[]").await;
    let mut socket = Socket::text(&emulator).await;
    socket.say(WEATHER).await;
    let call = socket.calls().await.remove(0);
    emulator.command(Command::CancelCalls {});
    let (_, ids) = socket.until("/toolCallCancellation/ids").await;
    assert_eq!(ids, json!([call["id"]]));
    assert_eq!(socket.next().await["serverContent"]["interrupted"], true);
    assert_eq!(socket.next().await["serverContent"]["turnComplete"], true);
    // What comes too late is let be.
    socket
        .bring(&call, json!({"condition": "Fog"}), json!({}))
        .await;
    socket.say("Hello").await;
    assert!(text_of(&socket.turn().await).contains("\"Hello\""));
}

#[tokio::test]
async fn a_model_is_interrupted_from_outside() {
    let emulator = emulator(r#"[{"on": "answer", "times": 1, "paceMs": 3600000}]"#).await;
    let mut socket = Socket::text(&emulator).await;
    socket.say("Hello").await;
    socket.until("/serverContent/modelTurn").await;
    emulator.command(Command::Interrupt {});
    let frames = socket.turn().await;
    assert_eq!(frames.len(), 1);
    assert_eq!(frames[0]["serverContent"]["interrupted"], true);
    socket.say("Hello").await;
    assert!(text_of(&socket.turn().await).starts_with("You said"));
}

#[tokio::test]
async fn sockets_are_cut_from_outside() {
    let emulator = emulator("[]").await;
    let mut sockets = [Socket::text(&emulator).await, Socket::text(&emulator).await];
    assert_eq!(emulator.command(Command::Cut {}), 2);
    for socket in &mut sockets {
        assert_eq!(socket.closed().await.0, 1006);
    }
}

#[tokio::test]
async fn the_demo_plays_its_own_faults_in_a_session() {
    let emulator = emulator("[]").await;
    for (prompt, code, words) in [
        (
            "fail with rate limit",
            1011,
            "You exceeded your current quota",
        ),
        ("fail with refused key", 1007, "API key not valid"),
        ("break the stream", 1006, ""),
    ] {
        let mut socket = Socket::text(&emulator).await;
        socket.say(prompt).await;
        let (found, reason) = socket.closed().await;
        assert_eq!(found, code, "{prompt}");
        assert!(reason.starts_with(words), "{prompt}: {reason}");
    }
    let mut socket = Socket::text(&emulator).await;
    socket.say("say nothing").await;
    assert_eq!(text_of(&socket.turn().await), "");
}
