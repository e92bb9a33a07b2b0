//! Journals that released versions wrote, opened by this one: they read as they did, what waits in
//! them can be answered, and their turns go on to their ends.
//!
//! The folders beside `tests/binary`, `tests/golden/VERSION/AGENT`, hold a SQLite file, the same kind
//! of chats out of a PostgreSQL, and what was to be read and done in each chat. They were written by
//! that version's own server (`write`), and are never changed.
//!
//! # Layout
//!
//! - `setup`: who answers, and the server in front of it.
//! - `person`: a chat's owner, and what she does.
//! - `judge`: whether a chat is what it was, and comes to its end.
//! - `write`: makes the files of a version.

mod judge;
mod person;
mod setup;
mod write;

use std::path::{Path, PathBuf};

use serde_json::Value;

use self::judge::Chat;
use self::person::Person;
use self::setup::{Agent, Kind, Setup, Store};

/// Where the files of all versions are.
fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// The folders of an agent, of every version that has some.
fn versions(agent: Agent) -> Vec<PathBuf> {
    let versions = std::fs::read_dir(folder()).unwrap();
    let versions = versions.map(|version| version.unwrap().path().join(agent.name()));
    let mut versions: Vec<_> = versions.filter(|version| version.exists()).collect();
    versions.sort();
    assert!(!versions.is_empty(), "no golden files of {agent:?}");
    versions
}

/// What is expected of the chats in a folder, and what an ADK server kept of them.
fn expected(folder: &Path, kind: Kind) -> (Vec<Chat>, Value) {
    let text = std::fs::read_to_string(folder.join("expected.json")).unwrap();
    let mut all: Value = serde_json::from_str(&text).unwrap();
    let mut expected = all[kind.name()].take();
    let chats = expected["chats"].as_array().unwrap();
    let chats = chats.iter().map(Chat::read).collect();
    (chats, expected["sessions"].take())
}

/// Opens the chats of every version, answers what waits in them, and looks at their ends.
fn play(agent: Agent, kind: Kind) {
    for folder in versions(agent) {
        let store = Store::copy(kind, &folder);
        let problems = play_store(agent, &store, expected(&folder, kind));
        let folder = folder.display();
        assert!(problems.is_empty(), "{folder}:\n{}", problems.join("\n"));
    }
}

fn play_store(agent: Agent, store: &Store, expected: (Vec<Chat>, Value)) -> Vec<String> {
    let (chats, sessions) = expected;
    let setup = Setup::open(agent, &sessions);
    let names: Vec<_> = chats.iter().map(|chat| chat.name.clone()).collect();
    let arguments: &[&str] = match agent {
        Agent::Gemini | Agent::GeminiLive | Agent::Adk => &["--approval-timeout", "never"],
        _ => &["--approval-timeout", "never", "--pace", "0"],
    };
    let server = setup.serve(&store.url, &names, arguments, false);
    let person = |chat: &Chat| Person {
        address: server.address,
        chat: chat.name.clone(),
    };
    // First all of them as they are, then what people do.
    let mut problems: Vec<String> = chats
        .iter()
        .flat_map(|chat| chat.is_as_it_was(&person(chat)))
        .collect();
    if !problems.is_empty() {
        return problems;
    }
    problems.extend(chats.iter().flat_map(|chat| chat.goes_on(&person(chat))));
    problems.extend(chats.iter().filter_map(|chat| chat.reached_adk(&setup)));
    problems
}

/// What 0.1 could write of what has a name, and where the name is.
const NAMES: &[(&str, &[&str])] = &[
    (
        "event",
        &[
            "chat-opened",
            "turn-opened",
            "step-ended",
            "call-nested",
            "gate-opened",
            "gate-closed",
            "call-started",
            "call-recorded",
            "call-settled",
            "turn-claimed",
            "session-noted",
            "turn-ended",
        ],
    ),
    ("cause", &["message", "result"]),
    (
        "part",
        &[
            "text",
            "reasoning",
            "call",
            "file",
            "opaque",
            "source",
            "data",
        ],
    ),
    ("place", &["server", "client", "agent"]),
    ("kind", &["approval", "client-call"]),
    (
        "decision",
        &[
            "approved",
            "denied",
            "output",
            "failed",
            "timed-out",
            "superseded",
            "cancelled",
        ],
    ),
    (
        "outcome",
        &["output", "error", "invalid", "denied", "unknown", "pending"],
    ),
    (
        "finish",
        &["stop", "length", "content-filter", "error", "cut", "other"],
    ),
    ("end", &["finished", "failed", "stopped"]),
];

