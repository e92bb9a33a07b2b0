//! Ten thousand windows that nothing happens in, and then one delta to each.

use std::io;
use std::time::{Duration, Instant};

use serde::Serialize;
use tokio::task::JoinSet;

use crate::load::Http;
use crate::sample::Sample;
use crate::subject::Subject;

/// What came of it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Waited {
    /// Who was measured.
    pub subject: String,
    /// How many windows were open.
    pub windows: usize,
    /// The server's memory for each of them, in bytes.
    pub bytes_each: f64,
    /// Milliseconds until a delta was with its client, for half of them.
    pub delta_p50: f64,
    /// The same for all but one of a hundred.
    pub delta_p99: f64,
}

/// What a client of an idle window reads at once: there may be thousands of them.
const BUFFER: usize = 1024;

/// Opens a number of windows, leaves them idle, and then sends a delta to each.
pub async fn measure(name: &str, subject: &Subject, windows: usize) -> io::Result<Waited> {
    // What the first of them costs, all others share.
    open(subject, "first").await?;
    let before = subject.memory()?;
    let mut opened = Vec::new();
    for number in 0..windows {
        opened.push(open(subject, &number.to_string()).await?);
    }
    // What was taken for the opening is given back within this time, or not at all.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let taken = subject.memory()?.saturating_sub(before);

    let mut clients = JoinSet::new();
    let mut go = Http::open(subject.address).await?;
    let begun = Instant::now();
    for mut client in opened {
        clients.spawn(async move {
            let seen = client.read_rest(begun).await?;
            io::Result::Ok(seen.first)
        });
    }
    // Every client reads before the word is given.
    tokio::task::yield_now().await;
    let delay = begun.elapsed();
    go.call(&Http::post("/bench/go", "{}")).await?;
    let mut arrived = Sample::default();
    while let Some(first) = clients.join_next().await {
        arrived.push(first??.saturating_sub(delay));
    }
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53")]
    let bytes_each = taken as f64 / windows as f64;
    Ok(Waited {
        subject: name.to_owned(),
        windows,
        bytes_each,
        delta_p50: arrived.percentile(50),
        delta_p99: arrived.percentile(99),
    })
}

/// A window that is open: its client has its first chunk.
async fn open(subject: &Subject, number: &str) -> io::Result<Http> {
    let mut client = Http::open_with(subject.address, BUFFER).await?;
    let chat = format!("idle-{number}");
    client.send(&Http::chat(&chat, &chat, "wait")).await?;
    client.read_until("\"start\"").await?;
    Ok(client)
}
