//! The client of MCP servers against one that misbehaves in every way that we know.

// Helpers of tests stop as tests do.
#![allow(clippy::expect_used, clippy::unwrap_used)]

mod elicitation;
mod fixture;
mod http;
mod real;

use std::time::{Duration, Instant};

use adk_stream_tools::mcp::{Media, Server, State};
use adk_stream_tools::work::WorkSender;
use adk_stream_tools::{Pattern, Policies, Policy, Question, Tools, Verdict};
use serde_json::{Value, json};
use tempfile::NamedTempFile;
use turn::Principal;
use turn::call::Outcome;

use fixture::{Fixture, LONG, is_running, peak_megabytes, run, until};

/// A time that a call surely does not meet, and that nobody minds to wait.
const SHORT: Duration = Duration::from_millis(300);

fn asks(tools: &Tools, name: &str, input: Value) -> String {
    match tools.rule(name, &input, &Principal::from("ann")).verdict {
        Verdict::Ask { question } => question,
        other => panic!("{name}: {other:?}"),
    }
}

#[tokio::test]
async fn answers_become_outputs_or_errors() {
    let fixture = Fixture::ready(&[], |_| {}).await;
    let echoed = fixture.output("s.echo", json!({"n": 5})).await;
    assert_eq!(echoed, json!("{\"n\": 5}"));
    let structured = fixture.output("s.structured", json!({"n": 5})).await;
    assert_eq!(structured, json!({"n": 5}));
    let media = fixture.output("s.media", json!({})).await;
    let image = json!({"type": "image", "mediaType": "image/png", "bytes": 5});
    assert_eq!(media["content"][1], image);
    assert_eq!(media["content"][2]["type"], "hologram");
    let error = fixture.error("s.fail", json!({})).await;
    assert_eq!(error, "There is no such order.");
    let error = fixture.error("s.refuse", json!({})).await;
    assert!(
        error.contains("(-32602): not with these arguments"),
        "{error}"
    );
    let error = fixture.error("s.lie", json!({})).await;
    assert!(
        error.contains("does not fit the tool's output schema"),
        "{error}"
    );
    let error = fixture.error("s.shapeless", json!({})).await;
    assert!(error.contains("content is not a list"), "{error}");
    let after = fixture.output("s.garbage", json!({})).await;
    assert_eq!(after, json!("after garbage"));
    assert_eq!(fixture.server.status().restarts, 0);
    let status = fixture.server.status();
    assert_eq!(status.implementation.as_deref(), Some("fake 1"));
    assert_eq!(status.protocol.as_deref(), Some("2025-11-25"));
}

#[tokio::test]
async fn older_versions_of_the_protocol_are_spoken() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18"] {
        let fixture = Fixture::ready(&["version", version], |_| {}).await;
        let status = fixture.server.status();
        assert_eq!(status.protocol.as_deref(), Some(version));
        let echoed = fixture.output("s.echo", json!({"n": 5})).await;
        assert_eq!(echoed, json!("{\"n\": 5}"), "{version}");
        let error = fixture.error("s.fail", json!({})).await;
        assert_eq!(error, "There is no such order.", "{version}");
        fixture.output("s.change", json!({})).await;
        until(|| fixture.names().contains(&"s.added".to_owned())).await;
    }
}

#[tokio::test]
async fn bytes_are_kept_for_pages_that_show_them() {
    let inline = |config: &mut adk_stream_tools::mcp::ServerConfig| config.media = Media::Inline;
    let fixture = Fixture::ready(&[], inline).await;
    let media = fixture.output("s.media", json!({})).await;
    assert_eq!(media["content"][1]["data"], "aGVsbG8=");
}

