//! What the writer does when something fails: with the disk, the database, or itself.

use std::pin::{Pin, pin};
use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Waker};

use serde_json::json;
use tempfile::TempDir;
use turn::{At, ChatId, OpenTurn};

use super::*;
use crate::journal::{Appended, Journal, NewEntry};
use crate::probe::Probe;
use crate::sqlite::{SqliteStore, connection};

async fn open() -> (SqliteStore, TempDir) {
    let folder = TempDir::new().unwrap();
    let store = SqliteStore::open(folder.path().join("chats.db")).await;
    (store.unwrap(), folder)
}

fn entry(text: &str) -> NewEntry {
    let events = json!([
        {"event": "chat-opened", "owner": "ann"},
        {"event": "step-ended", "turn": "t", "finish": "stop", "parts": [
            {"part": "text", "text": text},
        ]},
    ]);
    NewEntry {
        at: At(1),
        epoch: 0,
        actor: "ann".into(),
        events: serde_json::from_value(events).unwrap(),
        open: None,
    }
}

/// Does something to the connection that writes, whether SQLite likes it or not.
async fn tamper<T: Send + 'static>(
    store: &SqliteStore,
    mut with: impl FnMut(&Connection) -> rusqlite::Result<T> + Send + 'static,
) -> Result<T, StoreError> {
    let job = move |connection: &mut WriteConnection| {
        let value = with(connection)?;
        let notification = Notification::Nothing;
        Ok(Written {
            value,
            notification,
        })
    };
    store.writer.write(job).await
}

/// Polls what asks the writer for something, so that it is in the queue.
fn queue<F: Future + ?Sized>(future: &mut Pin<Box<F>>) {
    let mut context = Context::from_waker(Waker::noop());
    assert!(future.as_mut().poll(&mut context).is_pending());
}

/// Keeps the thread busy until the sender is dropped, so that what comes meanwhile is one group.
fn hold(
    store: &SqliteStore,
) -> (
    impl Future<Output = Result<(), StoreError>>,
    mpsc::Sender<()>,
) {
    let (release, held) = mpsc::channel::<()>();
    let held = Mutex::new(held);
    let mut holding = Box::pin(tamper(store, move |_| {
        let _ = held.lock().unwrap().recv();
        Ok(())
    }));
    queue(&mut holding);
    (holding, release)
}

fn grew(seq: u64) -> Result<Appended, StoreError> {
    Ok(Appended::Ok { seq })
}

async fn limit_pages(store: &SqliteStore, spare: i64) {
    let limit = move |connection: &Connection| {
        let pages: i64 = connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
        connection.pragma_update_and_check(None, "max_page_count", pages + spare, |row| {
            row.get::<_, i64>(0)
        })
    };
    tamper(store, limit).await.unwrap();
}

#[tokio::test]
async fn an_entry_says_under_which_claim_it_was_written() {
    let (store, _folder) = open().await;
    for (seen, epoch) in [(0, 0), (1, 3)] {
        let entry = NewEntry {
            epoch,
            ..entry("hello")
        };
        assert_eq!(store.append(&"c".into(), seen, entry).await, grew(seen + 1));
    }
    let sql = "SELECT group_concat(epoch, ' ') FROM (SELECT epoch FROM entry ORDER BY seq)";
    let epochs = tamper(&store, move |connection| {
        connection.query_row(sql, (), |row| row.get::<_, String>(0))
    });
    assert_eq!(epochs.await, Ok("0 3".to_owned()));
}

