//! A disk without room, and a file that may not be written to: clear errors, no turn that is stored by
//! half, and work that continues when it can.

use std::fs::Permissions;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::postgres::{Cluster, execute};

use crate::process::{Server, adk_stream};
use crate::replicas::{answer, begin, finished, payments, question, say};

/// A server over a file.
fn over(path: &Path, pace: &str) -> Server {
    let flags = ["serve", "--listen", "127.0.0.1:0", "--pace", pace];
    let store = format!("sqlite:{}", path.display());
    let server = adk_stream(&flags).variable("ADK_STREAM_STORE", &store);
    server.variable("ADK_STREAM_LOG", "off").running()
}

/// From here on the disk is full: no file may become larger than the write-ahead log is.
fn fill(server: &Server, path: &Path) {
    let log = path.with_extension("db-wal");
    let size = std::fs::metadata(log).unwrap().len();
    server.limit_files(&size.to_string());
}

/// The chat's journal, which is read without its being woken.
fn journal(server: &Server, chat: &str) -> Value {
    server.get(&format!("/api/chat/{chat}/journal")).json()
}

#[test]
fn an_answer_that_does_not_fit_is_refused_and_honoured_when_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chats.db");
    let server = over(&path, "0");
    say(&server, "c1", "Send $20 to Sam");
    let asked = question(&server, "c1");
    let before = journal(&server, "c1");
    fill(&server, &path);
    let yes = json!({"approved": true}).to_string();
    for _ in 0..3 {
        let refused = server.post(&format!("/api/approvals/{asked}"), &[], &yes);
        assert_eq!(refused.status, 503, "{}", refused.text());
        assert_eq!(refused.header("retry-after"), Some("1"));
        assert_eq!(refused.json()["error"]["code"], "store_unavailable");
    }
    let parts = json!([{"type": "text", "text": "Hello"}]);
    let message = json!({"id": "u", "role": "user", "parts": parts});
    let hello = json!({"id": "c2", "messages": [message]}).to_string();
    let refused = server.post("/api/chat", &[], &hello);
    assert_eq!(refused.status, 503, "{}", refused.text());
    assert_eq!(refused.json()["error"]["code"], "store_unavailable");
    // Nothing of it is there, and what was there can be read.
    assert_eq!(journal(&server, "c1"), before);
    assert_eq!(server.get("/api/chat/c1").json()["status"], "parked");
    assert_eq!(server.get("/api/chat/c2").status, 404);
    assert_eq!(payments(&server), 0);

    server.limit_files("unlimited");
    assert_eq!(answer(&server, &asked, true), 200);
    finished(&server, "c1");
    assert_eq!(payments(&server), 1);
    say(&server, "c2", "Hello");
    server.signal("KILL");
    let server = over(&path, "0");
    finished(&server, "c1");
    assert_eq!(payments(&server), 1);
}