#[tokio::test]
async fn calls_are_asked_about_unless_the_operator_says_otherwise() {
    let fixture = Fixture::ready(&[], |config| {
        let rule = |pattern: &str, policy| (Pattern::new(pattern).unwrap(), policy);
        let question = Question::new("Really {{input.n}}?").unwrap();
        config.policies = Policies::from_iter([
            rule("structured", Policy::Allow),
            rule("hang*", Policy::Deny),
            rule("fail", Policy::AskWith(question)),
        ]);
    });
    let fixture = fixture.await;
    // The server says that it is read-only, which allows nothing.
    let asked = asks(&fixture.tools, "s.echo", json!({"n": 1}));
    let claim = "(Its server says: read-only, idempotent.)";
    assert_eq!(asked, format!("Run s.echo with n = 1? {claim}"));
    let declared = fixture.tools.declarations();
    let echo = declared.iter().find(|tool| tool.name == "s.echo").unwrap();
    assert_eq!(echo.description, format!("Does echo. {claim}"));
    assert_eq!(asks(&fixture.tools, "s.fail", json!({"n": 2})), "Really 2?");
    let allowed = fixture
        .tools
        .rule("s.structured", &json!({}), &"ann".into());
    assert_eq!(allowed.verdict, Verdict::Allow);
    assert!(!fixture.names().contains(&"s.hang".to_owned()));
    let denied = fixture.tools.find("s.hang").err().unwrap();
    assert_eq!(denied, "s.hang is not offered: its policy is deny.");
    let wrong = fixture
        .tools
        .rule("s.echo", &json!({"m": 1}), &"ann".into());
    assert!(matches!(wrong.verdict, Verdict::Invalid { .. }));
}

#[tokio::test]
async fn progress_is_shown_before_the_output() {
    let fixture = Fixture::ready(&[], |config| {
        config.limits.progress_interval = Duration::ZERO;
    });
    let (outcome, shown) = fixture.await.run("s.progress", json!({})).await;
    assert_eq!(
        outcome,
        Outcome::Output {
            output: json!("done")
        }
    );
    assert!(!shown.is_empty(), "nothing was shown");
    assert_eq!(shown[0]["total"], json!(3.0));
    let message = shown[0]["message"].as_str().unwrap();
    assert!(message.starts_with("step "), "{message}");
}

#[tokio::test]
async fn call_that_is_dropped_is_cancelled_at_the_server() {
    let fixture = Fixture::ready(&[], |_| {}).await;
    let (work, _received) = WorkSender::new(8);
    let hanging = run(&fixture.tools, "s.hang", json!({"n": 3}), work);
    tokio::select! {
        outcome = hanging => panic!("{outcome:?}"),
        () = fixture.until_noted("call hang 3") => {}
    }
    fixture.until_noted("the turn was stopped").await;
    assert_eq!(fixture.server.status().restarts, 0);
}

#[tokio::test]
async fn call_without_an_answer_is_unknown_and_cancelled() {
    let fixture = Fixture::ready(&[], |config| {
        config.call_timeout = SHORT;
        config.idempotent = vec![
            Pattern::new("hang_idempotent").unwrap(),
            Pattern::new("hang").unwrap(),
        ];
    });
    let fixture = fixture.await;
    // The operator's word is not enough where the server does not say so.
    assert!(fixture.is_unknown("s.hang").await);
    assert!(fixture.is_unknown("s.wrong_id").await);
    let error = fixture.error("s.hang_idempotent", json!({})).await;
    assert!(error.contains("may be made again"), "{error}");
    fixture.until_noted("timeout").await;
    // The server answers others, so it is not started again.
    assert_eq!(fixture.server.status().state, State::Ready);
    assert_eq!(fixture.server.status().restarts, 0);
}

#[tokio::test]
async fn server_that_dies_is_started_again() {
    let fixture = Fixture::ready(&[], |config| {
        config.idempotent = vec![Pattern::new("*_idempotent").unwrap()];
    });
    let fixture = fixture.await;
    assert!(fixture.is_unknown("s.die").await);
    // The next call waits for the server, which is about to be there again.
    fixture.output("s.echo", json!({})).await;
    let error = fixture.error("s.die_idempotent", json!({})).await;
    assert!(error.contains("may be made again"), "{error}");
    fixture.output("s.echo", json!({})).await;
    let status = fixture.server.status();
    assert_eq!(status.restarts, 2);
    assert_eq!(
        status.last_error.as_deref(),
        Some("it exited with status 7")
    );
}

