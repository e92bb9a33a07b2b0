//! The Responses API: what is sent, and what is read.

use adk_stream_agents::OpenAi;
use adk_stream_agents::openai::{Api, Config};
use serde_json::{Value, json};
use turn::agent::AgentEvent;

use crate::model::{Spoken, openai, stream, text};
use crate::scripted::{Dialogue, failure};
use crate::server::Server;

const RESPONSES: Spoken = Spoken::Responses;

fn reasoning(id: &str, encrypted: Option<&str>) -> Value {
    json!({"type": "response.output_item.done", "output_index": 0, "item": {
        "type": "reasoning", "id": id, "encrypted_content": encrypted,
        "summary": [{"type": "summary_text", "text": "Hm."}],
    }})
}

fn call(index: u64) -> Value {
    json!({"type": "response.output_item.done", "output_index": index, "item": {
        "type": "function_call", "id": "fc_1", "call_id": "a", "name": "pay", "arguments": "{\"x\":1}",
        "status": "completed",
    }})
}

#[tokio::test]
async fn request_stores_nothing_and_asks_for_encrypted_thoughts() {
    for (model, include) in [
        ("gpt-5.1", json!(["reasoning.encrypted_content"])),
        ("gpt-4o", Value::Null),
    ] {
        let server = Server::answering([RESPONSES.saying("Hello.")]).await;
        let mut dialogue = Dialogue::new(
            OpenAi::new(Config {
                model: model.to_owned(),
                instruction: Some("Be brief.".to_owned()),
                max_tokens: Some(100),
                ..openai(&server, Api::Responses)
            })
            .unwrap(),
        );
        dialogue.declare("crm.lookup", json!({"type": "object"}));
        dialogue.say("hi");
        assert_eq!(text(&dialogue.step().await), "Hello.");
        let request = server.last();
        assert!(
            request.head.starts_with("POST /v1/responses "),
            "{}",
            request.head
        );
        let mut body = request.body;
        assert_eq!(body["include"], include);
        body.as_object_mut().unwrap().remove("include");
        assert_eq!(
            body,
            json!({
                "model": model,
                "input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}],
                "instructions": "Be brief.",
                "stream": true,
                "store": false,
                "tools": [{
                    "type": "function", "name": "crm_lookup", "description": "Does crm.lookup.",
                    "parameters": {"type": "object", "properties": {}}, "strict": false,
                }],
                "max_output_tokens": 100,
            })
        );
    }
}

#[tokio::test]
async fn encrypted_thoughts_go_back_before_their_calls_and_are_not_shown() {
    let mut events = vec![
        json!({"type": "response.reasoning_summary_part.added", "output_index": 0}),
        json!({"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "Hm."}),
        reasoning("rs_1", Some("encrypted-thought")),
        call(1),
    ];
    events.extend(RESPONSES.end(None));
    let server = Server::answering([stream(&events), RESPONSES.saying("Done.")]).await;
    let mut dialogue = RESPONSES.dialogue(&server, "pay");
    let events = dialogue.step().await;
    let thoughts = events
        .iter()
        .filter(|event| matches!(event, AgentEvent::Reasoning { .. }));
    assert_eq!(thoughts.count(), 1, "the summary is shown once: {events:?}");
    dialogue.settle_all();
    dialogue.restart();
    dialogue.step().await;
    // Nothing is stored there, so nothing is named by an id.
    assert_eq!(
        server.last().body["input"],
        json!([
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "pay"}]},
            {"type": "reasoning", "encrypted_content": "encrypted-thought", "summary": [{"type": "summary_text", "text": "Hm."}]},
            {"type": "function_call", "status": "completed", "call_id": "a", "name": "pay", "arguments": "{\"x\":1}"},
            {"type": "function_call_output", "call_id": "a", "output": "{\"output\":{\"number\":0}}"},
        ])
    );
    let shown = dialogue.shown();
    assert!(
        shown.contains("Hm.") && !shown.contains("encrypted-thought"),
        "{shown}"
    );
}

#[tokio::test]
async fn thoughts_that_openai_would_refuse_are_left_out() {
    // Without their content, and without what they led to.
    for (encrypted, is_cut) in [(None, false), (Some("e"), true)] {
        let mut events = vec![reasoning("rs_1", encrypted)];
        if !is_cut {
            events.extend(RESPONSES.half("Hello."));
            events.extend(RESPONSES.end(None));
        }
        let server = Server::answering([stream(&events), RESPONSES.saying("Hello.")]).await;
        let mut dialogue = RESPONSES.dialogue(&server, "hi");
        let events = dialogue.step().await;
        if is_cut {
            assert_eq!(failure(&events).0, "agent_cut_off");
        }
        dialogue.say("again");
        dialogue.step().await;
        let input = server.last().body["input"].to_string();
        assert!(!input.contains("reasoning"), "{input}");
    }
}

#[tokio::test]
async fn what_is_said_of_a_message_goes_back_with_it() {
    let events = [
        json!({"type": "response.output_text.delta", "output_index": 0, "delta": "Hel"}),
        json!({"type": "response.output_text.delta", "output_index": 0, "delta": "lo."}),
        json!({"type": "response.output_item.done", "output_index": 0, "item": {
            "type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "phase": "final_answer",
            "content": [{"type": "output_text", "text": "Hello.", "annotations": []}],
        }}),
        json!({"type": "response.completed", "response": {}}),
    ];
    let server = Server::answering([stream(&events), RESPONSES.saying("Bye.")]).await;
    let mut dialogue = RESPONSES.dialogue(&server, "hi");
    assert_eq!(text(&dialogue.step().await), "Hello.");
    dialogue.restart();
    dialogue.say("bye");
    dialogue.step().await;
    assert_eq!(
        server.last().body["input"][1],
        json!({
            "type": "message", "role": "assistant", "status": "completed", "phase": "final_answer",
            "content": [{"type": "output_text", "text": "Hello.", "annotations": []}],
        })
    );
}

#[tokio::test]
async fn items_that_come_without_deltas_are_shown() {
    let events = [
        reasoning("rs_1", Some("e")),
        json!({"type": "response.output_item.done", "output_index": 1, "item": {
            "type": "message", "content": [{"type": "output_text", "text": "Hello."}],
        }}),
        json!({"type": "response.completed", "response": {}}),
    ];
    let server = Server::answering([stream(&events)]).await;
    let events = RESPONSES.dialogue(&server, "hi").step().await;
    assert_eq!(text(&events), "Hello.");
    assert!(
        events
            .iter()
            .any(|event| matches!(event, AgentEvent::Reasoning { delta, .. } if delta == "Hm."))
    );
}
