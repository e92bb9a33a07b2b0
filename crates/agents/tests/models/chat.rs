//! Chat completions: what is sent, and what is read.

use adk_stream_agents::OpenAi;
use adk_stream_agents::openai::{Api, Config};
use serde_json::{Map, Value, json};
use turn::agent::AgentEvent;
use turn::call::Outcome;
use turn::event::Finish;
use turn::message::{self, File};

use crate::model::{Spoken, openai, stream, text};
use crate::scripted::{Dialogue, KEY};
use crate::server::{Answer, Server};

const CHAT: Spoken = Spoken::Chat;

fn delta(delta: Value) -> Value {
    json!({"choices": [{"index": 0, "delta": delta}]})
}

fn answer(deltas: impl IntoIterator<Item = Value>) -> Answer {
    let mut events: Vec<_> = deltas.into_iter().map(delta).collect();
    events.extend(CHAT.end(None));
    stream(&events)
}

fn file(media_type: &str, url: &str, filename: Option<&str>) -> message::Part {
    message::Part::File(File {
        media_type: media_type.to_owned(),
        url: url.to_owned(),
        filename: filename.map(str::to_owned),
        extra: Map::new(),
    })
}

#[tokio::test]
async fn request_says_what_the_operator_says() {
    let server = Server::answering([CHAT.saying("Hello.")]).await;
    let mut dialogue = Dialogue::new(
        OpenAi::new(Config {
            instruction: Some("Be brief.".to_owned()),
            temperature: Some(0.5),
            max_tokens: Some(100),
            reasoning_effort: Some("low".to_owned()),
            headers: vec![("X-Team".to_owned(), "blue".to_owned())],
            ..openai(&server, Api::Auto)
        })
        .unwrap(),
    );
    dialogue.declare(
        "crm.lookup",
        json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}),
    );
    dialogue.declare("nothing", json!({"type": "object"}));
    dialogue.say("hi");
    assert_eq!(text(&dialogue.step().await), "Hello.");
    let request = server.last();
    assert!(
        request.head.starts_with("POST /v1/chat/completions "),
        "{}",
        request.head
    );
    assert!(
        request
            .head
            .contains(&format!("authorization: Bearer {KEY}\r\n"))
    );
    assert!(request.head.contains("x-team: blue\r\n"));
    assert_eq!(
        request.body,
        json!({
            "model": "m-1",
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "hi"},
            ],
            "stream": true,
            "stream_options": {"include_usage": true},
            "tools": [
                {"type": "function", "function": {
                    "name": "crm_lookup", "description": "Does crm.lookup.",
                    "parameters": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
                }},
                {"type": "function", "function": {
                    "name": "nothing", "description": "Does nothing.",
                    "parameters": {"type": "object", "properties": {}},
                }},
            ],
            "temperature": 0.5,
            "max_tokens": 100,
            "reasoning_effort": "low",
        })
    );
}

