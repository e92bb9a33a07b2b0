//! `adk-stream doctor`: what it finds, and what it says to do.

use std::net::TcpListener;

use rusqlite::Connection;

use crate::file_agent::{gemini, model, refund_tool, with_file};
use crate::process::{Start, adk_stream, serve};
use crate::replicas;

fn doctor(arguments: &[&str]) -> Start {
    adk_stream(&[&["doctor"], arguments].concat())
}

/// What it prints, and whether it found a problem.
fn found(start: Start) -> (String, bool) {
    let (code, stdout) = start.printed();
    assert!([Some(0), Some(1)].contains(&code), "{code:?}: {stdout}");
    (stdout, code == Some(1))
}

#[test]
fn it_changes_nothing_where_nothing_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chats.db");
    let store = format!("sqlite:{}", path.display());
    let (text, is_bad) = found(doctor(&["--listen", "127.0.0.1:0", "--store", &store]));
    assert!(!is_bad, "{text}");
    assert!(
        text.contains("ok      store: nothing is there yet"),
        "{text}"
    );
    assert!(!path.exists());
    let missing = format!("sqlite:{}/no/chats.db", folder.path().display());
    let (text, is_bad) = found(doctor(&["--listen", "127.0.0.1:0", "--store", &missing]));
    assert!(is_bad, "{text}");
    assert!(text.contains("create the folder"), "{text}");
}

#[test]
fn it_writes_to_a_store_that_is_current_and_migrates_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chats.db");
    let store = format!("sqlite:{}", path.display());
    let flags = ["--listen", "127.0.0.1:0", "--store", &store];
    drop(adk_stream(&[&["serve"], &flags[..]].concat()).running());
    let (text, is_bad) = found(doctor(&flags));
    assert!(!is_bad, "{text}");
    assert!(text.contains("store: a write took "), "{text}");
    let version = |connection: &Connection| -> i64 {
        let version = connection.pragma_query_value(None, "user_version", |row| row.get(0));
        version.unwrap()
    };
    let connection = Connection::open(&path).unwrap();
    let current = version(&connection);
    connection
        .pragma_update(None, "user_version", current - 1)
        .unwrap();
    let (text, is_bad) = found(doctor(&flags));
    assert!(!is_bad, "{text}");
    assert!(
        text.contains("warning store: its schema is version"),
        "{text}"
    );
    assert_eq!(version(&connection), current - 1);
    connection
        .pragma_update(None, "user_version", current + 1)
        .unwrap();
    let (text, is_bad) = found(doctor(&flags));
    assert!(is_bad, "{text}");
    assert!(
        text.contains("start the newer version of adk-stream"),
        "{text}"
    );
}

#[test]
fn it_says_what_to_do_about_addresses_and_keys() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let (text, is_bad) = found(doctor(&["--listen", &address]));
    assert!(!is_bad, "{text}");
    assert!(text.contains("if that is the server itself"), "{text}");
    assert!(text.contains("warning store: it is in memory"), "{text}");
    let (text, is_bad) = found(doctor(&["--listen", "0.0.0.0:0"]));
    assert!(is_bad, "{text}");
    assert!(text.contains("set ADK_STREAM_KEYS"), "{text}");
    doctor(&["--listen", "x"])
        .refused()
        .says("--listen: `x` is not an address; expected HOST:PORT, as in 127.0.0.1:8080");
}

#[test]
fn it_says_whether_the_agent_can_be_reached() {
    // Nobody listens there any more.
    let gone = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let flags = [
        "--listen",
        "127.0.0.1:0",
        "--agent",
        "adk",
        "--adk-app",
        "a",
        "--adk-url",
    ];
    let url = format!("http://{gone}");
    let (text, is_bad) = found(doctor(&[&flags[..], &[&url]].concat()));
    assert!(is_bad, "{text}");
    assert!(
        text.contains(&format!("problem agent at {url}: ")),
        "{text}"
    );
    let (text, is_bad) = found(doctor(&[&flags[..], &[&url, "--offline"]].concat()));
    assert!(!is_bad, "{text}");
    let server = serve();
    let url = format!("http://{}", server.address);
    let (text, is_bad) = found(doctor(&[&flags[..], &[&url]].concat()));
    assert!(!is_bad, "{text}");
}

