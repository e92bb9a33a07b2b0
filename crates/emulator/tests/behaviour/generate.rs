//! generateContent.

use adk_stream_emulator::{Emulator, Signatures};
use serde_json::{Value, json};
use tokio::net::TcpStream;

use crate::http::{ask, asking, read, request, stream_of, write};
use crate::{emulator, soon};

const WEATHER: &str = "What is the weather in Tokyo?";

fn parts(chunk: &Value) -> &Vec<Value> {
    chunk["candidates"][0]["content"]["parts"]
        .as_array()
        .unwrap()
}

#[tokio::test]
async fn an_answer_is_streamed_as_google_streams_it() {
    let emulator = emulator("[]").await;
    let answer = ask(&emulator, "Hello").await;
    assert_eq!(answer.status, 200);
    assert!(answer.head.contains("content-type: text/event-stream"));
    assert!(answer.is_whole);
    assert!(answer.body.starts_with("data: {") && answer.body.ends_with("}\r\n\r\n"));
    assert!(answer.text().starts_with("You said: \"Hello\"."));
    let chunks = answer.chunks();
    let last = chunks.last().unwrap();
    assert_eq!(last["candidates"][0]["finishReason"], "STOP");
    let usage = &last["usageMetadata"];
    let count = |name: &str| usage[name].as_u64().unwrap();
    assert_eq!(
        count("totalTokenCount"),
        count("promptTokenCount") + count("candidatesTokenCount")
    );
}

#[tokio::test]
async fn without_sse_the_stream_is_an_array() {
    let emulator = emulator("[]").await;
    let path = "/v1beta/models/gemini-2.5-flash:streamGenerateContent";
    let body = asking("Hello").to_string();
    let answer = request(&emulator, "POST", path, &body).await;
    assert!(answer.head.contains("content-type: application/json"));
    assert!(answer.json().as_array().unwrap().len() > 5);
    // A refusal has the form of the answer.
    let answer = request(&emulator, "POST", path, "{}").await;
    assert_eq!(answer.json()[0]["error"]["code"], 400);
}

#[tokio::test]
async fn a_whole_answer_has_its_words_in_one_part() {
    let emulator = emulator("[]").await;
    let path = "/v1/models/gemini-3-pro:generateContent";
    let answer = request(&emulator, "POST", path, &asking("Hello").to_string()).await;
    let answer = answer.json();
    let parts = parts(&answer);
    assert_eq!(parts.len(), 1);
    assert!(parts[0]["text"].as_str().unwrap().starts_with("You said"));
    assert!(parts[0]["thoughtSignature"].is_string());
}

#[tokio::test]
async fn a_request_is_read_in_both_letter_cases() {
    let emulator = emulator("[]").await;
    let call =
        json!({"function_call": {"id": "1", "name": "get_weather", "args": {"location": "Oslo"}}});
    let brought = json!({"function_response": {"id": "1", "name": "get_weather",
        "response": {"output": {"condition": "Snow"}}}});
    let body = json!({
        "contents": [
            {"role": "user", "parts": [{"text": "What is the weather in Oslo?"}]},
            {"role": "model", "parts": [call]},
            {"role": "user", "parts": [brought]},
        ],
        "system_instruction": {"parts": [{"text": "Be brief."}]},
        "generation_config": {"thinking_config": {"include_thoughts": true}},
        "tools": [{"function_declarations": [{"name": "get_weather", "parameters_json_schema": {}}]}],
    });
    let path = stream_of("gemini-2.5-flash");
    let answer = request(&emulator, "POST", &path, &body.to_string()).await;
    assert_eq!(answer.text(), "The weather in Oslo: Snow.");
}

#[tokio::test]
async fn a_key_is_needed_and_checked() {
    let any = emulator("[]").await;
    let one = Emulator::builder().keys(["right"]).start().await.unwrap();
    for (emulator, headers, query, status) in [
        (&any, "", "", 400),
        (&any, "x-goog-api-key: bad\r\n", "", 400),
        (&any, "x-goog-api-key: any\r\n", "", 200),
        (&any, "", "&key=any", 200),
        (&one, "x-goog-api-key: any\r\n", "", 400),
        (&one, "X-Goog-Api-Key: right\r\n", "", 200),
    ] {
        let mut stream = TcpStream::connect(emulator.address()).await.unwrap();
        let path = stream_of("gemini-2.5-flash") + query;
        write(
            &mut stream,
            "POST",
            &path,
            headers,
            &asking("Hello").to_string(),
        )
        .await;
        let answer = read(&mut stream).await;
        assert_eq!(answer.status, status, "{headers:?} {query:?}");
        if status == 400 {
            let error = &answer.json()["error"];
            assert_eq!(error["details"][0]["reason"], "API_KEY_INVALID");
        }
    }
}

