//! The binary with a model of OpenAI's or Anthropic's API behind it, which is a thread here that
//! answers as a test says: each fault of a model, and what a page sees of it.

use std::sync::mpsc::Receiver;

use serde_json::{Value, json};

use crate::gemini::gemini as scripted;
use crate::process::{Server, adk_stream};

const KEY: &str = "k3y-that-nobody-may-see";

/// How a model is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Spoken {
    Chat,
    Responses,
    Anthropic,
}

const ALL: [Spoken; 3] = [Spoken::Chat, Spoken::Responses, Spoken::Anthropic];

impl Spoken {
    /// A server before a model that gives these answers, and the requests that the model gets.
    fn serve(self, answers: Vec<String>) -> (Server, Receiver<(String, Value)>) {
        self.serve_with(answers, &["--demo-tools"])
    }

    /// The same with other flags than `--demo-tools`.
    fn serve_with(
        self,
        answers: Vec<String>,
        flags: &[&str],
    ) -> (Server, Receiver<(String, Value)>) {
        let (url, requests) = scripted(answers);
        let (agent, base_url) = match self {
            Self::Anthropic => ("anthropic", url),
            _ => ("openai", format!("{url}/v1")),
        };
        let api = match self {
            Self::Responses => "responses",
            _ => "auto",
        };
        let arguments = ["serve", "--listen", "127.0.0.1:0", "--agent", agent];
        let server = adk_stream(&[&arguments[..], flags].concat())
            .variable("ADK_STREAM_OPENAI_MODEL", "m-1")
            .variable("ADK_STREAM_ANTHROPIC_MODEL", "m-1")
            .variable("ADK_STREAM_OPENAI_BASE_URL", &base_url)
            .variable("ADK_STREAM_ANTHROPIC_BASE_URL", &base_url)
            .variable("ADK_STREAM_OPENAI_API", api)
            .variable("OPENAI_API_KEY", KEY)
            .variable("ANTHROPIC_API_KEY", KEY)
            .running();
        (server, requests)
    }

    fn words(self, text: &str) -> Vec<Value> {
        match self {
            Self::Chat => vec![json!({"choices": [{"index": 0, "delta": {"content": text}}]})],
            Self::Responses => {
                vec![
                    json!({"type": "response.output_text.delta", "output_index": 0, "delta": text}),
                ]
            }
            Self::Anthropic => vec![
                json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
                json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}),
            ],
        }
    }

    fn calls(self, calls: &[(&str, &str, &str)]) -> Vec<Value> {
        let calls = calls.iter().enumerate();
        match self {
            Self::Chat => calls
                .map(|(index, (id, name, arguments))| {
                    let function = json!({"name": name, "arguments": arguments});
                    let call = json!({"index": index, "id": id, "function": function});
                    json!({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})
                })
                .collect(),
            Self::Responses => calls
                .map(|(index, (id, name, arguments))| {
                    let item = json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments});
                    json!({"type": "response.output_item.done", "output_index": index, "item": item})
                })
                .collect(),
            Self::Anthropic => calls
                .flat_map(|(index, (id, name, arguments))| {
                    let block = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
                    let delta = json!({"type": "input_json_delta", "partial_json": arguments});
                    [
                        json!({"type": "content_block_start", "index": index, "content_block": block}),
                        json!({"type": "content_block_delta", "index": index, "delta": delta}),
                        json!({"type": "content_block_stop", "index": index}),
                    ]
                })
                .collect(),
        }
    }

    /// A whole answer.
    fn answer(self, mut events: Vec<Value>) -> String {
        events.push(match self {
            Self::Chat => json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}),
            Self::Responses => json!({"type": "response.completed", "response": {}}),
            Self::Anthropic => json!({"type": "message_stop"}),
        });
        cut(&events)
    }

    fn saying(self, text: &str) -> String {
        self.answer(self.words(text))
    }

    fn calling(self, calls: &[(&str, &str, &str)]) -> String {
        self.answer(self.calls(calls))
    }
}

/// An answer that ends after these events.
fn cut(events: &[Value]) -> String {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    let events = events.iter().map(|event| format!("data: {event}\n\n"));
    format!("{head}{}", events.collect::<String>())
}