#[tokio::test]
async fn server_that_hangs_is_started_again() {
    let fixture = Fixture::ready(&[], |config| {
        config.call_timeout = SHORT;
        config.start_timeout = Duration::from_secs(5);
    });
    let fixture = fixture.await;
    assert!(fixture.is_unknown("s.freeze").await);
    until(|| fixture.server.status().restarts == 1).await;
    until(|| fixture.server.status().state == State::Ready).await;
    let error = fixture.server.status().last_error.unwrap();
    assert!(error.starts_with("it does not answer"), "{error}");
}

#[tokio::test]
async fn slow_server_holds_nobody_up() {
    let started = Instant::now();
    let fixture = Fixture::start(&["slow", "1"], |_| {});
    assert!(started.elapsed() < Duration::from_secs(1));
    assert!(fixture.tools.declarations().is_empty());
    assert_eq!(fixture.server.status().state, State::Starting);
    let missing = fixture.tools.find("s.echo").err().unwrap();
    assert_eq!(missing, "The MCP server s is still starting.");
    // A call that was approved before waits for it.
    fixture.output("s.echo", json!({})).await;
    let error = fixture.error("s.nothing", json!({})).await;
    assert!(error.contains("no longer has a tool nothing"), "{error}");
}

#[tokio::test]
async fn tool_that_is_just_being_listed_is_not_said_to_be_missing() {
    for _ in 0..10 {
        let fixture = Fixture::start(&[], |_| {});
        let tools = fixture.tools.clone();
        let asking = std::thread::spawn(move || {
            loop {
                match tools
                    .rule("s.echo", &json!({"n": 1}), &"ann".into())
                    .verdict
                {
                    Verdict::Invalid { error } if error.ends_with("is still starting.") => {}
                    verdict => return verdict,
                }
            }
        });
        fixture.server.started().await.unwrap();
        assert_eq!(asking.join().unwrap(), Verdict::Allow);
    }
}

#[tokio::test]
async fn server_that_never_starts_is_said_to_be_down() {
    let fixture = Fixture::start(&["exit"], |config| {
        config.limits.max_restart_delay = Duration::from_secs(600);
    });
    let error = fixture.server.started().await.unwrap_err();
    assert!(
        error.contains("The MCP server s is down: it exited with status 3."),
        "{error}"
    );
    let status = fixture.server.status();
    let said = "it exited with status 3: There is no configuration.";
    assert_eq!(status.last_error.as_deref(), Some(said));
    assert!(matches!(status.state, State::Waiting(_)), "{status:?}");
    // What it wrote to its standard error is for the operator alone.
    let error = fixture.error("s.echo", json!({})).await;
    assert!(
        error.contains("is down") && !error.contains("configuration"),
        "{error}"
    );
    let silent = Fixture::start(&["never"], |config| config.start_timeout = SHORT);
    let error = silent.server.started().await.unwrap_err();
    assert!(error.contains("did not start within 0.3 s"), "{error}");
    let missing = Fixture::start(&[], |config| {
        config.transport = adk_stream_tools::mcp::Transport::Stdio {
            command: "no-such-program".to_owned(),
            args: Vec::new(),
            env: Default::default(),
            cwd: None,
        };
    });
    let error = missing.server.started().await.unwrap_err();
    assert!(error.contains("its program can't be started"), "{error}");
}

