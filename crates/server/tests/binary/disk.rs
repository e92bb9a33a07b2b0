//! A disk without room, and a file that may not be written to: clear errors, no turn that is stored by
//! half, and work that goes on when it can.

use std::fs::Permissions;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};

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
fn a_turn_that_runs_out_of_room_says_so_and_goes_on_by_itself_when_there_is_some() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("chats.db");
    let server = over(&path, "50");
    let mut window = begin(&server, "c1", "Hello");
    let mut first = [0; 12];
    window.read_exact(&mut first).unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    fill(&server, &path);
    let mut told = String::new();
    while !told.contains("store_unavailable: ") {
        let mut bytes = [0; 4096];
        let read = window.read(&mut bytes).unwrap();
        assert_ne!(read, 0, "{told}");
        told.push_str(&String::from_utf8_lossy(&bytes[..read]));
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
