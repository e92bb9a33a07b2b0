//! Starts the binary, and ends it when the test ends.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::{Mutex, mpsc};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// How long a line of the log is waited for: one that takes longer never comes.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// A command without the variables and files of the environment of the tests.
pub(crate) struct Start {
    command: Command,
    pub(crate) folder: TempDir,
}

/// A running server, killed when it is dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
    /// The lines that it has written on stderr. Tests share servers among threads.
    log: Mutex<mpsc::Receiver<String>>,
    _folder: TempDir,
}

/// A start that failed.
pub(crate) struct Refusal {
    pub(crate) code: Option<i32>,
    pub(crate) line: String,
}

/// How often a race or a kill is repeated: a few times in `make test`, many times in `make test-long`.
pub(crate) fn repetitions(few: usize, many: usize) -> usize {
    let is_long = std::env::var("TEST_LONG").is_ok_and(|value| value == "1");
    if is_long { many } else { few }
}

/// `adk-stream ARGUMENTS`, in an empty folder.
pub(crate) fn adk_stream(arguments: &[&str]) -> Start {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_adk-stream"));
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("ADK_STREAM_") || text.ends_with("_API_KEY") {
            command.env_remove(name);
        }
    }
    command
        .args(arguments)
        // Tests ask as fast as they can until something has happened.
        .env("ADK_STREAM_MAX_REQUESTS_PER_SECOND", "none")
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    Start { command, folder }
}

/// A server on a free port.
pub(crate) fn serve() -> Server {
    adk_stream(&["serve", "--listen", "127.0.0.1:0"]).running()
}

impl Start {
    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// Writes a file into the folder in which the binary starts.
    pub(crate) fn file(self, name: &str, text: impl AsRef<[u8]>) -> Self {
        std::fs::write(self.folder.path().join(name), text).unwrap();
        self
    }

    /// Starts it with this many descriptors, and this hard limit.
    pub(crate) fn descriptors(mut self, soft: usize, hard: usize) -> Self {
        let mut command = Command::new("prlimit");
        command
            .arg(format!("--nofile={soft}:{hard}"))
            .arg(self.command.get_program())
            .args(self.command.get_args())
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        for (name, value) in self.command.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        self.command = command;
        self
    }

    /// Has the modes of files hold for it, also where it runs as root.
    pub(crate) fn without_privilege(mut self) -> Self {
        if std::fs::metadata("/proc/self").unwrap().uid() == 0 {
            let mut command = Command::new("setpriv");
            command
                .args(["--inh-caps=-dac_override", "--bounding-set=-dac_override"])
                .arg(self.command.get_program())
                .args(self.command.get_args())
                .current_dir(self.folder.path())
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped());
            self.command = command;
        }
        self
    }

    /// Starts it, and reads the line that says where it listens.
    pub(crate) fn running(mut self) -> Server {
        let mut child = self.command.spawn().unwrap();
        let line = first_line(&mut child);
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let address = line.strip_prefix("listening on http://");
        let Some(address) = address.or(line.strip_prefix("listening on https://")) else {
            let mut text = String::new();
            child.kill().unwrap();
            child.wait().unwrap();
            stderr.read_to_string(&mut text).unwrap();
            panic!("it did not start: {line}{text}");
        };
        let address = address.trim_end().parse().unwrap();
        Server {
            child,
            address,
            log: Mutex::new(lines(stderr)),
            _folder: self.folder,
        }
    }

    /// Starts it, and expects that it ends by itself, with one line on stderr and none on stdout.
    pub(crate) fn refused(mut self) -> Refusal {
        let mut child = self.command.spawn().unwrap();
        let line = first_line(&mut child);
        if !line.is_empty() {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("it started: {line}");
        }
        let output = child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        let line = stderr
            .strip_suffix('\n')
            .unwrap_or_else(|| panic!("no line: {stderr:?}"));
        assert!(!line.contains('\n'), "more than one line: {stderr}");
        Refusal {
            code: output.status.code(),
            line: line.to_owned(),
        }
    }

    /// Starts it, and expects that it answers on stdout and ends.
    pub(crate) fn answered(self) -> String {
        self.answered_in().0
    }

    /// The same, with the folder in which it ran.
    pub(crate) fn answered_in(mut self) -> (String, TempDir) {
        let output = self.command.output().unwrap();
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
        assert_eq!(output.status.code(), Some(0));
        (String::from_utf8(output.stdout).unwrap(), self.folder)
    }

    /// Starts it, and waits for its end: its exit code, and what it wrote on stdout.
    pub(crate) fn printed(mut self) -> (Option<i32>, String) {
        let output = self.command.output().unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
        )
    }

    /// Starts it, and waits for its end: its exit code, and what it wrote on stderr.
    pub(crate) fn ended(mut self) -> (Option<i32>, String) {
        let output = self.command.output().unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    }
}

