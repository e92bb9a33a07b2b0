//! A million approvals that wait in one file: what a restart among them costs, and an answer.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::approval::{self, PendingApproval};
use crate::journals;
use crate::load::Http;
use crate::subject::Subject;

/// What came of it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Parked {
    /// How many approvals wait.
    pub approvals: usize,
    /// How large the file is, in bytes.
    pub file_bytes: u64,
    /// Seconds that it took to write it.
    pub written_seconds: f64,
    /// Seconds from the start of the process until it serves.
    pub open_seconds: f64,
    /// The server's memory then, in bytes.
    pub open_bytes: u64,
    /// The most that it had when the answers were given, in bytes.
    pub peak_bytes: u64,
    /// Milliseconds from an answer's posting to the tool's start, for half of them.
    pub started_p50: f64,
    /// The same for all but one of a hundred.
    pub started_p99: f64,
}

/// How many of them are answered.
const ANSWERS: usize = 200;

/// Writes the file, opens it with a server, answers some, and removes it.
pub async fn measure(server: &Path, folder: &Path, approvals: usize) -> io::Result<Parked> {
    let file = folder.join("parked.db");
    let begun = Instant::now();
    journals::park(&file, approvals, ANSWERS).await?;
    let written = begun.elapsed();
    let store = format!("sqlite:{}", file.display());
    let subject = Subject::start(server, [store], folder).await?;
    let open_bytes = subject.memory()?;

    let mut posted = HashMap::new();
    for number in 0..ANSWERS {
        let (call, approval) = journals::parked(number);
        let http = Http::open(subject.address).await?;
        let asked = PendingApproval {
            http,
            approval,
            call,
        };
        posted.extend(approval::answer_all(vec![asked]).await?);
    }
    let started = approval::started(&subject, &posted).await?;
    let parked = Parked {
        approvals,
        file_bytes: std::fs::metadata(&file)?.len(),
        written_seconds: written.as_secs_f64(),
        open_seconds: subject.start.as_secs_f64(),
        open_bytes,
        peak_bytes: subject.peak()?,
        started_p50: started.percentile(50),
        started_p99: started.percentile(99),
    };
    subject.stop().await?;
    tokio::time::sleep(Duration::from_millis(100)).await;
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{end}", file.display()));
    }
    Ok(parked)
}