#[tokio::test]
async fn list_is_followed_when_it_changes() {
    let fixture = Fixture::ready(&[], |_| {}).await;
    let has_added = || fixture.names().contains(&"s.added".to_owned());
    assert!(!has_added());
    fixture.output("s.change", json!({})).await;
    until(has_added).await;
    let output = fixture.output("s.added", json!({})).await;
    assert_eq!(output, json!("added was called"));
    fixture.output("s.change", json!({})).await;
    until(|| !has_added()).await;
    let error = fixture.error("s.added", json!({})).await;
    assert_eq!(
        error,
        "The MCP server s no longer has a tool added, or never had one."
    );
}

#[tokio::test]
async fn tools_that_can_not_be_used_are_left_out_and_named() {
    let fixture = Fixture::ready(&["odd"], |_| {}).await;
    let status = fixture.server.status();
    let names = fixture.names();
    assert!(
        names.contains(&"s.with_space_and__".to_owned()),
        "{names:?}"
    );
    let renamed = status
        .tools
        .iter()
        .find(|tool| tool.name == "s.with_space_and__");
    let renamed = renamed.unwrap().renamed_from.as_deref();
    assert_eq!(renamed, Some("with space/and ü"));
    let long = status
        .tools
        .iter()
        .find(|tool| tool.name == "s.long")
        .unwrap();
    assert!(long.description.len() < 4200, "{}", long.description.len());
    let why = |name: &str| {
        let mut left_out = status.left_out.iter();
        let found = left_out.find(|left_out| match name {
            "xxxx" => left_out.name.starts_with(name),
            _ => left_out.name == name,
        });
        found
            .map(|left_out| left_out.why.clone())
            .unwrap_or_default()
    };
    for (name, reason) in [
        ("with_space_and_ü", "the name of with space/and ü"),
        ("xxxx", "1 to 64 characters"),
        ("no_schema", "no input schema"),
        ("text_schema", "not an object"),
        ("broken_schema", "can't be used"),
        ("list_schema", "not an object"),
        ("far_schema", "can't be used"),
        ("huge_schema", "larger than 65536 bytes"),
        ("echo", "the name of echo"),
        ("", "no name"),
    ] {
        assert!(why(name).contains(reason), "{name}: {:?}", why(name));
    }
    // The others of the same list are there.
    fixture.output("s.echo", json!({})).await;
}

#[tokio::test]
async fn number_of_tools_is_bounded() {
    let fixture = Fixture::ready(&["many"], |_| {}).await;
    assert_eq!(fixture.names().len(), 512);
}

#[tokio::test]
async fn what_a_server_asks_is_refused() {
    let fixture = Fixture::ready(&[], |_| {}).await;
    let replies = fixture.output("s.ask", json!({})).await;
    let replies: Vec<_> = replies.as_str().unwrap().split("; ").collect();
    assert_eq!(replies[0], "error -32601");
    assert_eq!(replies[1], "error -32601");
    assert_eq!(replies[2], "{\"action\": \"decline\"}");
    assert_eq!(replies[3], "error -32601");
    let fixture =
        Fixture::ready(&[], |config| config.roots = vec!["file:///data".to_owned()]).await;
    let replies = fixture.output("s.ask", json!({})).await;
    assert!(
        replies.as_str().unwrap().contains("file:///data"),
        "{replies}"
    );
}

#[tokio::test]
async fn floods_take_no_memory() {
    let before = peak_megabytes();
    let fixture = Fixture::ready(&[], |_| {}).await;
    let error = fixture.error("s.big", json!({"n": 50_000_000})).await;
    assert!(
        error.contains("its answer was dropped: it has more than 50000"),
        "{error}"
    );
    let error = fixture.error("s.big", json!({"n": 2_000_000})).await;
    assert!(
        error.contains("its output of 2000002 bytes was dropped"),
        "{error}"
    );
    assert!(fixture.is_unknown("s.endless").await);
    fixture.output("s.echo", json!({})).await;
    let said = fixture.server.status().last_error;
    assert_eq!(said.as_deref(), Some("it sent a message without end"));
    fixture.output("s.flood", json!({})).await;
    // Its answers come between the messages that nobody asked for.
    for n in 0..3 {
        let echoed = fixture.output("s.echo", json!({"n": n})).await;
        assert_eq!(echoed, json!(format!("{{\"n\": {n}}}")));
    }
    let pinging = Fixture::ready(&[], |_| {}).await;
    pinging.output("s.pings", json!({})).await;
    for n in 0..3 {
        pinging.output("s.echo", json!({"n": n})).await;
    }
    let grown = peak_megabytes() - before;
    assert!(grown < 100, "the memory has grown by {grown} MB");
}

