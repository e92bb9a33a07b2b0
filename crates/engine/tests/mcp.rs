//! Turns whose tools are those of MCP servers that misbehave.

// Helpers of tests stop as tests do.
#![allow(clippy::expect_used, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use adk_stream_engine::Request;
use adk_stream_engine::{Dialect, Engine, Tools};
use agents::{Agent, AgentStream};
use futures_util::StreamExt as _;
use serde_json::json;
use store::{Journal, Location};
use tokio::io::AsyncBufReadExt as _;
use tools::mcp::{Server, ServerConfig, Transport};
use tools::{Pattern, Policies, Policy, Source as _};
use turn::agent::{AgentEvent, HistoryItem, StepRequest};
use turn::event::Finish;
use turn::gate::Decision;
use turn::{ChatId, Principal, Status};
use wire::{Message, Part, Profile, Role, ToolPart, ToolState, Trigger};

/// Longer than anything takes on a busy machine.
const LONG: Duration = Duration::from_secs(120);

/// Calls the tool that the user names, with the number that comes after it, and says goodbye.
struct Caller;

impl Agent for Caller {
    fn name(&self) -> &str {
        "caller"
    }

    fn step(&self, request: StepRequest) -> AgentStream {
        let mut events = Vec::new();
        match request.history.last() {
            Some(HistoryItem::Step { .. }) => events.push(AgentEvent::Text {
                delta: "Goodbye.".to_owned(),
                provider_metadata: None,
            }),
            _ => {
                let said = said(&request);
                let (tool, n) = said.split_once(' ').unwrap();
                let n: u64 = n.parse().unwrap();
                events.push(AgentEvent::Call {
                    provider_id: None,
                    tool: tool.to_owned(),
                    input: json!({"n": n}),
                    provider_metadata: None,
                });
            }
        }
        events.push(AgentEvent::Ended(Finish::Stop));
        Box::pin(futures_util::stream::iter(events))
    }
}

fn said(request: &StepRequest) -> String {
    let last = request.history.last();
    match last {
        Some(HistoryItem::Message(message)) => message.text(),
        other => panic!("{other:?}"),
    }
}

fn config(name: &str, args: &[&str], calls: Option<&std::path::Path>) -> ServerConfig {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../tools/tests/mcp/server.py");
    let args = [script].into_iter().chain(args.iter().copied());
    let calls = calls.map(|path| ("CALLS".to_owned(), path.to_string_lossy().into_owned()));
    let transport = Transport::Stdio {
        command: "python3".to_owned(),
        args: args.map(str::to_owned).collect(),
        env: BTreeMap::from_iter(calls),
        cwd: None,
    };
    let mut config = ServerConfig::new(name, transport);
    config.call_timeout = LONG;
    config.start_timeout = LONG;
    config.limits.max_restart_delay = Duration::from_millis(100);
    config
}

fn allow_all() -> Policies {
    Policies::new().with(Pattern::new("*").unwrap(), Policy::Allow)
}

async fn journal() -> Arc<dyn Journal> {
    store::open(Location::Memory).await.unwrap().journal
}

#[derive(Clone)]
struct Chats {
    engine: Engine,
    ann: Principal,
}

impl Chats {
    fn new(journal: Arc<dyn Journal>, servers: &[&Server]) -> Self {
        let sources = servers.iter();
        let tools = sources.fold(Tools::new(), |tools, server| {
            tools.with_source(server.source())
        });
        Self {
            engine: Engine::builder(journal, Arc::new(Caller), tools).build(),
            ann: Principal::from("ann"),
        }
    }

    /// Has a tool called in a chat of its own, and waits until its turn parks or ends.
    async fn call(&self, chat: &str, tool: &str, n: u64) {
        let message = Message::new(
            "user-1",
            Role::User,
            vec![Part::text(format!("{tool} {n}"))],
        );
        let request = Request {
            chat: ChatId::from(chat),
            trigger: Trigger::SubmitMessage,
            message_id: None,
            messages: vec![message],
        };
        let dialect = Dialect::Sdk(Profile::Shared);
        let mut window = self.engine.send(&self.ann, request, dialect).await.unwrap();
        let read = async { while window.next().await.is_some() {} };
        let read = tokio::time::timeout(LONG, read).await;
        assert!(read.is_ok(), "the turn of {chat} ({tool} {n}) is stuck");
    }

    /// How the turn of a chat is, and its call.
    async fn turn(&self, chat: &str) -> (Status, ToolPart) {
        let view = self
            .engine
            .view(&self.ann, &ChatId::from(chat))
            .await
            .unwrap();
        let parts = view.messages.iter().flat_map(|message| &message.parts);
        let call = parts.filter_map(Part::as_tool).next().unwrap().clone();
        (view.status, call)
    }

    async fn approve(&self, chat: &str) {
        let waiting = self.engine.approvals(&self.ann).await.unwrap();
        assert_eq!(waiting.len(), 1, "only {chat} asks");
        let gate = waiting[0].gate.id.clone();
        let yes = Decision::Approved {
            reason: None,
            input: None,
        };
        self.engine.answer(&self.ann, &gate, yes).await.unwrap();
    }

