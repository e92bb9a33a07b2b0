//! SQLite files that outlive a process, are shared by several, or lose one in the middle of a write.
//!
//! The other processes are this test's own binary, which then runs [`child`] alone.

// Helpers of tests stop as tests do.
#![allow(clippy::expect_used, clippy::unwrap_used)]

use std::collections::{BTreeSet, HashMap};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;

use adk_stream_store::{Appended, Journal, Location, NewEntry, StoreError, Stores, open};
use serde_json::json;
use tempfile::TempDir;
use turn::{At, ChatId, Entry, GateId, Principal};

/// Where a child finds its file, and what it is to do there.
const FILE: &str = "ADK_STREAM_STORE_TEST_FILE";
const ROLE: &str = "ADK_STREAM_STORE_TEST_ROLE";
/// The prefix of its output.
const SAYS: &str = "child: ";

/// How many chats a child of the role `endless` writes to at once.
const CHATS: usize = 8;
/// How often a child of the role `race` appends.
const APPENDS: usize = 50;

fn file() -> (PathBuf, TempDir) {
    let folder = TempDir::new().unwrap();
    (folder.path().join("chats.db"), folder)
}

async fn open_file(path: &Path) -> Stores {
    open(Location::Sqlite(path.to_path_buf())).await.unwrap()
}

fn entry(at: u64, events: serde_json::Value) -> NewEntry {
    NewEntry {
        at: At(at),
        epoch: 0,
        actor: "ann".into(),
        events: serde_json::from_value(events).unwrap(),
        open: None,
    }
}

/// What is at a place of a chat of the role `endless`: large enough to cross many pages, and
/// with something for every index.
fn written(chat: &ChatId, seq: u64) -> NewEntry {
    let turn = format!("t-{chat}-{seq}");
    let text = format!("{chat} {seq} ").repeat(1 + usize::try_from(seq * 37 % 1500).unwrap());
    let call = format!("c-{chat}-{seq}");
    let events = json!([
        {"event": "chat-opened", "owner": "ann"},
        {"event": "step-ended", "turn": turn, "finish": "stop", "parts": [
            {"part": "text", "text": text},
            {"part": "call", "id": call, "tool": "pay", "input": {}, "place": "server"},
        ]},
        {"event": "gate-opened", "turn": turn, "gate": {
            "id": gate(chat, seq), "call": call, "kind": {"kind": "client-call"},
        }},
    ]);
    entry(seq, events)
}

fn gate(chat: &ChatId, seq: u64) -> GateId {
    format!("g-{chat}-{seq}").into()
}

/// Another process. Dropping it kills it.
struct Process(Child);

impl Process {
    fn start(path: &Path, role: &str) -> Self {
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "child", "--ignored", "--nocapture"])
            .env(FILE, path)
            .env(ROLE, role)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        Self(child.unwrap())
    }

    /// Its output, without the lines of the test harness around it.
    fn words(&mut self) -> impl Iterator<Item = String> + use<> {
        let stdout: ChildStdout = self.0.stdout.take().unwrap();
        let lines = BufReader::new(stdout).lines();
        lines.filter_map(|line| Some(line.unwrap().split_once(SAYS)?.1.to_owned()))
    }

    /// SIGKILL, as `kill -9`.
    fn kill(&mut self) {
        self.0.kill().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What another process does. Not a test: it is started by the tests here.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "is started by the other tests, as a process of its own"]
async fn child() {
    let path = PathBuf::from(std::env::var_os(FILE).unwrap());
    let stores = open_file(&path).await;
    match std::env::var(ROLE).unwrap().as_str() {
        "endless" => {
            let mut writers = tokio::task::JoinSet::new();
            for chat in 0..CHATS {
                writers.spawn(append_endlessly(Arc::clone(&stores.journal), chat));
            }
            writers.join_all().await;
        }
        "race" => {
            // So that all are there before the first begins.
            say("ready");
            std::io::stdin().read_line(&mut String::new()).unwrap();
            race(&*stores.journal).await;
        }
        other => panic!("no role {other}"),
    }
}

/// Writes a line to the test that started this process, in one write.
fn say(words: &str) {
    let line = format!("{SAYS}{words}\n");
    std::io::stdout().write_all(line.as_bytes()).unwrap();
}

/// Reports that an append was acknowledged.
fn say_stored(chat: &ChatId, seq: u64) {
    say(&format!("{chat} {seq}"));
}

