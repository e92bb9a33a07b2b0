//! The contents of a request: the whole history, unchanged.

use adk_stream_agents::gemini::Config;
use gemini::{SafetySetting, ThinkingConfig};
use serde_json::{Map, Value, json};
use turn::Input;
use turn::call::{Outcome, UnknownReason};
use turn::gate::Decision;
use turn::message::{File, Part};

use crate::dialogue::{Dialogue, config, last, parts};
use crate::server::{Answer, Server};

async fn answering(steps: Vec<Vec<Value>>) -> Server {
    Server::answering(steps.into_iter().map(Answer::Chunks)).await
}

fn contents(server: &Server) -> Value {
    server.last().body["contents"].clone()
}

#[tokio::test]
async fn signatures_go_back_byte_by_byte_over_three_steps_and_a_restart() {
    let long = "Af/+_-".repeat(500) + "==";
    let first = json!([
        {"text": "They want the weather.", "thought": true, "thoughtSignature": "dGhvdWdodA=="},
        {"text": "I look. ", "thoughtSignature": "dGV4dA"},
        {"functionCall": {"id": "fc-1", "name": "get_weather", "args": {"b": 1.0, "a": [null]}}, "thoughtSignature": long},
        {"functionCall": {"id": "fc-2", "name": "get_weather", "args": {}}},
    ]);
    let second = json!([{"functionCall": {"id": "fc-3", "name": "pay", "args": {"x": 1}}, "thoughtSignature": "c2Vjb25k"}]);
    let third = json!([{"text": "Done."}, {"text": "", "thoughtSignature": "bGFzdA"}]);
    let server = answering(vec![
        // A text that comes in pieces is one part; the rest stays apart.
        vec![last(first.clone())],
        vec![last(second.clone())],
        vec![
            parts(json!([{"text": "Do"}])),
            last(json!([{"text": "ne."}, {"text": "", "thoughtSignature": "bGFzdA"}])),
        ],
        vec![last(json!([{"text": "Bye."}]))],
    ])
    .await;
    let mut dialogue = Dialogue::of(&server, "weather, then pay");
    for _ in 0..3 {
        dialogue.step().await;
        dialogue.settle_all();
        dialogue.restart();
    }
    dialogue.say("thanks");
    dialogue.step().await;
    let response = |id: &str, name: &str, number: u32| json!({"functionResponse": {"id": id, "name": name, "response": {"output": {"number": number}}}});
    assert_eq!(
        contents(&server),
        json!([
            {"role": "user", "parts": [{"text": "weather, then pay"}]},
            {"role": "model", "parts": first},
            {"role": "user", "parts": [response("fc-1", "get_weather", 0), response("fc-2", "get_weather", 1)]},
            {"role": "model", "parts": second},
            {"role": "user", "parts": [response("fc-3", "pay", 2)]},
            {"role": "model", "parts": third},
            {"role": "user", "parts": [{"text": "thanks"}]},
        ])
    );
    assert_eq!(server.requests().len(), 4);
}

#[tokio::test]
async fn signatures_are_no_business_of_a_page() {
    let server = Server::saying(vec![last(json!([
        {"text": "Hm.", "thought": true, "thoughtSignature": "s1gnature"},
        {"text": "Hello.", "thoughtSignature": "s1gnature"},
        {"executableCode": {"language": "PYTHON", "code": "s1gnature"}},
        {"inlineData": {"mimeType": "a/b", "data": "QUJD"}, "thoughtSignature": "s1gnature"},
        {"text": "", "thoughtSignature": "s1gnature"},
    ]))])
    .await;
    let mut dialogue = Dialogue::of(&server, "hi");
    dialogue.step().await;
    let shown = dialogue.shown();
    assert!(
        shown.contains("Hello.") && shown.contains("QUJD"),
        "{shown}"
    );
    assert!(!shown.contains("s1gnature"), "{shown}");
    dialogue.restart();
    assert!(!dialogue.shown().contains("s1gnature"));
}

