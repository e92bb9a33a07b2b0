//! What must not grow: the cost of a part with their number, and of a turn with those before it.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

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

/// Resumes a message of `parts` parts; the cost is for each part.
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

/// Writes chats of these numbers of messages, each for a server of its own, and measures how long the
/// first turn of each takes, in milliseconds, and what each later turn costs. The chats are measured
/// alternately, so that other load on the machine affects all of them.
pub async fn converse(
    server: &Path,
    folder: &Path,
    sizes: &[usize],
    times: usize,
) -> io::Result<Vec<(f64, Grown)>> {
    let mut long = Vec::new();
    for size in sizes {
        long.push(LongChat::open(server, folder, *size).await?);
    }
    let mut samples = vec![Sample::default(); long.len()];
    let mut before = Vec::new();
    for chat in &long {
        before.push(chat.subject.cpu()?);
    }
    for number in 0..times {
        for (chat, sample) in long.iter_mut().zip(&mut samples) {
            let begun = Instant::now();
            chat.turn(&format!("more-{number}")).await?;
            sample.push(begun.elapsed());
        }
    }
    let mut grown = Vec::new();
    for ((chat, sample), before) in long.into_iter().zip(samples).zip(before) {
        #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53")]
        let cpu = (chat.subject.cpu()? - before) / times as f64 * 1e6;
        let one = Grown {
            what: "one more turn of a chat".to_owned(),
            size: chat.size,
            cpu_microseconds: cpu,
            wait_p50: sample.percentile(50),
        };
        grown.push((chat.first.as_secs_f64() * 1e3, one));
        chat.close().await?;
    }
    Ok(grown)
}

/// A chat of many messages, and the server that has it.
struct LongChat {
    size: usize,
    id: String,
    file: PathBuf,
    subject: Subject,
    http: Http,
    first: Duration,
}

impl LongChat {
    async fn open(server: &Path, folder: &Path, size: usize) -> io::Result<Self> {
        let file = folder.join(format!("long-{size}.db"));
        let id = format!("long-{size}");
        journals::converse(&file, &id, size / 2).await?;
        let store = format!("sqlite:{}", file.display());
        let subject = Subject::start(server, [store], folder).await?;
        let http = Http::open(subject.address).await?;
        let mut chat = Self {
            size,
            id,
            file,
            subject,
            http,
            first: Duration::ZERO,
        };
        let begun = Instant::now();
        chat.turn("again").await?;
        chat.first = begun.elapsed();
        Ok(chat)
    }

    async fn turn(&mut self, message: &str) -> io::Result<()> {
        let request = Http::chat(&self.id, message, "deltas 200");
        self.http.stream(&request).await.map(drop)
    }

    async fn close(self) -> io::Result<()> {
        self.subject.stop().await?;
        for end in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{end}", self.file.display()));
        }
        Ok(())
    }
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