#[tokio::test]
async fn a_full_disk_loses_one_entry_and_not_the_writer() {
    let (store, _folder) = open().await;
    let chat = ChatId::from("c");
    assert_eq!(store.append(&chat, 0, entry("small")).await, grew(1));
    limit_pages(&store, 2).await;
    let large = entry(&"x".repeat(1024 * 1024));
    let refused = store.append(&chat, 1, large.clone()).await;
    assert_eq!(refused, Err(StoreError::Full));
    assert_eq!(store.read(&chat, 1).await, Ok(Vec::new()));
    // What still fits is still taken.
    assert_eq!(store.append(&chat, 1, entry("small")).await, grew(2));
    limit_pages(&store, 1_000_000).await;
    assert_eq!(store.append(&chat, 2, large).await, grew(3));
    let whole = tamper(&store, |connection| {
        connection.query_row("PRAGMA integrity_check", (), |row| row.get::<_, String>(0))
    });
    assert_eq!(whole.await.as_deref(), Ok("ok"));
}

#[tokio::test]
async fn a_file_that_has_become_read_only_is_said_to_be_and_can_be_read() {
    let (store, _folder) = open().await;
    let chat = ChatId::from("c");
    assert_eq!(store.append(&chat, 0, entry("one")).await, grew(1));
    let forbid = |connection: &Connection| connection.pragma_update(None, "query_only", 1);
    tamper(&store, forbid).await.unwrap();
    let refused = store.append(&chat, 1, entry("two")).await.unwrap_err();
    let said = "the file can't be written to: it is read-only";
    assert_eq!(refused.to_string(), said);
    assert_eq!(store.read(&chat, 0).await.map(|all| all.len()), Ok(1));
}

#[tokio::test]
async fn one_that_is_too_large_does_not_take_its_group_with_it() {
    let (store, _folder) = open().await;
    limit_pages(&store, 20).await;
    let (holding, release) = hold(&store);
    let chats: Vec<_> = (0..5).map(|n| ChatId::from(n.to_string())).collect();
    let mut appends: Vec<_> = (0..5)
        .map(|n| {
            let size = if n == 2 { 1024 * 1024 } else { 10 };
            store.append(&chats[n], 0, entry(&"x".repeat(size)))
        })
        .collect();
    appends.iter_mut().for_each(queue);
    drop(release);
    holding.await.unwrap();
    for (n, append) in appends.into_iter().enumerate() {
        let expected = if n == 2 {
            Err(StoreError::Full)
        } else {
            grew(1)
        };
        assert_eq!(append.await, expected, "{n}");
    }
}

#[tokio::test]
async fn a_group_that_can_not_be_committed_is_tried_one_by_one() {
    let (store, _folder) = open().await;
    let (first, second) = (ChatId::from("first"), ChatId::from("second"));
    let mut tail = store.tail(&second, 0);
    let (holding, release) = hold(&store);
    let mut before = store.append(&first, 0, entry("before"));
    queue(&mut before);
    // A broken foreign key that only the commit notices.
    let mut broken = Box::pin(tamper(&store, |connection| {
        connection.execute_batch("PRAGMA defer_foreign_keys = 1")?;
        connection.execute("INSERT INTO call VALUES ('x', 'nowhere', '{}')", ())
    }));
    queue(&mut broken);
    let mut after = store.append(&second, 0, entry("after"));
    queue(&mut after);
    let mut stale = store.append(&second, 0, entry("stale"));
    queue(&mut stale);
    drop(release);
    // It shares the group, and has done nothing that could not be done again.
    holding.await.unwrap();
    assert_eq!(before.await, grew(1));
    let refused = broken.await.unwrap_err();
    assert!(
        matches!(refused, StoreError::Database { .. }),
        "{refused:?}"
    );
    assert_eq!(after.await, grew(1));
    assert_eq!(stale.await, Ok(Appended::Conflict { seq: 1 }));
    assert_eq!(tail.next().await.unwrap().map(|entry| entry.seq), Some(1));
    let call = store.call(&"x".into()).await;
    assert_eq!(call, Ok(None));
}

/// A turn that has not ended, so that the writer remembers the state of a chat.
fn opening() -> NewEntry {
    let events = json!([
        {"event": "chat-opened", "owner": "ann"},
        {"event": "turn-opened", "turn": "t", "messageId": "m", "cause": {
            "cause": "message", "message": {"id": "u", "role": "user", "parts": []}}},
    ]);
    let open = OpenTurn {
        id: "t".into(),
        is_running: true,
    };
    NewEntry {
        events: serde_json::from_value(events).unwrap(),
        open: Some(open),
        ..entry("")
    }
}