fn refusal(status: u16, header: &str, kind: &str) -> String {
    let body = json!({"error": {"type": kind, "message": format!("Not with {KEY}.")}}).to_string();
    let length = body.len();
    format!(
        "HTTP/1.1 {status} No\r\n{header}connection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

/// Says something, and waits until the window closes: its chunks.
fn say(server: &Server, text: &str) -> Vec<Value> {
    let message = json!({"id": "u1", "role": "user", "parts": [{"type": "text", "text": text}]});
    let body = json!({"id": "c1", "trigger": "submit-message", "messages": [message]});
    let answer = server.post("/api/chat", &[], &body.to_string());
    assert_eq!(answer.status, 200);
    assert!(!answer.text().contains(KEY));
    let data = answer
        .text()
        .lines()
        .filter_map(|line| line.strip_prefix("data: "));
    let data = data.filter(|data| *data != "[DONE]");
    data.map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

fn of<'a>(chunks: &'a [Value], kind: &str) -> Vec<&'a Value> {
    chunks
        .iter()
        .filter(|chunk| chunk["type"] == kind)
        .collect()
}

fn words(chunks: &[Value]) -> String {
    let deltas = of(chunks, "text-delta").into_iter();
    deltas.filter_map(|chunk| chunk["delta"].as_str()).collect()
}

fn error(chunks: &[Value]) -> &str {
    let errors = of(chunks, "error");
    assert_eq!(errors.len(), 1, "{chunks:?}");
    errors[0]["errorText"].as_str().unwrap()
}

fn weather(city: &str) -> String {
    json!({"location": city}).to_string()
}

#[test]
fn page_sees_the_answer_and_what_tools_brought() {
    for spoken in ALL {
        let (server, requests) = spoken.serve(vec![
            spoken.calling(&[("a", "get_weather", &weather("Tokyo"))]),
            spoken.saying("It is cloudy."),
        ]);
        let chunks = say(&server, "What is the weather in Tokyo?");
        assert_eq!(words(&chunks), "It is cloudy.", "{spoken:?}");
        let outputs = of(&chunks, "tool-output-available");
        assert_eq!(outputs[0]["output"]["condition"], "Cloudy");
        assert_eq!(of(&chunks, "finish").len(), 1);
        requests.recv().unwrap();
        let (_, second) = requests.recv().unwrap();
        assert!(second.to_string().contains("Cloudy"), "{second}");
    }
}

#[test]
fn broken_arguments_are_shown_and_the_model_tries_again() {
    for spoken in ALL {
        let (server, requests) = spoken.serve(vec![
            spoken.calling(&[("a", "process_payment", "{\"amount\": 12, \"recipient\":")]),
            spoken.saying("I could not."),
        ]);
        let chunks = say(&server, "Pay Sam");
        let wrong = of(&chunks, "tool-input-error");
        assert_eq!(wrong.len(), 1, "{spoken:?} {chunks:?}");
        assert_eq!(wrong[0]["toolName"], "process_payment");
        assert_eq!(wrong[0]["input"], "{\"amount\": 12, \"recipient\":");
        assert_eq!(words(&chunks), "I could not.");
        assert!(of(&chunks, "error").is_empty());
        assert!(of(&chunks, "tool-approval-request").is_empty());
        assert_eq!(server.get("/api/wallet").json()["payments"], json!([]));
        requests.recv().unwrap();
        let (_, second) = requests.recv().unwrap();
        let request_text = second.to_string();
        assert!(
            request_text.contains("the arguments are not valid JSON: EOF"),
            "{request_text}"
        );
    }
}

#[test]
fn call_to_a_tool_that_does_not_exist_is_shown_and_reported_to_the_model() {
    for spoken in ALL {
        let (server, requests) = spoken.serve(vec![
            spoken.calling(&[("a", "launch_rocket", "{}")]),
            spoken.saying("There is none."),
        ]);
        let chunks = say(&server, "Launch");
        let wrong = of(&chunks, "tool-input-error");
        assert_eq!(wrong.len(), 1, "{spoken:?} {chunks:?}");
        assert_eq!(wrong[0]["errorText"], "There is no tool launch_rocket.");
        assert_eq!(words(&chunks), "There is none.");
        requests.recv().unwrap();
        let (_, second) = requests.recv().unwrap();
        let request_text = second.to_string();
        assert!(
            request_text.contains("There is no tool launch_rocket."),
            "{request_text}"
        );
    }
}

#[test]
fn calls_with_one_id_are_two_calls_for_the_page_and_for_the_model() {
    for spoken in ALL {
        let (server, requests) = spoken.serve(vec![
            spoken.calling(&[
                ("a", "get_weather", &weather("Tokyo")),
                ("a", "get_weather", &weather("Oslo")),
            ]),
            spoken.saying("Both are fine."),
        ]);
        let chunks = say(&server, "What is the weather in Tokyo and Oslo?");
        let outputs = of(&chunks, "tool-output-available");
        assert_eq!(outputs.len(), 2, "{spoken:?} {chunks:?}");
        assert_ne!(outputs[0]["toolCallId"], outputs[1]["toolCallId"]);
        assert_eq!(words(&chunks), "Both are fine.");
        requests.recv().unwrap();
        let (_, second) = requests.recv().unwrap();
        // The first keeps its id; each is named by its call and by its result.
        let request_text = second.to_string();
        assert_eq!(request_text.matches("\"a\"").count(), 2, "{request_text}");
    }
}

#[test]
fn empty_choice_is_an_error_that_says_so() {
    for spoken in ALL {
        let (server, _requests) = spoken.serve(vec![spoken.answer(Vec::new())]);
        let chunks = say(&server, "hi");
        assert_eq!(
            error(&chunks),
            "agent_empty_response: The model ended without an answer."
        );
        assert_eq!(server.get("/api/chat/c1").json()["status"], "failed");
    }
}

#[test]
fn rate_limit_is_reported_with_its_time_if_it_has_one() {
    for spoken in ALL {
        let limit = refusal(429, "retry-after: 77\r\n", "rate_limit_error");
        let (server, _requests) = spoken.serve(vec![limit]);
        let chunks = say(&server, "hi");
        assert_eq!(
            error(&chunks),
            "rate_limited: The model gets too many requests. Try again in 77 seconds."
        );
        let chat = server.get("/api/chat/c1").json();
        assert_eq!(chat["error"]["retryAfterMs"], 77_000, "{chat}");
    }
}

#[test]
fn rate_limit_without_a_time_is_mended_unseen_or_reported() {
    let spoken = Spoken::Chat;
    let limit = || refusal(429, "", "rate_limit_error");
    let (server, requests) = spoken.serve(vec![limit(), spoken.saying("Hello.")]);
    let chunks = say(&server, "hi");
    assert_eq!(words(&chunks), "Hello.");
    assert!(of(&chunks, "error").is_empty());
    assert_eq!(requests.iter().take(2).count(), 2);

    let (server, _requests) = spoken.serve((0..4).map(|_| limit()).collect());
    let chunks = say(&server, "hi");
    assert_eq!(
        error(&chunks),
        "rate_limited: The model gets too many requests. Try again later."
    );
    let chat = server.get("/api/chat/c1").json();
    assert_eq!(chat["error"].get("retryAfterMs"), None, "{chat}");
}

#[test]
fn stream_that_is_cut_keeps_what_was_said_and_says_that_it_was_cut() {
    for spoken in ALL {
        let mut events = spoken.words("I will ");
        events.extend(spoken.calls(&[("a", "get_weather", &weather("Oslo"))]));
        let (server, _requests) = spoken.serve(vec![cut(&events)]);
        let chunks = say(&server, "hi");
        assert_eq!(words(&chunks), "I will ", "{spoken:?}");
        assert_eq!(
            error(&chunks),
            "agent_cut_off: The model's answer ended in the middle."
        );
        assert!(of(&chunks, "tool-output-available").is_empty());
    }
}

#[test]
fn refused_key_is_reported_without_the_words_of_the_service() {
    for spoken in ALL {
        let (mut server, _requests) = spoken.serve(vec![refusal(401, "", "authentication_error")]);
        let chunks = say(&server, "hi");
        assert_eq!(
            error(&chunks),
            "agent_unauthorized: The model does not accept the key."
        );
        let logged = server.log_line();
        assert!(logged.contains("Not with …."), "{logged}");
    }
}

#[test]
fn tools_of_the_demo_are_offered_only_where_they_are_asked_for() {
    for spoken in ALL {
        let offered = |flags: &[&str]| {
            let (server, requests) = spoken.serve_with(vec![spoken.saying("Hi.")], flags);
            say(&server, "Hello");
            let (_, body) = requests.recv().unwrap();
            body["tools"].to_string()
        };
        assert!(!offered(&[]).contains("process_payment"), "{spoken:?}");
        let asked_for = offered(&["--demo-tools"]);
        assert!(asked_for.contains("process_payment"), "{asked_for}");
    }
}
