//! PostgreSQL that goes away in the middle of the work: restarted, frozen, its connections killed.
//!
//! Two servers write to the same chats all the while, and follow them. In the end every append that
//! was acknowledged is there, once and in its place, and every tail has seen every entry, once and in
//! order.

// Helpers of tests stop as tests do.
#![allow(clippy::expect_used, clippy::unwrap_used)]

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use adk_stream_store::{
    Appended, Journal, Location, NewEntry, PostgresUrl, StoreError, Stores, open,
};
use serde_json::json;
use testkit::postgres::Cluster;
use tokio::sync::{Mutex, watch};
use tokio::task::JoinSet;
use turn::{At, ChatId, Entry};

/// How many chats each server writes to.
const CHATS: u64 = 4;
/// How many servers there are.
const SERVERS: u64 = 2;
/// Marks the last entry of a chat.
const LAST: u64 = u64::MAX;

/// Two servers at work.
struct Work {
    stores: Vec<Stores>,
    /// How many appends were acknowledged, and how many failed.
    counts: watch::Sender<(u64, u64)>,
    stop: watch::Sender<bool>,
    /// The mark of each append that was acknowledged, by chat and place.
    acknowledged: Mutex<HashMap<(ChatId, u64), u64>>,
    /// What failed, as it said.
    errors: Mutex<HashSet<String>>,
}

impl Work {
    /// Starts to write and to follow.
    async fn start(url: &PostgresUrl) -> (Arc<Self>, JoinSet<()>, JoinSet<(ChatId, Vec<Entry>)>) {
        let mut stores = Vec::new();
        for _ in 0..SERVERS {
            let location = Location::Postgres(Box::new(url.clone()));
            stores.push(open(location).await.unwrap());
        }
        let work = Arc::new(Self {
            stores,
            counts: watch::Sender::new((0, 0)),
            stop: watch::Sender::new(false),
            acknowledged: Mutex::default(),
            errors: Mutex::default(),
        });
        let (mut writers, mut followers) = (JoinSet::new(), JoinSet::new());
        for (server, stores) in (0..).zip(&work.stores) {
            for chat in 0..CHATS {
                let chat = ChatId::from(chat.to_string());
                followers.spawn(follow(Arc::clone(&stores.journal), chat.clone()));
                let journal = Arc::clone(&stores.journal);
                writers.spawn(Arc::clone(&work).write(journal, chat, server));
            }
        }
        (work, writers, followers)
    }

    /// Appends, each time with a unique mark, until it is stopped.
    async fn write(self: Arc<Self>, journal: Arc<dyn Journal>, chat: ChatId, server: u64) {
        let mut seen = 0;
        for mark in (0..).map(|n| n * SERVERS + server) {
            if *self.stop.borrow() {
                return;
            }
            match journal.append(&chat, seen, entry(mark)).await {
                Ok(Appended::Ok { seq }) => {
                    let place = (chat.clone(), seq);
                    let known = self.acknowledged.lock().await.insert(place, mark);
                    assert_eq!(known, None, "two were given place {seq} of chat {chat}");
                    self.counts.send_modify(|(stored, _)| *stored += 1);
                    seen = seq;
                }
                Ok(Appended::Conflict { seq }) => seen = seq,
                Err(error) => {
                    self.errors.lock().await.insert(error.to_string());
                    assert!(matches!(error, StoreError::Unavailable { .. }), "{error}");
                    self.counts.send_modify(|(_, failed)| *failed += 1);
                }
            }
        }
    }

    /// Waits until this many more appends were acknowledged.
    async fn progress(&self, more: u64) {
        let mut counts = self.counts.subscribe();
        let target = counts.borrow().0 + more;
        counts
            .wait_for(|(stored, _)| *stored >= target)
            .await
            .unwrap();
    }

    /// Waits until this many more appends have failed.
    async fn failures(&self, more: u64) {
        let mut counts = self.counts.subscribe();
        let target = counts.borrow().1 + more;
        counts
            .wait_for(|(_, failed)| *failed >= target)
            .await
            .unwrap();
    }

