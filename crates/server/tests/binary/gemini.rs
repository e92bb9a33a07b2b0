//! The binary with Gemini behind it, which is a thread here that plays a script.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};

use crate::process::{Server, Start, adk_stream};

const KEY: &str = "k3y-that-nobody-may-see";

/// A Gemini that gives these answers: its address, and the requests that it gets.
pub(crate) fn gemini(answers: Vec<String>) -> (String, Receiver<(String, Value)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (seen, requests) = channel();
    std::thread::spawn(move || {
        for answer in answers {
            let (stream, _) = listener.accept().unwrap();
            let mut stream = BufReader::new(stream);
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                stream.read_line(&mut head).unwrap();
            }
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(": ")?;
                name.eq_ignore_ascii_case("content-length")
                    .then(|| value.parse().unwrap())
            });
            let mut body = vec![0; length.unwrap()];
            stream.read_exact(&mut body).unwrap();
            seen.send((head, serde_json::from_slice(&body).unwrap()))
                .unwrap();
            stream.get_mut().write_all(answer.as_bytes()).unwrap();
        }
    });
    (url, requests)
}

pub(crate) fn saying(parts: Value) -> String {
    let chunk = json!({
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 2, "totalTokenCount": 3},
        "modelVersion": "gemini-x-001",
    });
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    format!("{head}data: {chunk}\r\n\r\n")
}

fn serve(url: &str) -> Start {
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--agent", "gemini"];
    adk_stream(
        &[
            &arguments[..],
            &["--gemini-base-url", url, "--temperature", "0.5"],
        ]
        .concat(),
    )
    .variable("GEMINI_API_KEY", KEY)
}

fn say(server: &Server, text: &str) -> String {
    let message = json!({"id": "u1", "role": "user", "parts": [{"type": "text", "text": text}]});
    let body = json!({"id": "c1", "trigger": "submit-message", "messages": [message]});
    let answer = server.post("/api/chat", &[], &body.to_string());
    assert_eq!(answer.status, 200);
    answer.text().to_owned()
}

#[test]
fn gemini_calls_a_tool_of_ours_and_gets_its_output() {
    let call = json!([
        {"text": "They want the weather.", "thought": true},
        {"functionCall": {"name": "get_weather", "args": {"location": "Tokyo"}}, "thoughtSignature": "s1gnature"},
    ]);
    let (url, requests) = gemini(vec![
        saying(call),
        saying(json!([{"text": "It is cloudy."}])),
    ]);
    let instruction = "Be brief.\n";
    let mut server = serve(&url)
        .variable("ADK_STREAM_DEMO_TOOLS", "true")
        .file("instruction.txt", instruction)
        .variable("ADK_STREAM_SYSTEM_INSTRUCTION", "@instruction.txt")
        .running();
    let stream = say(&server, "What is the weather in Tokyo?");
    for piece in [
        "They want the weather.",
        "get_weather",
        "Cloudy",
        "It is cloudy.",
        "gemini-x-001",
        "[DONE]",
    ] {
        assert!(stream.contains(piece), "{piece}: {stream}");
    }
    assert!(
        !stream.contains("s1gnature") && !stream.contains(KEY),
        "{stream}"
    );

    let (head, first) = requests.recv().unwrap();
    assert!(
        head.starts_with("POST /v1beta/models/gemini-flash-latest:streamGenerateContent?alt=sse "),
        "{head}"
    );
    assert!(
        head.contains(&format!("x-goog-api-key: {KEY}\r\n")),
        "{head}"
    );
    assert_eq!(first["systemInstruction"]["parts"][0]["text"], "Be brief.");
    assert_eq!(first["generationConfig"]["temperature"], 0.5);
    assert_eq!(
        first["generationConfig"]["thinkingConfig"]["includeThoughts"],
        true
    );
    let tools = first["tools"][0]["functionDeclarations"]
        .as_array()
        .unwrap();
    assert!(
        tools.iter().any(|tool| tool["name"] == "process_payment"),
        "{tools:?}"
    );

    let (_, second) = requests.recv().unwrap();
    assert_eq!(
        second["contents"][1]["parts"][1]["thoughtSignature"],
        "s1gnature"
    );
    let response = &second["contents"][2]["parts"][0]["functionResponse"];
    assert_eq!(response["response"]["output"]["condition"], "Cloudy");

    server.signal("TERM");
    server.ended();
    let logged = server.log();
    assert!(!logged.contains(KEY), "{logged}");
}