fn first_line(child: &mut Child) -> String {
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    line
}

/// Reads lines as they are written, so that they can be waited for.
fn lines(mut stderr: BufReader<ChildStderr>) -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || {
        loop {
            let mut line = String::new();
            let read = stderr.read_line(&mut line).unwrap_or_default();
            // The server has ended, or nobody wants to know.
            if read == 0 || sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

impl Refusal {
    /// Expects the exit code of every failed start, and this line.
    pub(crate) fn says(&self, line: &str) {
        assert_eq!(self.line, format!("adk-stream: {line}"));
        assert_eq!(self.code, Some(2));
    }
}

impl Server {
    /// How large a file it may make from here on, in bytes or `unlimited`.
    pub(crate) fn limit_files(&self, size: &str) {
        let limited = Command::new("prlimit")
            .args([&format!("--fsize={size}:"), "--pid"])
            .arg(self.child.id().to_string())
            .status();
        assert!(limited.unwrap().success());
    }

    /// The most memory that it has had at once, in bytes.
    pub(crate) fn peak_memory(&self) -> u64 {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(path).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kibibytes = line.unwrap().trim().trim_end_matches(" kB");
        kibibytes.parse::<u64>().unwrap() * 1024
    }

    /// How many descriptors it may have from here on.
    pub(crate) fn limit_descriptors(&self, count: usize) {
        let limited = Command::new("prlimit")
            .args([&format!("--nofile={count}:"), "--pid"])
            .arg(self.child.id().to_string())
            .status();
        assert!(limited.unwrap().success());
    }

    /// Sends a signal, by its name without SIG.
    pub(crate) fn signal(&self, name: &str) {
        // A shell's own kill is there even where no `kill` program is.
        let command = format!("kill -{name} {}", self.child.id());
        assert!(
            Command::new("sh")
                .args(["-c", &command])
                .status()
                .unwrap()
                .success()
        );
    }

    /// Waits for its end.
    pub(crate) fn ended(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }

    /// The next line on stderr; nothing, where the server has ended.
    pub(crate) fn log_line(&mut self) -> String {
        match self.log.get_mut().unwrap().recv_timeout(TIME_LIMIT) {
            Ok(line) => line,
            Err(mpsc::RecvTimeoutError::Disconnected) => String::new(),
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("the log says nothing more"),
        }
    }

    /// Waits for a line in the log, so that a test sees what an operator would.
    pub(crate) fn log_says(&mut self, text: &str) -> String {
        let began = Instant::now();
        loop {
            let line = self.log_line();
            assert!(!line.is_empty(), "the log ended without: {text}");
            assert!(
                began.elapsed() < TIME_LIMIT,
                "the log goes on without: {text}"
            );
            if line.contains(text) {
                return line;
            }
        }
    }

    /// All that is left on stderr of a server that has ended.
    pub(crate) fn log(&mut self) -> String {
        self.log.get_mut().unwrap().iter().collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already, and then there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