#[tokio::test]
async fn parts_that_nobody_knows_go_back_as_they_came() {
    let said = json!([
        {"executableCode": {"language": "PYTHON", "code": "1+1"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}},
        {"hologram": {"deep_field": [1, {"x_y": null}]}, "thoughtSignature": "aG9sbw=="},
        {"text": "Two.", "mood": "good"},
        {"inlineData": {"mimeType": "image/png", "data": "QUJD", "displayName": "p"}, "thoughtSignature": "cGlj"},
        {"inlineData": {"mimeType": "image/png", "data": "REVG"}, "thought": true},
        {"fileData": {"mimeType": "image/png", "fileUri": "https://f.example/1"}},
        {"functionCall": {"name": "f", "args": {}, "vendor": 1}, "thoughtSignature": "Y2FsbA==", "extra": true},
    ]);
    let server = answering(vec![vec![last(said.clone())], vec![last(json!([]))]]).await;
    let mut dialogue = Dialogue::of(&server, "hi");
    dialogue.step().await;
    dialogue.settle_all();
    dialogue.restart();
    dialogue.step().await;
    let sent = contents(&server);
    for (n, part) in said.as_array().unwrap().iter().enumerate() {
        assert_eq!(&sent[1]["parts"][n], part);
    }
    assert_eq!(sent[1]["parts"].as_array().unwrap().len(), 8);
}

#[tokio::test]
async fn responses_are_in_the_order_of_the_calls() {
    let calls = json!([
        {"functionCall": {"name": "pay", "args": {"to": "Ann"}}, "thoughtSignature": "c2ln"},
        {"functionCall": {"name": "pay", "args": {"to": "Bob"}}},
        {"functionCall": {"id": "fc-c", "name": "get_time"}},
    ]);
    let server = answering(vec![vec![last(calls)], vec![last(json!([]))]]).await;
    let mut dialogue = Dialogue::of(&server, "pay both");
    dialogue.step().await;
    for (n, call) in dialogue.calls().iter().enumerate().rev() {
        let output = json!(n);
        dialogue.settle(&call.id, Outcome::Output { output });
    }
    dialogue.step().await;
    assert_eq!(
        contents(&server)[2],
        json!({"role": "user", "parts": [
            {"functionResponse": {"name": "pay", "response": {"output": 0}}},
            {"functionResponse": {"name": "pay", "response": {"output": 1}}},
            {"functionResponse": {"id": "fc-c", "name": "get_time", "response": {"output": 2}}},
        ]})
    );
}

#[tokio::test]
async fn the_model_gets_the_outcome_of_each_call() {
    let outcomes = [
        (
            Outcome::Output {
                output: json!({"ok": true}),
            },
            json!({"output": {"ok": true}}),
        ),
        (
            Outcome::Error {
                error: "No money.".into(),
            },
            json!({"error": "No money."}),
        ),
        (
            Outcome::Invalid {
                error: "to: missing".into(),
            },
            json!({"error": "Invalid input: to: missing"}),
        ),
        (
            Outcome::Denied {
                reason: Some("too much".into()),
            },
            json!({"error": "Denied: too much"}),
        ),
        (Outcome::Denied { reason: None }, json!({"error": "Denied"})),
        (
            Outcome::Unknown {
                reason: UnknownReason::ServerStopped,
            },
            json!({"error": "The outcome is unknown: the server stopped while the call ran. It may or may not have happened."}),
        ),
        (
            Outcome::Unknown {
                reason: UnknownReason::ConnectionCut,
            },
            json!({"error": "The outcome is unknown: the connection to the agent was cut while the call ran. It may or may not have happened."}),
        ),
        (
            Outcome::Pending {
                output: json!("soon"),
            },
            json!({"output": "soon"}),
        ),
    ];
    let call = json!({"functionCall": {"name": "pay", "args": {}}});
    let calls = Value::Array(vec![call; outcomes.len()]);
    let server = answering(vec![vec![last(calls)], vec![last(json!([]))]]).await;
    let mut dialogue = Dialogue::of(&server, "pay");
    dialogue.step().await;
    for (call, (outcome, _)) in dialogue.calls().iter().zip(&outcomes) {
        dialogue.settle(&call.id, outcome.clone());
    }
    dialogue.step().await;
    let sent = &contents(&server)[2]["parts"];
    for (n, (_, response)) in outcomes.iter().enumerate() {
        assert_eq!(&sent[n]["functionResponse"]["response"], response);
    }
}

