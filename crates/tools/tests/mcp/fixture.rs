//! A server that misbehaves on request, and calls of its tools without an engine.

use std::collections::BTreeMap;
use std::time::Duration;

use adk_stream_tools::mcp::{Server, ServerConfig, Transport};
use adk_stream_tools::work::{ToolDoes, Work, WorkReceiver, WorkSender};
use adk_stream_tools::{Context, Pattern, Policy, Source, Tools};
use serde_json::{Value, json};
use tempfile::NamedTempFile;
use turn::call::Outcome;

/// Longer than anything takes on a busy machine. Who waits so long waits for what does not come.
pub(crate) const LONG: Duration = Duration::from_secs(60);

pub(crate) struct Fixture {
    pub(crate) server: Server,
    pub(crate) tools: Tools,
    /// What the server has noted.
    calls: NamedTempFile,
}

/// How the server is started, every tool of it allowed.
pub(crate) fn config(args: &[&str], calls: &NamedTempFile) -> ServerConfig {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mcp/server.py");
    let args = [script].into_iter().chain(args.iter().copied());
    let calls = calls.path().to_string_lossy().into_owned();
    let transport = Transport::Stdio {
        command: "python3".to_owned(),
        args: args.map(str::to_owned).collect(),
        env: BTreeMap::from([("CALLS".to_owned(), calls)]),
        cwd: None,
    };
    let mut config = ServerConfig::new("s", transport);
    config.policies = config
        .policies
        .with(Pattern::new("*").unwrap(), Policy::Allow);
    config.call_timeout = LONG;
    config.start_timeout = LONG;
    config.limits.max_restart_delay = Duration::from_millis(200);
    config
}

impl Fixture {
    pub(crate) fn start(args: &[&str], adjust: impl FnOnce(&mut ServerConfig)) -> Self {
        let calls = NamedTempFile::new().unwrap();
        let mut config = config(args, &calls);
        adjust(&mut config);
        let server = Server::start(config).unwrap();
        let tools = Tools::new().with_source(server.source());
        Self {
            server,
            tools,
            calls,
        }
    }

    pub(crate) async fn ready(args: &[&str], adjust: impl FnOnce(&mut ServerConfig)) -> Self {
        let fixture = Self::start(args, adjust);
        fixture.server.started().await.unwrap();
        fixture
    }

    /// Runs a tool, and gives what it showed meanwhile as well.
    pub(crate) async fn run(&self, tool: &str, input: Value) -> (Outcome, Vec<Value>) {
        let (work, received) = WorkSender::new(64);
        let outcome = run(&self.tools, tool, input, work).await;
        (outcome, shown(received))
    }

    pub(crate) async fn call(&self, tool: &str, input: Value) -> Outcome {
        self.run(tool, input).await.0
    }

    /// The output of a call that has one.
    pub(crate) async fn output(&self, tool: &str, input: Value) -> Value {
        match self.call(tool, input).await {
            Outcome::Output { output } => output,
            other => panic!("{tool}: {other:?}"),
        }
    }

    /// Why a call failed that did.
    pub(crate) async fn error(&self, tool: &str, input: Value) -> String {
        match self.call(tool, input).await {
            Outcome::Error { error } => error,
            other => panic!("{tool}: {other:?}"),
        }
    }

    /// Whether the outcome of a call is unknown.
    pub(crate) async fn is_unknown(&self, tool: &str) -> bool {
        matches!(self.call(tool, json!({})).await, Outcome::Unknown { .. })
    }

    pub(crate) fn notes(&self) -> String {
        std::fs::read_to_string(self.calls.path()).unwrap()
    }

    pub(crate) async fn until_noted(&self, line: &str) {
        until(|| self.notes().contains(line)).await;
    }

    /// The processes of the server: itself, and one that it has started.
    pub(crate) async fn processes(&self) -> (u32, u32) {
        let output = self.output("s.pid", json!({})).await;
        serde_json::from_str(output.as_str().unwrap()).unwrap()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        self.server.tools().keys().cloned().collect()
    }
}

/// Runs a tool as the engine would.
pub(crate) async fn run(tools: &Tools, tool: &str, input: Value, work: WorkSender) -> Outcome {
    let context = Context::new(
        "chat".into(),
        1,
        "call".into(),
        "ann".into(),
        tools.clone(),
        work,
        Default::default(),
    );
    let found = match tools.find_to_run(tool) {
        Ok(found) => found,
        Err(error) => return Outcome::Error { error },
    };
    let function = found.function().unwrap();
    match tokio::time::timeout(LONG * 2, function(context, input)).await {
        Ok(adk_stream_tools::tool::Returned::Done(outcome)) => outcome,
        Ok(_) => panic!("{tool} goes on"),
        Err(_) => panic!("{tool} does not end"),
    }
}

pub(crate) fn shown(mut received: WorkReceiver) -> Vec<Value> {
    let mut shown = Vec::new();
    while let Ok(work) = received.try_recv() {
        if let Work::Tool {
            does: ToolDoes::Progress { output },
            ..
        } = *work
        {
            shown.push(output);
        }
    }
    shown
}

/// Waits for something that happens in another process.
pub(crate) async fn until(mut holds: impl FnMut() -> bool) {
    let waiting = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(LONG, waiting)
        .await
        .expect("it does not happen");
}

/// Whether a process is there and runs.
pub(crate) fn is_running(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

/// The memory of this process at its largest, in MB.
pub(crate) fn peak_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    let kilobytes: u64 = peak.split_whitespace().nth(1).unwrap().parse().unwrap();
    kilobytes / 1024
}
