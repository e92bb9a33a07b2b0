//! PostgreSQL that fails over: a silent host beside one that answers, a primary that freezes, and a
//! former primary that comes back without knowing that it was replaced.

// Helpers of tests stop as tests do.
#![allow(clippy::expect_used, clippy::unwrap_used)]

use std::net::TcpListener;
use std::sync::Arc;
use std::time::{Duration, Instant};

use adk_stream_store::{
    Appended, Journal, Location, NewEntry, PostgresUrl, StoreError, Stores, open,
};
use serde_json::json;
use testkit::postgres::Cluster;
use tokio::sync::watch;
use turn::{At, ChatId};

/// How long anything may take here before it counts as never.
const NEVER: Duration = Duration::from_secs(120);

/// What counts the entries at one server, without the store.
const COUNT: &str = "SELECT count(*) FROM adk_stream.entry";

/// Ends all connections of the store to one server.
const KILL: &str = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
    WHERE application_name = 'adk-stream'";

/// How many sessions a server has seen.
const SESSIONS: &str = "SELECT sessions FROM pg_stat_database WHERE datname = 'chats'";

/// How long a store looks for a primary, in the tests in which it has to find one.
const SEARCH: Duration = Duration::from_secs(60);

/// One database at several servers, in this order.
fn at(clusters: &[&Cluster], time_limit: Duration) -> PostgresUrl {
    let ports: Vec<_> = clusters.iter().map(|cluster| cluster.port()).collect();
    at_ports(&ports, time_limit)
}

fn at_ports(ports: &[u16], time_limit: Duration) -> PostgresUrl {
    let hosts: Vec<_> = ports
        .iter()
        .map(|port| format!("127.0.0.1:{port}"))
        .collect();
    let url = format!("postgres://postgres@{}/chats", hosts.join(","));
    let url: PostgresUrl = url.parse().unwrap();
    url.with_time_limit(time_limit)
}

async fn opened(url: &PostgresUrl) -> Stores {
    let location = Location::Postgres(Box::new(url.clone()));
    open(location).await.unwrap()
}

fn entry(mark: u64) -> NewEntry {
    let events = json!([{"event": "chat-opened", "owner": "ann"}]);
    NewEntry {
        at: At(mark),
        epoch: 0,
        actor: "ann".into(),
        events: serde_json::from_value(events).unwrap(),
        open: None,
    }
}

fn chat() -> ChatId {
    ChatId::from("c")
}

