//! A PostgreSQL that several servers share, that holds something else, or that refuses connections.

// Helpers of tests stop as tests do.
#![allow(clippy::expect_used, clippy::unwrap_used)]

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use adk_stream_store::{
    Appended, Holder, Location, NewEntry, PostgresUrl, StoreError, Stores, Tail, open,
};
use serde_json::{Value, json};
use testkit::postgres::{Cluster, database};
use tokio::task::JoinSet;
use turn::{At, ChatId, OpenTurn};

async fn open_url(url: &str) -> Result<Stores, StoreError> {
    open(Location::Postgres(Box::new(url.parse()?))).await
}

fn entry(events: Value) -> NewEntry {
    NewEntry {
        at: At(1),
        epoch: 0,
        actor: "ann".into(),
        events: serde_json::from_value(events).unwrap(),
        open: None,
    }
}

fn opened() -> NewEntry {
    entry(json!([{"event": "chat-opened", "owner": "ann"}]))
}

fn grew(seq: u64) -> Result<Appended, StoreError> {
    Ok(Appended::Ok { seq })
}

async fn next_seq(tail: &mut Tail) -> Option<u64> {
    tail.next().await.unwrap().map(|entry| entry.seq)
}

#[tokio::test]
async fn an_entry_says_under_which_claim_it_was_written() {
    let cluster = Cluster::start();
    let journal = open_url(&cluster.database("chats")).await.unwrap().journal;
    let chat = ChatId::from("c");
    for (seen, epoch) in [(0, 0), (1, 3)] {
        let entry = NewEntry { epoch, ..opened() };
        assert_eq!(journal.append(&chat, seen, entry).await, grew(seen + 1));
    }
    let epochs = "SELECT string_agg(epoch::text, ' ' ORDER BY seq) FROM adk_stream.entry";
    assert_eq!(cluster.sql("chats", epochs).trim(), "0 3");
}

#[tokio::test]
async fn two_servers_see_each_other() {
    let url = database();
    let here = open_url(&url).await.unwrap().journal;
    let there = open_url(&url).await.unwrap().journal;
    let chat = ChatId::from("c");
    let mut tail = there.tail(&chat, 0);
    assert_eq!(here.append(&chat, 0, opened()).await, grew(1));
    let stale = there.append(&chat, 0, opened()).await;
    assert_eq!(stale, Ok(Appended::Conflict { seq: 1 }));
    assert_eq!(there.append(&chat, 1, opened()).await, grew(2));
    assert_eq!(next_seq(&mut tail).await, Some(1));
    assert_eq!(next_seq(&mut tail).await, Some(2));
    for seen in 2..5 {
        let waiting = tokio::spawn(async move { (next_seq(&mut tail).await, tail) });
        assert_eq!(here.append(&chat, seen, opened()).await, grew(seen + 1));
        let got;
        (got, tail) = waiting.await.unwrap();
        assert_eq!(got, Some(seen + 1));
    }
    // What another server deletes is over here too, also when there is a new chat under the id.
    let waiting = tokio::spawn(async move { (next_seq(&mut tail).await, tail) });
    assert_eq!(here.delete(&chat).await, Ok(true));
    for seen in 0..7 {
        assert_eq!(here.append(&chat, seen, opened()).await, grew(seen + 1));
    }
    let (got, mut tail) = waiting.await.unwrap();
    assert_eq!(got, None);
    assert_eq!(next_seq(&mut tail).await, None);
}