/// The chat and the place of an append that was acknowledged.
fn stored(words: &str) -> (String, u64) {
    let (chat, seq) = words.split_once(' ').unwrap();
    (chat.to_owned(), seq.parse().unwrap())
}

async fn append_endlessly(journal: Arc<dyn Journal>, chat: usize) {
    let chat = ChatId::from(chat.to_string());
    let mut seen = journal.read(&chat, 0).await.unwrap().len() as u64;
    loop {
        let new = written(&chat, seen + 1);
        let appended = journal.append(&chat, seen, new).await;
        assert_eq!(appended, Ok(Appended::Ok { seq: seen + 1 }));
        seen += 1;
        say_stored(&chat, seen);
    }
}

async fn race(journal: &dyn Journal) {
    let chat = ChatId::from("c");
    let mut seen = 0;
    for _ in 0..APPENDS {
        loop {
            let new = entry(1, json!([{"event": "chat-opened", "owner": "ann"}]));
            match journal.append(&chat, seen, new).await.unwrap() {
                Appended::Ok { seq } => {
                    seen = seq;
                    break;
                }
                Appended::Conflict { seq } => seen = seq,
            }
        }
        say_stored(&chat, seen);
    }
}

#[tokio::test]
async fn a_killed_process_leaves_all_that_was_acknowledged_and_nothing_torn() {
    let (path, _folder) = file();
    let mut acknowledged: HashMap<String, u64> = HashMap::new();
    for round in 1..=4 {
        let mut process = Process::start(&path, "endless");
        let mut words = process.words();
        let some = words.by_ref().take(100 + 50 * round);
        acknowledged.extend(some.map(|words| stored(&words)));
        process.kill();
        // What it said before it died, it said.
        acknowledged.extend(words.map(|words| stored(&words)));
        drop(process);

        let stores = open_file(&path).await;
        assert_eq!(acknowledged.len(), CHATS);
        for (chat, seq) in &acknowledged {
            let chat = ChatId::from(chat.as_str());
            let entries = stores.journal.read(&chat, 0).await.unwrap();
            let last = entries.len() as u64;
            assert!(last >= *seq, "{seq} of chat {chat} was lost");
            for (place, found) in (1..).zip(entries) {
                let new = written(&chat, place);
                let (at, actor, events) = (new.at, new.actor, new.events);
                let seq = place;
                assert!(
                    found
                        == Entry {
                            seq,
                            at,
                            actor,
                            events
                        },
                    "{chat} {place}"
                );
            }
            // The indexes know as much as the journal, and no more.
            let known = stores.journal.gate(&gate(&chat, last)).await.unwrap();
            assert!(known.is_some());
            let unknown = stores.journal.gate(&gate(&chat, last + 1)).await;
            assert_eq!(unknown, Ok(None));
        }
        drop(stores);
        let connection = rusqlite::Connection::open(&path).unwrap();
        let check = |sql| connection.query_row(sql, (), |row| row.get::<_, String>(0));
        assert_eq!(check("PRAGMA integrity_check").unwrap(), "ok");
        assert!(check("PRAGMA foreign_key_check").is_err(), "no broken key");
    }
}

#[tokio::test]
async fn processes_on_one_file_conflict_and_all_get_through() {
    let (path, _folder) = file();
    let mut processes: Vec<_> = (0..3).map(|_| Process::start(&path, "race")).collect();
    let mut words: Vec<_> = processes.iter_mut().map(Process::words).collect();
    for words in &mut words {
        assert_eq!(words.next().as_deref(), Some("ready"));
    }
    for process in &mut processes {
        process.0.stdin.take().unwrap().write_all(b"go\n").unwrap();
    }
    let mut places = BTreeSet::new();
    for (process, words) in processes.iter_mut().zip(words) {
        for (_, seq) in words.map(|words| stored(&words)) {
            assert!(places.insert(seq), "two processes appended at {seq}");
        }
        assert!(process.0.wait().unwrap().success());
    }
    let last = 3 * APPENDS as u64;
    assert!(places.into_iter().eq(1..=last));
    let stores = open_file(&path).await;
    let entries = stores.journal.read(&"c".into(), 0).await.unwrap();
    assert!(entries.into_iter().map(|entry| entry.seq).eq(1..=last));
}