#[tokio::test]
async fn the_model_gets_that_an_approver_changed_the_input() {
    let server = answering(vec![
        vec![last(
            json!([{"functionCall": {"name": "pay", "args": {"amount": 900}}}]),
        )],
        vec![last(json!([]))],
    ])
    .await;
    let mut dialogue = Dialogue::of(&server, "pay");
    dialogue.step().await;
    let call = dialogue.calls()[0].id.clone();
    dialogue.perform(Input::ToolAsks {
        call: call.clone(),
        question: "Really?".to_owned(),
        timeout: None,
    });
    let gate = dialogue
        .chat
        .current()
        .unwrap()
        .last_gate()
        .unwrap()
        .id
        .clone();
    let decision = Decision::Approved {
        reason: None,
        input: Some(json!({"amount": 9})),
    };
    dialogue.perform(Input::Answer { gate, decision });
    dialogue.settle_all();
    dialogue.step().await;
    let contents = contents(&server);
    assert_eq!(
        contents[1]["parts"][0]["functionCall"]["args"]["amount"],
        900
    );
    assert_eq!(
        contents[2]["parts"][0]["functionResponse"]["response"],
        json!({
            "output": {"number": 0},
            "note": "A person changed the input before the call ran. It ran with this input.",
            "input": {"amount": 9},
        })
    );
}

