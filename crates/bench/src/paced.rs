//! Turns at the pace of real models: 200 deltas, one every 20 ms, to many clients at once; and one such
//! turn that many clients read.

use std::fmt::Write;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde::Serialize;
use tokio::task::JoinSet;

use crate::load::{Http, Seen, Socket};
use crate::report::{name, number};
use crate::sample::Sample;
use crate::stage::PACE;
use crate::streaming::{DELTAS, Transport};
use crate::subject::Subject;

/// Who the deltas are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Crowd {
    /// Each client has a turn of its own.
    Clients,
    /// All of them watch the same turn.
    Readers,
}

/// What came of it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Paced {
    /// Who was measured.
    pub subject: String,
    /// Over what.
    pub transport: Transport,
    /// Who the deltas were for.
    pub crowd: Crowd,
    /// How many of them there were.
    pub count: usize,
    /// The server's microseconds of processor time for each delta that arrived.
    pub cpu_microseconds: f64,
    /// Milliseconds that a delta came later than the turn's pace has it, for half of them.
    pub late_p50: f64,
    /// The same for all but one of a hundred.
    pub late_p99: f64,
    /// How long a turn took from its first delta to its last, for half of them: times what its pace
    /// has it take.
    pub stretch: f64,
    /// The most memory that the server had, in bytes.
    pub peak_bytes: u64,
}

impl Paced {
    /// Whether all but one of a hundred deltas came before the next was due.
    pub fn is_held(&self) -> bool {
        self.late_p99 <= PACE.as_secs_f64() * 1e3
    }
}

/// What a client reads at once: a few deltas, and there may be thousands of clients.
const BUFFER: usize = 4 * 1024;

/// Within which time the turns of all clients begin.
const SPREAD: Duration = Duration::from_secs(1);

enum Client {
    Http(Http),
    Socket(Socket),
}

impl Client {
    async fn open(subject: &Subject, transport: Transport) -> io::Result<Self> {
        let address = subject.address;
        Ok(match transport {
            Transport::Sse => Self::Http(Http::open_with(address, BUFFER).await?),
            Transport::WebSocket => Self::Socket(Socket::open_with(address, BUFFER).await?),
        })
    }

    /// Asks for a turn, and reads it to its end.
    async fn turn(&mut self, order: &str, on: impl FnMut(usize)) -> io::Result<Seen> {
        let chat = new_chat();
        match self {
            Self::Http(http) => http.stream_with(&Http::chat(&chat, &chat, order), on).await,
            Self::Socket(socket) => {
                let frame = Socket::chat(&chat, &chat, order);
                socket.stream_with(&frame, on).await
            }
        }
    }

    /// Opens the turn that is watched.
    async fn begin(&mut self, chat: &str) -> io::Result<()> {
        let order = format!("watched {DELTAS}");
        match self {
            Self::Http(http) => http.send(&Http::chat(chat, chat, &order)).await,
            Self::Socket(socket) => socket.send(&Socket::chat(chat, chat, &order)).await,
        }
    }

    /// Asks for a window on the turn of a chat.
    async fn watch(&mut self, chat: &str) -> io::Result<()> {
        match self {
            Self::Http(http) => {
                let path = format!("/api/chat/{chat}/stream");
                http.send(&Http::get(&path)).await
            }
            Self::Socket(socket) => socket.send(&Socket::resume(chat)).await,
        }
    }

    /// Waits until the window is open.
    async fn opened(&mut self) -> io::Result<()> {
        match self {
            Self::Http(http) => http.read_until("\"start\"").await,
            Self::Socket(socket) => socket.read_until("\"start\"").await,
        }
    }

    /// Reads a window that is open to its end.
    async fn rest(&mut self, on: impl FnMut(usize)) -> io::Result<Seen> {
        let begun = Instant::now();
        match self {
            Self::Http(http) => http.read_rest_with(begun, on).await,
            Self::Socket(socket) => socket.read_rest_with(begun, on).await,
        }
    }
}

/// A chat that there was none of before.
fn new_chat() -> String {
    static CHATS: AtomicU64 = AtomicU64::new(0);
    format!("paced-{}", CHATS.fetch_add(1, Ordering::Relaxed))
}