#[tokio::test]
async fn calls_carry_ids_and_the_first_a_signature() {
    let prompt = "What is the weather in Tokyo, and send $20 to Sam";
    let calls = |emulator: &Emulator| {
        let address = emulator.address();
        async move {
            let mut stream = TcpStream::connect(address).await.unwrap();
            let body = asking(prompt).to_string();
            let path = stream_of("gemini-3-pro");
            write(&mut stream, "POST", &path, "x-goog-api-key: k\r\n", &body).await;
            let chunks = read(&mut stream).await.chunks();
            parts(chunks.last().unwrap()).clone()
        }
    };
    let plain = emulator("[]").await;
    let made = calls(&plain).await;
    assert_eq!(made.len(), 2);
    assert!(made[0]["thoughtSignature"].is_string());
    assert!(made[1].get("thoughtSignature").is_none());
    assert_ne!(made[0]["functionCall"]["id"], made[1]["functionCall"]["id"]);

    let bare = Emulator::builder()
        .call_ids(false)
        .signatures(Signatures::Never)
        .start()
        .await
        .unwrap();
    let made = calls(&bare).await;
    assert!(
        made.iter()
            .all(|part| part["functionCall"].get("id").is_none())
    );
    assert!(made[0].get("thoughtSignature").is_none());
}

#[tokio::test]
async fn signatures_can_be_forced_for_a_model_without_them() {
    let emulator = Emulator::builder()
        .signatures(Signatures::Always)
        .start()
        .await
        .unwrap();
    let chunks = ask(&emulator, WEATHER).await.chunks();
    let call = parts(chunks.last().unwrap())[0].clone();
    assert!(call["thoughtSignature"].is_string());
    let brought = json!({"functionResponse": {"name": "get_weather", "response": {}}});
    let again = |call: Value| {
        let mut body = asking(WEATHER);
        let contents = body["contents"].as_array_mut().unwrap();
        contents.push(json!({"role": "model", "parts": [call]}));
        contents.push(json!({"role": "user", "parts": [brought]}));
        body.to_string()
    };
    let path = stream_of("gemini-2.5-flash");
    let answer = request(&emulator, "POST", &path, &again(call.clone())).await;
    assert_eq!(answer.status, 200);
    let mut stripped = call;
    stripped.as_object_mut().unwrap().remove("thoughtSignature");
    let answer = request(&emulator, "POST", &path, &again(stripped)).await;
    assert_eq!(answer.status, 400);
    assert!(answer.body.contains("missing a thought_signature"));
}

#[tokio::test]
async fn a_client_that_goes_away_is_noticed() {
    let emulator = emulator(r#"[{"on": "generate", "paceMs": 3600000}]"#).await;
    let mut stream = TcpStream::connect(emulator.address()).await.unwrap();
    let body = asking("Hello").to_string();
    let path = stream_of("gemini-2.5-flash");
    write(&mut stream, "POST", &path, "x-goog-api-key: k\r\n", &body).await;
    soon(emulator.counted(|stats| stats.streams_open == 1)).await;
    drop(stream);
    let stats = soon(emulator.counted(|stats| stats.streams_open == 0)).await;
    assert_eq!(stats.streams_total, 1);
}

#[tokio::test]
async fn what_is_not_there_is_not_found() {
    let emulator = emulator("[]").await;
    for (method, path) in [
        ("POST", "/v1beta/models/gemini-2.5-flash:embedContent"),
        ("POST", "/v2/models/gemini-2.5-flash:generateContent"),
        ("GET", "/v1beta/models/elephant"),
        ("GET", "/nothing"),
        ("GET", "/ws/other"),
    ] {
        let answer = request(&emulator, method, path, "").await;
        assert!(
            [400, 404].contains(&answer.status),
            "{path}: {}",
            answer.status
        );
    }
    let answer = request(&emulator, "POST", "/v1beta/models/x:generateContent", "{").await;
    assert_eq!(answer.json()["error"]["status"], "NOT_FOUND");
}
