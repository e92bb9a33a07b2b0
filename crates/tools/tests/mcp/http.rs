//! A server over streamable HTTP that hangs, cuts, redirects and answers far too much.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use adk_stream_tools::mcp::{State, Transport};
use serde_json::json;
use tempfile::NamedTempFile;
use turn::call::Outcome;

use crate::fixture::{Fixture, LONG, peak_megabytes};
use crate::real::Running;

/// A time that a call surely does not meet, and that nobody minds to wait.
const SHORT: Duration = Duration::from_millis(300);

/// The server as a process, and the client of it.
struct Reached {
    fixture: Fixture,
    calls: NamedTempFile,
    _running: Running,
}

impl Reached {
    async fn start(call_timeout: Duration) -> Self {
        let calls = NamedTempFile::new().unwrap();
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp/http_server.py");
        let mut child = Command::new("python3")
            .arg(script)
            .env("CALLS", calls.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let output = child.stdout.take().unwrap();
        BufReader::new(output).read_line(&mut line).unwrap();
        let running = Running(child);
        let fixture = Fixture::ready(&[], |config| {
            config.call_timeout = call_timeout;
            config.transport = Transport::Http {
                url: line.trim().to_owned(),
                headers: [("authorization".to_owned(), "Bearer s3cret".to_owned())].into(),
            };
        });
        Self {
            fixture: fixture.await,
            calls,
            _running: running,
        }
    }

    /// The server answers after whatever it has done before.
    async fn is_well(&self) {
        let echoed = self.fixture.output("s.echo", json!({})).await;
        assert_eq!(echoed, json!("echoed"));
        assert_eq!(self.fixture.server.status().state, State::Ready);
    }

    fn notes(&self) -> String {
        std::fs::read_to_string(self.calls.path()).unwrap()
    }
}

#[tokio::test]
async fn call_that_hangs_over_http_is_unknown_after_its_time() {
    let reached = Reached::start(SHORT).await;
    assert!(reached.fixture.is_unknown("s.hang").await);
    assert_eq!(reached.notes().matches("call hang").count(), 1);
    // The time of a call is too short for a busy machine: whether it answers again is asked with more.
    drop(reached);
    Reached::start(LONG).await.is_well().await;
}

#[tokio::test]
async fn answer_that_is_cut_over_http_leaves_the_outcome_unknown() {
    let reached = Reached::start(LONG).await;
    for tool in ["cut", "cut_stream"] {
        let outcome = reached.fixture.call(&format!("s.{tool}"), json!({})).await;
        assert!(
            matches!(outcome, Outcome::Unknown { .. }),
            "{tool}: {outcome:?}"
        );
        // The tool has run, perhaps: it is not called again by itself.
        let called = reached
            .notes()
            .lines()
            .filter(|line| *line == format!("call {tool}"))
            .count();
        assert_eq!(called, 1, "{tool}");
        reached.is_well().await;
    }
}

#[tokio::test]
async fn redirect_is_not_followed_with_the_headers() {
    let reached = Reached::start(LONG).await;
    let error = reached.fixture.error("s.redirect", json!({})).await;
    assert!(
        error.contains("The call was not made") && error.contains("307"),
        "{error}"
    );
    assert!(!reached.notes().contains("elsewhere"));
    reached.is_well().await;
}

#[tokio::test]
async fn error_of_the_server_over_http_leaves_the_outcome_unknown() {
    let reached = Reached::start(LONG).await;
    assert!(reached.fixture.is_unknown("s.gone").await);
    reached.is_well().await;
}

#[tokio::test]
async fn answers_of_50_megabytes_over_http_take_no_memory() {
    let reached = Reached::start(LONG).await;
    let before = peak_megabytes();
    for tool in ["s.big", "s.big_stream"] {
        let error = reached.fixture.error(tool, json!({})).await;
        assert!(error.contains("its answer was dropped"), "{tool}: {error}");
        reached.is_well().await;
    }
    let grown = peak_megabytes() - before;
    assert!(grown < 40, "the memory has grown by {grown} MB");
}