#[tokio::test]
async fn a_tail_gets_more_chats_than_a_notification_holds() {
    let url = database();
    let here = open_url(&url).await.unwrap().journal;
    let there = open_url(&url).await.unwrap().journal;
    let long = "x".repeat(500);
    let chats: Vec<ChatId> = (0..100).map(|n| format!("{n}-{long}").into()).collect();
    let mut tails: Vec<_> = chats.iter().map(|chat| there.tail(chat, 0)).collect();
    let mut got = JoinSet::new();
    for mut tail in tails.drain(..) {
        got.spawn(async move { next_seq(&mut tail).await });
    }
    let mut writers = JoinSet::new();
    for chat in chats {
        let here = here.clone();
        writers.spawn(async move { here.append(&chat, 0, opened()).await });
    }
    for appended in writers.join_all().await {
        assert_eq!(appended, grew(1));
    }
    for got in got.join_all().await {
        assert_eq!(got, Some(1));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_that_write_to_the_same_chats_all_get_through() {
    const SERVERS: usize = 3;
    const CHATS: usize = 6;
    const APPENDS: u64 = 20;
    let url = database();
    let mut writers = JoinSet::new();
    for _ in 0..SERVERS {
        let journal = open_url(&url).await.unwrap().journal;
        for chat in 0..CHATS {
            let journal = journal.clone();
            writers.spawn(async move {
                let chat = ChatId::from(chat.to_string());
                let mut seen = 0;
                let mut won = 0;
                while won < APPENDS {
                    match journal.append(&chat, seen, opened()).await.unwrap() {
                        Appended::Ok { seq } => (seen, won) = (seq, won + 1),
                        Appended::Conflict { seq } => seen = seq,
                    }
                }
            });
        }
    }
    writers.join_all().await;
    let journal = open_url(&url).await.unwrap().journal;
    for chat in 0..CHATS {
        let entries = journal.read(&chat.to_string().into(), 0).await.unwrap();
        let seqs = entries.into_iter().map(|entry| entry.seq);
        assert!(seqs.eq(1..=SERVERS as u64 * APPENDS), "chat {chat}");
    }
}

#[tokio::test]
async fn server_whose_clock_is_ahead_does_not_forget_what_was_used() {
    let url = database();
    let stores = open_url(&url).await.unwrap();
    let now = stores.journal.time().await.unwrap();
    let minute = Duration::from_secs(60);
    let nonces = stores.nonces;
    assert_eq!(nonces.spend("n", now, now + minute).await, Ok(true));
    let ahead = now + 2 * minute;
    let other = nonces.spend("other", ahead, ahead + minute).await;
    assert_eq!(other, Ok(true));
    assert_eq!(nonces.spend("n", now, now + minute).await, Ok(false));
    // Nor does one whose clock is behind bring it back.
    let soon = now + Duration::from_millis(500);
    assert_eq!(nonces.spend("short", now, soon).await, Ok(true));
    while testkit::postgres::execute(&url, "SELECT count(*) FROM adk_stream.nonce").trim() != "2" {
        nonces.spend("n", now, now + minute).await.unwrap();
    }
    assert_eq!(nonces.spend("short", now, soon).await, Ok(false));
}

#[tokio::test]
async fn one_append_that_is_refused_does_not_take_its_group_with_it() {
    let journal = open_url(&database()).await.unwrap().journal;
    let calls = |id: &str| {
        entry(json!([
            {"event": "chat-opened", "owner": "ann"},
            {"event": "step-ended", "turn": "t", "finish": "stop", "parts": [
                {"part": "call", "id": id, "tool": "pay", "input": {}, "place": "server"},
            ]},
        ]))
    };
    assert_eq!(
        journal.append(&"first".into(), 0, calls("x")).await,
        grew(1)
    );
    let mut writers = JoinSet::new();
    for n in 0..20 {
        let journal = journal.clone();
        writers.spawn(async move {
            let call = if n == 7 {
                "x".to_owned()
            } else {
                format!("call-{n}")
            };
            let chat = ChatId::from(format!("chat-{n}"));
            (n, journal.append(&chat, 0, calls(&call)).await)
        });
    }
    for (n, appended) in writers.join_all().await {
        let expected = match n {
            7 => Err(StoreError::Taken { id: "x".into() }),
            _ => grew(1),
        };
        assert_eq!(appended, expected, "{n}");
    }
    let nul = journal.append(&"a\0b".into(), 0, opened()).await;
    let problem = nul.unwrap_err().to_string();
    assert_eq!(problem, "an id: PostgreSQL stores no NUL character");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_servers_may_open_a_new_database_at_once() {
    let url = database();
    let mut servers = JoinSet::new();
    for _ in 0..8 {
        let url = url.clone();
        servers.spawn(async move { open_url(&url).await.map(drop) });
    }
    for opened in servers.join_all().await {
        assert_eq!(opened, Ok(()));
    }
}

#[tokio::test]
async fn everything_survives_a_restart_of_the_server() {
    let url = database();
    let chat = ChatId::from("c");
    let holder = Holder {
        owner: "one".into(),
        address: "http://one".into(),
    };
    let stores = open_url(&url).await.unwrap();
    assert_eq!(stores.journal.append(&chat, 0, opened()).await, grew(1));
    let held = [(chat.clone(), 1)];
    let refused = stores
        .journal
        .hold(&holder, &held, Duration::from_secs(9))
        .await;
    assert_eq!(refused, Ok(Vec::new()));
    let lease = stores.journal.lease(&chat).await;
    drop(stores);
    let stores = open_url(&url).await.unwrap();
    assert_eq!(stores.journal.lease(&chat).await, lease);
    assert_eq!(stores.journal.append(&chat, 1, opened()).await, grew(2));
}

#[tokio::test]
async fn what_can_not_be_opened_is_named() {
    let mut cluster = Cluster::start_with(|data| {
        let rules = "local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n";
        std::fs::write(data.join("pg_hba.conf"), rules).unwrap();
    });
    let url = cluster.database("chats");
    let at = format!("at 127.0.0.1:{}", cluster.port());
    let refused = |url: String| async move { open_url(&url).await.err().unwrap() };

    let missing = refused(cluster.url("nowhere")).await;
    let place = format!("nowhere {at}");
    assert_eq!(missing, StoreError::DatabaseMissing { place });

    let denied = refused(url.replace("only-for-tests", "a-wrong-secret")).await;
    let said = denied.to_string();
    let start =
        format!("access to the database chats {at} was denied: password authentication failed");
    assert!(said.starts_with(&start), "{said}");
    assert!(!format!("{denied:?}{said}").contains("secret"));

    let latin = "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0";
    cluster.sql("chats", latin);
    let said = refused(cluster.url("latin")).await.to_string();
    let end = format!("latin {at} is encoded in LATIN1, and has to be in UTF8");
    assert!(said.ends_with(&end), "{said}");

    // May connect, and not create.
    cluster.sql("chats", "CREATE ROLE guest LOGIN PASSWORD 'guest-secret'");
    let guest = url.replace("postgres:only-for-tests", "guest:guest-secret");
    let said = refused(guest.clone()).await.to_string();
    let start = format!(
        "access to the database chats {at} was denied: permission denied for database chats"
    );
    assert_eq!(said, start);
    // What was made for it, it may use.
    cluster.sql("chats", "CREATE SCHEMA adk_stream AUTHORIZATION guest");
    open_url(&guest).await.unwrap();
    drop(open_url(&url).await.unwrap());

    cluster.sql("chats", "UPDATE adk_stream.version SET number = 99");
    let newer = refused(url.clone()).await;
    let (place, found, known) = (format!("chats {at}"), 99, 6);
    let expected = StoreError::TooNew {
        place,
        found,
        known,
    };
    assert_eq!(newer, expected);

    cluster.crash();
    let away = refused(url).await.to_string();
    let start = format!("the database is away: chats {at}: error connecting to server: ");
    assert!(away.starts_with(&start), "{away}");
    assert!(away.contains("Connection refused"), "{away}");
}

#[tokio::test]
async fn turn_that_an_older_version_took_for_running_is_known_to_wait() {
    let cluster = Cluster::start();
    let url = cluster.database("chats");
    let journal = open_url(&url).await.unwrap().journal;
    let chat = ChatId::from("c");
    let call =
        |id: &str| json!({"part": "call", "id": id, "tool": "pay", "input": {}, "place": "agent"});
    let asked = |gate: &str, call: &str| {
        json!({"event": "gate-opened", "turn": "t", "gate": {
            "id": gate, "call": call, "kind": {"kind": "approval", "question": "Pay?"}, "token": 1,
        }})
    };
    // As the version before wrote it: two questions of an agent, one of them answered.
    let events = json!([
        {"event": "chat-opened", "owner": "ann"},
        {"event": "turn-opened", "turn": "t", "messageId": "m", "cause": {
            "cause": "message", "message": {"id": "u", "role": "user", "parts": []}}},
        {"event": "step-ended", "turn": "t", "finish": "stop", "parts": [call("a"), call("b")]},
        {"event": "call-started", "turn": "t", "call": "a"},
        {"event": "call-started", "turn": "t", "call": "b"},
        asked("g", "a"),
        asked("h", "b"),
        {"event": "gate-closed", "turn": "t", "gate": "g", "decision": "approved"},
    ]);
    let open = OpenTurn {
        id: "t".into(),
        is_running: true,
    };
    let entry = NewEntry {
        open: Some(open),
        ..entry(events)
    };
    assert_eq!(journal.append(&chat, 0, entry).await, grew(1));
    let found = journal.orphaned(9).await;
    assert_eq!(found, Ok(vec![chat.clone()]));
    drop(journal);
    cluster.sql(
        "chats",
        "ALTER TABLE adk_stream.chat DROP COLUMN active, DROP COLUMN ended, DROP COLUMN title;
         DROP TABLE adk_stream.label, adk_stream.tombstone;
         CREATE INDEX chat_of_owner ON adk_stream.chat (owner);
         UPDATE adk_stream.version SET number = 3",
    );

    let journal = open_url(&url).await.unwrap().journal;
    assert_eq!(journal.orphaned(9).await, Ok(Vec::new()));
    let usage = journal.usage(&"ann".into(), &chat, 9).await.unwrap();
    assert!(usage.is_open);
}

/// A self-signed certificate for `localhost`.
fn certify(data: &Path) {
    let made = Command::new("openssl")
        .args([
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
        ])
        .args([
            "-subj",
            "/CN=localhost",
            "-addext",
            "subjectAltName=DNS:localhost",
        ])
        .args(["-addext", "basicConstraints=critical,CA:FALSE"])
        .args(["-keyout", "server.key", "-out", "server.crt"])
        .current_dir(data)
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    let add = |file: &str, text: &str| {
        use std::io::Write;
        let file = std::fs::File::options().append(true).open(data.join(file));
        file.unwrap().write_all(text.as_bytes()).unwrap();
    };
    add("postgresql.conf", "ssl = on\n");
    // TLS is required.
    let rules = "local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n";
    std::fs::write(data.join("pg_hba.conf"), rules).unwrap();
}

#[tokio::test]
async fn a_line_is_encrypted_and_a_certificate_checked_if_asked() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("root.crt");
    let cluster = Cluster::start_with(|data| {
        certify(data);
        std::fs::copy(data.join("server.crt"), &root).unwrap();
    });
    let url = cluster.database("chats").replace("127.0.0.1", "localhost");
    let url = |options: &str| format!("{url}?hostaddr=127.0.0.1&{options}");
    let root = root.display().to_string().replace('/', "%2F");

    open_url(&url("sslmode=require")).await.unwrap();
    let backends = "SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid)
                    WHERE application_name = 'adk-stream'";
    let stores = open_url(&url("sslmode=prefer")).await.unwrap();
    assert_eq!(cluster.sql("chats", backends), "t\n");
    drop(stores);
    open_url(&url(&format!("sslmode=verify-full&sslrootcert={root}")))
        .await
        .unwrap();

    let plain = open_url(&url("sslmode=disable")).await.err().unwrap();
    assert!(matches!(plain, StoreError::Denied { .. }), "{plain}");
    // It is not signed by an authority that this machine trusts.
    let unknown = open_url(&url("sslmode=verify-full")).await.err().unwrap();
    assert!(unknown.to_string().contains("certificate"), "{unknown}");
    // And it is not 127.0.0.1's.
    let other = url("sslmode=require").replace("localhost", "127.0.0.1");
    let other = open_url(&format!("{other}&sslrootcert={root}")).await;
    let other = other.err().unwrap();
    assert!(other.to_string().contains("certificate"), "{other}");
    let missing = open_url(&url("sslrootcert=nowhere.pem"))
        .await
        .err()
        .unwrap();
    assert!(matches!(missing, StoreError::BadUrl { .. }), "{missing}");
}

#[tokio::test]
async fn no_more_connections_are_opened_than_allowed() {
    let cluster = Cluster::start();
    let url = format!("{}?pool_max_conns=4", cluster.database("chats"));
    let stores = open_url(&url).await.unwrap();
    let chat = ChatId::from("c");
    assert_eq!(stores.journal.append(&chat, 0, opened()).await, grew(1));
    let mut readers = JoinSet::new();
    for _ in 0..50 {
        let (journal, chat) = (stores.journal.clone(), chat.clone());
        readers.spawn(async move { journal.read(&chat, 0).await.map(|all| all.len()) });
    }
    for read in readers.join_all().await {
        assert_eq!(read, Ok(1));
    }
    let count = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'adk-stream'";
    assert_eq!(cluster.sql("chats", count), "4\n");
}

#[tokio::test]
async fn a_database_that_is_away_is_said_to_be() {
    let mut cluster = Cluster::start();
    let url: PostgresUrl = cluster.database("chats").parse().unwrap();
    let url = url.with_time_limit(Duration::from_millis(200));
    let journal = open(Location::Postgres(Box::new(url)))
        .await
        .unwrap()
        .journal;
    let chat = ChatId::from("c");
    assert_eq!(journal.append(&chat, 0, opened()).await, grew(1));
    cluster.crash();
    let away = |error: StoreError| matches!(error, StoreError::Unavailable { .. });
    assert!(away(journal.append(&chat, 1, opened()).await.unwrap_err()));
    assert!(away(journal.read(&chat, 0).await.unwrap_err()));
    assert!(away(journal.orphaned(1).await.unwrap_err()));
    assert!(away(journal.delete(&chat).await.unwrap_err()));
    cluster.start_again();
    // Every call is an attempt, so the first that finds it there succeeds.
    let appended = loop {
        match journal.append(&chat, 1, opened()).await {
            Err(error) if away(error.clone()) => {}
            appended => break appended,
        }
    };
    assert_eq!(appended, grew(2));
    // On a busy machine, a connection to read by may take longer than the time limit.
    let read = loop {
        match journal.read(&chat, 0).await {
            Err(error) if away(error.clone()) => {}
            read => break read,
        }
    };
    assert_eq!(read.map(|all| all.len()), Ok(2));
}
