//! Live.

use adk_stream_emulator::{Emulator, Frames};
use serde_json::json;

use crate::socket::{Socket, non_blocking, setup, text_of};
use crate::{emulator, soon};

const WEATHER: &str = "What is the weather in Tokyo?";
const BOTH: &str = "What is the weather in Tokyo, and send $20 to Sam";

#[tokio::test]
async fn frames_are_binary_as_googles_unless_text_is_wanted() {
    for (frames, is_text) in [(Frames::Binary, false), (Frames::Text, true)] {
        let emulator = Emulator::builder().frames(frames).start().await.unwrap();
        let mut socket = Socket::open(&emulator).await;
        socket.send(json!({"setup": setup(json!({}))})).await;
        assert_eq!(socket.next_raw().await.is_text(), is_text);
    }
}

#[tokio::test]
async fn a_client_may_send_binary_frames_and_either_letter_case() {
    let emulator = emulator("[]").await;
    let mut socket = Socket::text(&emulator).await;
    let said = json!({"client_content": {
        "turns": [{"role": "user", "parts": [{"text": "Hello"}]}], "turn_complete": true,
    }});
    let bytes = said.to_string().into_bytes();
    socket
        .send_raw(tokio_tungstenite::tungstenite::Message::binary(bytes))
        .await;
    assert!(text_of(&socket.turn().await).starts_with("You said"));
    socket
        .send(json!({"realtime_input": {"text": WEATHER}}))
        .await;
    let call = socket.calls().await.remove(0);
    let brought =
        json!({"id": call["id"], "name": "get_weather", "response": {"condition": "Fog"}});
    socket
        .send(json!({"tool_response": {"function_responses": [brought]}}))
        .await;
    assert_eq!(text_of(&socket.turn().await), "The weather in Tokyo: Fog.");
}

#[tokio::test]
async fn history_that_a_client_begins_with_is_not_answered() {
    for (is_complete, history_config) in [
        (true, json!({"initialHistoryInClientContent": true})),
        (false, json!({"initial_history_in_client_content": true})),
    ] {
        let emulator = emulator("[]").await;
        let more = json!({"model": "models/gemini-3.1-flash-live-preview", "historyConfig": history_config});
        let mut socket = Socket::with(&emulator, setup(more)).await;
        let turns = json!([{"role": "user", "parts": [{"text": WEATHER}]}]);
        let history = json!({"turns": turns, "turnComplete": is_complete});
        socket.send(json!({"clientContent": history})).await;
        socket
            .send(json!({"realtimeInput": {"text": "Hello"}}))
            .await;
        let frames = socket.turn().await;
        assert!(text_of(&frames).starts_with("You said: \"Hello\""));
        // Only the first is history.
        socket.say("And now").await;
        assert!(text_of(&socket.turn().await).starts_with("You said: \"And now\""));
    }
}

#[tokio::test]
async fn gemini_2_5_answers_a_history() {
    let emulator = emulator("[]").await;
    let more = json!({"historyConfig": {"initialHistoryInClientContent": true}});
    let mut socket = Socket::with(&emulator, setup(more)).await;
    socket.say("Hello").await;
    assert!(text_of(&socket.turn().await).starts_with("You said: \"Hello\""));
}

#[tokio::test]
async fn what_is_not_complete_is_not_answered() {
    let emulator = emulator("[]").await;
    let mut socket = Socket::text(&emulator).await;
    let turns = json!([{"role": "user", "parts": [{"text": "Hi"}]}]);
    socket
        .send(json!({"clientContent": {"turns": turns}}))
        .await;
    socket.say("Hello").await;
    let frames = socket.turn().await;
    assert!(text_of(&frames).starts_with("You said: \"Hello\""));
    assert_eq!(emulator.stats().sockets_total, 1);
}

#[tokio::test]
async fn from_gemini_3_8_on_tools_do_not_block() {
    let emulator = emulator("[]").await;
    let model = json!({"model": "models/gemini-3.8-flash-live"});
    let mut socket = Socket::with(&emulator, setup(model)).await;
    socket.say(BOTH).await;
    assert_eq!(socket.calls().await.len(), 2);
    // The turn is complete, though no call is.
    socket.turn().await;
}