#[tokio::test]
async fn two_stores_on_one_file_see_each_other() {
    let (path, _folder) = file();
    let (here, there) = (open_file(&path).await, open_file(&path).await);
    let chat = ChatId::from("c");
    let opened = || entry(1, json!([{"event": "chat-opened", "owner": "ann"}]));
    let mut tail = there.journal.tail(&chat, 0);

    let appended = here.journal.append(&chat, 0, opened()).await;
    assert_eq!(appended, Ok(Appended::Ok { seq: 1 }));
    let stale = there.journal.append(&chat, 0, opened()).await;
    assert_eq!(stale, Ok(Appended::Conflict { seq: 1 }));
    let appended = there.journal.append(&chat, 1, opened()).await;
    assert_eq!(appended, Ok(Appended::Ok { seq: 2 }));
    for seq in 1..=2 {
        assert_eq!(tail.next().await.unwrap().map(|entry| entry.seq), Some(seq));
    }
    // A store that does nothing itself is notified all the same.
    let idle = open_file(&path).await;
    assert_eq!(idle.journal.delete(&"none".into()).await, Ok(false));
    let appended = here.journal.append(&chat, 2, opened()).await;
    assert_eq!(appended, Ok(Appended::Ok { seq: 3 }));
    let mut tail = idle.journal.tail(&chat, 3);
    for seen in 3..5 {
        let waiting = tokio::spawn(async move {
            let got = tail.next().await.unwrap();
            (tail, got.map(|entry| entry.seq))
        });
        let appended = here.journal.append(&chat, seen, opened()).await;
        assert_eq!(appended, Ok(Appended::Ok { seq: seen + 1 }));
        let got;
        (tail, got) = waiting.await.unwrap();
        assert_eq!(got, Some(seen + 1));
    }

    assert_eq!(there.journal.delete(&chat).await, Ok(true));
    assert_eq!(here.journal.read(&chat, 0).await, Ok(Vec::new()));
    let late = here.journal.append(&chat, 5, opened()).await;
    assert_eq!(late, Ok(Appended::Conflict { seq: 0 }));
}

#[tokio::test]
async fn everything_survives_a_restart() {
    let (path, _folder) = file();
    let (chat, ann) = (ChatId::from("0"), Principal::from("ann"));
    let stores = open_file(&path).await;
    for seen in 0..3 {
        let new = written(&chat, seen + 1);
        let appended = stores.journal.append(&chat, seen, new).await;
        assert_eq!(appended, Ok(Appended::Ok { seq: seen + 1 }));
    }
    let rest = json!([
        {"event": "gate-closed", "turn": "t", "gate": gate(&chat, 1), "decision": "denied"},
        {"event": "turn-opened", "turn": "t", "messageId": "m", "cause": {
            "cause": "message", "message": {"id": "u", "role": "user", "parts": []},
        }},
    ]);
    let appended = stores.journal.append(&chat, 3, entry(4, rest)).await;
    assert_eq!(appended, Ok(Appended::Ok { seq: 4 }));
    let before = look(&stores, &chat, &ann).await;
    drop(stores);
    let stores = open_file(&path).await;
    assert_eq!(look(&stores, &chat, &ann).await, before);
    let stale = stores.journal.append(&chat, 3, written(&chat, 4)).await;
    assert_eq!(stale, Ok(Appended::Conflict { seq: 4 }));
}

/// All that there is to see, as text.
async fn look(stores: &Stores, chat: &ChatId, owner: &Principal) -> String {
    let journal = &stores.journal;
    let seen = (
        journal.read(chat, 0).await,
        journal.open_gates(owner, None, 99).await,
        journal.gate(&gate(chat, 1)).await,
        journal.call(&format!("c-{chat}-1").as_str().into()).await,
        journal.overdue_gates(At(u64::MAX), 99).await,
        journal.orphaned(99).await,
    );
    let seen = format!("{seen:#?}");
    assert!(!seen.contains("Err("), "{seen}");
    seen
}

#[tokio::test]
async fn what_can_not_be_opened_is_named() {
    let (path, folder) = file();
    std::fs::write(&path, "Dear Ann").unwrap();
    let refused = open(Location::Sqlite(path.clone())).await.err();
    assert_eq!(refused, Some(StoreError::NotADatabase { path }));
    let path = folder.path().join("no/chats.db");
    let refused = open(Location::Sqlite(path.clone())).await.err();
    assert_eq!(refused, Some(StoreError::FolderMissing { path }));
}