    /// Stops, and looks at what is there.
    async fn judge(&self, mut writers: JoinSet<()>, followers: JoinSet<(ChatId, Vec<Entry>)>) {
        self.stop.send_replace(true);
        while let Some(ended) = writers.join_next().await {
            ended.unwrap();
        }
        let journal = &self.stores[0].journal;
        let acknowledged = self.acknowledged.lock().await;
        let mut journals = HashMap::new();
        for chat in 0..CHATS {
            let chat = ChatId::from(chat.to_string());
            let seen = journal.read(&chat, 0).await.unwrap().len() as u64;
            let last = journal.append(&chat, seen, entry(LAST)).await;
            assert_eq!(last, Ok(Appended::Ok { seq: seen + 1 }));
            let entries = journal.read(&chat, 0).await.unwrap();
            assert!(entries.iter().map(|entry| entry.seq).eq(1..=seen + 1));
            let marks: HashSet<_> = entries.iter().map(|entry| entry.at).collect();
            assert_eq!(marks.len(), entries.len(), "an append is there twice");
            journals.insert(chat, entries);
        }
        for ((chat, seq), mark) in acknowledged.iter() {
            let found = &journals[chat][usize::try_from(*seq).unwrap() - 1];
            assert_eq!(found.at, At(*mark), "place {seq} of chat {chat}");
        }
        for (chat, followed) in followers.join_all().await {
            assert!(followed == journals[&chat], "a tail of chat {chat}");
        }
    }
}

/// Everything that a tail shows, up to the last entry.
async fn follow(journal: Arc<dyn Journal>, chat: ChatId) -> (ChatId, Vec<Entry>) {
    let mut tail = journal.tail(&chat, 0);
    let mut entries = Vec::new();
    while let Some(entry) = tail.next().await.expect("a tail waits for the database") {
        let is_last = entry.at == At(LAST);
        entries.push(entry);
        if is_last {
            break;
        }
    }
    (chat, entries)
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

fn chats(cluster: &Cluster, time_limit: Duration) -> PostgresUrl {
    let url: PostgresUrl = cluster.database("chats").parse().unwrap();
    url.with_time_limit(time_limit)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_in_the_middle_of_appends_loses_nothing() {
    let mut cluster = Cluster::start();
    let url = chats(&cluster, Duration::from_secs(60));
    let (work, writers, followers) = Work::start(&url).await;
    for _ in 0..3 {
        work.progress(100).await;
        tokio::task::block_in_place(|| {
            cluster.crash();
            cluster.start_again();
        });
    }
    work.progress(100).await;
    work.judge(writers, followers).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_is_frozen_is_away_and_nothing_is_lost() {
    let cluster = Cluster::start();
    let url = chats(&cluster, Duration::from_secs(1));
    let (work, writers, followers) = Work::start(&url).await;
    for _ in 0..2 {
        work.progress(100).await;
        let paused = tokio::task::block_in_place(|| cluster.pause());
        // They get an error: nothing waits for ever.
        work.failures(SERVERS * CHATS).await;
        tokio::task::block_in_place(|| drop(paused));
    }
    work.progress(100).await;
    work.judge(writers, followers).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_are_killed_lose_nothing() {
    let cluster = Cluster::start();
    let url = chats(&cluster, Duration::from_secs(60));
    let (work, writers, followers) = Work::start(&url).await;
    let kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE application_name = 'adk-stream'";
    for _ in 0..40 {
        work.progress(5).await;
        tokio::task::block_in_place(|| cluster.sql("chats", kill));
    }
    work.progress(100).await;
    work.judge(writers, followers).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn follower_gets_what_came_during_an_outage() {
    let cluster = Cluster::start();
    let url = chats(&cluster, Duration::from_secs(1));
    let open = || async {
        open(Location::Postgres(Box::new(url.clone())))
            .await
            .unwrap()
    };
    let (here, there) = (open().await.journal, open().await.journal);
    let chat = ChatId::from("c");
    let follower = tokio::spawn(follow(Arc::clone(&there), chat.clone()));
    let mut seen = 0;
    let kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE application_name = 'adk-stream' AND query LIKE 'LISTEN%'";
    for _ in 0..5 {
        // The notification may come while there is no listener.
        tokio::task::block_in_place(|| cluster.sql("chats", kill));
        let appended = here.append(&chat, seen, entry(seen)).await;
        seen += 1;
        assert_eq!(appended, Ok(Appended::Ok { seq: seen }));
    }
    let appended = here.append(&chat, seen, entry(LAST)).await;
    assert_eq!(appended, Ok(Appended::Ok { seq: seen + 1 }));
    let (_, followed) = follower.await.unwrap();
    assert!(followed.iter().map(|entry| entry.seq).eq(1..=seen + 1));
}