async fn open_turns(store: &SqliteStore) -> String {
    let sql = "SELECT group_concat(id || ' ' || turn, '; ') FROM chat";
    let open = tamper(store, move |connection| {
        connection.query_row(sql, (), |row| row.get::<_, String>(0))
    });
    open.await.unwrap()
}

#[tokio::test]
async fn what_is_known_of_a_chat_is_forgotten_when_another_process_writes() {
    let (store, folder) = open().await;
    let other = SqliteStore::open(folder.path().join("chats.db"));
    let other = other.await.unwrap();
    let chat = ChatId::from("c");
    assert_eq!(store.append(&chat, 0, opening()).await, grew(1));
    assert_eq!(other.append(&chat, 1, entry("theirs")).await, grew(2));
    let late = store.append(&chat, 1, entry("ours")).await;
    assert_eq!(late, Ok(Appended::Conflict { seq: 2 }));
    assert_eq!(store.append(&chat, 2, entry("ours")).await, grew(3));
    let late = other.append(&chat, 2, entry("theirs")).await;
    assert_eq!(late, Ok(Appended::Conflict { seq: 3 }));
    assert_eq!(other.delete(&chat).await, Ok(true));
    assert_eq!(store.append(&chat, 0, opening()).await, grew(1));
    assert_eq!(open_turns(&store).await, "c t");
}

#[tokio::test]
async fn what_is_known_of_a_chat_is_forgotten_with_what_is_rolled_back() {
    let (store, _folder) = open().await;
    let (first, second) = (ChatId::from("first"), ChatId::from("second"));
    assert_eq!(store.append(&first, 0, opening()).await, grew(1));
    let (holding, release) = hold(&store);
    let mut more = store.append(&first, 1, entry("more"));
    queue(&mut more);
    let mut new = store.append(&second, 0, opening());
    queue(&mut new);
    // All that came before it in its group is undone, and done again without it.
    let mut broken = Box::pin(tamper(&store, |connection| {
        connection.execute("no SQL", ())
    }));
    queue(&mut broken);
    drop(release);
    holding.await.unwrap();
    assert_eq!((more.await, new.await), (grew(2), grew(1)));
    assert!(broken.await.is_err());
    assert_eq!(store.append(&first, 2, entry("more")).await, grew(3));
    assert_eq!(store.append(&second, 1, entry("more")).await, grew(2));
}

#[tokio::test]
async fn nothing_is_known_of_a_chat_that_was_deleted() {
    let (store, _folder) = open().await;
    let chat = ChatId::from("c");
    assert_eq!(store.append(&chat, 0, opening()).await, grew(1));
    assert_eq!(store.append(&chat, 1, entry("more")).await, grew(2));
    assert_eq!(store.delete(&chat).await, Ok(true));
    let late = store.append(&chat, 2, entry("more")).await;
    assert_eq!(late, Ok(Appended::Conflict { seq: 0 }));
    assert_eq!(store.append(&chat, 0, opening()).await, grew(1));
}

#[tokio::test]
async fn nobody_is_answered_before_the_commit() {
    let (store, folder) = open().await;
    let chat = ChatId::from("c");
    let (holding, release) = hold(&store);
    let mut append = store.append(&chat, 0, entry("one"));
    queue(&mut append);
    // The last of the group reports that those before it have run, and keeps the commit waiting.
    let (has_run, run) = mpsc::channel();
    let (holding_last, release_last) = {
        let (release, held) = mpsc::channel::<()>();
        let held = Mutex::new(held);
        let mut holding = Box::pin(tamper(&store, move |_| {
            let _ = has_run.send(());
            let _ = held.lock().unwrap().recv();
            Ok(())
        }));
        queue(&mut holding);
        (holding, release)
    };
    drop(release);
    run.recv().unwrap();
    queue(&mut append);
    let outside = Connection::open(folder.path().join("chats.db")).unwrap();
    let count = "SELECT count(*) FROM entry";
    let count = || outside.query_row(count, (), |row| row.get::<_, i64>(0));
    assert_eq!(count(), Ok(0));
    drop(release_last);
    holding.await.unwrap();
    holding_last.await.unwrap();
    assert_eq!(append.await, grew(1));
    assert_eq!(count(), Ok(1));
}

