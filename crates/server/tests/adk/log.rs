//! What the log says of an ADK server.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};

use super::*;
use crate::fake::Habits;

/// The binary, which ends with the test, and its log.
struct Serving {
    child: Child,
    log: Receiver<String>,
}

impl Serving {
    fn start(agent: &str, adk: SocketAddr) -> Self {
        let url = format!("http://{adk}");
        let mut child = Command::new(env!("CARGO_BIN_EXE_adk-stream"))
            .args(["serve", "--listen", "127.0.0.1:0", "--store", "memory"])
            .args(["--agent", agent, "--adk-url", &url, "--adk-app", "app"])
            .env("ADK_STREAM_LOG", "info")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, log) = channel();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        std::thread::spawn(move || {
            let mut lines = lines.map_while(Result::ok);
            while lines.next().is_some_and(|line| sender.send(line).is_ok()) {}
        });
        Self { child, log }
    }

    /// The first line with these words.
    fn says(&self, words: &str) -> String {
        loop {
            let line = self.log.recv_timeout(TIME_LIMIT).expect(words);
            if line.contains(words) {
                return line;
            }
        }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
fn version_and_what_follows_from_it_are_in_the_log_before_the_first_message() {
    for agent in ["adk", "adk-live"] {
        let (_adk, fake, address, _) = bridge();
        fake.behave(Habits {
            version: Some("2.0.0"),
            ..Habits::default()
        });
        let serving = Serving::start(agent, address);
        let line = serving.says("ADK server version");
        assert!(line.contains("2.0.0"), "{line}");
        let line = serving.says("ADK server quirk detected");
        assert!(
            line.contains("the id of a session is in the path"),
            "{line}"
        );
        assert!(fake.runs().is_empty());
    }
}

#[test]
fn server_without_a_version_is_in_the_log_too() {
    let (_adk, _, address, _) = bridge();
    let line = Serving::start("adk", address).says("ADK server version");
    assert!(line.contains("unknown"), "{line}");
}
