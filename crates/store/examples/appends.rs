//! How many durable appends a second the stores take here, by one writer and by many, beside what the
//! disk does: all in one run, since a single number depends as much on the machine as on the store.
//!
//! `cargo run --release -p adk-stream-store --example appends`; `TMPDIR` decides on which disk.
//! PostgreSQL is started for it, with its defaults.

use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use adk_stream_store::{Appended, Journal, Location, NewEntry, StoreError, open};
use serde_json::json;
use testkit::postgres::Cluster;
use tokio::task::JoinSet;
use turn::{At, ChatId};

/// How long each number is measured.
const MEASURED: Duration = Duration::from_secs(4);

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let bare = sync(&folder.path().join("bare"))?;
    println!("fdatasync after each of 600 bytes, one after the other: {bare:.0} a second");
    let cluster = Cluster::start();
    for writers in [1, 8, 64, 256] {
        let path = folder.path().join(format!("{writers}.db"));
        let sqlite = open(Location::Sqlite(path)).await?.journal;
        report("SQLite", &[sqlite], writers, bare).await?;
        for servers in [1, 2] {
            if writers < servers {
                continue;
            }
            let url = cluster.database(&format!("writers_{writers}_servers_{servers}"));
            let mut journals = Vec::new();
            for _ in 0..servers {
                let location = Location::Postgres(Box::new(url.parse()?));
                journals.push(open(location).await?.journal);
            }
            let name = format!("PostgreSQL, servers: {servers}");
            report(&name, &journals, writers, bare).await?;
        }
    }
    Ok(())
}

/// What the disk does if nothing is grouped.
fn sync(path: &std::path::Path) -> std::io::Result<f64> {
    let mut file = File::create(path)?;
    let begun = Instant::now();
    let mut done = 0_u32;
    while begun.elapsed() < MEASURED {
        file.write_all(&[b'x'; 600])?;
        file.sync_data()?;
        done += 1;
    }
    Ok(f64::from(done) / begun.elapsed().as_secs_f64())
}

/// Measures writers that are spread over servers, each with a chat of its own.
async fn report(
    name: &str,
    journals: &[Arc<dyn Journal>],
    writers: usize,
    bare: f64,
) -> Result<(), StoreError> {
    let begun = Instant::now();
    let mut tasks = JoinSet::new();
    for (writer, journal) in (0..writers).zip(journals.iter().cycle()) {
        tasks.spawn(write(Arc::clone(journal), writer, begun + MEASURED));
    }
    let mut waits = Vec::new();
    for waited in tasks.join_all().await {
        waits.extend(waited?);
    }
    let a_second = waits.len() as f64 / begun.elapsed().as_secs_f64();
    waits.sort_unstable();
    let wait = |share: usize| waits.get(waits.len() * share / 100).copied();
    println!(
        "{name:<22} {writers:>3} writers: {a_second:>6.0} appends/s, {:>4.1} times fdatasync, \
         half within {:.1?}, 99 % within {:.1?}",
        a_second / bare,
        wait(50).unwrap_or_default(),
        wait(99).unwrap_or_default(),
    );
    Ok(())
}

/// Appends to a chat of its own until time is up, and returns how long each append took.
async fn write(
    journal: Arc<dyn Journal>,
    writer: usize,
    until: Instant,
) -> Result<Vec<Duration>, StoreError> {
    let chat = ChatId::from(format!("chat-{writer}"));
    let mut seen = 0;
    let mut waits = Vec::new();
    while Instant::now() < until {
        let new = entry(writer, seen).map_err(|error| StoreError::Malformed {
            what: "the sample".to_owned(),
            problem: error.to_string(),
        })?;
        let begun = Instant::now();
        if let Appended::Ok { seq } = journal.append(&chat, seen, new).await? {
            seen = seq;
            waits.push(begun.elapsed());
        }
    }
    Ok(waits)
}

/// About what a step of a turn writes: half a kilobyte, with a call in every fourth.
fn entry(writer: usize, seen: u64) -> Result<NewEntry, serde_json::Error> {
    let turn = format!("turn-{writer}");
    let mut parts = vec![json!({"part": "text", "text": "What a step says. ".repeat(20)})];
    if seen % 4 == 1 {
        parts.push(json!({
            "part": "call", "id": format!("call-{writer}-{seen}"), "tool": "get_weather",
            "input": {"city": "Tokyo"}, "place": "server",
        }));
    }
    let mut events = vec![json!({
        "event": "step-ended", "turn": turn, "finish": "stop", "parts": parts,
    })];
    if seen == 0 {
        events.insert(0, json!({"event": "chat-opened", "owner": "ann"}));
    }
    Ok(NewEntry {
        at: At(seen),
        epoch: 0,
        actor: "ann".into(),
        events: serde_json::from_value(events.into())?,
        open: None,
    })
}