#[tokio::test]
async fn each_of_two_calls_is_shown_as_it_comes() {
    let emulator = emulator("[]").await;
    let mut socket = Socket::with(&emulator, setup(non_blocking())).await;
    socket.say(BOTH).await;
    let calls = socket.calls().await;
    socket.turn().await;
    let fog = json!({"condition": "Fog"});
    socket
        .bring(&calls[0], fog, json!({"scheduling": "INTERRUPT"}))
        .await;
    let answer = text_of(&socket.turn().await);
    assert!(answer.starts_with("The weather in Tokyo: Fog."), "{answer}");
    assert!(
        answer.contains("I have started the payment to Sam."),
        "{answer}"
    );
    let receipt = json!({"success": true, "amount": 20, "recipient": "Sam"});
    socket.bring(&calls[1], receipt, json!({})).await;
    let answer = text_of(&socket.turn().await);
    assert!(
        answer.starts_with("The payment to Sam is finished"),
        "{answer}"
    );
}

#[tokio::test]
async fn what_waits_until_the_model_is_idle_waits() {
    let rules = r#"[{"on": "answer", "contains": "Hello", "paceMs": 5}]"#;
    let emulator = emulator(rules).await;
    let mut socket = Socket::with(&emulator, setup(non_blocking())).await;
    socket.say(WEATHER).await;
    let calls = socket.calls().await;
    socket.turn().await;
    socket.say("Hello").await;
    socket.until("/serverContent/modelTurn").await;
    let fog = json!({"condition": "Fog"});
    socket
        .bring(&calls[0], fog, json!({"scheduling": "WHEN_IDLE"}))
        .await;
    let frames = socket.turn().await;
    assert!(
        frames
            .iter()
            .any(|frame| frame["serverContent"]["generationComplete"] == true)
    );
    assert!(text_of(&socket.turn().await).contains("condition Fog"));
}

#[tokio::test]
async fn who_can_not_be_interrupted_answers_later() {
    let emulator = emulator(r#"[{"on": "answer", "contains": "slowly", "paceMs": 5}]"#).await;
    let more = json!({"realtimeInputConfig": {"activityHandling": "NO_INTERRUPTION"}});
    let mut socket = Socket::with(&emulator, setup(more)).await;
    socket
        .send(json!({"realtimeInput": {"text": "slowly"}}))
        .await;
    socket.until("/serverContent/modelTurn").await;
    socket
        .send(json!({"realtimeInput": {"text": "Hello"}}))
        .await;
    let frames = socket.turn().await;
    assert!(
        frames
            .iter()
            .all(|frame| frame["serverContent"].get("interrupted").is_none())
    );
    assert!(text_of(&socket.turn().await).contains("\"Hello\""));
}

#[tokio::test]
async fn sound_that_is_all_quiet_is_no_speech() {
    let emulator = emulator("[]").await;
    let mut socket = Socket::text(&emulator).await;
    let quiet = json!({"mimeType": "audio/pcm;rate=16000", "data": "A".repeat(64_000)});
    socket
        .send(json!({"realtimeInput": {"audio": quiet}}))
        .await;
    socket
        .send(json!({"realtimeInput": {"audioStreamEnd": true}}))
        .await;
    socket.say("Hello").await;
    assert!(text_of(&socket.turn().await).contains("\"Hello\""));
}

#[tokio::test]
async fn sound_is_recognised_as_the_script_says() {
    let emulator = emulator("[]").await;
    let script = r#"{"utterances": ["Play it", "Stop it"]}"#;
    emulator
        .set_script(adk_stream_emulator::Script::from_json(script).unwrap())
        .unwrap();
    let more = json!({"inputAudioTranscription": {}});
    let mut socket = Socket::with(&emulator, setup(more)).await;
    // 0x0A0A, on and on.
    let loud = json!({"mimeType": "audio/pcm;rate=16000", "data": "CgoK".repeat(1_000)});
    for transcript in ["Play it", "Stop it", "Stop it"] {
        socket.send(json!({"realtimeInput": {"audio": loud}})).await;
        socket
            .send(json!({"realtimeInput": {"audioStreamEnd": true}}))
            .await;
        let frames = socket.turn().await;
        let words = frames.iter().filter_map(|frame| {
            let text = frame.pointer("/serverContent/inputTranscription/text")?;
            text.as_str()
        });
        assert_eq!(words.collect::<String>(), transcript);
        assert!(text_of(&frames).contains(transcript));
    }
}

#[tokio::test]
async fn a_client_that_goes_away_is_noticed_while_the_model_speaks() {
    let emulator = emulator(r#"[{"on": "answer", "paceMs": 3600000}]"#).await;
    let mut socket = Socket::text(&emulator).await;
    socket.say("Hello").await;
    socket.until("/serverContent/modelTurn").await;
    drop(socket);
    soon(emulator.counted(|stats| stats.sockets_open == 0)).await;
}
