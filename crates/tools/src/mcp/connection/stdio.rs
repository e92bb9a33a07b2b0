//! A server that is a program of this machine: one JSON-RPC message a line, both ways.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::process::Stdio as Pipe;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::service::RoleClient;
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::{Mutex, Notify};
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep_until, timeout};

use super::line::{LineRead, LineReader};
use super::peer::Sent;
use super::process::Process;
use super::{Failure, dropped, unreadable};

/// What a program gets of our environment: what it needs to run, and no secrets.
const INHERITED: [&str; 29] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "PYTHONUTF8",
];

/// How long a server may take to read one message.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);

/// How many messages to a server may wait to be written before nothing more is read from it.
const MAX_UNWRITTEN: usize = 256;

/// How many messages of a server that answer nothing are read in a second.
const MAX_UNASKED: usize = 1000;

/// How many times the size of one message they may have in all.
const MAX_UNASKED_SIZES: usize = 8;

/// A program that is an MCP server.
pub(super) struct Program {
    pub(super) server: String,
    pub(super) command: String,
    pub(super) args: Vec<String>,
    pub(super) env: BTreeMap<String, String>,
    pub(super) cwd: Option<PathBuf>,
}

/// The pipes to a program that runs. It ends when this is dropped.
pub(super) struct Stdio {
    child: Option<Child>,
    process: Arc<Process>,
    lines: LineReader<ChildStdout>,
    stdin: Arc<Mutex<Option<ChildStdin>>>,
    unwritten: Arc<Unwritten>,
    flow: Flow,
    sent: Arc<Sent>,
    max: usize,
    log: Option<AbortHandle>,
}

impl Stdio {
    /// Starts a program.
    pub(super) fn start(program: &Program, max: usize, sent: Arc<Sent>) -> Result<Self, Failure> {
        let mut command = Command::new(&program.command);
        command
            .args(&program.args)
            .env_clear()
            .envs(
                INHERITED
                    .iter()
                    .filter_map(|name| Some((name, std::env::var_os(name)?))),
            )
            .envs(&program.env)
            .stdin(Pipe::piped())
            .stdout(Pipe::piped())
            .stderr(Pipe::piped())
            .process_group(0)
            .kill_on_drop(true);
        if let Some(cwd) = &program.cwd {
            command.current_dir(cwd);
        }
        let mut child = command.spawn().map_err(|error| Failure {
            reason: "its program can't be started".to_owned(),
            detail: Some(format!("{}: {error}", program.command)),
        })?;
        let incomplete = || Failure::new("its program can't be started");
        let process = Arc::new(Process::of(&child).ok_or_else(incomplete)?);
        let stdin = child.stdin.take().ok_or_else(incomplete)?;
        let stdout = child.stdout.take().ok_or_else(incomplete)?;
        let log = child.stderr.take().map(|stderr| {
            let (process, server) = (process.clone(), program.server.clone());
            let log = tokio::spawn(async move { process.log(&server, stderr).await });
            log.abort_handle()
        });
        Ok(Self {
            child: Some(child),
            process,
            lines: LineReader::new(stdout, max),
            stdin: Arc::new(Mutex::new(Some(stdin))),
            unwritten: Arc::default(),
            flow: Flow::new(max),
            sent,
            max,
            log,
        })
    }

    pub(super) fn process(&self) -> Arc<Process> {
        self.process.clone()
    }

    /// The message of a line, or nothing if it is none.
    fn message(&mut self) -> Option<ServerJsonRpcMessage> {
        let line = self.lines.line();
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        if line.iter().all(u8::is_ascii_whitespace) {
            self.flow.count(line.len());
            return None;
        }
        match serde_json::from_slice(line) {
            Ok(message @ (JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_))) => Some(message),
            Ok(message) => {
                self.flow.count(line.len());
                Some(message)
            }
            Err(error) => {
                self.flow.count(line.len());
                let id = answered(line)?;
                Some(unreadable(id, &error.to_string()))
            }
        }
    }
}

/// The request that an answer belongs to which can't be read.
fn answered(line: &[u8]) -> Option<RequestId> {
    let message: Value = serde_json::from_slice(line).ok()?;
    let is_answer = message.get("method").is_none();
    let id = message.get("id").filter(|_| is_answer)?;
    serde_json::from_value(id.clone()).ok()
}