    async fn until_over(&self, chat: &str) -> ToolPart {
        let over = async {
            loop {
                let (status, call) = self.turn(chat).await;
                if matches!(status, Status::Finished | Status::Failed) {
                    return call;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(LONG, over)
            .await
            .expect("the turn does not end")
    }
}

async fn until(mut holds: impl FnMut() -> bool) {
    let waiting = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(LONG, waiting)
        .await
        .expect("it does not happen");
}

fn megabytes(of: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(of)).unwrap();
    let kilobytes: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kilobytes / 1024
}

/// What the n-th of many calls does.
fn misbehaviour(n: u64) -> (&'static str, u64) {
    match n % 100 {
        0 => ("die", n),
        1 if n % 200 == 1 => ("freeze", n),
        2 if n % 300 == 2 => ("endless", n),
        3 if n % 300 == 3 => ("big", 50_000_000),
        4..=6 => ("big", 5_000_000),
        7 if n % 200 == 7 => ("flood", n),
        8 if n % 200 == 8 => ("pings", n),
        9..=14 => ("hang", n),
        15..=20 => ("wrong_id", n),
        21..=30 => ("lie", n),
        31..=36 => ("fail", n),
        37..=40 => ("garbage", n),
        41..=44 => ("shapeless", n),
        45..=48 => ("progress", n),
        _ => ("echo", n),
    }
}

#[tokio::test]
async fn thousand_calls_of_servers_that_misbehave_end_and_are_said() {
    const CALLS: u64 = 1000;
    const AT_ONCE: usize = 24;
    let steady = Server::start(ServerConfig {
        policies: allow_all(),
        ..config("steady", &[], None)
    });
    let steady = steady.unwrap();
    let names = ["a", "b", "c", "d"];
    let servers = names.map(|name| {
        let mut config = config(name, &[], None);
        config.policies = allow_all();
        config.call_timeout = Duration::from_millis(700);
        Server::start(config).unwrap()
    });
    for server in servers.iter().chain([&steady]) {
        server.started().await.unwrap();
    }
    let [a, b, c, d] = &servers;
    let chats = Chats::new(journal().await, &[&steady, a, b, c, d]);
    let before = megabytes("VmRSS:");
    let calls = futures_util::stream::iter(0..CALLS).for_each_concurrent(AT_ONCE, |n| {
        let chats = chats.clone();
        async move {
            let chat = format!("chat-{n}");
            let (tool, input) = match n % 10 {
                9 => ("steady.echo".to_owned(), n),
                _ => {
                    let (tool, input) = misbehaviour(n);
                    (
                        format!("{}.{tool}", names[(n + n / 100) as usize % names.len()]),
                        input,
                    )
                }
            };
            chats.call(&chat, &tool, input).await;
        }
    });
    calls.await;
    let mut counts: BTreeMap<(String, &str), usize> = BTreeMap::new();
    for n in 0..CALLS {
        let (status, call) = chats.turn(&format!("chat-{n}")).await;
        assert_eq!(status, Status::Finished, "{n}: {call:?}");
        let kind = match (&call.output, &call.error_text) {
            (Some(output), None) => {
                // An answer that was meant for another call would be seen here.
                if call.tool_name.ends_with(".echo") {
                    assert_eq!(output, &json!(format!("{{\"n\": {n}}}")), "{n}");
                }
                "output"
            }
            (None, Some(error)) if error.contains("outcome is unknown") => "unknown",
            (None, Some(error)) if error.contains("was not made") => "not made",
            (None, Some(error)) => {
                assert!(error.len() > 10, "{n}: {error}");
                "error"
            }
            said => panic!("{n}: nothing is said of {call:?}: {said:?}"),
        };
        if call.tool_name.starts_with("steady.") {
            assert_eq!(kind, "output", "{n}: {call:?}");
        }
        let tool = call.tool_name.split('.').nth(1).unwrap().to_owned();
        *counts.entry((tool, kind)).or_default() += 1;
    }
    println!("{counts:#?}");
    for (tool, never) in [
        ("die", "output"),
        ("freeze", "output"),
        ("endless", "output"),
        ("hang", "output"),
        ("hang", "error"),
        ("wrong_id", "output"),
        ("lie", "output"),
        ("fail", "output"),
        ("big", "output"),
    ] {
        let count = counts.get(&(tool.to_owned(), never));
        assert_eq!(count, None, "{tool} has {never}");
    }
    for (tool, some) in [
        ("lie", "error"),
        ("fail", "error"),
        ("hang", "unknown"),
        ("die", "unknown"),
    ] {
        assert!(
            counts.contains_key(&(tool.to_owned(), some)),
            "{tool} has no {some}: {counts:?}"
        );
    }
    assert_eq!(steady.status().restarts, 0);
    assert!(servers.iter().all(|server| server.status().restarts > 0));
    let grown = megabytes("VmHWM:").saturating_sub(before);
    println!("memory grew by {grown} MB");
    assert!(grown < 200, "the memory has grown by {grown} MB");
    for server in servers.iter().chain([&steady]) {
        server.shut_down().await;
    }
}

#[tokio::test]
async fn approved_call_whose_tool_has_disappeared_ends_with_the_reason() {
    let mut config = config("s", &[], None);
    config.policies = Policies::new().with(Pattern::new("change").unwrap(), Policy::Allow);
    let server = Server::start(config).unwrap();
    server.started().await.unwrap();
    let chats = Chats::new(journal().await, &[&server]);
    chats.call("first", "s.change", 1).await;
    until(|| server.tools().contains_key("s.added")).await;
    chats.call("asked", "s.added", 7).await;
    let (status, call) = chats.turn("asked").await;
    assert_eq!(status, Status::Parked, "{call:?}");
    let waiting = chats.engine.approvals(&chats.ann).await.unwrap();
    assert_eq!(waiting.len(), 1);
    chats.call("second", "s.change", 2).await;
    until(|| !server.tools().contains_key("s.added")).await;
    chats.approve("asked").await;
    let call = chats.until_over("asked").await;
    assert_eq!(call.state, ToolState::OutputError);
    let error = call.error_text.unwrap();
    assert_eq!(
        error,
        "The MCP server s no longer has a tool added, or never had one."
    );
}

#[tokio::test]
async fn call_that_was_approved_before_the_server_is_ready_waits_for_it() {
    let journal = journal().await;
    let server = Server::start(config("s", &[], None)).unwrap();
    server.started().await.unwrap();
    let chats = Chats::new(journal.clone(), &[&server]);
    chats.call("asked", "s.echo", 7).await;
    assert_eq!(chats.turn("asked").await.0, Status::Parked);
    server.shut_down().await;
    // Another process, whose server takes its time.
    let slow = Server::start(config("s", &["slow", "1"], None)).unwrap();
    let chats = Chats::new(journal, &[&slow]);
    chats.approve("asked").await;
    let call = chats.until_over("asked").await;
    assert_eq!(call.output, Some(json!("{\"n\": 7}")), "{call:?}");
}

#[tokio::test]
async fn turn_that_is_stopped_cancels_the_call_at_the_server() {
    let calls = std::env::temp_dir().join(format!("adk-stream-mcp-{}", std::process::id()));
    let mut config = config("s", &[], Some(&calls));
    config.policies = allow_all();
    let server = Server::start(config).unwrap();
    server.started().await.unwrap();
    let chats = Chats::new(journal().await, &[&server]);
    let noted = |line: &str| std::fs::read_to_string(&calls).is_ok_and(|text| text.contains(line));
    let stopping = async {
        until(|| noted("call hang 7")).await;
        chats
            .engine
            .stop(&chats.ann, &ChatId::from("chat"))
            .await
            .unwrap();
    };
    tokio::join!(chats.call("chat", "s.hang", 7), stopping);
    until(|| noted("the turn was stopped")).await;
    let (_, call) = chats.turn("chat").await;
    let error = call.error_text.unwrap();
    assert!(
        error.contains("the turn was stopped while the call ran"),
        "{error}"
    );
    let _ = std::fs::remove_file(&calls);
}

#[tokio::test]
async fn turns_with_a_server_over_http_that_misbehaves_end_and_are_said() {
    let script = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../tools/tests/mcp/http_server.py"
    );
    let mut process = tokio::process::Command::new("python3")
        .arg(script)
        .stdout(std::process::Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let output = process.stdout.take().unwrap();
    let url = tokio::io::BufReader::new(output).lines().next_line().await;
    let url = url.unwrap().unwrap();
    // The same server twice: once as one that has time, and once as one that has none.
    let servers = [("patient", LONG), ("short", Duration::from_millis(300))];
    let servers = servers.map(|(name, call_timeout)| {
        let mut config = config(name, &[], None);
        config.transport = Transport::Http {
            url: url.clone(),
            headers: BTreeMap::new(),
        };
        config.policies = allow_all();
        config.call_timeout = call_timeout;
        Server::start(config).unwrap()
    });
    for server in &servers {
        server.started().await.unwrap();
    }
    let [patient, short] = &servers;
    let chats = Chats::new(journal().await, &[patient, short]);
    let unknown = "outcome is unknown";
    for (tool, said) in [
        ("short.hang", unknown),
        ("patient.cut", unknown),
        ("patient.cut_stream", unknown),
        ("patient.gone", unknown),
        ("patient.redirect", "The call was not made"),
        ("patient.big", "its answer was dropped"),
        ("patient.big_stream", "its answer was dropped"),
    ] {
        chats.call(tool, tool, 1).await;
        let (status, call) = chats.turn(tool).await;
        assert_eq!(status, Status::Finished, "{tool}: {call:?}");
        let error = call.error_text.unwrap_or_default();
        assert!(error.contains(said), "{tool}: {error}");
    }
    chats.call("after", "patient.echo", 1).await;
    let (_, call) = chats.turn("after").await;
    assert_eq!(call.output, Some(json!("echoed")));
}