#[tokio::test]
async fn pictures_and_documents_go_along_and_other_files_are_named() {
    let server = Server::answering([CHAT.saying("Nice.")]).await;
    let mut dialogue = Dialogue::new(OpenAi::new(openai(&server, Api::Auto)).unwrap());
    dialogue.send(vec![
        message::Part::text("Look."),
        file("image/png", "data:image/png;base64,QUI=", None),
        file("image/jpeg", "https://a.example/b.jpg", None),
        file(
            "application/pdf",
            "data:application/pdf;base64,QUI=",
            Some("a.pdf"),
        ),
        file("application/zip", "https://a.example/b.zip", Some("b.zip")),
        file("image/png", "blob:nowhere", Some("c.png")),
    ]);
    dialogue.step().await;
    assert_eq!(
        server.last().body["messages"][0]["content"],
        json!([
            {"type": "text", "text": "Look."},
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,QUI="}},
            {"type": "image_url", "image_url": {"url": "https://a.example/b.jpg"}},
            {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,QUI="}},
            {"type": "text", "text": "(The user sent the file \"b.zip\", which can't be read here.)"},
            {"type": "text", "text": "(The user sent the file \"c.png\", which can't be read here.)"},
        ])
    );
}

#[tokio::test]
async fn parallel_calls_are_put_together_and_answered_in_their_order() {
    let pieces = [
        json!({"role": "assistant", "content": null}),
        json!({"content": "Let me see. "}),
        json!({"tool_calls": [{"index": 0, "id": "a", "type": "function", "function": {"name": "crm_lookup", "arguments": ""}}]}),
        json!({"tool_calls": [{"index": 0, "function": {"arguments": "{\"name\":"}}]}),
        json!({"tool_calls": [{"index": 1, "id": "b", "type": "function", "function": {"name": "pay", "arguments": "{\"x\":"}}]}),
        json!({"tool_calls": [{"index": 0, "function": {"arguments": "\"Ann\"}"}}, {"index": 1, "function": {"arguments": "1}"}}]}),
    ];
    let server = Server::answering([answer(pieces), CHAT.saying("Done.")]).await;
    let mut dialogue = Dialogue::new(OpenAi::new(openai(&server, Api::Auto)).unwrap());
    dialogue.declare("crm.lookup", json!({}));
    dialogue.declare("pay", json!({}));
    dialogue.say("hi");
    dialogue.step().await;
    let calls = dialogue.calls();
    assert_eq!(
        calls
            .iter()
            .map(|call| (call.tool.as_str(), &call.input))
            .collect::<Vec<_>>(),
        [
            ("crm.lookup", &json!({"name": "Ann"})),
            ("pay", &json!({"x": 1}))
        ]
    );
    dialogue.settle(
        &calls[1].id,
        Outcome::Denied {
            reason: Some("No.".to_owned()),
        },
    );
    dialogue.settle(
        &calls[0].id,
        Outcome::Output {
            output: json!({"id": 7}),
        },
    );
    dialogue.restart();
    assert_eq!(text(&dialogue.step().await), "Done.");
    assert_eq!(
        server.last().body["messages"],
        json!([
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": "Let me see. ", "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "crm_lookup", "arguments": "{\"name\":\"Ann\"}"}},
                {"id": "b", "type": "function", "function": {"name": "pay", "arguments": "{\"x\":1}"}},
            ]},
            {"role": "tool", "content": "{\"output\":{\"id\":7}}", "tool_call_id": "a"},
            {"role": "tool", "content": "{\"error\":\"Denied: No.\"}", "tool_call_id": "b"},
        ])
    );
}