/// The fields that not every event, call or gate has.
const FIELDS: &[&str] = &[
    "after",
    "expires",
    "held",
    "open",
    "parent",
    "providerId",
    "providerMetadata",
    "reason",
    "retryAfterMs",
    "token",
    "within",
];

#[test]
fn everything_that_has_a_name_is_among_them() {
    let first = folder().join("0.1");
    for kind in [Kind::Sqlite, Kind::Postgres] {
        let mut all = String::new();
        for agent in std::fs::read_dir(&first).unwrap() {
            let (chats, _) = expected(&agent.unwrap().path(), kind);
            all.extend(chats.iter().map(Chat::journal));
        }
        let has = |text: &str| assert!(all.contains(text), "{kind:?}: {text}");
        for (key, names) in NAMES {
            for name in *names {
                has(&format!(r#""{key}":"{name}""#));
            }
        }
        for field in FIELDS {
            has(&format!(r#""{field}":"#));
        }
        // A gate of a call whose input was edited.
        let gate =
            r#""kind":{"kind":"approval","question":"Take seat 12A to Rome?","within":true}"#;
        has(&format!(r#"{gate},"input":{{"destination":"Rome"}}"#));
    }
}

/// What is said to be wrong with a copy of the demo's file after some SQL.
fn problems_after(sql: &str) -> String {
    let folder = versions(Agent::Demo).remove(0);
    let store = Store::copy(Kind::Sqlite, &folder);
    let connection = rusqlite::Connection::open(store.path()).unwrap();
    connection.execute_batch(sql).unwrap();
    assert!(connection.changes() > 0, "{sql}");
    drop(connection);
    let expected = expected(&folder, Kind::Sqlite);
    let played = std::panic::catch_unwind(|| play_store(Agent::Demo, &store, expected));
    match played {
        Ok(problems) => problems.join("\n"),
        Err(panic) => *panic.downcast::<String>().unwrap(),
    }
}

#[test]
fn what_is_changed_in_a_file_is_noticed() {
    let entry = "UPDATE entry SET events = replace(events, ";
    for (chat, sql) in [
        ("approval-open", "DELETE FROM entry WHERE seq = 2 AND"),
        (
            "finished-words",
            "DELETE FROM entry WHERE events LIKE '%turn-ended%' AND",
        ),
        (
            "flight-first-question",
            &format!("{entry}'\"question\"', '\"query\"') WHERE"),
        ),
        (
            "approval-open",
            &format!("{entry}'\"amount\":20', '\"amount\":2000') WHERE"),
        ),
        (
            "flight-second-question",
            &format!("{entry}'call-recorded', 'call-noted') WHERE"),
        ),
        ("approval-open", "DELETE FROM gate WHERE"),
        ("approval-with-expiry", "UPDATE gate SET expires = 1 WHERE"),
    ] {
        let problems = problems_after(&format!("{sql} chat = '{chat}'"));
        assert!(problems.contains(&format!("{chat}: ")), "{sql}: {problems}");
    }
    let problems = problems_after("DELETE FROM payment WHERE principal = 'approval-approved'");
    assert!(problems.contains("approval-approved: paid"), "{problems}");
}

#[test]
fn demo_chats_in_sqlite_go_on() {
    play(Agent::Demo, Kind::Sqlite);
}

#[test]
fn demo_chats_in_postgresql_go_on() {
    play(Agent::Demo, Kind::Postgres);
}

#[test]
fn chats_with_tools_of_an_application_in_sqlite_go_on() {
    play(Agent::Tools, Kind::Sqlite);
}

#[test]
fn chats_with_tools_of_an_application_in_postgresql_go_on() {
    play(Agent::Tools, Kind::Postgres);
}

#[test]
fn gemini_chats_in_sqlite_go_on() {
    play(Agent::Gemini, Kind::Sqlite);
}

#[test]
fn gemini_chats_in_postgresql_go_on() {
    play(Agent::Gemini, Kind::Postgres);
}

#[test]
fn live_chats_in_sqlite_go_on() {
    play(Agent::GeminiLive, Kind::Sqlite);
}

#[test]
fn live_chats_in_postgresql_go_on() {
    play(Agent::GeminiLive, Kind::Postgres);
}

#[test]
fn adk_chats_in_sqlite_go_on() {
    play(Agent::Adk, Kind::Sqlite);
}

#[test]
fn adk_chats_in_postgresql_go_on() {
    play(Agent::Adk, Kind::Postgres);
}