#[test]
fn approved_payment_that_finds_no_room_is_made_once_when_there_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chats.db");
    let flags = ["serve", "--listen", "127.0.0.1:0", "--pace", "0"];
    let store = format!("sqlite:{}", path.display());
    let server = adk_stream(&flags).variable("ADK_STREAM_STORE", &store);
    let mut server = server.running();
    say(&server, "c1", "Send $20 to Sam");
    let asked = question(&server, "c1");
    // The least room that the answer needs leaves none for the payment.
    let page = 1024;
    let log = std::fs::metadata(path.with_extension("db-wal")).unwrap();
    let accepted = (0..).any(|pages| {
        server.limit_files(&(log.len() + pages * page).to_string());
        answer(&server, &asked, true) == 200
    });
    assert!(accepted);
    server.log_says("a payment is tried again");
    assert_eq!(payments(&server), 0);

    server.limit_files("unlimited");
    let chat = finished(&server, "c1").to_string();
    assert_eq!(payments(&server), 1);
    assert!(chat.contains(r#""state":"output-available""#), "{chat}");
    assert!(chat.contains(r#""success":true"#), "{chat}");
}

/// From here on a table of a PostgreSQL without room takes no row.
fn fill_table(url: &str, table: &str) {
    let error = "RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'";
    execute(
        url,
        &format!(
            "CREATE OR REPLACE FUNCTION adk_stream.no_room() RETURNS trigger LANGUAGE plpgsql
               AS $$ BEGIN {error}; END $$;
             CREATE TRIGGER no_room BEFORE INSERT OR UPDATE ON adk_stream.{table}
               FOR EACH ROW EXECUTE FUNCTION adk_stream.no_room();"
        ),
    );
}

fn make_room(url: &str, table: &str) {
    execute(url, &format!("DROP TRIGGER no_room ON adk_stream.{table}"));
}

#[test]
fn approved_payment_is_made_once_when_the_disk_of_postgresql_has_room_again() {
    let url = testkit::postgres::database();
    let flags = ["serve", "--listen", "127.0.0.1:0", "--pace", "0"];
    let server = adk_stream(&flags).variable("ADK_STREAM_STORE", &url);
    let mut server = server.running();
    say(&server, "c1", "Send $20 to Sam");
    let asked = question(&server, "c1");
    // An answer that can't be stored is not acknowledged.
    fill_table(&url, "entry");
    assert_eq!(answer(&server, &asked, true), 503);
    make_room(&url, "entry");
    // One that was is honoured, though there is no room for the payment.
    fill_table(&url, "payment");
    assert_eq!(answer(&server, &asked, true), 200);
    let line = server.log_says("a payment is tried again");
    assert!(line.contains("the disk is full"), "{line}");
    assert_eq!(payments(&server), 0);
    make_room(&url, "payment");
    let chat = finished(&server, "c1").to_string();
    assert_eq!(payments(&server), 1);
    assert!(chat.contains(r#""success":true"#), "{chat}");
}

#[test]
fn a_turn_that_runs_out_of_space_reports_it_and_continues_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chats.db");
    let server = over(&path, "50");
    let mut window = begin(&server, "c1", "Hello");
    let mut first = [0; 12];
    window.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    fill(&server, &path);
    let mut received = String::new();
    while !received.contains("store_unavailable: ") {
        let mut bytes = [0; 4096];
        let read = window.read(&mut bytes).unwrap();
        assert_ne!(read, 0, "{received}");
        received.push_str(&String::from_utf8_lossy(&bytes[..read]));
    }
    let entries = journal(&server, "c1");
    assert_eq!(entries["entries"].as_array().unwrap().len(), 1, "{entries}");

    server.limit_files("unlimited");
    // Nobody asks for the chat; the server takes it up all the same.
    let mut entries = journal(&server, "c1");
    while !entries.to_string().contains("turn-ended") {
        entries = journal(&server, "c1");
    }
    assert!(entries.to_string().contains("finished"), "{entries}");
}

#[test]
fn a_file_that_may_not_be_written_to_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chats.db");
    say(&over(&path, "0"), "c1", "Hello");
    for (mode, part) in [(0o444, path.clone()), (0o555, folder.path().to_owned())] {
        std::fs::set_permissions(part, Permissions::from_mode(mode)).unwrap();
    }
    let store = format!("sqlite:{}", path.display());
    let flags = ["serve", "--listen", "127.0.0.1:0", "--store", &store];
    let refused = adk_stream(&flags).without_privilege().refused();
    refused.says(&format!("{} can't be written to", path.display()));
    // Made writable again, it has what it had.
    for (mode, part) in [(0o755, folder.path().to_owned()), (0o644, path.clone())] {
        std::fs::set_permissions(part, Permissions::from_mode(mode)).unwrap();
    }
    finished(&over(&path, "0"), "c1");
}

/// What an operator sees at `/readyz`.
fn readiness(server: &Server) -> (u16, String) {
    let answer = server.get("/readyz");
    let reason = answer.json()["reason"]
        .as_str()
        .unwrap_or_default()
        .to_owned();
    (answer.status, reason)
}

/// Waits until `/readyz`, whose answer may be a second old, says something.
fn until_ready_says(server: &Server, expected: (u16, &str)) {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let (status, reason) = readiness(server);
        if (status, reason.as_str()) == expected {
            return;
        }
        assert!(
            Instant::now() < deadline,
            "{status} {reason}, not {expected:?}"
        );
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Waits until `/readyz` refuses, and gives its reason.
fn first_refusal(server: &Server) -> String {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let (status, reason) = readiness(server);
        if status != 200 {
            assert_eq!(status, 503, "{reason}");
            return reason;
        }
        assert!(Instant::now() < deadline, "it is still ready");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A file that is gone can be written to, and takes all with it when it is closed.
#[test]
fn nothing_is_acknowledged_over_a_file_that_was_deleted_or_replaced() {
    for is_replaced in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("chats.db");
        let server = over(&path, "0");
        say(&server, "c0", "Send $10 to Sam");
        assert_eq!(answer(&server, &question(&server, "c0"), true), 200);
        finished(&server, "c0");
        say(&server, "c1", "Send $20 to Sam");
        let asked = question(&server, "c1");
        assert_eq!(readiness(&server), (200, String::new()));

        // As a careless restore does it: another file under the same name, or none.
        let kept = folder.path().join("kept.db");
        std::fs::rename(&path, &kept).unwrap();
        if is_replaced {
            std::fs::copy(&kept, &path).unwrap();
        }
        let yes = json!({"approved": true}).to_string();
        for _ in 0..3 {
            let refused = server.post(&format!("/api/approvals/{asked}"), &[], &yes);
            assert_eq!(refused.status, 503, "{}", refused.text());
            assert_eq!(refused.json()["error"]["code"], "store_moved");
        }
        // Nor does the demo's ledger, which has a connection of its own, report on a file that is gone.
        let refused = server.get("/api/wallet");
        assert_eq!(refused.status, 503, "{}", refused.text());
        assert_eq!(refused.json()["error"]["code"], "store_moved");
        let hello = json!({"id": "c2", "messages": [
            {"id": "u", "role": "user", "parts": [{"type": "text", "text": "Hello"}]}]});
        let refused = server.post("/api/chat", &[], &hello.to_string());
        assert_eq!(refused.status, 503, "{}", refused.text());
        until_ready_says(&server, (503, "moved"));
        assert_eq!(server.get("/healthz").status, 200);

        // The file is put back, and all that was acknowledged is there.
        std::fs::rename(&kept, &path).unwrap();
        until_ready_says(&server, (200, ""));
        assert_eq!(payments(&server), 1);
        assert_eq!(answer(&server, &asked, true), 200);
        finished(&server, "c1");
        drop(server);
        let again = over(&path, "0");
        assert_eq!(payments(&again), 2);
    }
}

#[test]
fn readiness_says_that_another_process_holds_the_store() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chats.db");
    let server = over(&path, "0");
    assert_eq!(readiness(&server), (200, String::new()));
    let other = rusqlite::Connection::open(&path).unwrap();
    // A server that has no time to look in time can only say so: then once more.
    let mut reasons = (0..5).map(|_| {
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let reason = first_refusal(&server);
        // It lives, and asking does not hold it up.
        assert_eq!(server.get("/healthz").status, 200);
        other.execute_batch("ROLLBACK").unwrap();
        until_ready_says(&server, (200, ""));
        reason
    });
    let found = reasons.find(|reason| reason != "timeout");
    assert_eq!(found.as_deref(), Some("locked"));
}

#[test]
fn readiness_says_that_the_database_is_away_and_when_it_is_back() {
    let mut cluster = Cluster::start();
    let url = cluster.database("chats");
    // Each time a server that knows of no outage yet: one that has a history waits for less.
    let mut reasons = (0..5).map(|_| {
        let flags = ["serve", "--listen", "127.0.0.1:0", "--store", &url];
        let server = adk_stream(&flags)
            .variable("ADK_STREAM_LOG", "off")
            .running();
        assert_eq!(readiness(&server), (200, String::new()));
        cluster.crash();
        let reason = first_refusal(&server);
        assert_eq!(server.get("/healthz").status, 200);
        cluster.start_again();
        until_ready_says(&server, (200, ""));
        reason
    });
    let found = reasons.find(|reason| reason != "timeout");
    assert_eq!(found.as_deref(), Some("unreachable"));
}

#[test]
fn readiness_says_that_the_store_is_corrupt() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chats.db");
    // Its log is brought into the file, which then has all.
    let server = over(&path, "0");
    let other = rusqlite::Connection::open(&path).unwrap();
    let emptied = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
    let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
    assert_eq!(other.query_row(checkpoint, (), emptied), Ok(0));
    let mut file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    std::io::Write::write_all(&mut file, &[7; 4096]).unwrap();
    until_ready_says(&server, (503, "corrupt"));
}

#[test]
fn readiness_says_that_the_store_has_no_room() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chats.db");
    let server = over(&path, "0");
    assert_eq!(readiness(&server), (200, String::new()));
    // Nothing that is written fits any more.
    server.limit_files("4096");
    until_ready_says(&server, (503, "unwritable"));
    server.limit_files("unlimited");
    until_ready_says(&server, (200, ""));
}

/// SQLite says that it is full, where a disk without room and a file at its limit do: when numbers have
/// run out, which is the one of the three that a test can have on any machine.
#[test]
fn readiness_says_that_the_store_is_full_and_when_it_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chats.db");
    let server = over(&path, "0");
    assert_eq!(readiness(&server), (200, String::new()));
    let other = rusqlite::Connection::open(&path).unwrap();
    let last = i64::MAX;
    let fill = format!(
        "CREATE TABLE filled (id INTEGER PRIMARY KEY AUTOINCREMENT);
         INSERT INTO filled VALUES ({last});
         CREATE TRIGGER fill AFTER UPDATE ON probe BEGIN INSERT INTO filled (id) VALUES (NULL); END;"
    );
    other.execute_batch(&fill).unwrap();
    until_ready_says(&server, (503, "full"));
    other.execute_batch("DROP TRIGGER fill").unwrap();
    until_ready_says(&server, (200, ""));
}

#[test]
fn files_of_the_store_are_their_owners_alone_and_others_are_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chats.db");
    let server = over(&path, "0");
    say(&server, "c1", "Hello");
    for ending in ["db", "db-wal", "db-shm"] {
        let file = std::fs::metadata(path.with_extension(ending)).unwrap();
        assert_eq!(file.permissions().mode() & 0o777, 0o600, "{ending}");
    }
    drop(server);
    std::fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    let store = format!("sqlite:{}", path.display());
    let flags = ["serve", "--listen", "127.0.0.1:0", "--store", &store];
    let mut server = adk_stream(&flags).running();
    let line = server.log_line();
    assert!(line.contains("(mode 644)"), "{line}");
}
