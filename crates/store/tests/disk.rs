//! A SQLite file on a disk that has no room: what does not fit is refused and leaves nothing behind,
//! and when there is room again, the work continues.
//!
//! The limit is the system's own, on how large a file this process may make, so that the failure comes
//! from a real write. The process is this test's own binary, which then runs [`child`] alone.

// Helpers of tests stop as tests do.
#![allow(clippy::expect_used, clippy::unwrap_used)]

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use adk_stream_store::{Appended, Location, NewEntry, StoreError, open};
use serde_json::json;
use tempfile::TempDir;
use turn::{At, ChatId};

/// Where the child finds its file.
const FILE: &str = "ADK_STREAM_STORE_TEST_FILE";
/// The prefix of its output.
const SAYS: &str = "child: ";
/// How large a file may become, in bytes.
const LIMIT: u64 = 512 * 1024;

fn entry(seq: u64) -> NewEntry {
    let events = json!([
        {"event": "chat-opened", "owner": "ann"},
        {"event": "step-ended", "turn": "t", "finish": "stop", "parts": [
            {"part": "text", "text": format!("{seq} ").repeat(5_000)},
            {"part": "call", "id": format!("c{seq}"), "tool": "pay", "input": {}, "place": "server"},
        ]},
    ]);
    NewEntry {
        at: At(seq),
        epoch: 0,
        actor: "ann".into(),
        events: serde_json::from_value(events).unwrap(),
        open: None,
    }
}

fn say(words: &str) {
    let line = format!("{SAYS}{words}\n");
    std::io::stdout().write_all(line.as_bytes()).unwrap();
}

/// What the process with the limit does. Not a test: it is started by the test here.
#[tokio::test]
#[ignore = "is started by the other test, as a process of its own"]
async fn child() {
    let path = PathBuf::from(std::env::var_os(FILE).unwrap());
    let journal = open(Location::Sqlite(path)).await.unwrap().journal;
    let chat = ChatId::from("c");
    let mut seen = 0;
    let refused = loop {
        match journal.append(&chat, seen, entry(seen + 1)).await {
            Ok(Appended::Ok { seq }) => seen = seq,
            Ok(conflict) => panic!("{conflict:?}"),
            Err(error) => break error,
        }
    };
    // Nothing of it is there, and it stays so however often it is tried.
    for _ in 0..3 {
        let again = journal.append(&chat, seen, entry(seen + 1)).await;
        assert_eq!(again, Err(refused.clone()));
    }
    assert_eq!(journal.read(&chat, 0).await.unwrap().len() as u64, seen);
    let call = journal
        .call(&format!("c{}", seen + 1).as_str().into())
        .await;
    assert_eq!(call, Ok(None));
    // To SQLite, a file that may grow no further is not a full disk; that is tested beside the writer.
    assert!(
        matches!(refused, StoreError::Unwritable { .. }),
        "{refused}"
    );
    say(&format!("full after {seen}"));
    std::io::stdin().read_line(&mut String::new()).unwrap();
    for _ in 0..100 {
        let appended = journal.append(&chat, seen, entry(seen + 1)).await;
        assert_eq!(appended, Ok(Appended::Ok { seq: seen + 1 }));
        seen += 1;
    }
    say(&format!("stored {seen}"));
}

#[tokio::test]
async fn a_full_disk_is_reported_and_work_continues_when_there_is_space() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("chats.db");
    // The system would end a process that writes too much, unless it has said that it minds itself.
    let limited = r#"trap "" XFSZ; exec prlimit --fsize="$LIMIT": "$@""#;
    let mut child = Command::new("sh")
        .args(["-c", limited, "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--ignored", "--nocapture"])
        .env("LIMIT", LIMIT.to_string())
        .env(FILE, &path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut words = lines.filter_map(|line| Some(line.unwrap().split_once(SAYS)?.1.to_owned()));
    let full = words.next().expect("it says that there is no room");
    let stored: u64 = full.strip_prefix("full after ").unwrap().parse().unwrap();
    assert!(stored > 0);
    // What another reads meanwhile is whole.
    let journal = open(Location::Sqlite(path.clone())).await.unwrap().journal;
    let entries = journal.read(&"c".into(), 0).await.unwrap();
    assert!(entries.iter().map(|entry| entry.seq).eq(1..=stored));
    drop(journal);

    let raised = Command::new("prlimit")
        .args(["--fsize=unlimited:", "--pid", &child.id().to_string()])
        .status();
    assert!(raised.unwrap().success());
    child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    let last = format!("stored {}", stored + 100);
    assert_eq!(words.next(), Some(last));
    assert!(child.wait().unwrap().success());
    let connection = rusqlite::Connection::open(&path).unwrap();
    let check = "PRAGMA integrity_check";
    let check = connection.query_row(check, (), |row| row.get::<_, String>(0));
    assert_eq!(check.unwrap(), "ok");
}
