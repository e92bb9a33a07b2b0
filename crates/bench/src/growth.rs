//! What must not grow: the cost of a part with their number, and of a turn with those before it.

use std::io;
use std::path::Path;
use std::time::Instant;

use serde::Serialize;

use crate::journals;
use crate::load::Http;
use crate::sample::Sample;
use crate::subject::Subject;

/// What came of it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Grown {
    /// What was measured.
    pub what: String,
    /// How many of them there were.
    pub size: usize,
    /// The server's microseconds of processor time for each.
    pub cpu_microseconds: f64,
    /// Milliseconds that a client waited, for half of the times.
    pub wait_p50: f64,
}

/// Resumes a message of so many parts; the cost is for each part.
pub async fn resume(subject: &Subject, parts: usize, times: usize) -> io::Result<Grown> {
    let mut http = Http::open(subject.address).await?;
    let chat = format!("parts-{parts}");
    http.call(&Http::chat(&chat, &chat, &format!("parts {parts}")))
        .await?;
    let request = Http::get(&format!("/api/chat/{chat}/stream"));
    let (cpu, wait) = cost(subject, times, async |_| {
        let seen = http.stream(&request).await?;
        match seen.deltas == parts {
            true => Ok(()),
            false => Err(io::Error::other("parts were lost")),
        }
    })
    .await?;
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53")]
    let each = cpu / parts as f64;
    Ok(Grown {
        what: "a part of a resumed message".to_owned(),
        size: parts,
        cpu_microseconds: each,
        wait_p50: wait.percentile(50),
    })
}

/// Writes a chat of so many messages, and says how long its first turn takes and what each costs
/// that follows.
pub async fn converse(
    server: &Path,
    folder: &Path,
    messages: usize,
    times: usize,
) -> io::Result<(f64, Grown)> {
    let file = folder.join(format!("long-{messages}.db"));
    let chat = format!("long-{messages}");
    journals::converse(&file, &chat, messages / 2).await?;
    let store = format!("sqlite:{}", file.display());
    let subject = Subject::start(server, [store], folder).await?;
    let mut http = Http::open(subject.address).await?;
    let begun = Instant::now();
    http.stream(&Http::chat(&chat, "again", "deltas 200"))
        .await?;
    let first = begun.elapsed();
    let (cpu, wait) = cost(&subject, times, async |number| {
        let message = format!("more-{number}");
        let request = Http::chat(&chat, &message, "deltas 200");
        http.stream(&request).await.map(drop)
    })
    .await?;
    subject.stop().await?;
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{end}", file.display()));
    }
    let grown = Grown {
        what: "one more turn of a chat".to_owned(),
        size: messages,
        cpu_microseconds: cpu,
        wait_p50: wait.percentile(50),
    };
    Ok((first.as_secs_f64() * 1e3, grown))
}

/// The server's microseconds for each time, and how long each took.
async fn cost(
    subject: &Subject,
    times: usize,
    mut act: impl AsyncFnMut(usize) -> io::Result<()>,
) -> io::Result<(f64, Sample)> {
    let before = subject.cpu()?;
    let mut wait = Sample::default();
    for number in 0..times {
        let begun = Instant::now();
        act(number).await?;
        wait.push(begun.elapsed());
    }
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53")]
    let each = (subject.cpu()? - before) / times as f64 * 1e6;
    Ok((each, wait))
}
