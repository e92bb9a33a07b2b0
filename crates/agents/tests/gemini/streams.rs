//! What Gemini says, as events.

use serde_json::{Value, json};
use turn::agent::AgentEvent;
use turn::event::Finish;

use crate::dialogue::{Dialogue, ended, failure, last, parts};
use crate::server::Server;

async fn said(chunks: Vec<Value>) -> Vec<AgentEvent> {
    let server = Server::saying(chunks).await;
    Dialogue::of(&server, "hi").step().await
}

fn text(delta: &str) -> AgentEvent {
    AgentEvent::Text {
        delta: delta.to_owned(),
        provider_metadata: None,
    }
}

fn call(id: Option<&str>, tool: &str, input: Value) -> AgentEvent {
    AgentEvent::Call {
        provider_id: id.map(str::to_owned),
        tool: tool.to_owned(),
        input,
        provider_metadata: None,
    }
}

fn metadata() -> AgentEvent {
    AgentEvent::Metadata(json!({
        "usage": {"promptTokens": 10, "completionTokens": 5, "totalTokens": 17, "reasoningTokens": 2},
        "modelVersion": "gemini-x-001",
    }))
}

#[tokio::test]
async fn thoughts_and_text_come_as_they_are_said() {
    let events = said(vec![
        parts(json!([{"text": "Hm", "thought": true}])),
        parts(json!([{"text": "m.", "thought": true}])),
        parts(json!([{"text": "Hello, "}])),
        last(json!([{"text": "世界."}])),
    ])
    .await;
    let thought = |delta: &str| AgentEvent::Reasoning {
        delta: delta.to_owned(),
        provider_metadata: None,
    };
    assert_eq!(
        events,
        [
            thought("Hm"),
            thought("m."),
            text("Hello, "),
            text("世界."),
            metadata(),
            AgentEvent::Ended(Finish::Stop),
        ]
    );
}

#[tokio::test]
async fn call_without_args_has_an_empty_input() {
    let events = said(vec![last(
        json!([{"functionCall": {"name": "get_location"}}]),
    )])
    .await;
    assert_eq!(events[0], call(None, "get_location", json!({})));
    assert_eq!(events[2], AgentEvent::Ended(Finish::Stop));
}

#[tokio::test]
async fn two_calls_of_one_tool_without_ids_are_two_calls() {
    let twice = json!([
        {"functionCall": {"name": "pay", "args": {"to": "Ann"}}},
        {"functionCall": {"name": "pay", "args": {"to": "Bob"}}},
    ]);
    let server = Server::saying(vec![last(twice)]).await;
    let mut dialogue = Dialogue::of(&server, "pay both");
    let events = dialogue.step().await;
    assert_eq!(events[0], call(None, "pay", json!({"to": "Ann"})));
    assert_eq!(events[1], call(None, "pay", json!({"to": "Bob"})));
    let calls = dialogue.calls();
    assert_ne!(calls[0].id, calls[1].id);
}

#[tokio::test]
async fn ids_of_calls_are_kept_and_an_empty_one_is_none() {
    let events = said(vec![last(json!([
        {"functionCall": {"id": "fc-1", "name": "a", "args": {}}},
        {"functionCall": {"id": "", "name": "b", "args": {}}},
    ]))])
    .await;
    assert_eq!(events[0], call(Some("fc-1"), "a", json!({})));
    assert_eq!(events[1], call(None, "b", json!({})));
}

#[tokio::test]
async fn part_with_a_signature_stays_apart_from_its_neighbours() {
    let events = said(vec![
        parts(json!([{"text": "One. "}])),
        parts(json!([{"text": "Two. ", "thoughtSignature": "c2ln"}])),
        last(json!([{"text": "Three."}, {"text": "", "thoughtSignature": "bGFzdA=="}])),
    ])
    .await;
    assert_eq!(
        events[..6],
        [
            text("One. "),
            AgentEvent::PartEnd,
            AgentEvent::Text {
                delta: "Two. ".to_owned(),
                provider_metadata: Some(json!({"google": {"thoughtSignature": "c2ln"}})),
            },
            AgentEvent::PartEnd,
            text("Three."),
            AgentEvent::Opaque(json!({"google": {"text": "", "thoughtSignature": "bGFzdA=="}})),
        ]
    );
}

#[tokio::test]
async fn empty_text_without_a_signature_is_nothing() {
    let events = said(vec![last(json!([{"text": ""}]))]).await;
    assert_eq!(events, [metadata(), AgentEvent::Ended(Finish::Stop)]);
}

#[tokio::test]
async fn picture_is_a_file_that_browsers_can_read() {
    let events = said(vec![last(json!([
        {"inlineData": {"mimeType": "image/png", "data": "_-8"}, "thoughtSignature": "cGlj"},
    ]))])
    .await;
    assert_eq!(
        events[0],
        AgentEvent::File {
            url: "data:image/png;base64,/+8=".to_owned(),
            media_type: "image/png".to_owned(),
            provider_metadata: Some(json!({"google": {"thoughtSignature": "cGlj"}})),
        }
    );
}

