//! The binary `gemini-emulator`.

// Helpers of tests stop as tests do.
#![allow(clippy::expect_used, clippy::unwrap_used)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};

use serde_json::json;
use tempfile::TempDir;

/// A command without the variables of the environment of the tests.
struct Start {
    command: Command,
    folder: TempDir,
}

/// A running emulator, killed when it is dropped.
struct Running {
    child: Child,
    address: SocketAddr,
    _folder: TempDir,
}

/// `gemini-emulator ARGUMENTS`, in an empty folder.
fn start(arguments: &[&str]) -> Start {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_gemini-emulator"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("GEMINI_EMULATOR_") {
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

/// An emulator on a free port.
fn emulate(arguments: &[&str]) -> Start {
    start(&[&["--listen", "127.0.0.1:0"], arguments].concat())
}

impl Start {
    fn variable(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    /// Writes a file into the folder in which the binary starts.
    fn file(self, name: &str, text: &str) -> Self {
        std::fs::write(self.folder.path().join(name), text).unwrap();
        self
    }

    /// Starts it, and reads the line that says where it listens.
    fn running(mut self) -> Running {
        let mut child = self.command.spawn().unwrap();
        let mut line = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
        let address = line
            .strip_prefix("listening on http://")
            .unwrap_or_else(|| {
                child.kill().unwrap();
                panic!("it did not start: {line}")
            });
        Running {
            address: address.trim_end().parse().unwrap(),
            child,
            _folder: self.folder,
        }
    }

    /// Starts it, and expects that it ends by itself, with this line on stderr and none on stdout.
    fn refused(mut self, line: &str) {
        let output = self.command.output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(stderr, format!("gemini-emulator: {line}\n"));
        assert_eq!(output.status.code(), Some(2));
        assert!(output.stdout.is_empty());
    }
}

impl Running {
    /// Sends a signal, by its name without SIG.
    fn signal(&self, name: &str) {
        // A shell's own kill is there even where no `kill` program is.
        let command = format!("kill -{name} {}", self.child.id());
        let status = Command::new("sh").args(["-c", &command]).status();
        assert!(status.unwrap().success());
    }

    /// Asks generateContent: the status and the whole answer.
    fn ask(&self, prompt: &str) -> (u16, String) {
        let body = json!({"contents": [{"role": "user", "parts": [{"text": prompt}]}]}).to_string();
        let mut stream = TcpStream::connect(self.address).unwrap();
        write!(
            stream,
            "POST /v1beta/models/gemini-2.5-flash:generateContent HTTP/1.1\r\n\
             host: localhost\r\nconnection: close\r\nx-goog-api-key: k\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        (status, answer)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already, and then there is nothing to kill.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn it_answers_and_ends_at_a_signal() {
    for name in ["TERM", "INT"] {
        let mut emulator = emulate(&[]).running();
        let (status, answer) = emulator.ask("Hello");
        assert_eq!(status, 200);
        assert!(answer.contains("I am the demo agent"), "{answer}");
        emulator.signal(name);
        assert_eq!(emulator.child.wait().unwrap().code(), Some(0), "SIG{name}");
        let mut log = String::new();
        let mut stderr = emulator.child.stderr.take().unwrap();
        stderr.read_to_string(&mut log).unwrap();
        let line = format!("SIG{name}: answers under way have 2 s to end\n");
        assert_eq!(log, line);
    }
}

#[test]
fn a_certificate_is_written_where_it_is_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("certificate.pem");
    let _emulator = emulate(&["--certificate", path.to_str().unwrap()]).running();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("-----BEGIN CERTIFICATE-----\n"));
    emulate(&["--certificate", "nowhere/certificate.pem"])
        .refused("can't write nowhere/certificate.pem: No such file or directory (os error 2)");
}

#[test]
fn a_script_is_followed_from_a_file_or_refused() {
    let script = r#"{"rules": [{"on": "generate", "times": 1, "status": {"code": 503}}]}"#;
    let emulator = emulate(&[])
        .variable("GEMINI_EMULATOR_SCRIPT", "script.json")
        .file("script.json", script)
        .running();
    let statuses = [emulator.ask("Hello").0, emulator.ask("Hello").0];
    assert_eq!(statuses, [503, 200]);
    emulate(&["--script", "script.json"])
        .file("script.json", r#"{"rules": [{"nth": 0}]}"#)
        .refused("script.json: the script is wrong: rules[0]: `nth` counts from 1");
}

#[test]
fn the_help_names_every_setting() {
    let output = start(&["--help"]).command.output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let help = String::from_utf8(output.stdout).unwrap();
    for name in [
        "LISTEN",
        "SCRIPT",
        "CERTIFICATE",
        "KEYS",
        "PACE",
        "FRAMES",
        "SIGNATURES",
        "CALL_IDS",
    ] {
        assert!(help.contains(&format!("GEMINI_EMULATOR_{name}")), "{help}");
        let flag = format!("--{}", name.to_lowercase().replace('_', "-"));
        assert!(help.contains(&flag), "{help}");
    }
}

#[test]
fn a_mistake_is_reported_in_one_line() {
    start(&["--listn", "x"]).refused("unexpected argument '--listn' found");
    start(&["--listen", "nowhere"]).refused("can't listen on nowhere: invalid socket address");
}
