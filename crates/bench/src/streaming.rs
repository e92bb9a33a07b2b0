//! Turns of 200 deltas of 8 bytes, by many clients at once, each as fast as it can.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;
use tokio::task::JoinSet;

use crate::load::{Http, Seen, Socket};
use crate::sample::Sample;
use crate::subject::Subject;

/// How many deltas a turn has.
pub const DELTAS: usize = 200;

/// Over what clients talk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    /// Server-sent events.
    Sse,
    /// A WebSocket, in the AI SDK's frames.
    WebSocket,
}

/// What came of it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Streamed {
    /// Who was measured.
    pub subject: String,
    /// Over what.
    pub transport: Transport,
    /// How many clients there were.
    pub clients: usize,
    /// How many turns were run.
    pub turns: usize,
    /// Deltas that arrived in a second.
    pub deltas_per_second: f64,
    /// Deltas for each second of the server's processor time.
    pub deltas_per_cpu_second: f64,
    /// The same the other way round: the server's seconds for a million deltas.
    pub cpu_seconds_per_million: f64,
    /// Milliseconds from the request to the first delta, for half of the turns.
    pub first_p50: f64,
    /// The same for all but one of a hundred.
    pub first_p99: f64,
    /// The most memory that the server had, in bytes.
    pub peak_bytes: u64,
}

enum Client {
    Http(Http),
    Socket(Socket),
}

impl Client {
    async fn open(subject: &Subject, transport: Transport) -> io::Result<Self> {
        Ok(match transport {
            Transport::Sse => Self::Http(Http::open(subject.address).await?),
            Transport::WebSocket => Self::Socket(Socket::open(subject.address).await?),
        })
    }

    async fn turn(&mut self) -> io::Result<Seen> {
        static TURNS: AtomicU64 = AtomicU64::new(0);
        let number = TURNS.fetch_add(1, Ordering::Relaxed);
        let (chat, message) = (format!("chat-{number}"), format!("m-{number}"));
        let order = format!("deltas {DELTAS}");
        let seen = match self {
            Self::Http(http) => http.stream(&Http::chat(&chat, &message, &order)).await?,
            Self::Socket(socket) => {
                let frame = Socket::chat(&chat, &message, &order);
                socket.stream(&frame).await?
            }
        };
        match seen.deltas {
            DELTAS => Ok(seen),
            deltas => Err(io::Error::other(format!("{deltas} deltas of {DELTAS}"))),
        }
    }
}

/// Measures a server for about so long.
pub async fn measure(
    name: &str,
    subject: &Subject,
    transport: Transport,
    clients: usize,
    span: Duration,
) -> io::Result<Streamed> {
    // What is slow only at first is not what is asked for here.
    run(subject, transport, clients, span / 4).await?;
    subject.forget_peak();
    let (before, begun) = (subject.cpu()?, Instant::now());
    let first = run(subject, transport, clients, span).await?;
    let (cpu, wall) = (subject.cpu()? - before, begun.elapsed());
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53")]
    let deltas = (first.len() * DELTAS) as f64;
    Ok(Streamed {
        subject: name.to_owned(),
        transport,
        clients,
        turns: first.len(),
        deltas_per_second: deltas / wall.as_secs_f64(),
        deltas_per_cpu_second: deltas / cpu,
        cpu_seconds_per_million: cpu / deltas * 1e6,
        first_p50: first.percentile(50),
        first_p99: first.percentile(99),
        peak_bytes: subject.peak()?,
    })
}

/// Every client runs one turn at least, and no new one once the time is over.
async fn run(
    subject: &Subject,
    transport: Transport,
    clients: usize,
    span: Duration,
) -> io::Result<Sample> {
    let mut all = JoinSet::new();
    let mut opened = Vec::new();
    for _ in 0..clients {
        opened.push(Client::open(subject, transport).await?);
    }
    let deadline = Instant::now() + span;
    for mut client in opened {
        all.spawn(async move {
            let mut first = Sample::default();
            loop {
                first.push(client.turn().await?.first);
                if Instant::now() >= deadline {
                    return io::Result::Ok(first);
                }
            }
        });
    }
    let mut first = Sample::default();
    while let Some(done) = all.join_next().await {
        first.extend(done??);
    }
    Ok(first)
}