/// Appends, again and again until it is acknowledged, and gives the place.
async fn append(journal: &dyn Journal, mark: u64) -> u64 {
    let begun = Instant::now();
    let mut seen = 0;
    loop {
        match journal.append(&chat(), seen, entry(mark)).await {
            Ok(Appended::Ok { seq }) => return seq,
            Ok(Appended::Conflict { seq }) => seen = seq,
            Err(StoreError::Unavailable { problem }) => {
                assert!(begun.elapsed() < NEVER, "{problem}");
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            Err(error) => panic!("{error}"),
        }
    }
}

/// The marks of all entries, in their order.
async fn marks(journal: &dyn Journal) -> Vec<u64> {
    let begun = Instant::now();
    loop {
        match journal.read(&chat(), 0).await {
            Ok(entries) => return entries.iter().map(|entry| entry.at.0).collect(),
            Err(error) => assert!(begun.elapsed() < NEVER, "{error}"),
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn silent_host_keeps_nobody_from_the_one_that_answers() {
    let (silent, answering) = (Cluster::start(), Cluster::start());
    answering.database("chats");
    let _frozen = tokio::task::block_in_place(|| silent.pause());
    // More hosts that accept connections and say nothing than there are seconds in which one has to be
    // found: a client that asks one after the other, for a second each or longer, does not get to the last.
    let listeners: Vec<_> = (0..SEARCH.as_secs() + 4)
        .map(|_| TcpListener::bind("127.0.0.1:0").unwrap())
        .collect();
    let ports = listeners
        .iter()
        .map(|listener| listener.local_addr().unwrap().port());
    let ports: Vec<_> = [silent.port()]
        .into_iter()
        .chain(ports)
        .chain([answering.port()])
        .collect();
    let stores = opened(&at_ports(&ports, SEARCH)).await;
    for mark in 0..3 {
        append(&*stores.journal, mark).await;
        tokio::task::block_in_place(|| answering.sql("chats", KILL));
    }
    assert_eq!(marks(&*stores.journal).await, [0, 1, 2]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn standby_is_asked_by_one_though_many_wait_for_a_primary() {
    let primary = Cluster::start();
    primary.database("chats");
    let standby = tokio::task::block_in_place(|| primary.standby());
    let time_limit = Duration::from_secs(2);
    let hosts = [&primary, &standby].map(|cluster| format!("127.0.0.1:{}", cluster.port()));
    let url = format!(
        "postgres://postgres@{}/chats?pool_max_conns=20",
        hosts.join(",")
    );
    let url: PostgresUrl = url.parse().unwrap();
    let stores = opened(&url.with_time_limit(time_limit)).await;
    append(&*stores.journal, 0).await;
    let sessions = || {
        standby
            .sql("chats", SESSIONS)
            .trim()
            .parse::<u128>()
            .unwrap()
    };
    let before = tokio::task::block_in_place(sessions);
    let begun = Instant::now();
    let _frozen = tokio::task::block_in_place(|| primary.pause());
    let reading = (0..64).map(|_| {
        let journal = Arc::clone(&stores.journal);
        tokio::spawn(async move { journal.read(&chat(), 0).await })
    });
    for read in reading.collect::<Vec<_>>() {
        let read = read.await.unwrap();
        assert!(
            matches!(read, Err(StoreError::Unavailable { .. })),
            "{read:?}"
        );
    }
    let asked = tokio::task::block_in_place(sessions) - before;
    // Four times a second, and each search once more at its start.
    let allowed = begun.elapsed().as_millis() / 250 + 10;
    assert!(asked > 0);
    assert!(
        asked <= allowed,
        "{asked} sessions, at most {allowed} expected"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn standby_is_not_written_to_though_it_is_named_first() {
    let primary = Cluster::start();
    primary.database("chats");
    let standby = tokio::task::block_in_place(|| primary.standby());
    let stores = opened(&at(&[&standby, &primary], Duration::from_secs(60))).await;
    append(&*stores.journal, 0).await;
    assert_eq!(marks(&*stores.journal).await, [0]);
    let location = Location::Postgres(Box::new(at(&[&standby], Duration::from_secs(60))));
    let refused = open(location).await.err().expect("it is no primary");
    assert!(
        refused.to_string().ends_with("it is a standby"),
        "{refused}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn promoted_standby_is_found_while_the_primary_is_frozen_in_use() {
    let primary = Cluster::start();
    primary.database("chats");
    let standby = tokio::task::block_in_place(|| primary.standby());
    let url = at(&[&primary, &standby], Duration::from_secs(2));
    let stores = opened(&url).await;
    // One appends and one reads all the while, so that both have a connection in use.
    let stop = watch::Sender::new(false);
    let counts = watch::Sender::new(0_u64);
    let acknowledged = tokio::spawn({
        let (journal, counts, stop) = (Arc::clone(&stores.journal), counts.clone(), stop.clone());
        async move {
            let mut acknowledged = Vec::new();
            for mark in 0.. {
                if *stop.borrow() {
                    break;
                }
                acknowledged.push((append(&*journal, mark).await, mark));
                counts.send_modify(|count| *count += 1);
            }
            acknowledged
        }
    });
    let reading = tokio::spawn({
        let (journal, stop) = (Arc::clone(&stores.journal), stop.clone());
        async move {
            let mut seen = Vec::new();
            while !*stop.borrow() {
                let found = marks(&*journal).await;
                assert!(found.starts_with(&seen), "{found:?} after {seen:?}");
                seen = found;
            }
        }
    });
    let progress = async |more: u64| {
        let mut counts = counts.subscribe();
        let target = *counts.borrow() + more;
        let waiting = counts.wait_for(|count| *count >= target);
        let waited = tokio::time::timeout(NEVER, waiting).await;
        waited.expect("appends go on").unwrap();
    };
    progress(20).await;
    let frozen = tokio::task::block_in_place(|| primary.pause());
    tokio::task::block_in_place(|| standby.promote());
    progress(20).await;
    // The former primary wakes up, with connections that know nothing of it, and takes writes.
    tokio::task::block_in_place(|| {
        drop(frozen);
        primary.wait_for_standbys("");
    });
    progress(50).await;
    stop.send_replace(true);
    reading.await.unwrap();
    let acknowledged = acknowledged.await.unwrap();
    let found = marks(&*stores.journal).await;
    for (seq, mark) in &acknowledged {
        assert_eq!(found[usize::try_from(*seq).unwrap() - 1], *mark);
    }
    let stored = tokio::task::block_in_place(|| standby.sql("chats", COUNT));
    assert_eq!(stored.trim(), found.len().to_string());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn former_primary_that_comes_back_is_neither_written_to_nor_read_from() {
    let mut former = Cluster::start();
    former.database("chats");
    let mut primary = tokio::task::block_in_place(|| former.standby());
    let url = at(&[&former, &primary], Duration::from_secs(2));
    let stores = opened(&url).await;
    let journal = &*stores.journal;
    append(journal, 0).await;
    tokio::task::block_in_place(|| {
        former.wait_for_standbys("");
        former.crash();
        primary.promote();
    });
    append(journal, 1).await;
    assert_eq!(url.newest_lineage().map(|newest| newest.timeline), Some(2));
    tokio::task::block_in_place(|| former.start_again());
    // It is the first in the URL, and each time every connection is a new one.
    for mark in 2..6 {
        tokio::task::block_in_place(|| primary.sql("chats", KILL));
        assert_eq!(marks(journal).await, (0..mark).collect::<Vec<_>>());
        append(journal, mark).await;
    }
    // Also where it is the only one.
    tokio::task::block_in_place(|| primary.crash());
    let refused = loop {
        match journal.append(&chat(), 6, entry(6)).await {
            Err(StoreError::Unavailable { problem }) if problem.contains("timeline") => {
                break problem;
            }
            Err(StoreError::Unavailable { .. }) => {}
            other => panic!("{other:?}"),
        }
    };
    let reason = "PostgreSQL refused: timeline 1, newest seen 2";
    assert!(refused.contains(reason), "{refused}");
    assert!(journal.read(&chat(), 0).await.is_err());
    tokio::task::block_in_place(|| primary.start_again());
    append(journal, 6).await;
    assert_eq!(marks(journal).await, (0..7).collect::<Vec<_>>());
    let stored = tokio::task::block_in_place(|| former.sql("chats", COUNT));
    assert_eq!(stored.trim(), "1");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn server_that_has_just_started_compares_the_hosts_and_learns_from_others() {
    let former = Cluster::start();
    former.database("chats");
    let primary = tokio::task::block_in_place(|| former.standby());
    // Two primaries, and nobody who knows.
    tokio::task::block_in_place(|| {
        former.wait_for_standbys("");
        primary.promote();
    });
    let both = at(&[&former, &primary], Duration::from_secs(60));
    let stores = opened(&both).await;
    append(&*stores.journal, 0).await;
    let newest = both.newest_lineage().unwrap();
    assert_eq!(newest.timeline, 2);
    let entries = "SELECT count(*) FROM pg_tables WHERE schemaname = 'adk_stream'";
    let found = tokio::task::block_in_place(|| former.sql("chats", entries));
    assert_eq!(found.trim(), "0");

    // One that only knows the former primary learns of it from another server.
    let alone = at(&[&former], Duration::from_secs(1));
    let stores = opened(&alone).await;
    append(&*stores.journal, 0).await;
    alone.observe_lineage(newest);
    let refused = stores.journal.append(&chat(), 1, entry(1)).await;
    let Err(StoreError::Unavailable { problem }) = refused else {
        panic!("{refused:?}");
    };
    let reason = "PostgreSQL refused: timeline 1, newest seen 2";
    assert!(problem.contains(reason), "{problem}");
    assert!(stores.journal.read(&chat(), 0).await.is_err());
}