#[tokio::test]
async fn processes_end_with_their_server() {
    let fixture = Fixture::ready(&[], |_| {}).await;
    let (process, child) = fixture.processes().await;
    assert!(is_running(process) && is_running(child));
    fixture.server.shut_down().await;
    // No zombie is left of it either. What it has started was killed, and is not ours to wait for.
    assert!(!std::path::Path::new(&format!("/proc/{process}")).exists());
    until(|| !is_running(child)).await;
    assert_eq!(fixture.server.status().state, State::Stopped);
    assert!(fixture.names().is_empty());
    let error = fixture.error("s.echo", json!({})).await;
    assert_eq!(error, "The MCP server s was shut down.");
    let dropped = Fixture::ready(&[], |_| {}).await;
    let (process, child) = dropped.processes().await;
    drop(dropped);
    until(|| !std::path::Path::new(&format!("/proc/{process}")).exists()).await;
    until(|| !is_running(child)).await;
    // A server that does not notice that its input was closed.
    let frozen = Fixture::ready(&[], |config| config.call_timeout = SHORT).await;
    let (process, child) = frozen.processes().await;
    let (work, _received) = WorkSender::new(8);
    tokio::select! {
        _ = run(&frozen.tools, "s.freeze", json!({}), work) => {}
        () = frozen.until_noted("call freeze") => {}
    }
    frozen.server.shut_down().await;
    assert!(!is_running(process));
    until(|| !is_running(child)).await;
}

#[tokio::test]
async fn program_does_not_get_our_environment() {
    let fixture = Fixture::ready(&[], |_| {}).await;
    let names = fixture.output("s.environment", json!({})).await;
    let names: Vec<String> = serde_json::from_str(names.as_str().unwrap()).unwrap();
    assert!(names.contains(&"PATH".to_owned()) && names.contains(&"CALLS".to_owned()));
    // Cargo sets it for tests, and nobody named it.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    assert!(
        !names.contains(&"CARGO_MANIFEST_DIR".to_owned()),
        "{names:?}"
    );
}

#[tokio::test]
async fn calls_beyond_the_limit_wait_for_those_before_them() {
    let fixture = Fixture::ready(&[], |config| config.limits.max_calls = 1).await;
    let mut first = Box::pin(fixture.call("s.hang", json!({})));
    tokio::select! {
        outcome = &mut first => panic!("{outcome:?}"),
        () = fixture.until_noted("call hang") => {}
    }
    let mut second = Box::pin(fixture.call("s.echo", json!({})));
    assert!(tokio::time::timeout(SHORT, &mut second).await.is_err());
    drop(first);
    let second = second.await;
    assert!(matches!(second, Outcome::Output { .. }), "{second:?}");
}

#[tokio::test]
async fn server_that_can_not_be_reached_by_http_is_said_to_be_down() {
    let calls = NamedTempFile::new().unwrap();
    let mut config = fixture::config(&[], &calls);
    // A port that was free a moment ago, and that nobody listens at.
    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    config.transport = adk_stream_tools::mcp::Transport::Http {
        url: format!("http://127.0.0.1:{port}/mcp"),
        headers: Default::default(),
    };
    config.start_timeout = LONG;
    let server = Server::start(config).unwrap();
    let error = server.started().await.unwrap_err();
    assert!(error.contains("did not complete the handshake"), "{error}");
    let missing = server.source().find("s.x").unwrap().err().unwrap();
    assert!(missing.starts_with("The MCP server s is down"), "{missing}");
}
