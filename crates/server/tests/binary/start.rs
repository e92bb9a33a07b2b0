//! How the binary starts, and how it says that it can't.

use std::net::TcpListener;

use crate::process::{Start, adk_stream, serve};

const FREE: &str = "127.0.0.1:0";

fn starts(start: Start) {
    assert_eq!(start.running().get("/healthz").status, 200);
}

fn serve_with(arguments: &[&str]) -> Start {
    adk_stream(&[&["serve"], arguments].concat())
}

#[test]
fn it_says_where_it_listens() {
    let server = serve();
    assert!(server.address.ip().is_loopback());
    assert_ne!(server.address.port(), 0);
}

#[test]
fn it_is_set_by_flag_variable_or_file() {
    let file = format!("listen = '{FREE}'\nstore = 'memory'\nagent = 'demo'\n");
    starts(serve_with(&[
        "--listen", FREE, "--store", "memory", "--agent", "demo",
    ]));
    starts(
        serve_with(&[])
            .variable("ADK_STREAM_LISTEN", FREE)
            .variable("ADK_STREAM_STORE", "memory")
            .variable("ADK_STREAM_AGENT", "demo"),
    );
    starts(serve_with(&[]).file("adk-stream.toml", &file));
    starts(serve_with(&["--config", "other.toml"]).file("other.toml", &file));
    starts(
        serve_with(&[])
            .variable("ADK_STREAM_CONFIG", "other.toml")
            .file("other.toml", &file),
    );
}

#[test]
fn a_flag_beats_a_variable_beats_the_file() {
    // A value that is refused tells which one was taken.
    let all = |flag: &[&str]| {
        serve_with(flag)
            .variable("ADK_STREAM_AGENT", "of-variable")
            .file(
                "adk-stream.toml",
                "agent = 'of-file'\nlisten = '127.0.0.1:0'\n",
            )
    };
    starts(all(&["--agent", "demo"]));
    let refused = all(&[]).refused().line;
    assert!(
        refused.starts_with("adk-stream: ADK_STREAM_AGENT: `of-variable`"),
        "{refused}"
    );
    starts(all(&[]).variable("ADK_STREAM_AGENT", "demo"));
    let refused = all(&[]).variable("ADK_STREAM_AGENT", "").refused().line;
    assert!(
        refused.starts_with("adk-stream: adk-stream.toml: agent: `of-file`"),
        "{refused}"
    );
}

#[test]
fn a_file_that_is_named_hides_the_one_in_the_folder() {
    starts(
        serve_with(&["--config", "other.toml"])
            .file("other.toml", format!("listen = '{FREE}'"))
            .file("adk-stream.toml", "not toml"),
    );
}

#[test]
fn help_and_version_are_answers() {
    assert_eq!(adk_stream(&["--version"]).answered(), "adk-stream 0.1.0\n");
    let help = adk_stream(&["--help"]).answered();
    assert!(help.contains("serve"), "{help}");
    let help = adk_stream(&["serve", "--help"]).answered();
    for word in [
        "--listen",
        "--store",
        "--agent",
        "--config",
        "ADK_STREAM_LISTEN",
    ] {
        assert!(help.contains(word), "{help}");
    }
}

#[test]
fn a_taken_port_is_refused() {
    let taken = TcpListener::bind(FREE).unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let refusal = serve_with(&["--listen", &address]).refused();
    let start = format!("adk-stream: can't listen on {address}: Address already in use");
    assert!(refusal.line.starts_with(&start), "{}", refusal.line);
    assert_eq!(refusal.code, Some(2));
}

#[test]
fn an_address_of_another_machine_is_refused() {
    // TEST-NET-1, which no machine has.
    let refusal = serve_with(&["--listen", "192.0.2.1:0"]).refused();
    let start = "adk-stream: can't listen on 192.0.2.1:0: ";
    assert!(refusal.line.starts_with(start), "{}", refusal.line);
    assert_eq!(refusal.code, Some(2));
}