#[test]
fn page_gets_why_gemini_refuses() {
    let body = json!({"error": {
        "code": 400, "status": "INVALID_ARGUMENT", "message": format!("API key not valid: {KEY}"),
        "details": [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}],
    }})
    .to_string();
    let head =
        "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\nconnection: close\r\n";
    let length = body.len();
    let (url, _requests) = gemini(vec![format!(
        "{head}content-length: {length}\r\n\r\n{body}"
    )]);
    let mut server = serve(&url).running();
    let stream = say(&server, "hi");
    assert!(
        stream.contains("agent_unauthorized: Gemini does not accept the key."),
        "{stream}"
    );
    let logged = server.log_line();
    assert!(logged.contains("API key not valid: …"), "{logged}");
    assert!(!logged.contains(KEY) && !stream.contains(KEY));
}

#[test]
fn without_a_key_it_does_not_start() {
    adk_stream(&["serve", "--listen", "127.0.0.1:0", "--agent", "gemini"])
        .refused()
        .says("GEMINI_API_KEY: not set, and the agent gemini needs a key");
}

#[test]
fn input_that_could_not_be_shown_as_it_runs_is_refused_before_anybody_is_asked() {
    let long = "x".repeat(70_000);
    let hostile = [
        r#"[500,"Mallory","USD",""]"#.to_owned(),
        r#"{"amount":5,"recipient":"Sam","__proto__":{"recipient":"Mallory"}}"#.to_owned(),
        r#"{"amount":5,"recipient":"Sam","constructor":{"prototype":{}}}"#.to_owned(),
        r#"{"amount":5,"recipient":"Sam","memo":"not declared"}"#.to_owned(),
        format!(r#"{{"amount":5,"recipient":"Sam","description":"{long}"}}"#),
        r#"{"amount":100000000000000000000001,"recipient":"Sam"}"#.to_owned(),
    ];
    let parts: Vec<Value> = hostile
        .iter()
        .map(|args| {
            let args: Value = serde_json::from_str(args).unwrap();
            json!({"functionCall": {"name": "process_payment", "args": args}})
        })
        .collect();
    let (url, requests) = gemini(vec![
        saying(json!(parts)),
        saying(json!([{"text": "I could not."}])),
    ]);
    let server = serve(&url)
        .variable("ADK_STREAM_DEMO_TOOLS", "true")
        .running();
    let stream = say(&server, "Pay everybody");
    assert!(stream.contains("I could not."), "{stream}");
    assert!(!stream.contains("tool-approval-request"), "{stream}");
    assert_eq!(stream.matches("tool-input-error").count(), hostile.len());
    assert_eq!(
        server.get("/api/approvals").json(),
        json!({"approvals": []})
    );
    assert_eq!(server.get("/api/wallet").json()["payments"], json!([]));

    // The model gets what was wrong with each, in short.
    requests.recv().unwrap();
    let (_, second) = requests.recv().unwrap();
    let results = second["contents"].as_array().unwrap().last().unwrap();
    let results = results["parts"].as_array().unwrap();
    let why = [
        "an object",
        "__proto__",
        "__proto__",
        "memo",
        "/description",
        "too large",
    ];
    for (part, why) in results.iter().zip(why) {
        let error = &part["functionResponse"]["response"]["error"];
        let error = error.as_str().unwrap();
        assert!(error.contains(why) && error.len() < 500, "{why}: {error}");
    }
    assert_eq!(results.len(), hostile.len());
}

#[test]
fn no_tool_of_the_demo_is_offered_unless_it_is_asked_for() {
    let (url, requests) = gemini(vec![saying(json!([{"text": "Hello."}]))]);
    let server = serve(&url).running();
    let stream = say(&server, "Send $20 to Sam");
    assert!(stream.contains("Hello."), "{stream}");
    let (_, request) = requests.recv().unwrap();
    assert_eq!(request["tools"], Value::Null, "{request}");
    // And there is no wallet that such a tool would pay from.
    assert_eq!(server.get("/api/wallet").status, 204);
}

#[test]
fn tools_of_the_demo_are_refused_beside_an_agents_own() {
    let adk = ["--adk-url", "http://127.0.0.1:1", "--adk-app", "app"];
    let arguments = ["serve", "--agent", "adk", "--demo-tools"];
    adk_stream(&[&arguments[..], &adk].concat())
        .refused()
        .says("--demo-tools: an agent behind adk-stream has tools of its own");
}
