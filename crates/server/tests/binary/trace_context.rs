//! W3C Trace Context: which place in a trace every model, agent and tool gets, and what becomes of the
//! state of other systems that a caller sends with it.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::collector::{Collector, Seen};
use crate::file_agent::{Request, answer, gemini, model, serve_http, settled, with_file};
use crate::process::{Server, Start, adk_stream};

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const STATE: &str = "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE";

/// The place in a trace that a request named: `traceparent` and `tracestate`.
type Place = (String, String);

fn place(request: &Request) -> Place {
    let header = |name| request.header(name).unwrap_or_default().to_owned();
    (header("traceparent"), header("tracestate"))
}

/// The place of a span of the trace.
fn at(span: &Seen) -> Place {
    (format!("00-{TRACE}-{}-01", span.id), STATE.to_owned())
}

/// A server of the tests that answers `path` with a stream of these events, and the places that the
/// requests for it named. Everything else gets an answer in JSON.
fn streaming(
    path: &'static str,
    events: Vec<Value>,
    other: impl Fn(&Request) -> Value + Send + Sync + 'static,
) -> (Arc<Mutex<Vec<Place>>>, String) {
    let places = Arc::<Mutex<Vec<Place>>>::default();
    let own = places.clone();
    let address = serve_http(move |request| {
        if request.method() != "POST" || request.path() != path {
            return answer(200, &other(request));
        }
        own.lock().unwrap().push(place(request));
        let head =
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        let events = events.iter().map(|event| format!("data: {event}\n\n"));
        Some(format!("{head}{}", events.collect::<String>()))
    });
    (places, format!("http://{address}"))
}

fn nothing(_: &Request) -> Value {
    json!({})
}

fn traced(agent: &str, collector: &Collector, flags: &[&str]) -> Start {
    let url = collector.url();
    let serve = ["serve", "--listen", "127.0.0.1:0", "--agent", agent];
    adk_stream(&[&serve[..], &["--otlp-endpoint", &url], flags].concat())
}

fn say(server: &Server, chat: &str, text: &str) -> String {
    let part = json!({"type": "text", "text": text});
    let message = json!({"id": format!("{chat}-u"), "role": "user", "parts": [part]});
    let body = json!({"id": chat, "trigger": "submit-message", "messages": [message]});
    let headers = [("traceparent", PARENT), ("tracestate", STATE)];
    let answered = server.post("/api/chat", &headers, &body.to_string());
    assert_eq!(answered.status, 200, "{}", answered.text());
    answered.text().to_owned()
}

/// Says something, and expects that the one request for the stream named the span of the step.
fn expect_step(start: Start, collector: &Collector, places: &Mutex<Vec<Place>>, name: &str) {
    let server = start.running();
    let window = say(&server, "c1", "Hello");
    assert!(window.contains("Hi."), "{window}");
    let is_step = |span: &Seen| !span.attribute("adk_stream.step.number").is_empty();
    let spans = collector.until(is_step);
    let step = spans.iter().find(|span| is_step(span)).unwrap();
    assert_eq!(step.name, name);
    assert_eq!(*places.lock().unwrap(), [at(step)]);
    assert_eq!(step.state, STATE);
}

#[test]
fn models_get_the_span_of_the_step() {
    let finish = json!({"choices": [{"index": 0, "delta": {"content": "Hi."}, "finish_reason": "stop"}], "model": "m-1-2026"});
    let (places, url) = streaming("/v1/chat/completions", vec![finish], nothing);
    let collector = Collector::start();
    let start = traced("openai", &collector, &[])
        .variable("ADK_STREAM_OPENAI_MODEL", "m-1")
        .variable("ADK_STREAM_OPENAI_BASE_URL", &format!("{url}/v1"))
        .variable("OPENAI_API_KEY", "k3y-that-nobody-may-see");
    expect_step(start, &collector, &places, "chat m-1");
    let spans = collector.until(|span| span.name == "chat m-1");
    let step = spans.iter().find(|span| span.name == "chat m-1").unwrap();
    assert_eq!(step.attribute("gen_ai.request.model"), "m-1");
    assert_eq!(step.attribute("gen_ai.response.model"), "m-1-2026");

    let block = json!({"type": "text", "text": ""});
    let delta = json!({"type": "text_delta", "text": "Hi."});
    let events = vec![
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "message_stop"}),
    ];
    let (places, url) = streaming("/v1/messages", events, nothing);
    let collector = Collector::start();
    let start = traced("anthropic", &collector, &[])
        .variable("ADK_STREAM_ANTHROPIC_MODEL", "m-1")
        .variable("ADK_STREAM_ANTHROPIC_BASE_URL", &url)
        .variable("ANTHROPIC_API_KEY", "k3y-that-nobody-may-see");
    expect_step(start, &collector, &places, "chat m-1");
}