/// When the deltas of one turn came.
#[derive(Debug, Default)]
struct Arrivals(Vec<Instant>);

impl Arrivals {
    fn note(&mut self, deltas: usize) {
        let now = Instant::now();
        self.0.extend(std::iter::repeat_n(now, deltas));
    }

    /// How much later each delta came than the most punctual one of the turn has it.
    fn lateness(&self) -> Sample {
        let mut sample = Sample::default();
        let due = |place: usize| PACE * u32::try_from(place).unwrap_or(u32::MAX);
        let Some(first) = self.0.first() else {
            return sample;
        };
        // Both sides are moved by the length of the turn: a span is not negative.
        let whole = due(self.0.len());
        let places = self.0.iter().enumerate();
        let spans = places.map(|(place, at)| at.duration_since(*first) + whole - due(place));
        let spans: Vec<Duration> = spans.collect();
        let least = spans.iter().min().copied().unwrap_or_default();
        spans.iter().for_each(|span| sample.push(*span - least));
        sample
    }

    fn span(&self) -> Duration {
        let ends = self.0.first().zip(self.0.last());
        ends.map_or(Duration::ZERO, |(first, last)| last.duration_since(*first))
    }
}

/// What all turns say of themselves.
#[derive(Debug, Default)]
struct Taken {
    late: Sample,
    spans: Sample,
}

impl Taken {
    fn take(&mut self, seen: Seen, arrivals: &Arrivals) -> io::Result<()> {
        if seen.deltas != DELTAS {
            let problem = format!("{} deltas of {DELTAS}", seen.deltas);
            return Err(io::Error::other(problem));
        }
        self.late.extend(arrivals.lateness());
        self.spans.push(arrivals.span());
        Ok(())
    }

    fn row(
        self,
        who: &str,
        (transport, crowd, count): (Transport, Crowd, usize),
        cpu: f64,
        peak_bytes: u64,
    ) -> Paced {
        #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53")]
        let deltas = self.late.len() as f64;
        #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53")]
        let pace = PACE.as_secs_f64() * 1e3 * (DELTAS - 1) as f64;
        Paced {
            subject: who.to_owned(),
            transport,
            crowd,
            count,
            cpu_microseconds: cpu / deltas * 1e6,
            late_p50: self.late.percentile(50),
            late_p99: self.late.percentile(99),
            stretch: self.spans.percentile(50) / pace,
            peak_bytes,
        }
    }
}

/// Measures a server while a number of clients have a number of turns each, one after the other.
pub async fn measure(
    who: &str,
    subject: &Subject,
    transport: Transport,
    clients: usize,
    turns: usize,
) -> io::Result<Paced> {
    let mut opened = Vec::new();
    for _ in 0..clients {
        let mut client = Client::open(subject, transport).await?;
        // What is slow only at first is not what is asked for here.
        client.turn(&format!("deltas {DELTAS}"), |_| ()).await?;
        opened.push(client);
    }
    subject.forget_peak();
    let before = subject.cpu()?;
    let mut all = JoinSet::new();
    for (place, mut client) in opened.into_iter().enumerate() {
        all.spawn(async move {
            tokio::time::sleep(delay(place)).await;
            let mut taken = Taken::default();
            for _ in 0..turns {
                let mut arrivals = Arrivals::default();
                let order = format!("paced {DELTAS}");
                let seen = client.turn(&order, |deltas| arrivals.note(deltas)).await?;
                taken.take(seen, &arrivals)?;
            }
            io::Result::Ok(taken)
        });
    }
    let taken = gather(all).await?;
    let cpu = subject.cpu()? - before;
    let what = (transport, Crowd::Clients, clients);
    Ok(taken.row(who, what, cpu, subject.peak()?))
}

