//! The process of a server, and whatever it has started: they end together.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::io::AsyncRead;
use tokio::process::Child;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};

use super::line::{LineRead, LineReader};
use super::{Failure, short};

/// How long a process has to exit once its input is closed, and again once it was asked to.
const GRACE: Duration = Duration::from_secs(1);

/// How often one looks whether it has.
const LOOK: Duration = Duration::from_millis(10);

/// How much of what it wrote to its standard error is kept for who asks why it ended.
const KEPT_LINES: usize = 8;

/// How long such a line may be.
const MAX_LINE_BYTES: usize = 2048;

/// How many such lines are logged in a second.
const MAX_LOGGED: usize = 50;

/// A process that leads a group.
pub(super) struct Process {
    group: Pid,
    state: Mutex<State>,
    /// Notified when it was killed: its output may be held open by somebody who left the group.
    pub(super) killed: Notify,
}

#[derive(Default)]
struct State {
    /// From then on the number may be another's.
    is_released: bool,
    why: Option<String>,
    stderr: VecDeque<String>,
}

impl Process {
    /// Of a child that was started as the leader of a group.
    pub(super) fn of(child: &Child) -> Option<Self> {
        let id = i32::try_from(child.id()?).ok()?;
        Some(Self {
            group: Pid::from_raw(id)?,
            state: Mutex::default(),
            killed: Notify::new(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Nothing that holds the lock can panic half-way through a change.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn signal(&self, signal: Signal) {
        let state = self.state();
        if !state.is_released {
            // Nobody may be left.
            let _ = kill_process_group(self.group, signal);
        }
    }

    /// Kills it with all that it has started, for a reason.
    pub(super) fn kill(&self, why: &str) {
        self.state().why.get_or_insert_with(|| why.to_owned());
        self.signal(Signal::KILL);
        self.killed.notify_one();
    }

    /// Kills whatever is left of the group, for the last time: the leader may be waited for now, and its
    /// number be given to another.
    fn release(&self) {
        self.signal(Signal::KILL);
        self.state().is_released = true;
    }

    /// How it has exited, if it has. It stays a zombie, so that its number stays its own.
    fn exit(&self) -> Option<String> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = waitid(WaitId::Pid(self.group), options).ok().flatten()?;
        Some(match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => format!("it exited with status {code}"),
            (None, Some(signal)) => format!("it was ended by signal {signal}"),
            (None, None) => "it exited".to_owned(),
        })
    }

    async fn exited(&self, within: Duration) -> Option<String> {
        let deadline = Instant::now() + within;
        loop {
            let exit = self.exit();
            if exit.is_some() || Instant::now() >= deadline {
                return exit;
            }
            sleep(LOOK).await;
        }
    }

    /// Notes why its output has ended.
    pub(super) async fn note_end(&self) {
        let exit = self.exited(GRACE / 2).await;
        let why = exit.unwrap_or_else(|| "it closed its output".to_owned());
        self.state().why.get_or_insert(why);
    }

    /// Ends it: its input is closed already, which a server takes as its end.
    pub(super) async fn end(&self, child: &mut Child) {
        if self.exited(GRACE).await.is_none() {
            self.signal(Signal::TERM);
            self.exited(GRACE).await;
        }
        self.release();
        // It was killed, so that this does not last.
        let _ = timeout(GRACE, child.wait()).await;
    }

    /// Ends it at once, where nothing can be waited for.
    pub(super) fn abandon(&self, child: Option<Child>) {
        self.release();
        let Some(mut child) = child else {
            return;
        };
        // Without a runtime the process is about to end, and what is left of the child with it.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let _ = child.wait().await;
            });
        }
    }

    /// A failure with what the process has to do with it.
    pub(super) fn explain(&self, mut failure: Failure) -> Failure {
        let state = self.state();
        if let Some(why) = &state.why {
            failure.reason.clone_from(why);
        }
        if !state.stderr.is_empty() {
            let said: Vec<_> = state.stderr.iter().map(String::as_str).collect();
            failure.detail = Some(said.join("\n"));
        }
        failure
    }

    /// Logs what the process writes to its standard error, within bounds.
    pub(super) async fn log(&self, server: &str, stderr: impl AsyncRead + Unpin) {
        let mut lines = LineReader::new(stderr, MAX_LINE_BYTES);
        let (mut since, mut logged) = (Instant::now(), 0);
        loop {
            let line = match lines.next().await {
                LineRead::Line => String::from_utf8_lossy(lines.line()).trim_end().to_owned(),
                LineRead::TooLong { bytes, .. } => format!("(a line of {bytes} bytes)"),
                LineRead::Flood => "(a line without end)".to_owned(),
                LineRead::End => return,
            };
            if since.elapsed() >= Duration::from_secs(1) {
                if logged > MAX_LOGGED {
                    let dropped = logged - MAX_LOGGED;
                    tracing::info!(server, dropped, "MCP server stderr lines not logged");
                }
                (since, logged) = (Instant::now(), 0);
            }
            logged += 1;
            if logged <= MAX_LOGGED {
                tracing::info!(server, line = %short(&line), "MCP server stderr");
            }
            let mut state = self.state();
            if state.stderr.len() == KEPT_LINES {
                state.stderr.pop_front();
            }
            state.stderr.push_back(short(&line));
        }
    }
}
