//! Traces: what a collector is sent of turns that wait, move and are killed, and which trace models and tools
//! are sent.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::collector::{Collector, Seen};
use crate::file_agent::{answer, generate, model, refund_tool, serve_http, settled, with_file};
use crate::process::{Server, adk_stream};
use crate::replicas::{self, question};
use crate::request::send;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";
const OTHER: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

fn caller() -> String {
    format!("00-{TRACE}-{CALLER}-01")
}

fn message(chat: &str, text: &str) -> String {
    let part = json!({"type": "text", "text": text});
    let message = json!({"id": format!("{chat}-u"), "role": "user", "parts": [part]});
    json!({"id": chat, "trigger": "submit-message", "messages": [message]}).to_string()
}

fn named<'a>(spans: &'a [Seen], name: &str) -> Vec<&'a Seen> {
    spans.iter().filter(|span| span.name == name).collect()
}

fn stretch<'a>(spans: &'a [Seen], end: &str) -> &'a Seen {
    let mut found = spans
        .iter()
        .filter(|span| span.attribute("adk_stream.stretch.end") == end);
    let stretch = found
        .next()
        .unwrap_or_else(|| panic!("no {end}: {spans:#?}"));
    assert!(found.next().is_none(), "two {end}: {spans:#?}");
    stretch
}

/// The `traceparent` of requests to a server of the tests.
type Parents = Arc<Mutex<Vec<String>>>;

/// A model, a shop, and the trace that they were sent.
fn outside() -> (Parents, Parents, String) {
    let (to_model, to_shop) = (Parents::default(), Parents::default());
    let own = to_model.clone();
    let gemini = serve_http(move |request| {
        let parent = request.header("traceparent").unwrap_or_default();
        own.lock().unwrap().push(parent.to_owned());
        generate(request)
    });
    let own = to_shop.clone();
    let shop = serve_http(move |request| {
        let parent = request.header("traceparent").unwrap_or_default();
        own.lock().unwrap().push(parent.to_owned());
        answer(200, &json!({"refunded": true}))
    });
    let tool = refund_tool(
        "refund",
        &format!("http://{shop}"),
        "",
        "ask = 'Refund {{input.order}}?'",
    );
    let agent = "[agents.shop]\nmodel = 'main'\ninstruction = 'Be kind.'\ntools = ['refund']\n";
    (to_model, to_shop, format!("{agent}{}{tool}", model(gemini)))
}

