//! From an answer to the start of the tool that it lets run.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, mpsc};
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::Value;

use crate::load::Http;
use crate::sample::Sample;
use crate::stage;
use crate::subject::Subject;

/// How long replies are left alone.
const QUIET: Duration = Duration::from_millis(10);

/// What came of it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Answered {
    /// Who was measured.
    pub subject: String,
    /// How many answers were posted at once.
    pub at_once: usize,
    /// How many there were in all.
    pub answers: usize,
    /// Milliseconds from the answer's posting to the tool's start, for half of them.
    pub started_p50: f64,
    /// The same for all but one of a hundred.
    pub started_p99: f64,
}

/// Bare writes, each with its sync, that are asked for at the same moment, each in a file and a thread of
/// its own: what no answer that is durable by itself can beat.
pub struct Syncs {
    shared: Arc<Shared>,
    durations: mpsc::Receiver<io::Result<Duration>>,
    at_once: usize,
    sample: Sample,
}

struct Shared {
    together: Barrier,
    is_over: AtomicBool,
}

impl Syncs {
    /// Prepares `at_once` files, each with a thread of its own.
    pub fn new(folder: &Path, at_once: usize) -> io::Result<Self> {
        let (sender, durations) = mpsc::channel();
        let shared = Arc::new(Shared {
            together: Barrier::new(at_once + 1),
            is_over: AtomicBool::new(false),
        });
        let path = |number| folder.join(format!("fsync-{at_once}-{number}"));
        let files: io::Result<Vec<_>> = (0..at_once)
            .map(|number| File::create(path(number)))
            .collect();
        for file in files? {
            let (shared, sender) = (Arc::clone(&shared), sender.clone());
            std::thread::spawn(move || {
                loop {
                    shared.together.wait();
                    if shared.is_over.load(Ordering::Relaxed) || sender.send(sync(&file)).is_err() {
                        return;
                    }
                }
            });
        }
        Ok(Self {
            shared,
            durations,
            at_once,
            sample: Sample::default(),
        })
    }

    fn round(&mut self) -> io::Result<()> {
        self.shared.together.wait();
        for duration in self.durations.iter().take(self.at_once) {
            self.sample.push(duration?);
        }
        Ok(())
    }

    /// What came of it.
    pub fn measured(&self, name: &str) -> Answered {
        Answered::new(name, self.at_once, &self.sample)
    }
}

impl Drop for Syncs {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::Relaxed);
        self.shared.together.wait();
    }
}

/// How long a write at the end of a file and its sync take.
fn sync(mut file: &File) -> io::Result<Duration> {
    let begun = Instant::now();
    file.write_all(&[0; 4096])?;
    file.sync_data()?;
    Ok(begun.elapsed())
}

impl Answered {
    fn new(name: &str, at_once: usize, sample: &Sample) -> Self {
        Self {
            subject: name.to_owned(),
            at_once,
            answers: sample.len(),
            started_p50: sample.percentile(50),
            started_p99: sample.percentile(99),
        }
    }
}

/// Asks for approvals in chats of their own and answers them, `at_once` at the same time. What they are
/// compared with is done immediately before they are answered, since the speed of a disk varies.
pub async fn measure(
    name: &str,
    subject: &Subject,
    at_once: usize,
    rounds: usize,
    mut beside: Option<&mut Syncs>,
) -> io::Result<Answered> {
    static CHATS: AtomicUsize = AtomicUsize::new(0);
    let mut posted = HashMap::new();
    for _ in 0..rounds {
        let mut asked = Vec::new();
        for _ in 0..at_once {
            let number = CHATS.fetch_add(1, Ordering::Relaxed);
            asked.push(ask(subject, &format!("pay-{number}")).await?);
        }
        if let Some(syncs) = &mut beside {
            syncs.round()?;
        }
        posted.extend(answer_all(asked).await?);
    }
    let started = started(subject, &posted).await?;
    Ok(Answered::new(name, at_once, &started))
}

/// A question that waits, and a connection to answer it on.
pub(crate) struct PendingApproval {
    pub(crate) http: Http,
    pub(crate) approval: String,
    pub(crate) call: String,
}

async fn ask(subject: &Subject, chat: &str) -> io::Result<PendingApproval> {
    let mut http = Http::open(subject.address).await?;
    let answer = http.call(&Http::chat(chat, chat, "pay")).await?;
    let text = String::from_utf8_lossy(&answer).into_owned();
    let field = |name: &str| {
        let rest = text.split(&format!("\"{name}\":\"")).nth(1)?;
        rest.split('"').next().map(str::to_owned)
    };
    match (field("approvalId"), field("toolCallId")) {
        (Some(approval), Some(call)) => Ok(PendingApproval {
            http,
            approval,
            call,
        }),
        _ => Err(io::Error::other(text)),
    }
}

/// Answers all with a yes, one right after the other: when each was posted.
pub(crate) async fn answer_all(asked: Vec<PendingApproval>) -> io::Result<HashMap<String, u64>> {
    let mut posted = HashMap::new();
    let mut waiting = Vec::new();
    for mut asked in asked {
        let path = format!("/api/approvals/{}", asked.approval);
        let request = Http::post(&path, r#"{"approved":true}"#);
        posted.insert(asked.call, stage::now());
        asked.http.send(&request).await?;
        waiting.push(asked.http);
    }
    // The thread itself: were it woken by each reply, it would take the processor from what it measures.
    std::thread::sleep(QUIET);
    for mut http in waiting {
        let answer = http.answer().await?;
        if !answer.starts_with(b"HTTP/1.1 200") {
            let text = String::from_utf8_lossy(&answer).into_owned();
            return Err(io::Error::other(text));
        }
    }
    Ok(posted)
}

/// How long each tool took to start after its answer was posted.
pub(crate) async fn started(
    subject: &Subject,
    posted: &HashMap<String, u64>,
) -> io::Result<Sample> {
    // The last of them may be about to.
    tokio::time::sleep(Duration::from_millis(200)).await;
    let mut http = Http::open(subject.address).await?;
    let answer = http.call(&Http::get("/bench/started")).await?;
    let body = answer.iter().position(|byte| *byte == b'{').unwrap_or(0);
    let all: HashMap<String, Value> = serde_json::from_slice(&answer[body..])?;
    let mut sample = Sample::default();
    for (call, at) in posted {
        let started = all.get(call).and_then(Value::as_u64);
        let started = started.ok_or_else(|| io::Error::other("a tool did not start"))?;
        sample.push(Duration::from_nanos(started.saturating_sub(*at)));
    }
    Ok(sample)
}