#[test]
fn agent_servers_get_the_span_of_the_step() {
    let events = vec![
        json!({"type": "start"}),
        json!({"type": "start-step"}),
        json!({"type": "text-start", "id": "t"}),
        json!({"type": "text-delta", "id": "t", "delta": "Hi."}),
        json!({"type": "text-end", "id": "t"}),
        json!({"type": "finish-step"}),
        json!({"type": "finish"}),
    ];
    let (places, url) = streaming("/api/chat", events, nothing);
    let collector = Collector::start();
    let url = format!("{url}/api/chat");
    let start = traced("ai-sdk", &collector, &["--ai-sdk-url", &url]);
    expect_step(start, &collector, &places, "invoke_agent ai-sdk");

    let ids = json!({"threadId": "c1", "runId": "r"});
    let event = |kind: &str, fields: Value| {
        let mut event = json!({"type": kind});
        let all = event.as_object_mut().unwrap();
        all.extend(fields.as_object().unwrap().clone());
        event
    };
    let events = vec![
        event("RUN_STARTED", ids.clone()),
        event(
            "TEXT_MESSAGE_START",
            json!({"messageId": "m", "role": "assistant"}),
        ),
        event(
            "TEXT_MESSAGE_CONTENT",
            json!({"messageId": "m", "delta": "Hi."}),
        ),
        event("TEXT_MESSAGE_END", json!({"messageId": "m"})),
        event("RUN_FINISHED", ids),
    ];
    let (places, url) = streaming("/agent", events, nothing);
    let collector = Collector::start();
    let url = format!("{url}/agent");
    let start = traced("ag-ui", &collector, &["--ag-ui-url", &url]);
    expect_step(start, &collector, &places, "invoke_agent ag-ui");
}

#[test]
fn adk_server_gets_the_span_of_the_step() {
    let content = json!({"role": "model", "parts": [{"text": "Hi."}]});
    let event = json!({"id": "e", "invocationId": "i", "author": "root", "content": content, "timestamp": 1.0});
    let (places, url) = streaming("/run_sse", vec![event], |request| match request.path() {
        "/version" => json!({"version": "1.30.0"}),
        "/list-apps" => json!(["app"]),
        "/apps/app/app-info" => json!({"name": "app", "rootAgentName": "root"}),
        _ => json!({"id": "c1", "events": []}),
    });
    let collector = Collector::start();
    let start = traced("adk", &collector, &["--adk-url", &url, "--adk-app", "app"]);
    expect_step(start, &collector, &places, "invoke_agent adk");
}

/// What an MCP server over HTTP answers to a request: the tool `meta` gives the headers and `_meta`.
fn mcp(request: &Request) -> Option<String> {
    if request.method() != "POST" {
        return answer(405, &json!({}));
    }
    let message: Value = serde_json::from_str(&request.body).unwrap();
    let reply = |result: Value| {
        let id = &message["id"];
        answer(200, &json!({"jsonrpc": "2.0", "id": id, "result": result}))
    };
    let params = &message["params"];
    match message["method"].as_str().unwrap() {
        "initialize" => reply(
            json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
            "serverInfo": {"name": "fake", "version": "1"}}),
        ),
        "tools/list" => {
            let schema = json!({"type": "object", "properties": {"n": {"type": "number"}}});
            reply(json!({"tools": [{"name": "meta", "inputSchema": schema}]}))
        }
        "tools/call" => {
            let (parent, state) = place(request);
            let received =
                json!({"meta": params["_meta"], "traceparent": parent, "tracestate": state});
            reply(json!({"content": [{"type": "text", "text": received.to_string()}]}))
        }
        _ if message["id"].is_null() => Some(
            "HTTP/1.1 202 Accepted\r\nconnection: close\r\ncontent-length: 0\r\n\r\n".to_owned(),
        ),
        _ => {
            let error = json!({"code": -32601, "message": "Method not found"});
            answer(
                200,
                &json!({"jsonrpc": "2.0", "id": message["id"], "error": error}),
            )
        }
    }
}