fn approve(server: &Server, chat: &str) {
    let path = format!("/api/approvals/{}", question(server, chat));
    let answered = server.post(&path, &[("traceparent", OTHER)], r#"{"approved":true}"#);
    assert_eq!(answered.status, 200, "{}", answered.text());
}

#[test]
fn turn_with_an_approval_is_one_tree_though_its_server_is_killed() {
    let collector = Collector::start();
    let (to_model, to_shop, toml) = outside();
    let folder = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", folder.path().join("chats.db").display());
    let url = collector.url();
    let flags = [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--store",
        &store,
        "--otlp-endpoint",
        &url,
        "--otlp-service-name",
        "shop-chat",
        "--log",
        "info,access=debug",
    ];
    let start = || {
        let start = with_file(&flags, &toml);
        let headers = "Authorization: Bearer c0llector\nX-Team: blue";
        start.variable("ADK_STREAM_OTLP_HEADERS", headers).running()
    };
    let mut server = start();
    let body = message("c1", r#"refund {"order": "A-4711"}"#);
    let said = server.post("/api/chat", &[("traceparent", &caller())], &body);
    assert!(said.text().contains("tool-approval-request"));
    // The log finds the trace.
    assert!(server.log_says("request served").contains(TRACE));
    collector.until(|span| span.attribute("adk_stream.stretch.end") == "parked");
    // Killed, while the turn waits.
    drop(server);
    let server = start();
    approve(&server, "c1");
    settled(&server, "c1");
    let is_over = |span: &Seen| span.attribute("adk_stream.stretch.end") == "finished";
    let spans = collector.until(is_over);

    assert!(spans.iter().all(|span| span.trace == TRACE), "{spans:#?}");
    assert!(spans.iter().all(|span| !span.is_error), "{spans:#?}");
    let both = ["gen_ai.conversation.id", "adk_stream.turn.id"];
    for span in &spans {
        assert_eq!(span.service, "shop-chat");
        assert_eq!(span.attribute(both[0]), "c1");
        assert_eq!(span.attribute(both[1]), spans[0].attribute(both[1]));
    }
    let (first, second) = (stretch(&spans, "parked"), stretch(&spans, "finished"));
    assert_eq!(first.name, "invoke_agent shop");
    assert_eq!(second.name, "invoke_agent shop");
    assert_eq!(first.parent, CALLER);
    assert_eq!(second.parent, first.id);
    assert!(second.links.contains(&first.id), "{second:?}");
    assert!(second.from >= first.to, "the wait is in neither");
    let steps = named(&spans, "generate_content gemini-x");
    let [asked, answered] = steps[..] else {
        panic!("{spans:#?}")
    };
    assert_eq!((&asked.parent, &answered.parent), (&first.id, &second.id));
    for step in [asked, answered] {
        assert_eq!(step.attribute("gen_ai.provider.name"), "gcp.gemini");
        assert_eq!(step.attribute("gen_ai.request.model"), "gemini-x");
        assert_eq!(step.attribute("gen_ai.usage.input_tokens"), "1");
        assert_eq!(step.attribute("gen_ai.usage.output_tokens"), "2");
        assert_eq!(step.attribute("gen_ai.response.finish_reasons"), "stop");
    }
    let gates = named(&spans, "await_approval refund");
    let [gate] = gates[..] else {
        panic!("{spans:#?}")
    };
    assert_eq!(gate.parent, first.id);
    assert_eq!(gate.attribute("adk_stream.gate.decision"), "approved");
    assert!(!gate.attribute("adk_stream.gate.delay").is_empty());
    // The request that answered belongs to another trace.
    assert_eq!(gate.links, ["b7ad6b7169203331"]);
    let calls = named(&spans, "execute_tool refund");
    let [call] = calls[..] else {
        panic!("{spans:#?}")
    };
    assert_eq!(call.parent, second.id);
    assert_eq!(call.attribute("adk_stream.call.outcome"), "output");
    assert_eq!(spans.len(), 6, "{spans:#?}");

    let parent = |span: &Seen| format!("00-{TRACE}-{}-01", span.id);
    assert_eq!(*to_model.lock().unwrap(), [parent(asked), parent(answered)]);
    assert_eq!(*to_shop.lock().unwrap(), [parent(call)]);
    // Nobody asked for contents.
    for words in ["A-4711", "Refund ", "Done."] {
        assert!(!collector.has_words(words), "{words}");
    }
    for head in collector.heads() {
        assert!(
            head.contains("authorization: bearer c0llector\r\n"),
            "{head}"
        );
        assert!(head.contains("x-team: blue\r\n"), "{head}");
    }
}

#[test]
fn contents_are_exported_where_they_are_asked_for() {
    let collector = Collector::start();
    let (_, _, toml) = outside();
    let url = collector.url();
    let flags = ["serve", "--listen", "127.0.0.1:0", "--otlp-contents"];
    let flags = [&flags[..], &["--otlp-endpoint", &url]].concat();
    let server = with_file(&flags, &toml).running();
    server.post(
        "/api/chat",
        &[],
        &message("c1", r#"refund {"order": "A-4711"}"#),
    );
    approve(&server, "c1");
    settled(&server, "c1");
    let is_over = |span: &Seen| span.attribute("adk_stream.stretch.end") == "finished";
    let spans = collector.until(is_over);
    let call = named(&spans, "execute_tool refund")[0];
    let arguments = call.attribute("gen_ai.tool.call.arguments");
    assert_eq!(arguments, r#"{"order":"A-4711"}"#);
    assert!(
        call.attribute("gen_ai.tool.call.result")
            .contains("refunded")
    );
    let steps = named(&spans, "generate_content gemini-x");
    assert!(
        steps[0]
            .attribute("gen_ai.input.messages")
            .contains("A-4711")
    );
    assert!(
        steps[1]
            .attribute("gen_ai.output.messages")
            .contains("Done.")
    );
}

#[test]
fn replicas_share_a_trace_and_a_killed_one_leaves_its_stretch() {
    let collector = Collector::start();
    let (database, url) = (testkit::postgres::database(), collector.url());
    let server = |name: &str, pace: &str| {
        let flags = ["serve", "--listen", "127.0.0.1:0", "--lease", "1"];
        let traces = ["--otlp-endpoint", &url, "--otlp-service-name", name];
        adk_stream(&[&flags[..], &traces, &["--pace", pace]].concat())
            .variable("ADK_STREAM_STORE", &database)
            .variable("ADK_STREAM_CLUSTER_KEY", "known-to-this-cluster-alone")
            .running()
    };
    let (a, b) = (server("a", "50"), server("b", "0"));
    // Asked at one, answered at another, which forwards it to the one that has the chat.
    let headers = [("traceparent", &*caller())];
    a.post("/api/chat", &headers, &message("c1", "Send $20 to Sam"));
    approve(&b, "c1");
    replicas::finished(&b, "c1");
    let of =
        |chat: &'static str| move |span: &&Seen| span.attribute("gen_ai.conversation.id") == chat;
    let is_over = |span: &Seen| span.attribute("adk_stream.stretch.end") == "finished";
    let spans = collector.until(|span| is_over(span) && of("c1")(&span));
    let spans: Vec<Seen> = spans.into_iter().filter(|span| of("c1")(&span)).collect();
    assert!(spans.iter().all(|span| span.trace == TRACE), "{spans:#?}");
    let gate = named(&spans, "await_approval process_payment");
    let gate = gate.first().unwrap_or_else(|| panic!("{spans:#?}"));
    // What was answered came through another server, with its trace.
    assert_eq!(gate.links, ["b7ad6b7169203331"]);

    // Killed in the middle of its words: another takes the turn up.
    let window = replicas::begin(&a, "c2", "Tell me a long story about the sea");
    let deadline = Instant::now() + Duration::from_secs(30);
    while b.get("/api/chat/c2").status != 200 {
        assert!(Instant::now() < deadline, "it did not begin");
        std::thread::yield_now();
    }
    drop(a);
    drop(window);
    replicas::finished(&b, "c2");
    let spans = collector.until(|span| is_over(span) && of("c2")(&span));
    let spans: Vec<Seen> = spans.into_iter().filter(|span| of("c2")(&span)).collect();
    let (lost, last) = (stretch(&spans, "lost"), stretch(&spans, "finished"));
    assert!(lost.is_error, "{lost:?}");
    assert_eq!(lost.attribute("error.type"), "server_lost");
    assert_eq!((&lost.service[..], &last.service[..]), ("b", "b"));
    assert_eq!(last.links, std::slice::from_ref(&lost.id));
    assert_eq!((&last.parent, &last.trace), (&lost.id, &lost.trace));
    assert!(spans.iter().all(|span| span.trace == lost.trace));
}

#[test]
fn turn_does_not_wait_for_a_collector_that_is_away() {
    // Nobody listens there any more.
    let address = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap()
    };
    let url = format!("http://{address}");
    let flags = ["serve", "--listen", "127.0.0.1:0", "--otlp-endpoint", &url];
    let metrics = ["--metrics-listen", "127.0.0.1:0", "--pace", "0"];
    let mut server = adk_stream(&[&flags[..], &metrics].concat()).running();
    let line = server.log_says("serving metrics");
    let (_, address) = line.trim().rsplit_once("address=").unwrap();
    let address = address.parse().unwrap();
    let answered = server.post("/api/chat", &[], &message("c1", "Hello"));
    assert_eq!(answered.status, 200);
    assert!(answered.text().contains("[DONE]"));
    server.log_says("collector accepts no spans");
    let read = send(address, "GET", "/metrics", &[], "").text().to_owned();
    let failed = r#"adk_stream_trace_spans_total{outcome="failed"} 2"#;
    assert!(read.contains(failed), "{read}");
    server.signal("TERM");
    assert!(server.ended().success());
}

#[test]
fn address_that_is_none_is_refused_at_the_start() {
    let refused = adk_stream(&["serve", "--otlp-endpoint", "localhost:4318"]).refused();
    assert!(refused.line.contains("otlp-endpoint"), "{}", refused.line);
}

#[test]
fn nothing_of_a_trace_is_kept_or_passed_on_unless_turns_are_traced() {
    let (to_model, _, toml) = outside();
    let server = with_file(&["serve", "--listen", "127.0.0.1:0"], &toml).running();
    let headers = [("traceparent", &*caller())];
    server.post("/api/chat", &headers, &message("c1", "Hello"));
    assert_eq!(*to_model.lock().unwrap(), [""]);
    let journal = server.get("/api/chat/c1/journal");
    assert!(!journal.text().contains("trace"), "{}", journal.text());
}