#[tokio::test]
async fn thoughts_are_shown_and_go_back_where_tools_were_called() {
    for field in ["reasoning_content", "reasoning"] {
        let thought = |text: &str| json!({field: text});
        let call = json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "pay", "arguments": "{}"}}]});
        let server = Server::answering([
            answer([thought("Hm. "), thought("Pay."), call]),
            answer([thought("Paid."), json!({"content": "Done."})]),
            answer([json!({"content": "You are welcome."})]),
        ])
        .await;
        let mut dialogue = CHAT.dialogue(&server, "pay");
        let events = dialogue.step().await;
        let thoughts: String = events
            .iter()
            .filter_map(|event| match event {
                AgentEvent::Reasoning { delta, .. } => Some(delta.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(thoughts, "Hm. Pay.");
        dialogue.settle_all();
        dialogue.step().await;
        assert_eq!(server.last().body["messages"][1][field], "Hm. Pay.");
        dialogue.restart();
        dialogue.say("thanks");
        dialogue.step().await;
        let messages = &server.last().body["messages"];
        assert_eq!(messages[1][field], "Hm. Pay.");
        assert_eq!(messages[3][field], "Paid.");
        assert_eq!(messages[3]["content"], "Done.");
    }
}

#[tokio::test]
async fn thoughts_of_turns_without_tools_stay_here() {
    let server = Server::answering([
        answer([
            json!({"reasoning_content": "Hm."}),
            json!({"content": "Hello."}),
        ]),
        CHAT.saying("Bye."),
    ])
    .await;
    let mut dialogue = CHAT.dialogue(&server, "hi");
    dialogue.step().await;
    dialogue.say("bye");
    dialogue.step().await;
    assert_eq!(
        server.last().body["messages"][1],
        json!({"role": "assistant", "content": "Hello."})
    );
}

#[tokio::test]
async fn fields_that_nothing_here_reads_go_back_unchanged_and_are_not_shown() {
    let details = |text: &str| json!({"reasoning_details": [{"type": "reasoning.text", "index": 0, "text": text, "signature": null}]});
    let call = json!({"tool_calls": [{
        "index": 0, "id": "a", "type": "function", "function": {"name": "pay", "arguments": "{}"},
        "extra_content": {"google": {"thought_signature": "s1gnature"}},
    }]});
    let signed =
        json!({"reasoning_details": [{"index": 0, "signature": "s1gned"}], "annotations": []});
    let server = Server::answering([
        answer([details("Pay "), details("Sam."), signed, call]),
        CHAT.saying("Done."),
    ])
    .await;
    let mut dialogue = CHAT.dialogue(&server, "pay");
    dialogue.step().await;
    dialogue.settle_all();
    dialogue.restart();
    dialogue.step().await;
    let message = &server.last().body["messages"][1];
    assert_eq!(
        *message,
        json!({
            "role": "assistant", "content": null,
            "tool_calls": [{
                "id": "a", "type": "function", "function": {"name": "pay", "arguments": "{}"},
                "extra_content": {"google": {"thought_signature": "s1gnature"}},
            }],
            "reasoning_details": [{"type": "reasoning.text", "index": 0, "text": "Pay Sam.", "signature": "s1gned"}],
        })
    );
    let shown = dialogue.shown();
    assert!(!shown.contains("s1gn"), "{shown}");
}

#[tokio::test]
async fn refusal_is_shown_and_ends_as_a_filter_does() {
    let server = Server::answering([answer([json!({"refusal": "I can't."})])]).await;
    let events = CHAT.dialogue(&server, "hi").step().await;
    assert_eq!(text(&events), "I can't.");
    assert_eq!(
        events.last(),
        Some(&AgentEvent::Ended(Finish::ContentFilter))
    );
}

#[tokio::test]
async fn answers_of_other_shapes_are_read() {
    for body in [
        // A content that is a list, as Mistral's.
        json!({"choices": [{"delta": {"content": [
            {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]},
            {"type": "text", "text": "Hello."},
        ]}, "finish_reason": "stop"}]}),
        // A whole message in one chunk, with lists that are null.
        json!({"choices": [{"message": {"role": "assistant", "content": "Hello.", "tool_calls": null}, "finish_reason": "stop"}], "usage": null}),
        // Without a reason, but with an end.
        json!({"choices": [{"index": 0, "delta": {"content": "Hello."}, "finish_reason": null}]}),
    ] {
        let answer = Answer::Body(format!("data: {body}\n\ndata: [DONE]\n\n").into_bytes());
        let server = Server::answering([answer]).await;
        let events = CHAT.dialogue(&server, "hi").step().await;
        assert_eq!(text(&events), "Hello.", "{body}");
        assert_eq!(
            events.last(),
            Some(&AgentEvent::Ended(Finish::Stop)),
            "{body}"
        );
    }
}

#[tokio::test]
async fn messages_after_a_turn_that_failed_are_one() {
    let refused = Answer::Status(400, "content-type: application/json", "{}".to_owned());
    let server = Server::answering([refused, CHAT.saying("Hello.")]).await;
    let mut dialogue = CHAT.dialogue(&server, "one");
    dialogue.step().await;
    dialogue.say("two");
    dialogue.step().await;
    assert_eq!(
        server.last().body["messages"],
        json!([{"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]}])
    );
}