/// Calls the tool `meta` of an MCP server until it has started, and gives its output and its span.
fn meta_of(table: &str) -> (Value, Seen) {
    let collector = Collector::start();
    let url = collector.url();
    let toml = format!(
        "[agents.shop]\nmodel = 'main'\ntools = ['tools.*']\n\
         [mcp.tools]\n{table}\nallow = ['*']\n{}",
        model(gemini())
    );
    let flags = ["serve", "--listen", "127.0.0.1:0", "--otlp-endpoint", &url];
    let server = with_file(&flags, &toml).running();
    let deadline = Instant::now() + Duration::from_secs(120);
    let part = (0..)
        .find_map(|number| {
            let chat = format!("c{number}");
            say(&server, &chat, r#"tools.meta {"n": 1}"#);
            let part = settled(&server, &chat);
            assert!(Instant::now() < deadline, "{part}");
            let is_starting = part.to_string().contains("still starting");
            (!is_starting).then_some((chat, part))
        })
        .unwrap();
    let (chat, part) = part;
    let is_call = |span: &Seen| {
        span.name == "execute_tool tools.meta" && span.attribute("gen_ai.conversation.id") == chat
    };
    let spans = collector.until(is_call);
    let call = spans.into_iter().find(is_call).unwrap();
    let output = part["output"].as_str().unwrap_or_else(|| panic!("{part}"));
    (serde_json::from_str(output).unwrap(), call)
}

#[test]
fn mcp_server_over_http_gets_the_span_of_the_call_in_headers_and_in_the_message() {
    let address = serve_http(mcp);
    let (output, call) = meta_of(&format!("url = 'http://{address}/mcp'"));
    let (parent, state) = at(&call);
    for received in [&output, &output["meta"]] {
        assert_eq!(received["traceparent"], parent, "{output}");
        assert_eq!(received["tracestate"], state, "{output}");
    }
}

#[test]
fn mcp_server_on_this_machine_gets_the_span_of_the_call_in_the_message() {
    let server = concat!(env!("CARGO_MANIFEST_DIR"), "/../tools/tests/mcp/server.py");
    let (output, call) = meta_of(&format!("command = ['python3', '{server}']"));
    let (parent, state) = at(&call);
    assert_eq!(output["traceparent"], parent, "{output}");
    assert_eq!(output["tracestate"], state, "{output}");
}

#[test]
fn frame_of_a_socket_goes_on_with_the_trace_in_its_headers() {
    let collector = Collector::start();
    let server = traced("demo", &collector, &["--pace", "0"]).running();
    let mut client = server.connect("/live");
    let message = json!({"id": "u1", "role": "user", "parts": [{"type": "text", "text": "Hello"}]});
    client.send(
        &json!({"type": "send", "requestId": "r1", "id": "c1", "trigger": "submit-message",
        "messages": [message], "headers": {"traceparent": PARENT, "tracestate": STATE}, "body": {}}),
    );
    client.frames_until("end");
    let spans = collector.until(|span| span.attribute("adk_stream.stretch.end") == "finished");
    for span in &spans {
        assert_eq!((&span.trace[..], &span.state[..]), (TRACE, STATE));
    }
    let stretch = spans
        .iter()
        .find(|span| span.name.starts_with("invoke_agent"));
    assert_eq!(stretch.unwrap().parent, "00f067aa0ba902b7");
}
