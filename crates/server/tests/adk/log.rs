//! What the log says of an ADK server.

use super::*;
use crate::fake::Habits;
use crate::process::{Server, adk_stream};

/// The binary in front of an ADK server.
fn serve(agent: &str, adk: SocketAddr) -> Server {
    let url = format!("http://{adk}");
    let front = ["--agent", agent, "--adk-url", &url, "--adk-app", "app"];
    let arguments = [["serve", "--listen", "127.0.0.1:0"].as_slice(), &front].concat();
    adk_stream(&arguments)
        .variable("ADK_STREAM_LOG", "info")
        .running()
}

#[test]
fn version_and_what_follows_from_it_are_in_the_log_before_the_first_message() {
    for agent in ["adk", "adk-live"] {
        let (_adk, fake, address, _) = bridge();
        fake.behave(Habits {
            version: Some("2.0.0"),
            ..Habits::default()
        });
        let mut server = serve(agent, address);
        let line = server.log_says("ADK server version");
        assert!(line.contains("2.0.0"), "{line}");
        let line = server.log_says("ADK server quirk detected");
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
    let line = serve("adk", address).log_says("ADK server version");
    assert!(line.contains("unknown"), "{line}");
}
