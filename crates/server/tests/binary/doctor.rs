//! `adk-stream doctor`: what it finds, and what it says to do.

use std::net::TcpListener;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use rusqlite::Connection;

use crate::collector::Collector;
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
        "ok      peer http://{}: it answers, and has the same cluster key",
        server.address
    );
    assert!(text.contains(&peer), "{text}");
    assert!(text.contains("store: a write took "), "{text}");
    let other = doctor(&flags).variable("ADK_STREAM_CLUSTER_KEY", "another-key-than-the-others");
    let (text, is_bad) = found(other);
    assert!(is_bad, "{text}");
    let peer = format!(
        "problem peer http://{}: it has another cluster key",
        server.address
    );
    assert!(text.contains(&peer), "{text}");
}

/// A certificate that is valid for a number of days from now, and its key.
fn certificate(folder: &Path, days: i64) -> [String; 2] {
    let key = rcgen::KeyPair::generate().unwrap();
    let mut parameters = rcgen::CertificateParams::new(["localhost".to_owned()]).unwrap();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let now = rcgen::date_time_ymd(1970, 1, 1) + now;
    let minute = Duration::from_secs(60);
    let span = Duration::from_secs(days.unsigned_abs() * 86_400);
    parameters.not_after = match days < 0 {
        true => now - span,
        false => now + span + minute,
    };
    let made = parameters.self_signed(&key).unwrap();
    let path = |name: &str| folder.join(name).display().to_string();
    std::fs::write(path("cert.pem"), pem("CERTIFICATE", made.der())).unwrap();
    std::fs::write(path("key.pem"), pem("PRIVATE KEY", &key.serialize_der())).unwrap();
    [path("cert.pem"), path("key.pem")]
}

fn pem(kind: &str, der: &[u8]) -> String {
    let text = base64::engine::general_purpose::STANDARD.encode(der);
    format!("-----BEGIN {kind}-----\n{text}\n-----END {kind}-----\n")
}

#[test]
fn it_says_when_the_certificate_has_to_be_replaced() {
    let folder = tempfile::tempdir().unwrap();
    for (days, expected, is_expired) in [
        (
            30,
            "ok      certificate: it is valid for 30 more days\n",
            false,
        ),
        (
            5,
            "warning certificate: it is valid for 5 more days\n",
            false,
        ),
        (-1, "problem certificate: it has expired\n", true),
    ] {
        let [cert, key] = certificate(folder.path(), days);
        let flags = [
            "--listen",
            "127.0.0.1:0",
            "--tls-cert",
            &cert,
            "--tls-key",
            &key,
        ];
        let (text, is_bad) = found(doctor(&flags));
        assert!(text.contains(expected), "{text}");
        assert_eq!(is_bad, is_expired, "{text}");
    }
    let (text, _) = found(doctor(&["--listen", "127.0.0.1:0"]));
    assert!(!text.contains("certificate"), "{text}");
}

#[test]
fn it_says_whether_traces_are_taken() {
    let flags = ["--listen", "127.0.0.1:0", "--otlp-endpoint"];
    let collector = Collector::start();
    let (text, is_bad) = found(doctor(&[&flags[..], &[&collector.url()]].concat()));
    assert!(!is_bad, "{text}");
    let takes = format!("ok      collector {}: it takes traces\n", collector.url());
    assert!(text.contains(&takes), "{text}");
    let gone = nobody();
    let (text, is_bad) = found(doctor(&[&flags[..], &[&gone]].concat()));
    assert!(!is_bad, "{text}");
    assert!(
        text.contains(&format!("warning collector {gone}: ")),
        "{text}"
    );
    // A server that is no collector.
    let server = serve();
    let other = format!("http://{}", server.address);
    let (text, _) = found(doctor(&[&flags[..], &[&other]].concat()));
    let refuses = format!("warning collector {other}: it answers 4");
    assert!(text.contains(&refuses), "{text}");
    let (text, _) = found(doctor(&[&flags[..], &[&gone, "--offline"]].concat()));
    assert!(!text.contains("collector"), "{text}");
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
