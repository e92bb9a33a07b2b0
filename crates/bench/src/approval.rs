//! From an answer to the start of the tool that it lets run.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Barrier;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::Value;
use tokio::task::JoinSet;

use crate::load::Http;
use crate::sample::Sample;
use crate::stage;
use crate::subject::Subject;

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

/// How long a bare write and its sync take, where so many ask for one at the same moment, each in a file
/// and a thread of its own: what no answer that is durable by itself can beat.
pub fn fsync(name: &str, folder: &Path, at_once: usize, rounds: usize) -> io::Result<Answered> {
    let together = Barrier::new(at_once);
    let sync = |number: usize| {
        let path = folder.join(format!("fsync-{at_once}-{number}"));
        let mut file = File::create(&path)?;
        let mut sample = Sample::default();
        for _ in 0..rounds {
            together.wait();
            let begun = Instant::now();
            file.write_all(&[0; 4096])?;
            file.sync_data()?;
            sample.push(begun.elapsed());
        }
        std::fs::remove_file(path)?;
        io::Result::Ok(sample)
    };
    let mut all = Sample::default();
    std::thread::scope(|scope| {
        let sync = &sync;
        let threads: Vec<_> = (0..at_once)
            .map(|number| scope.spawn(move || sync(number)))
            .collect();
        for thread in threads {
            let panicked = |_| io::Error::other("a thread that syncs panicked");
            all.extend(thread.join().map_err(panicked)??);
        }
        io::Result::Ok(())
    })?;
    Ok(Answered {
        subject: name.to_owned(),
        at_once,
        answers: all.len(),
        started_p50: all.percentile(50),
        started_p99: all.percentile(99),
    })
}

/// Asks for approvals in chats of their own and answers them, so many at once.
pub async fn measure(
    name: &str,
    subject: &Subject,
    at_once: usize,
    rounds: usize,
) -> io::Result<Answered> {
    let mut posted = HashMap::new();
    for round in 0..rounds {
        let mut asked = Vec::new();
        for number in 0..at_once {
            let chat = format!("pay-{at_once}-{round}-{number}");
            asked.push(ask(subject, &chat).await?);
        }
        posted.extend(answer_all(asked).await?);
    }
    let started = started(subject, &posted).await?;
    Ok(Answered {
        subject: name.to_owned(),
        at_once,
        answers: started.len(),
        started_p50: started.percentile(50),
        started_p99: started.percentile(99),
    })
}

/// A question that waits, and a connection to answer it on.
pub(crate) struct Asked {
    pub(crate) http: Http,
    pub(crate) approval: String,
    pub(crate) call: String,
}

async fn ask(subject: &Subject, chat: &str) -> io::Result<Asked> {
    let mut http = Http::open(subject.address).await?;
    let answer = http.call(&Http::chat(chat, chat, "pay")).await?;
    let text = String::from_utf8_lossy(&answer).into_owned();
    let field = |name: &str| {
        let rest = text.split(&format!("\"{name}\":\"")).nth(1)?;
        rest.split('"').next().map(str::to_owned)
    };
    match (field("approvalId"), field("toolCallId")) {
        (Some(approval), Some(call)) => Ok(Asked {
            http,
            approval,
            call,
        }),
        _ => Err(io::Error::other(text)),
    }
}

/// Answers all with a yes at the same moment: when each was posted.
pub(crate) async fn answer_all(asked: Vec<Asked>) -> io::Result<HashMap<String, u64>> {
    let mut answers = JoinSet::new();
    for mut asked in asked {
        answers.spawn(async move {
            let path = format!("/api/approvals/{}", asked.approval);
            let request = Http::post(&path, r#"{"approved":true}"#);
            let at = stage::now();
            let answer = asked.http.call(&request).await?;
            if !answer.starts_with(b"HTTP/1.1 200") {
                let text = String::from_utf8_lossy(&answer).into_owned();
                return Err(io::Error::other(text));
            }
            Ok((asked.call, at))
        });
    }
    let mut posted = HashMap::new();
    while let Some(answered) = answers.join_next().await {
        posted.extend([answered??]);
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
