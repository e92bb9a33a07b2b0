//! Anthropic's Messages API: what is sent, and what is read.

use adk_stream_agents::Anthropic;
use adk_stream_agents::anthropic::Config;
use serde_json::{Map, Value, json};
use turn::agent::AgentEvent;
use turn::call::Outcome;
use turn::event::Finish;
use turn::message::{self, File};

use crate::model::{Spoken, anthropic, stream, text};
use crate::scripted::{Dialogue, KEY, failure};
use crate::server::Server;

const ANTHROPIC: Spoken = Spoken::Anthropic;

fn block(index: u64, block: Value, deltas: &[Value]) -> Vec<Value> {
    let mut events =
        vec![json!({"type": "content_block_start", "index": index, "content_block": block})];
    let deltas = deltas.iter();
    events.extend(
        deltas.map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta})),
    );
    events.push(json!({"type": "content_block_stop", "index": index}));
    events
}

#[tokio::test]
async fn request_says_what_the_operator_says() {
    for (budget, max_tokens, wanted) in [
        (None, None, json!({"max_tokens": 8192, "temperature": 0.5})),
        (
            None,
            Some(100),
            json!({"max_tokens": 100, "temperature": 0.5}),
        ),
        (
            Some(2048),
            None,
            json!({"max_tokens": 10240, "thinking": {"type": "enabled", "budget_tokens": 2048}}),
        ),
        (
            Some(2048),
            Some(3000),
            json!({"max_tokens": 3000, "thinking": {"type": "enabled", "budget_tokens": 2048}}),
        ),
    ] {
        let server = Server::answering([ANTHROPIC.saying("Hello.")]).await;
        let mut dialogue = Dialogue::new(
            Anthropic::new(Config {
                instruction: Some("Be brief.".to_owned()),
                temperature: Some(0.5),
                max_tokens,
                thinking_budget: budget,
                headers: vec![("anthropic-beta".to_owned(), "some-beta".to_owned())],
                ..anthropic(&server)
            })
            .unwrap(),
        );
        dialogue.declare("crm.lookup", json!({"type": "object"}));
        dialogue.say("hi");
        assert_eq!(text(&dialogue.step().await), "Hello.");
        let request = server.last();
        assert!(
            request.head.starts_with("POST /v1/messages "),
            "{}",
            request.head
        );
        for header in [
            &format!("x-api-key: {KEY}"),
            "anthropic-version: 2023-06-01",
            "anthropic-beta: some-beta",
        ] {
            assert!(
                request.head.contains(&format!("{header}\r\n")),
                "{}",
                request.head
            );
        }
        let mut all = json!({
            "model": "m-1",
            "messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}]}],
            "system": "Be brief.",
            "stream": true,
            "tools": [{"name": "crm_lookup", "description": "Does crm.lookup.", "input_schema": {"type": "object", "properties": {}}}],
        });
        all.as_object_mut()
            .unwrap()
            .extend(wanted.as_object().unwrap().clone());
        assert_eq!(request.body, all);
    }
}

#[tokio::test]
async fn thoughts_go_back_with_their_signatures_in_their_order_and_signatures_are_not_shown() {
    let mut events = block(
        0,
        json!({"type": "thinking", "thinking": "", "signature": ""}),
        &[
            json!({"type": "thinking_delta", "thinking": "They want "}),
            json!({"type": "thinking_delta", "thinking": "to pay."}),
            json!({"type": "signature_delta", "signature": "s1gnature"}),
        ],
    );
    events.extend(block(
        1,
        json!({"type": "redacted_thinking", "data": "r3dacted"}),
        &[],
    ));
    events.extend(block(
        2,
        json!({"type": "thinking", "thinking": "", "signature": ""}),
        &[json!({"type": "signature_delta", "signature": "s1lent"})],
    ));
    events.extend(block(
        3,
        json!({"type": "text", "text": ""}),
        &[json!({"type": "text_delta", "text": "I pay."})],
    ));
    let input = |text: &str| json!({"type": "input_json_delta", "partial_json": text});
    events.extend(block(
        4,
        json!({"type": "tool_use", "id": "a", "name": "pay", "input": {}}),
        &[input(""), input("{\"x\":"), input("1}")],
    ));
    events.extend(block(
        5,
        json!({"type": "tool_use", "id": "b", "name": "look", "input": {}}),
        &[],
    ));
    events.extend(ANTHROPIC.end(Some("tool_use")));
    let server = Server::answering([stream(&events), ANTHROPIC.saying("Done.")]).await;
    let mut dialogue = ANTHROPIC.dialogue(&server, "pay");
    dialogue.step().await;
    let calls = dialogue.calls();
    dialogue.settle(
        &calls[0].id,
        Outcome::Output {
            output: json!("paid"),
        },
    );
    dialogue.settle(
        &calls[1].id,
        Outcome::Error {
            error: "Blind.".to_owned(),
        },
    );
    dialogue.restart();
    dialogue.step().await;
    assert_eq!(
        server.last().body["messages"],
        json!([
            {"role": "user", "content": [{"type": "text", "text": "pay"}]},
            {"role": "assistant", "content": [
                {"type": "thinking", "thinking": "They want to pay.", "signature": "s1gnature"},
                {"type": "redacted_thinking", "data": "r3dacted"},
                {"type": "thinking", "signature": "s1lent", "thinking": ""},
                {"type": "text", "text": "I pay."},
                {"type": "tool_use", "id": "a", "name": "pay", "input": {"x": 1}},
                {"type": "tool_use", "id": "b", "name": "look", "input": {}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "a", "content": "{\"output\":\"paid\"}"},
                {"type": "tool_result", "tool_use_id": "b", "content": "{\"error\":\"Blind.\"}", "is_error": true},
            ]},
        ])
    );
    let shown = dialogue.shown();
    assert!(shown.contains("They want to pay."), "{shown}");
    for secret in ["s1gnature", "s1lent", "r3dacted"] {
        assert!(!shown.contains(secret), "{secret}: {shown}");
    }
}