impl Transport<RoleClient> for Stdio {
    type Error = io::Error;

    fn send(
        &mut self,
        message: ClientJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (stdin, process, sent) = (self.stdin.clone(), self.process.clone(), self.sent.clone());
        let counted = self.unwritten.clone().count();
        let line = serde_json::to_vec(&message);
        let id = match message {
            JsonRpcMessage::Request(request) => Some(request.id),
            _ => None,
        };
        async move {
            let _counted = counted;
            let mut line = line?;
            line.push(b'\n');
            let write = async {
                let mut stdin = stdin.lock().await;
                let stdin = stdin.as_mut().ok_or(io::ErrorKind::NotConnected)?;
                if let Some(id) = &id {
                    sent.begin(id);
                }
                stdin.write_all(&line).await?;
                stdin.flush().await
            };
            let written = match timeout(WRITE_TIMEOUT, write).await {
                Ok(written) => written,
                Err(_) => {
                    process.kill("it does not read what it is sent");
                    Err(io::ErrorKind::TimedOut.into())
                }
            };
            if let (Err(_), Some(id)) = (&written, &id) {
                // A line whose end was not written is no message.
                sent.forget(id);
            }
            written
        }
    }

    async fn receive(&mut self) -> Option<ServerJsonRpcMessage> {
        let process = self.process.clone();
        loop {
            self.unwritten.below(MAX_UNWRITTEN).await;
            self.flow.pause().await;
            let read = tokio::select! {
                read = self.lines.next() => read,
                () = process.killed.notified() => LineRead::End,
            };
            match read {
                LineRead::Line => {
                    if let Some(message) = self.message() {
                        return Some(message);
                    }
                }
                LineRead::TooLong {
                    id: Some(id),
                    bytes,
                } => {
                    return Some(dropped(id, bytes, self.max));
                }
                LineRead::TooLong { id: None, bytes } => {
                    tracing::warn!(bytes, "message of an MCP server dropped: too large");
                    self.flow.count(bytes);
                }
                LineRead::Flood => {
                    process.kill("it sent a message without end");
                    return None;
                }
                LineRead::End => {
                    process.note_end().await;
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        if let Ok(mut stdin) = timeout(Duration::from_millis(100), self.stdin.lock()).await {
            *stdin = None;
        }
        if let Some(mut child) = self.child.take() {
            self.process.end(&mut child).await;
        }
        Ok(())
    }
}

impl Drop for Stdio {
    fn drop(&mut self) {
        self.process.abandon(self.child.take());
        if let Some(log) = &self.log {
            log.abort();
        }
    }
}

/// How many messages wait to be written.
#[derive(Default)]
struct Unwritten {
    count: AtomicUsize,
    written: Notify,
}

struct Counted(Arc<Unwritten>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.count.fetch_sub(1, Ordering::AcqRel);
        self.0.written.notify_one();
    }
}

impl Unwritten {
    fn count(self: Arc<Self>) -> Counted {
        self.count.fetch_add(1, Ordering::AcqRel);
        Counted(self)
    }

    /// Waits until there are fewer.
    async fn below(&self, max: usize) {
        while self.count.load(Ordering::Acquire) >= max {
            self.written.notified().await;
        }
    }
}

/// How much a server says that answers nothing. One that says too much is read more slowly, and has to wait
/// for its pipe as any writer does.
struct Flow {
    max_bytes: usize,
    since: Instant,
    messages: usize,
    bytes: usize,
}

/// How long messages are counted.
const SECOND: Duration = Duration::from_secs(1);

impl Flow {
    fn new(max_message_bytes: usize) -> Self {
        Self {
            max_bytes: max_message_bytes.saturating_mul(MAX_UNASKED_SIZES),
            since: Instant::now(),
            messages: 0,
            bytes: 0,
        }
    }

    fn count(&mut self, bytes: usize) {
        if self.since.elapsed() >= SECOND {
            (self.since, self.messages, self.bytes) = (Instant::now(), 0, 0);
        }
        self.messages += 1;
        self.bytes += bytes;
    }

    /// Waits for the next second, if this one has had its share.
    async fn pause(&mut self) {
        if self.messages > MAX_UNASKED || self.bytes > self.max_bytes {
            sleep_until(self.since + SECOND).await;
            (self.since, self.messages, self.bytes) = (Instant::now(), 0, 0);
        }
    }
}
