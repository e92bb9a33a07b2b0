//! How many durable appends a second a SQLite file takes here, by one writer and by 64.
//!
//! `cargo run --release -p adk-stream-store --example appends [FOLDER]`; the folder decides on which
//! disk.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use adk_stream_store::{Appended, Journal, Location, NewEntry, StoreError, open};
use serde_json::json;
use turn::{At, ChatId};

/// How long each number is measured.
const MEASURED: Duration = Duration::from_secs(5);

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args_os().nth(1).map(PathBuf::from);
    let folder = match folder {
        Some(folder) => tempfile::tempdir_in(folder)?,
        None => tempfile::tempdir()?,
    };
    for writers in [1, 8, 64, 256] {
        let path = folder.path().join(format!("{writers}.db"));
        let journal = open(Location::Sqlite(path)).await?.journal;
        let begun = Instant::now();
        let mut tasks = tokio::task::JoinSet::new();
        for writer in 0..writers {
            tasks.spawn(write(Arc::clone(&journal), writer, begun + MEASURED));
        }
        let mut appends = 0;
        let mut waits = Vec::new();
        for waited in tasks.join_all().await {
            let waited = waited?;
            appends += waited.len();
            waits.extend(waited);
        }
        waits.sort_unstable();
        let a_second = appends as f64 / begun.elapsed().as_secs_f64();
        let wait = |share: usize| waits.get(waits.len() * share / 100).copied();
        println!(
            "{writers:>3} writers: {a_second:>7.0} appends/s, half within {:?}, 99 % within {:?}",
            wait(50).unwrap_or_default(),
            wait(99).unwrap_or_default(),
        );
    }
    Ok(())
}

/// Appends to a chat of its own until time is up, and says how long each append took.
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
        actor: "ann".into(),
        events: serde_json::from_value(events.into())?,
    })
}
