//! Starts our programs for tests: without the variables of the environment that would configure them, in a
//! folder of their own, until they print where they listen. A program ends with its test.

// What can fail here stops a test, as in the test itself.
#![allow(clippy::unwrap_used)]

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::marker::PhantomData;
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, ExitStatus, Output, Stdio};
use std::sync::{Mutex, mpsc};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// How long a line of the log is waited for: one that takes longer never comes.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// A program without the variables that would configure ours, whose lines on stdout are read.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if is_setting(&name.to_string_lossy()) {
            command.env_remove(name);
        }
    }
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

/// Whether a variable configures one of our programs, or names a model's API.
fn is_setting(variable: &str) -> bool {
    let prefixes = ["ADK_STREAM_", "GEMINI_EMULATOR_", "GOOGLE_", "LITELLM_"];
    let is_api = variable.ends_with("_API_KEY") || variable.ends_with("_BASE_URL");
    is_api || prefixes.iter().any(|prefix| variable.starts_with(prefix))
}

/// The address in the line by which a program says that it listens.
pub fn listening_address(line: &str) -> Option<SocketAddr> {
    let (_, url) = line.split_once("listening on http")?;
    let address = url.strip_prefix('s').unwrap_or(url).strip_prefix("://")?;
    address.trim_end().parse().ok()
}

/// Reads what a program prints until it says where it listens; nothing, if it ends before that.
pub fn wait_until_listening(child: &mut Child) -> Option<SocketAddr> {
    let mut lines = BufReader::new(child.stdout.take()?)
        .lines()
        .map_while(Result::ok);
    let address = lines.find_map(|line| listening_address(&line));
    // What it prints later must not hold it up, and a closed pipe would end it.
    std::thread::spawn(move || lines.for_each(drop));
    address
}

/// Sends a signal, by its name without SIG.
pub fn signal(process: u32, name: &str) {
    // A shell's own kill is there even where no `kill` program is.
    let command = format!("kill -{name} {process}");
    let status = Command::new("sh").args(["-c", &command]).status();
    assert!(status.unwrap().success());
}

/// A program that is about to be started, in an empty folder. It becomes an `S`.
pub struct Start<S> {
    /// The name of its file, by which it reports errors.
    program: String,
    command: Command,
    folder: TempDir,
    made: PhantomData<S>,
}

/// A program that listens, killed when it is dropped.
pub struct Process {
    child: Child,
    /// Where it listens.
    pub address: SocketAddr,
    /// The lines that it has written on stderr. Tests share servers among threads.
    log: Mutex<mpsc::Receiver<String>>,
    _folder: TempDir,
}

/// A start that failed.
pub struct Refusal {
    /// The exit code.
    pub code: Option<i32>,
    /// The line on stderr.
    pub line: String,
    program: String,
}

impl<S: From<Process>> Start<S> {
    /// `PROGRAM ARGUMENTS`.
    pub fn new(program: impl AsRef<OsStr>, arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let name = Path::new(program.as_ref()).file_name().unwrap();
        let name = name.to_string_lossy().into_owned();
        let mut command = command(program);
        command
            .args(arguments)
            .current_dir(folder.path())
            .stderr(Stdio::piped());
        Self {
            program: name,
            command,
            folder,
            made: PhantomData,
        }
    }

    /// The folder in which it starts.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Sets a variable.
    #[must_use]
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// Writes a file into the folder in which the program starts.
    #[must_use]
    pub fn file(self, name: &str, text: impl AsRef<[u8]>) -> Self {
        std::fs::write(self.folder.path().join(name), text).unwrap();
        self
    }

    /// Starts it with this many descriptors, and this hard limit.
    #[must_use]
    pub fn descriptors(self, soft: usize, hard: usize) -> Self {
        self.by("prlimit", &[&format!("--nofile={soft}:{hard}")])
    }

    /// Has the modes of files hold for it, also where it runs as root.
    #[must_use]
    pub fn without_privilege(self) -> Self {
        if std::fs::metadata("/proc/self").unwrap().uid() != 0 {
            return self;
        }
        let arguments = ["--inh-caps=-dac_override", "--bounding-set=-dac_override"];
        self.by("setpriv", &arguments)
    }

