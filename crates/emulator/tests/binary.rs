//! The binary `gemini-emulator`.

// Helpers of tests stop as tests do.
#![allow(clippy::expect_used, clippy::unwrap_used)]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::ops::{Deref, DerefMut};

use serde_json::json;
use testkit::launcher::{self, Process};

/// A start of the binary, which becomes an [`Emulator`].
type Start = launcher::Start<Emulator>;

/// A running emulator, killed when it is dropped.
struct Emulator(Process);

impl From<Process> for Emulator {
    fn from(process: Process) -> Self {
        Self(process)
    }
}

impl Deref for Emulator {
    type Target = Process;

    fn deref(&self) -> &Process {
        &self.0
    }
}

impl DerefMut for Emulator {
    fn deref_mut(&mut self) -> &mut Process {
        &mut self.0
    }
}

/// `gemini-emulator ARGUMENTS`, in an empty folder.
fn start(arguments: &[&str]) -> Start {
    Start::new(env!("CARGO_BIN_EXE_gemini-emulator"), arguments)
}

/// An emulator on a free port.
fn emulate(arguments: &[&str]) -> Start {
    start(&[&["--listen", "127.0.0.1:0"], arguments].concat())
}

impl Emulator {
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

#[test]
fn it_answers_and_ends_at_a_signal() {
    for name in ["TERM", "INT"] {
        let mut emulator = emulate(&[]).running();
        let (status, answer) = emulator.ask("Hello");
        assert_eq!(status, 200);
        assert!(answer.contains("I am the demo agent"), "{answer}");
        emulator.signal(name);
        assert_eq!(emulator.ended().code(), Some(0), "SIG{name}");
        let line = format!("SIG{name}: answers under way have 2 s to end\n");
        assert_eq!(emulator.log(), line);
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
        .refused()
        .says("can't write nowhere/certificate.pem: No such file or directory (os error 2)");
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
        .refused()
        .says("script.json: the script is wrong: rules[0]: `nth` counts from 1");
}

#[test]
fn the_help_names_every_setting() {
    let help = start(&["--help"]).answered();
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
    start(&["--listn", "x"])
        .refused()
        .says("unexpected argument '--listn' found");
    start(&["--listen", "nowhere"])
        .refused()
        .says("can't listen on nowhere: invalid socket address");
}