#[tokio::test]
async fn late_result_is_sent_as_text() {
    let server = answering(vec![
        vec![last(
            json!([{"functionCall": {"id": "fc", "name": "write_report", "args": {"topic": "x"}}}]),
        )],
        vec![last(json!([{"text": "I am on it."}]))],
        vec![last(json!([{"text": "Here it is."}]))],
    ])
    .await;
    let mut dialogue = Dialogue::of(&server, "report");
    dialogue.step().await;
    let call = dialogue.calls()[0].id.clone();
    dialogue.settle(
        &call,
        Outcome::Pending {
            output: json!({"status": "pending"}),
        },
    );
    dialogue.step().await;
    dialogue.late(
        &call,
        Outcome::Output {
            output: json!("All of it."),
        },
    );
    dialogue.step().await;
    assert_eq!(
        contents(&server)[4],
        json!({"role": "user", "parts": [{"text":
            r#"(The result of the call write_report({"topic":"x"}), which went on by itself, is here: {"output":"All of it."})"#}]})
    );
}

#[tokio::test]
async fn turns_that_failed_or_were_stopped_leave_what_was_said() {
    let server = Server::answering([
        Answer::HangUp,
        Answer::Chunks(vec![parts(json!([{"text": "Hm.", "thought": true}]))]),
        Answer::Chunks(vec![parts(
            json!([{"text": "Half a"}, {"functionCall": {"name": "pay", "args": {}}}]),
        )]),
        Answer::Chunks(vec![last(
            json!([{"text": "Fine."}, {"functionCall": {"name": "pay", "args": {}}}]),
        )]),
        Answer::Chunks(vec![last(json!([]))]),
    ])
    .await;
    let mut settings = config(&server);
    settings.retries.limit = 0;
    let mut dialogue = Dialogue::with(settings);
    for prompt in ["unheard", "only thought about", "cut short", "stopped"] {
        dialogue.say(prompt);
        dialogue.step().await;
    }
    dialogue.perform(Input::Stop);
    dialogue.say("go on");
    dialogue.step().await;
    let user = |text: &str| json!({"role": "user", "parts": [{"text": text}]});
    let contents = contents(&server);
    assert_eq!(contents[0], user("unheard"));
    assert_eq!(contents[1], user("only thought about"));
    assert_eq!(contents[2], user("cut short"));
    // A call that was never made has no response, and is not sent.
    assert_eq!(
        contents[3],
        json!({"role": "model", "parts": [{"text": "Half a"}]})
    );
    assert_eq!(contents[4], user("stopped"));
    assert_eq!(contents[5]["parts"][1]["functionCall"]["name"], "pay");
    assert_eq!(contents[6]["parts"][0]["functionResponse"]["name"], "pay");
    assert_eq!(contents[7], user("go on"));
}

#[tokio::test]
async fn files_of_the_user_go_along() {
    let server = Server::saying(vec![last(json!([]))]).await;
    let mut dialogue = Dialogue::with(config(&server));
    let file = |url: &str, media_type: &str| File {
        url: url.to_owned(),
        media_type: media_type.to_owned(),
        ..File::default()
    };
    let at_google = json!({"google": "https://g.example/v1beta/files/1"});
    dialogue.send(vec![
        Part::text("look"),
        Part::File(file("data:image/png;base64,QUJD", "image/png")),
        Part::File(file("data:text/plain,hi%21", "")),
        Part::File(file("https://f.example/a.pdf", "application/pdf")),
        Part::File(file("gs://bucket/a.mp4", "video/mp4")),
        Part::File(File {
            extra: Map::from_iter([("providerReference".to_owned(), at_google)]),
            ..file("blob:1", "image/png")
        }),
        Part::File(File {
            filename: Some("a.txt".into()),
            ..file("blob:https://page.example/1", "text/plain")
        }),
    ]);
    dialogue.step().await;
    assert_eq!(
        contents(&server)[0]["parts"],
        json!([
            {"text": "look"},
            {"inlineData": {"mimeType": "image/png", "data": "QUJD"}},
            {"inlineData": {"mimeType": "text/plain", "data": "aGkh"}},
            {"fileData": {"mimeType": "application/pdf", "fileUri": "https://f.example/a.pdf"}},
            {"fileData": {"mimeType": "video/mp4", "fileUri": "gs://bucket/a.mp4"}},
            {"fileData": {"mimeType": "image/png", "fileUri": "https://g.example/v1beta/files/1"}},
            {"text": "(The user sent the file \"a.txt\", which can't be read here.)"},
        ])
    );
}

#[tokio::test]
async fn message_without_words_is_no_content_without_parts() {
    let server = Server::saying(vec![last(json!([]))]).await;
    let mut dialogue = Dialogue::of(&server, "");
    dialogue.step().await;
    assert_eq!(
        contents(&server)[0]["parts"],
        json!([{"text": "(an empty message)"}])
    );
}

#[tokio::test]
async fn request_says_what_was_configured() {
    let server = Server::saying(vec![last(json!([]))]).await;
    let mut dialogue = Dialogue::with(Config {
        temperature: Some(0.5),
        max_output_tokens: Some(100),
        thinking: Some(ThinkingConfig {
            thinking_level: Some("low".to_owned()),
            include_thoughts: Some(true),
            ..ThinkingConfig::default()
        }),
        safety: vec![SafetySetting {
            category: Some("HARM_CATEGORY_HARASSMENT".to_owned()),
            threshold: Some("BLOCK_NONE".to_owned()),
            ..SafetySetting::default()
        }],
        system_instruction: Some("Be brief.".to_owned()),
        ..config(&server)
    });
    dialogue.declare(
        "pay",
        json!({"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}),
    );
    dialogue.declare("get_location", json!({"type": "object"}));
    dialogue.say("hi");
    dialogue.step().await;
    let request = server.last();
    assert!(
        request
            .head
            .starts_with("POST /v1beta/models/gemini-x:streamGenerateContent?alt=sse HTTP/1.1\r\n"),
        "{}",
        request.head
    );
    assert_eq!(
        request.body,
        json!({
            "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "tools": [{"functionDeclarations": [
                {"name": "pay", "description": "Does pay.", "parametersJsonSchema":
                    {"type": "object", "properties": {"to": {"type": "string"}}, "required": ["to"]}},
                {"name": "get_location", "description": "Does get_location."},
            ]}],
            "generationConfig": {"temperature": 0.5, "maxOutputTokens": 100,
                "thinkingConfig": {"includeThoughts": true, "thinkingLevel": "low"}},
            "safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "BLOCK_NONE"}],
        })
    );
}

#[tokio::test]
async fn what_is_not_configured_is_not_said() {
    let server = Server::saying(vec![last(json!([]))]).await;
    Dialogue::of(&server, "hi").step().await;
    assert_eq!(
        server.last().body,
        json!({"contents": [{"role": "user", "parts": [{"text": "hi"}]}]})
    );
}
