//! Starts the binary, and ends it when the test ends.

use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};

use tempfile::TempDir;

/// A command that knows nothing of the variables and files of whoever runs the tests.
pub(crate) struct Start {
    command: Command,
    pub(crate) folder: TempDir,
}

/// A running server, killed when it is dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
    pub(crate) stderr: BufReader<ChildStderr>,
    _folder: TempDir,
}

/// A start that failed.
pub(crate) struct Refusal {
    pub(crate) code: Option<i32>,
    pub(crate) line: String,
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
        let Some(address) = line.strip_prefix("listening on http://") else {
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
            stderr,
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
    pub(crate) fn answered(mut self) -> String {
        let output = self.command.output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
        String::from_utf8(output.stdout).unwrap()
    }
}

fn first_line(child: &mut Child) -> String {
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    line
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

    /// The next line on stderr.
    pub(crate) fn log_line(&mut self) -> String {
        let mut line = String::new();
        self.stderr.read_line(&mut line).unwrap();
        line
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already, and then there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