#[tokio::test]
async fn sources_of_an_answer_are_shown_once() {
    let grounded = |text: &str| {
        json!({"candidates": [{
            "content": {"parts": [{"text": text}]},
            "groundingMetadata": {"groundingChunks": [
                {"web": {"uri": "https://a.example", "title": "A"}},
                {"maps": {"uri": "https://m.example", "title": "M"}},
            ]},
            "citationMetadata": {"citationSources": [{"uri": "https://c.example"}]},
        }]})
    };
    let events = said(vec![grounded("1"), grounded("2"), last(json!([]))]).await;
    let source = |url: &str, title: Option<&str>| AgentEvent::Source {
        url: url.to_owned(),
        title: title.map(str::to_owned),
    };
    assert_eq!(
        events[..5],
        [
            text("1"),
            source("https://a.example", Some("A")),
            source("https://m.example", Some("M")),
            source("https://c.example", None),
            text("2"),
        ]
    );
    assert_eq!(events[5..], [metadata(), AgentEvent::Ended(Finish::Stop)]);
}

#[tokio::test]
async fn every_reason_to_stop_has_its_finish() {
    for (reason, finish) in [
        ("STOP", Finish::Stop),
        ("MAX_TOKENS", Finish::Length),
        ("SAFETY", Finish::ContentFilter),
        ("RECITATION", Finish::ContentFilter),
        ("BLOCKLIST", Finish::ContentFilter),
        ("PROHIBITED_CONTENT", Finish::ContentFilter),
        ("SPII", Finish::ContentFilter),
        ("IMAGE_SAFETY", Finish::ContentFilter),
        ("MALFORMED_FUNCTION_CALL", Finish::Error),
        ("UNEXPECTED_TOOL_CALL", Finish::Error),
        ("LANGUAGE", Finish::Other),
        ("OTHER", Finish::Other),
        ("TOO_MANY_TOOL_CALLS", Finish::Other),
        ("NO_IMAGE", Finish::Other),
        ("A_REASON_OF_TOMORROW", Finish::Other),
    ] {
        let mut events = said(vec![ended(json!([{"text": "So far."}]), reason)]).await;
        assert_eq!(events.pop(), Some(AgentEvent::Ended(finish)), "{reason}");
        let Some(AgentEvent::Metadata(metadata)) = events.pop() else {
            panic!("{events:?}");
        };
        let reported = metadata.get("finishReason").and_then(Value::as_str);
        assert_eq!(reported, Some(reason).filter(|reason| *reason != "STOP"));
    }
}

#[tokio::test]
async fn blocked_prompt_is_a_failure_that_says_why() {
    let events = said(vec![json!({
        "promptFeedback": {"blockReason": "PROHIBITED_CONTENT", "blockReasonMessage": "Not this."},
        "usageMetadata": {"promptTokenCount": 10, "totalTokenCount": 10},
    })])
    .await;
    let (code, message, _) = failure(&events);
    assert_eq!(code, "agent_blocked");
    assert_eq!(
        message,
        "Gemini blocked the prompt (PROHIBITED_CONTENT): Not this."
    );
    assert!(matches!(events[0], AgentEvent::Metadata(_)));
}

#[tokio::test]
async fn end_that_leaves_an_empty_answer_is_a_failure_that_says_why() {
    for (reason, code) in [
        ("SAFETY", "agent_blocked"),
        ("MALFORMED_FUNCTION_CALL", "agent_empty_response"),
    ] {
        let events = said(vec![ended(
            json!([{"text": "Hm.", "thought": true}]),
            reason,
        )])
        .await;
        let (found, message, _) = failure(&events);
        assert_eq!(found, code);
        assert!(message.contains(reason), "{message}");
    }
}

#[tokio::test]
async fn usage_may_come_before_and_after_the_reason_to_stop() {
    let events = said(vec![
        json!({"usageMetadata": {"promptTokenCount": 3, "totalTokenCount": 3}, "modelVersion": "v"}),
        json!({"candidates": [{"content": {"parts": [{"text": "Hi."}]}, "finishReason": "STOP"}]}),
        json!({"usageMetadata": {"promptTokenCount": 3, "totalTokenCount": 4, "cachedContentTokenCount": 2}}),
        json!({"responseId": "r"}),
    ])
    .await;
    assert_eq!(
        events[1..],
        [
            AgentEvent::Metadata(json!({
                "usage": {"promptTokens": 3, "completionTokens": 0, "totalTokens": 4, "cachedTokens": 2},
                "modelVersion": "v",
            })),
            AgentEvent::Ended(Finish::Stop),
        ]
    );
}