    /// Has another program start it.
    fn by(mut self, starter: &str, arguments: &[&str]) -> Self {
        let mut command = Command::new(starter);
        command
            .args(arguments)
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

    /// Starts it, and waits until it listens.
    pub fn running(mut self) -> S {
        let mut child = self.command.spawn().unwrap();
        let address = wait_until_listening(&mut child);
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let Some(address) = address else {
            let mut text = String::new();
            // It may have ended already.
            let _ = child.kill();
            child.wait().unwrap();
            stderr.read_to_string(&mut text).unwrap();
            panic!("it did not start: {text}");
        };
        S::from(Process {
            child,
            address,
            log: Mutex::new(lines(stderr)),
            _folder: self.folder,
        })
    }

    /// Starts it, and expects that it ends by itself, with one line on stderr and none on stdout.
    pub fn refused(mut self) -> Refusal {
        let mut child = self.command.spawn().unwrap();
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
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
            program: self.program,
        }
    }

    /// Starts it, and expects that it answers on stdout and ends.
    pub fn answered(self) -> String {
        self.answered_in().0
    }

    /// The same, with the folder in which it ran.
    pub fn answered_in(mut self) -> (String, TempDir) {
        let Output {
            status,
            stdout,
            stderr,
        } = self.command.output().unwrap();
        assert_eq!(String::from_utf8(stderr).unwrap(), "");
        assert_eq!(status.code(), Some(0));
        (String::from_utf8(stdout).unwrap(), self.folder)
    }

    /// Starts it, and waits for its end: its exit code, and what it wrote on stdout.
    pub fn printed(mut self) -> (Option<i32>, String) {
        let Output { status, stdout, .. } = self.command.output().unwrap();
        (status.code(), String::from_utf8(stdout).unwrap())
    }

    /// Starts it, and waits for its end: its exit code, and what it wrote on stderr.
    pub fn ended(mut self) -> (Option<i32>, String) {
        let Output { status, stderr, .. } = self.command.output().unwrap();
        (status.code(), String::from_utf8(stderr).unwrap())
    }
}

/// Reads lines as they are written, so that they can be waited for.
fn lines(mut stderr: BufReader<ChildStderr>) -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || {
        loop {
            let mut line = String::new();
            let read = stderr.read_line(&mut line).unwrap_or_default();
            // The program has ended, or nobody wants to know.
            if read == 0 || sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

impl Refusal {
    /// Expects the exit code of every failed start, and this line.
    pub fn says(&self, line: &str) {
        assert_eq!(self.line, format!("{}: {line}", self.program));
        assert_eq!(self.code, Some(2));
    }
}

impl Process {
    /// How large a file it may make from here on, in bytes or `unlimited`.
    pub fn limit_files(&self, size: &str) {
        self.limit(&format!("--fsize={size}:"));
    }

    /// How many descriptors it may have from here on.
    pub fn limit_descriptors(&self, count: usize) {
        self.limit(&format!("--nofile={count}:"));
    }

    fn limit(&self, limit: &str) {
        let limited = Command::new("prlimit")
            .args([limit, "--pid"])
            .arg(self.child.id().to_string())
            .status();
        assert!(limited.unwrap().success());
    }

    /// The most memory that it has had at once, in bytes.
    pub fn peak_memory(&self) -> u64 {
        let path = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(path).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kibibytes = line.unwrap().trim().trim_end_matches(" kB");
        kibibytes.parse::<u64>().unwrap() * 1024
    }

    /// Sends a signal, by its name without SIG.
    pub fn signal(&self, name: &str) {
        signal(self.child.id(), name);
    }

    /// Waits for its end.
    pub fn ended(&mut self) -> ExitStatus {
        self.child.wait().unwrap()
    }

    /// The next line on stderr; nothing, where the program has ended.
    pub fn log_line(&mut self) -> String {
        match self.log.get_mut().unwrap().recv_timeout(TIME_LIMIT) {
            Ok(line) => line,
            Err(mpsc::RecvTimeoutError::Disconnected) => String::new(),
            Err(mpsc::RecvTimeoutError::Timeout) => panic!("the log says nothing more"),
        }
    }

    /// Waits for a line in the log, so that a test sees what an operator would.
    pub fn log_says(&mut self, text: &str) -> String {
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

    /// All that is left on stderr of a program that has ended.
    pub fn log(&mut self) -> String {
        self.log.get_mut().unwrap().iter().collect()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already, and then there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