#[tokio::test]
async fn a_deletion_is_the_last_of_its_group() {
    let (store, folder) = open().await;
    let chat = ChatId::from("c");
    assert_eq!(store.append(&chat, 0, entry("one")).await, grew(1));
    let (holding, release) = hold(&store);
    let mut delete = store.delete(&chat);
    queue(&mut delete);
    let path = folder.path().join("chats.db");
    let mut look = Box::pin(tamper(&store, move |_| {
        let outside = Connection::open(&path)?;
        outside.query_row("SELECT count(*) FROM entry", (), |row| row.get::<_, i64>(0))
    }));
    queue(&mut look);
    drop(release);
    holding.await.unwrap();
    assert_eq!(delete.await, Ok(true));
    assert_eq!(look.await, Ok(0));
}

#[tokio::test]
async fn a_transaction_that_an_error_ended_takes_nobody_with_it() {
    let (store, _folder) = open().await;
    let chat = ChatId::from("c");
    let (holding, release) = hold(&store);
    let mut append = store.append(&chat, 0, entry("one"));
    queue(&mut append);
    let mut ending = Box::pin(tamper(&store, |connection| {
        connection.execute_batch("ROLLBACK")?;
        connection.execute("no SQL", ())
    }));
    queue(&mut ending);
    drop(release);
    holding.await.unwrap();
    assert_eq!(append.await, grew(1));
    assert!(ending.await.is_err());
    assert_eq!(store.append(&chat, 1, entry("two")).await, grew(2));
}

