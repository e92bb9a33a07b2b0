//! What goes wrong with generateContent, on request.

use adk_stream_emulator::{Moment, Rule};
use serde_json::json;
use tokio::net::TcpStream;

use crate::http::{ask, asking, request, stream_of, write};
use crate::{emulator, soon};

#[tokio::test]
async fn a_stream_is_cut_after_chunks() {
    let emulator = emulator(r#"[{"on": "generate", "cut": {"after": 2}}]"#).await;
    let answer = ask(&emulator, "Hello").await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.text(), "You said:");
    assert!(!answer.is_whole);
}

#[tokio::test]
async fn a_stream_is_cut_after_bytes() {
    let emulator = emulator(r#"[{"on": "generate", "cut": {"afterBytes": 100}}]"#).await;
    let answer = ask(&emulator, "Hello").await;
    assert_eq!(answer.body.len(), 100);
    assert!(!answer.is_whole);
    // Also an answer that is not streamed.
    let path = "/v1beta/models/gemini-2.5-flash:generateContent";
    let answer = request(&emulator, "POST", path, &asking("Hello").to_string()).await;
    assert_eq!(answer.body.len(), 100);
    assert!(!answer.is_whole);
}

#[tokio::test]
async fn a_chunk_is_malformed_and_the_stream_continues() {
    let emulator = emulator(r#"[{"on": "generate", "malformed": {"after": 1}}]"#).await;
    let answer = ask(&emulator, "Hello").await;
    let events = answer.events();
    let is_json = |event: &&str| serde_json::from_str::<serde_json::Value>(event).is_ok();
    let broken: Vec<_> = events.iter().map(|event| !is_json(event)).collect();
    assert_eq!(broken.iter().position(|it| *it), Some(1));
    assert_eq!(broken.iter().filter(|it| **it).count(), 1);
    assert!(answer.is_whole);
}

#[tokio::test]
async fn a_stream_is_empty() {
    let emulator = emulator(r#"[{"on": "generate", "empty": true}]"#).await;
    let answer = ask(&emulator, "Hello").await;
    assert_eq!((answer.status, answer.body.as_str()), (200, ""));
    assert!(answer.is_whole);
}

#[tokio::test]
async fn a_status_is_answered_as_often_as_the_rule_says() {
    let rules = r#"[
        {"on": "generate", "nth": 1, "status": {"code": 500}},
        {"on": "generate", "contains": "weather", "times": 2, "status": {"code": 429, "retryAfterSeconds": 3}}
    ]"#;
    let emulator = emulator(rules).await;
    let mut statuses = Vec::new();
    for prompt in ["weather", "Hello", "weather", "weather", "weather"] {
        let answer = ask(&emulator, prompt).await;
        if answer.status == 429 {
            let error = &answer.json()["error"];
            assert_eq!(error["status"], "RESOURCE_EXHAUSTED");
            assert_eq!(error["details"][0]["retryDelay"], "3s");
        }
        statuses.push(answer.status);
    }
    assert_eq!(statuses, [500, 200, 429, 429, 200]);
}

#[tokio::test]
async fn an_error_comes_in_the_stream() {
    let rule =
        r#"[{"on": "generate", "error": {"code": 503, "message": "Too much.", "after": 1}}]"#;
    let emulator = emulator(rule).await;
    let answer = ask(&emulator, "Hello").await;
    let chunks = answer.chunks();
    assert_eq!(chunks.len(), 2);
    assert_eq!(chunks[1]["error"]["code"], 503);
    assert_eq!(chunks[1]["error"]["message"], "Too much.");
    assert!(answer.is_whole);
    // An answer that is not streamed has it as its status.
    let path = "/v1beta/models/gemini-2.5-flash:generateContent";
    let answer = request(&emulator, "POST", path, &asking("Hello").to_string()).await;
    assert_eq!(answer.status, 503);
}

#[tokio::test]
async fn a_prompt_is_blocked_or_an_answer_stopped() {
    let emulator = emulator("[]").await;
    let blocked = Rule {
        block: Some("PROHIBITED_CONTENT".to_owned()),
        ..Rule::on(Moment::Generate)
    };
    emulator.set_script(blocked).unwrap();
    let [chunk] = &ask(&emulator, "Hello").await.chunks()[..] else {
        panic!("one chunk");
    };
    assert_eq!(chunk["promptFeedback"]["blockReason"], "PROHIBITED_CONTENT");
    assert!(chunk.get("candidates").is_none());
    let stopped =
        r#"{"rules": [{"on": "generate", "finish": {"reason": "RECITATION", "after": 2}}]}"#;
    let stopped = adk_stream_emulator::Script::from_json(stopped).unwrap();
    emulator.set_script(stopped).unwrap();
    let answer = ask(&emulator, "Hello").await;
    assert_eq!(answer.text(), "You said:");
    let chunks = answer.chunks();
    assert_eq!(chunks[2]["candidates"][0]["finishReason"], "RECITATION");
    assert!(chunks[2]["candidates"][0].get("content").is_none());
}

#[tokio::test]
async fn a_signature_is_missing() {
    let emulator = emulator(r#"[{"on": "generate", "withoutSignatures": true, "times": 1}]"#).await;
    let body = asking("What is the weather in Tokyo?").to_string();
    let path = stream_of("gemini-3-pro");
    let first = request(&emulator, "POST", &path, &body).await;
    assert!(!first.body.contains("thoughtSignature"));
    let second = request(&emulator, "POST", &path, &body).await;
    assert!(second.body.contains("thoughtSignature"));
}

#[tokio::test]
async fn a_script_answers_with_whatever_it_says() {
    let chunk = json!({"candidates": [{"content": {"parts": [{"text": "Hi"}]}}], "vendor": 1});
    let rules = json!([{"on": "generate", "respond": [chunk, "{\"half\":"]}]).to_string();
    let emulator = emulator(&rules).await;
    let answer = ask(&emulator, "Hello").await;
    assert_eq!(answer.events(), [chunk.to_string().as_str(), "{\"half\":"]);
}

#[tokio::test]
async fn a_slow_answer_holds_up_no_other() {
    let emulator = emulator(r#"[{"on": "generate", "nth": 1, "delayMs": 3600000}]"#).await;
    let mut slow = TcpStream::connect(emulator.address()).await.unwrap();
    let body = asking("Hello").to_string();
    let path = stream_of("gemini-2.5-flash");
    write(&mut slow, "POST", &path, "x-goog-api-key: k\r\n", &body).await;
    soon(emulator.counted(|stats| stats.requests == 1)).await;
    assert_eq!(ask(&emulator, "Hello").await.status, 200);
    assert_eq!(emulator.stats().streams_total, 1);
}

#[tokio::test]
async fn the_demo_plays_its_own_faults_on_the_wire() {
    let emulator = emulator("[]").await;
    assert_eq!(ask(&emulator, "fail with rate limit").await.status, 429);
    let refused = ask(&emulator, "fail with refused key").await;
    assert_eq!(
        refused.json()["error"]["details"][0]["reason"],
        "API_KEY_INVALID"
    );
    let broken = ask(&emulator, "break the stream").await;
    assert!(!broken.is_whole);
    assert_eq!(broken.text(), "This sentence breaks off in the");
    let silent = ask(&emulator, "say nothing").await;
    let [chunk] = &silent.chunks()[..] else {
        panic!("one chunk");
    };
    assert_eq!(chunk["candidates"][0]["finishReason"], "STOP");
    assert!(chunk["candidates"][0]["content"].get("parts").is_none());
}