#[test]
fn a_mistyped_command_line_is_refused() {
    adk_stream(&[])
        .refused()
        .says("nothing to do; try `adk-stream serve` or `adk-stream --help`");
    serve_with(&["--port", "1"])
        .refused()
        .says("unexpected argument '--port' found");
    serve_with(&["--listen", "8080"])
        .refused()
        .says("--listen: `8080` is not an address; expected HOST:PORT, as in 127.0.0.1:8080");
    serve_with(&["--store", "mysql://ann:secret@host/chats"])
        .refused()
        .says("--store: not a store; expected memory, sqlite:PATH or postgres://…");
    serve_with(&[]).variable("ADK_STREAM_LOG", "adk_stream=loud").refused().says(
        "ADK_STREAM_LOG: `adk_stream=loud` is not a filter; expected a level such as info, or module=level",
    );
}

#[test]
fn a_file_with_a_mistake_is_refused() {
    let with = |text: &[u8]| {
        serve_with(&["--listen", FREE])
            .file("adk-stream.toml", text)
            .refused()
    };
    let unknown = with(b"agent = 'demo'\ncolour = 'red'\n");
    let start = "adk-stream: adk-stream.toml, line 2, column 1: unknown field `colour`, expected one of `listen`, ";
    assert!(unknown.line.starts_with(start), "{}", unknown.line);
    assert_eq!(unknown.code, Some(2));
    with(b"listen = 8080").says(
        "adk-stream.toml, line 1, column 10: invalid type: integer `8080`, expected a string",
    );
    for text in [
        &b"\nlisten = "[..],
        b"listen",
        b"[",
        b"store = 'a\nb'",
        b"\xff",
    ] {
        let refusal = with(text);
        assert!(refusal.line.contains("adk-stream.toml"), "{}", refusal.line);
        assert_eq!(refusal.code, Some(2));
    }
}

#[test]
fn a_file_that_can_not_be_read_is_refused() {
    let missing = serve_with(&["--config", "missing.toml"]).refused();
    missing.says("can't read missing.toml: No such file or directory (os error 2)");
    let folder = serve_with(&[]).variable("ADK_STREAM_CONFIG", ".").refused();
    folder.says(".: the folder has no .toml file");
}

#[test]
fn a_database_that_can_not_be_opened_is_named() {
    let with = |url: &str| serve_with(&["--listen", FREE, "--store", url]).refused();
    with("postgres://ann:secret@127.0.0.1/chats?colour=red")
        .says("--store: not a URL of a database: unknown option colour");
    // Nobody listens there: it was free a moment ago.
    let port = TcpListener::bind(FREE)
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let url = format!("postgres://ann:secret@127.0.0.1:{port}/chats");
    with(&url).says(&format!(
        "the database is away: chats at 127.0.0.1:{port}: \
         error connecting to server: Connection refused (os error 111)"
    ));
}

#[test]
fn chats_in_postgresql_survive_the_server() {
    let url = testkit::postgres::database();
    let serve = || {
        let start = ["--listen", FREE, "--pace", "0"];
        serve_with(&start)
            .variable("ADK_STREAM_STORE", &url)
            .running()
    };
    let hello = r#"{"id":"c1","messages":[{"id":"u1","role":"user","parts":[{"type":"text","text":"hi"}]}]}"#;
    let first = serve();
    assert_eq!(first.post("/api/chat", &[], hello).status, 200);
    let before = first.get("/api/chat/c1").json();
    assert_eq!(before["messages"].as_array().map(Vec::len), Some(2));
    drop(first);
    assert_eq!(serve().get("/api/chat/c1").json(), before);
}

#[test]
fn model_without_a_name_is_refused() {
    for agent in ["openai", "anthropic"] {
        serve_with(&["--agent", agent]).refused().says(&format!(
            "the agent {agent}: it needs a model: --{agent}-model NAME, or ADK_STREAM_{}_MODEL",
            agent.to_uppercase()
        ));
    }
}

#[test]
fn a_misspelled_variable_is_a_warning() {
    let mut server = serve_with(&["--listen", FREE])
        .variable("ADK_STREAM_LISTNE", "x")
        .running();
    let line = server.log_line();
    assert!(
        line.contains("WARN") && line.contains("ADK_STREAM_LISTNE is set"),
        "{line}"
    );
}