/// Measures a server while a number of clients read one turn.
pub async fn measure_watched(
    who: &str,
    subject: &Subject,
    transport: Transport,
    readers: usize,
) -> io::Result<Paced> {
    let chat = new_chat();
    let mut opened = vec![Client::open(subject, transport).await?];
    opened[0].begin(&chat).await?;
    opened[0].opened().await?;
    for _ in 1..readers {
        let mut client = Client::open(subject, transport).await?;
        client.watch(&chat).await?;
        client.opened().await?;
        opened.push(client);
    }
    subject.forget_peak();
    let mut go = Http::open(subject.address).await?;
    let before = subject.cpu()?;
    let mut all = JoinSet::new();
    for mut client in opened {
        all.spawn(async move {
            let (mut taken, mut arrivals) = (Taken::default(), Arrivals::default());
            let seen = client.rest(|deltas| arrivals.note(deltas)).await?;
            taken.take(seen, &arrivals)?;
            io::Result::Ok(taken)
        });
    }
    // Every reader reads before the word is given.
    tokio::task::yield_now().await;
    go.call(&Http::post("/bench/go", "{}")).await?;
    let taken = gather(all).await?;
    let cpu = subject.cpu()? - before;
    let what = (transport, Crowd::Readers, readers);
    Ok(taken.row(who, what, cpu, subject.peak()?))
}

async fn gather(mut all: JoinSet<io::Result<Taken>>) -> io::Result<Taken> {
    let mut taken = Taken::default();
    while let Some(done) = all.join_next().await {
        let Taken { late, spans } = done??;
        taken.late.extend(late);
        taken.spans.extend(spans);
    }
    Ok(taken)
}

/// When a client begins: as people do, at no moment that another has chosen. Multiples of the golden
/// ratio fall evenly into any span, and into the span between two deltas too.
fn delay(place: usize) -> Duration {
    #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53")]
    let share = (place as f64 * 0.618_033_988_749_895).fract();
    SPREAD.mul_f64(share)
}

/// The run as Markdown; nothing, where nothing was measured.
pub fn write_table(all: &[Paced], out: &mut String) -> std::fmt::Result {
    if all.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\n(i) 200 deltas of 8 bytes, one every {} ms:\n",
        PACE.as_millis()
    )?;
    writeln!(
        out,
        "| who | over | for | CPU µs per delta | times bare axum | of Node | late p50, p99 (ms) | turn, times its pace | pace held | peak (MB) |\n|---|---|---|---:|---:|---:|---:|---:|---|---:|"
    )?;
    for one in all {
        let against = |subject: &str, transport| {
            let of = |other: &&Paced| {
                other.subject == subject
                    && other.transport == transport
                    && (other.crowd, other.count) == (one.crowd, one.count)
            };
            let other = all.iter().find(of);
            let ratio = other.map(|other| one.cpu_microseconds / other.cpu_microseconds);
            ratio.map_or(String::new(), number)
        };
        let over = match one.transport {
            Transport::Sse => "SSE",
            Transport::WebSocket => "WebSocket",
        };
        let crowd = match one.crowd {
            Crowd::Clients => "clients, a turn each",
            Crowd::Readers => "readers of one turn",
        };
        writeln!(
            out,
            "| {} | {over} | {} {crowd} | {} | {} | {} | {}, {} | {} | {} | {} |",
            one.subject,
            one.count,
            number(one.cpu_microseconds),
            against(name::BARE, one.transport),
            against(name::NODE, Transport::Sse),
            number(one.late_p50),
            number(one.late_p99),
            number(one.stretch),
            if one.is_held() { "yes" } else { "no" },
            one.peak_bytes / 1_000_000,
        )?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_is_counted_from_the_most_punctual_delta() {
        let begun = Instant::now();
        let at = |milliseconds| begun + Duration::from_millis(milliseconds);
        // The first is 5 ms late, the third comes with the fourth.
        let arrivals = Arrivals(vec![at(5), at(20), at(60), at(60)]);
        let late = arrivals.lateness();
        assert_eq!(late.percentile(50), 0.0);
        assert_eq!(late.percentile(75), 5.0);
        assert_eq!(late.percentile(100), 20.0);
        assert_eq!(arrivals.span(), Duration::from_millis(55));
    }

    #[test]
    fn clients_begin_at_moments_of_their_own() {
        let mut within: Vec<_> = (0..100)
            .map(|place| delay(place).as_micros() % 20_000)
            .collect();
        within.sort_unstable();
        let gaps = within.windows(2).map(|pair| pair[1] - pair[0]);
        assert!(gaps.max() < Some(2_000));
    }
}