#[test]
fn it_looks_at_a_database_its_clock_and_the_servers_that_use_it() {
    let url = testkit::postgres::database();
    let flags = ["--listen", "127.0.0.1:0", "--store", &url];
    let key = "a-key-of-the-cluster";
    let with_key = |start: Start| start.variable("ADK_STREAM_CLUSTER_KEY", key);
    let (text, is_bad) = found(with_key(doctor(&flags)));
    assert!(!is_bad, "{text}");
    assert!(
        text.contains("ok      clocks: that of the database is "),
        "{text}"
    );
    assert!(
        text.contains("ok      store: nothing is there yet"),
        "{text}"
    );
    assert!(
        text.contains("warning peers: other servers can't reach this one"),
        "{text}"
    );
    let server = with_key(adk_stream(
        &[&["serve", "--pace", "0"], &flags[..]].concat(),
    ))
    .running();
    let body = r#"{"id":"c1","trigger":"submit-message","messages":[
        {"id":"u","role":"user","parts":[{"type":"text","text":"hello"}]}]}"#;
    assert_eq!(server.post("/api/chat", &[], body).status, 200);
    let (text, is_bad) = found(with_key(doctor(&flags)));
    assert!(!is_bad, "{text}");
    let peer = format!(
        "ok      peer http://{}: it accepts connections",
        server.address
    );
    assert!(text.contains(&peer), "{text}");
    assert!(text.contains("store: a write took "), "{text}");
}

/// An address that nobody listens on any more.
fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

#[test]
fn it_names_a_server_that_holds_leases_and_is_not_reached() {
    let url = testkit::postgres::database();
    let gone = nobody();
    let key = "a-key-of-the-cluster";
    let flags = ["--listen", "127.0.0.1:0", "--store", &url];
    // The others were given an address at which it is not.
    let serve = ["serve", "--pace", "50", "--advertise", &gone];
    let server = adk_stream(&[&serve[..], &flags].concat())
        .variable("ADK_STREAM_CLUSTER_KEY", key)
        .running();
    let _window = replicas::begin(&server, "c1", "take your time");
    while server.get("/api/chat/c1").status != 200 {
        std::thread::yield_now();
    }
    let (text, is_bad) = found(doctor(&flags).variable("ADK_STREAM_CLUSTER_KEY", key));
    assert!(is_bad, "{text}");
    assert!(text.contains(&format!("problem peer {gone}: ")), "{text}");
    assert!(text.contains("check its --advertise"), "{text}");
}

#[test]
fn it_says_that_more_connections_are_wanted_than_the_system_allows() {
    let flags = ["--listen", "127.0.0.1:0", "--max-connections"];
    let limited = |wanted| doctor(&[&flags[..], &[wanted]].concat()).descriptors(512, 2048);
    let (text, is_bad) = found(limited("4000"));
    assert!(is_bad, "{text}");
    let problem = "problem descriptors: 2048 are allowed, too few for 4000 connections";
    assert!(text.contains(problem), "{text}");
    assert!(text.contains("LimitNOFILE="), "{text}");
    let (text, is_bad) = found(limited("1000"));
    assert!(!is_bad, "{text}");
    assert!(
        text.contains("warning descriptors: 2048 are allowed\n"),
        "{text}"
    );
}

#[test]
fn it_names_the_model_and_the_tool_of_a_file_that_are_not_reached() {
    let gone = nobody();
    let agent = "[agents.shop]\nmodel = 'main'\ntools = ['refund', 'files.*']\n";
    let tool = refund_tool("refund", &gone, "", "allow = true");
    let files = "[mcp.files]\ncommand = ['./no-such-program']\n";
    let model = model(gemini());
    let (_, address) = model.split_once("base-url = '").unwrap();
    let (address, _) = address.split_once('\'').unwrap();
    let dead = model.replace(address, &gone);
    let toml = format!("{agent}{dead}{tool}{files}");
    let flags = ["doctor", "--listen", "127.0.0.1:0"];
    let (text, is_bad) = found(with_file(&flags, &toml));
    assert!(is_bad, "{text}");
    let line = |begins: &str| toml.lines().position(|line| line.starts_with(begins));
    for (begins, what) in [
        ("base-url", "model main"),
        ("request = ", &*gone),
        ("command = ", "MCP server files"),
    ] {
        let place = format!("adk-stream.toml:{}:", line(begins).unwrap() + 1);
        let mut problems = text
            .lines()
            .filter(|line| line.starts_with("problem agent shop: "));
        assert!(
            problems.any(|line| line.contains(&place) && line.contains(what)),
            "{place} {what}: {text}"
        );
    }
    assert!(text.contains("see `adk-stream check`"), "{text}");
    // Nothing is connected to where nothing may be.
    let offline = [&flags[..], &["--offline"]].concat();
    let (text, is_bad) = found(with_file(&offline, &toml));
    assert!(!is_bad, "{text}");
}