#[tokio::test]
async fn pictures_and_documents_go_along_and_other_files_are_named() {
    let file = |media_type: &str, url: &str, name: &str| {
        message::Part::File(File {
            media_type: media_type.to_owned(),
            url: url.to_owned(),
            filename: Some(name.to_owned()),
            extra: Map::new(),
        })
    };
    let server = Server::answering([ANTHROPIC.saying("Nice.")]).await;
    let mut dialogue = Dialogue::new(Anthropic::new(anthropic(&server)).unwrap());
    dialogue.send(vec![
        file("image/png", "data:image/png;base64,QUI=", "a"),
        file("image/png", "https://a.example/b.png", "b"),
        file("application/pdf", "data:application/pdf;base64,QUI=", "c"),
        file(
            "application/zip",
            "data:application/zip;base64,QUI=",
            "d.zip",
        ),
    ]);
    dialogue.step().await;
    assert_eq!(
        server.last().body["messages"][0]["content"],
        json!([
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "QUI="}},
            {"type": "image", "source": {"type": "url", "url": "https://a.example/b.png"}},
            {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": "QUI="}},
            {"type": "text", "text": "(The user sent the file \"d.zip\", which can't be read here.)"},
        ])
    );
}

#[tokio::test]
async fn blocks_that_nothing_here_reads_go_back_unchanged() {
    let mut events = block(
        0,
        json!({"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}),
        &[json!({"type": "input_json_delta", "partial_json": "{\"query\": \"x\"}"})],
    );
    events.extend(block(
        1,
        json!({"type": "web_search_tool_result", "tool_use_id": "s", "content": []}),
        &[],
    ));
    let citation = json!({"type": "citations_delta", "citation": {"type": "page", "page": 1}});
    events.extend(block(
        2,
        json!({"type": "text", "text": "", "citations": []}),
        &[json!({"type": "text_delta", "text": "So."}), citation],
    ));
    events.push(json!({"type": "an_event_of_tomorrow", "x": 1}));
    events.extend(ANTHROPIC.end(None));
    let server = Server::answering([stream(&events), ANTHROPIC.saying("Bye.")]).await;
    let mut dialogue = ANTHROPIC.dialogue(&server, "hi");
    dialogue.step().await;
    dialogue.restart();
    dialogue.say("bye");
    dialogue.step().await;
    assert_eq!(
        server.last().body["messages"][1]["content"],
        json!([
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}},
            {"type": "web_search_tool_result", "tool_use_id": "s", "content": []},
            {"type": "text", "text": "So.", "citations": [{"type": "page", "page": 1}]},
        ])
    );
}

#[tokio::test]
async fn thoughts_of_an_answer_that_was_cut_are_left_out() {
    let mut events = block(0, json!({"type": "text", "text": "Well, "}), &[]);
    let mut thought = block(
        1,
        json!({"type": "thinking", "thinking": ""}),
        &[
            json!({"type": "thinking_delta", "thinking": "Hm."}),
            json!({"type": "signature_delta", "signature": "s"}),
        ],
    );
    events.append(&mut thought);
    let server = Server::answering([stream(&events), ANTHROPIC.saying("Hello.")]).await;
    let mut dialogue = ANTHROPIC.dialogue(&server, "hi");
    assert_eq!(failure(&dialogue.step().await).0, "agent_cut_off");
    dialogue.say("again");
    dialogue.step().await;
    assert_eq!(
        server.last().body["messages"],
        json!([
            {"role": "user", "content": [{"type": "text", "text": "hi"}]},
            {"role": "assistant", "content": [{"type": "text", "text": "Well, "}]},
            {"role": "user", "content": [{"type": "text", "text": "again"}]},
        ])
    );
}

#[tokio::test]
async fn cached_tokens_count_as_the_prompts() {
    let mut events = ANTHROPIC.half("Hello.");
    events[0]["message"]["usage"] = json!({"input_tokens": 1, "cache_creation_input_tokens": 2, "cache_read_input_tokens": 4, "output_tokens": 1});
    events.extend(ANTHROPIC.end(None));
    let server = Server::answering([stream(&events)]).await;
    let events = ANTHROPIC.dialogue(&server, "hi").step().await;
    let usage = &crate::model::metadata(&events)["usage"];
    assert_eq!(
        *usage,
        json!({"promptTokens": 7, "completionTokens": 5, "totalTokens": 12, "cachedTokens": 4})
    );
    assert_eq!(events.last(), Some(&AgentEvent::Ended(Finish::Stop)));
}