#[tokio::test]
async fn a_database_that_another_holds_is_busy_and_then_works_again() {
    /// How often SQLite asked what to do, and everybody having queued when it first did.
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    static QUEUED: Barrier = Barrier::new(2);
    fn give_up(_: i32) -> bool {
        if ASKED.fetch_add(1, Ordering::Relaxed) == 0 {
            QUEUED.wait();
        }
        false
    }

    let folder = TempDir::new().unwrap();
    let path = folder.path().join("chats.db");
    let mut connection = connection::open_writer(&path).unwrap();
    connection.busy_handler(Some(give_up)).unwrap();
    let store = SqliteStore::on(connection, path.clone()).unwrap();
    let chat = ChatId::from("c");
    let other = Connection::open(path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut appends = [(); 3].map(|()| store.append(&chat, 0, entry("one")));
    appends.iter_mut().for_each(queue);
    QUEUED.wait();
    for append in appends {
        assert_eq!(append.await, Err(StoreError::Busy));
    }
    // They waited together, not one after the other.
    assert_eq!(ASKED.load(Ordering::Relaxed), 1);
    // Reading continues meanwhile.
    assert_eq!(store.read(&chat, 0).await, Ok(Vec::new()));
    other.execute_batch("COMMIT").unwrap();
    assert_eq!(store.append(&chat, 0, entry("one")).await, grew(1));
}

#[tokio::test]
async fn what_is_committed_to_a_file_that_has_just_gone_is_not_acknowledged() {
    let (store, folder) = open().await;
    let path = folder.path().join("chats.db");
    let (from, to) = (path.clone(), folder.path().join("kept.db"));
    // After the check with which a transaction begins.
    let moved = tamper(&store, move |_| {
        std::fs::rename(&from, &to).unwrap();
        Ok(())
    });
    assert_eq!(moved.await, Err(StoreError::Moved { path }));
}

#[tokio::test]
async fn a_look_at_a_database_that_another_holds_does_not_wait_for_it() {
    /// SQLite waits for the lock until the sender is dropped.
    static HELD: Mutex<Option<mpsc::Receiver<()>>> = Mutex::new(None);
    fn wait(_: i32) -> bool {
        let held = HELD.lock().unwrap();
        let _ = held.as_ref().map(mpsc::Receiver::recv);
        true
    }

    let folder = TempDir::new().unwrap();
    let path = folder.path().join("chats.db");
    let mut connection = connection::open_writer(&path).unwrap();
    connection.busy_handler(Some(wait)).unwrap();
    let store = SqliteStore::on(connection, path.clone()).unwrap();
    let other = Connection::open(path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (release, held) = mpsc::channel();
    *HELD.lock().unwrap() = Some(held);
    let time_limit = Duration::from_secs(60);
    for _ in 0..2 {
        let look = tokio::time::timeout(time_limit, store.probe(At(1)));
        assert_eq!(look.await, Ok(Err(StoreError::Busy)));
    }
    other.execute_batch("COMMIT").unwrap();
    drop(release);
    assert_eq!(store.probe(At(2)).await, Ok(()));
}

#[tokio::test]
async fn a_writer_that_crashed_gives_errors_and_no_hangs() {
    let (store, _folder) = open().await;
    let chat = ChatId::from("c");
    assert_eq!(store.append(&chat, 0, entry("one")).await, grew(1));
    let mut tail = store.tail(&chat, 1);
    let (holding, release) = hold(&store);
    let mut before = store.append(&chat, 1, entry("two"));
    queue(&mut before);
    let crash = tamper(&store, |_| -> rusqlite::Result<()> {
        panic!("a test crashes the writer")
    });
    let mut crash = Box::pin(crash);
    queue(&mut crash);
    let mut after = store.append(&chat, 2, entry("three"));
    queue(&mut after);
    drop(release);
    assert_eq!(holding.await, Err(StoreError::Closed));
    assert_eq!(before.await, Err(StoreError::Closed));
    assert_eq!(crash.await, Err(StoreError::Closed));
    assert_eq!(after.await, Err(StoreError::Closed));
    let later = store.append(&chat, 1, entry("later")).await;
    assert_eq!(later, Err(StoreError::Closed));
    assert_eq!(tail.next().await, Ok(None));
    assert_eq!(store.tail(&chat, 1).next().await, Ok(None));
    // What was acknowledged can still be read, and nothing else.
    assert_eq!(store.read(&chat, 0).await.map(|all| all.len()), Ok(1));
}

#[tokio::test]
async fn caller_waits_for_room_in_a_full_queue() {
    let (store, _folder) = open().await;
    let (holding, release) = hold(&store);
    let chats: Vec<_> = (0..QUEUE + 10)
        .map(|n| ChatId::from(n.to_string()))
        .collect();
    let mut appends: Vec<_> = chats
        .iter()
        .map(|chat| store.append(chat, 0, entry("one")))
        .collect();
    appends.iter_mut().for_each(queue);
    assert_eq!(store.writer.room.available_permits(), 0);
    drop(release);
    holding.await.unwrap();
    for append in appends {
        assert_eq!(append.await, grew(1));
    }
    assert_eq!(store.writer.room.available_permits(), QUEUE);
}

#[tokio::test]
async fn dropping_the_store_stores_what_it_was_asked_and_closes_the_file() {
    let (store, folder) = open().await;
    let chat = ChatId::from("c");
    {
        let append = pin!(store.append(&chat, 0, entry("one")));
        let mut context = Context::from_waker(Waker::noop());
        assert!(append.poll(&mut context).is_pending());
    }
    drop(store);
    // SQLite removes its log when the last connection closes.
    assert!(!folder.path().join("chats.db-wal").exists());
    let (store, chat) = (
        SqliteStore::open(folder.path().join("chats.db")).await,
        chat,
    );
    let read = store.unwrap().read(&chat, 0).await;
    assert_eq!(read.map(|all| all.len()), Ok(1));
}
