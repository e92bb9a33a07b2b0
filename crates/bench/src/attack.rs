//! A client that behaves, beside two thousand hostile connections and somebody who parks approvals.

use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde::Serialize;
use testkit::attack::{Attack, CLIENTS};

use crate::load::Http;
use crate::sample::Sample;
use crate::subject::Subject;

/// What came of it.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Attacked {
    /// Hostile connections that were held open, or tried to be.
    pub connections: usize,
    /// Milliseconds of a turn, for half of them, before the attack.
    pub calm_p50: f64,
    /// The same for all but one of a hundred.
    pub calm_p99: f64,
    /// Milliseconds of a turn, for half of them, during the attack.
    pub attacked_p50: f64,
    /// The same for all but one of a hundred.
    pub attacked_p99: f64,
    /// The most memory that the server had, in bytes.
    pub peak_bytes: u64,
    /// Hostile connections that the server closed.
    pub cut: usize,
    /// Hostile requests that were carried out.
    pub served: usize,
    /// Hostile requests that were refused.
    pub refused: usize,
}

/// The keys of the client that behaves and of the one that does not.
const GOOD: &str = "a-client-that-behaves";
const HOSTILE: &str = "a-client-that-attacks";

/// How long the attack goes on before its effect is measured.
const BEFORE: Duration = Duration::from_secs(5);

/// Measures turns of one client, first alone and then under attack.
pub async fn measure(product: &Path, folder: &Path, turns: usize) -> io::Result<Attacked> {
    let keys = format!("good={GOOD},hostile={HOSTILE}");
    let store = format!("sqlite:{}", folder.join("attacked.db").display());
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--pace", "0"];
    let arguments = arguments
        .into_iter()
        .chain(["--store", &store, "--keys", &keys]);
    let subject = Subject::start(product, arguments, folder).await?;

    take_turns(&subject, "warm", turns / 5).await?;
    let calm = take_turns(&subject, "calm", turns).await?;
    let mut attack = Attack::on(subject.address, HOSTILE);
    for (count, client) in CLIENTS {
        attack.add(count, client);
    }
    tokio::time::sleep(BEFORE).await;
    let attacked = take_turns(&subject, "attacked", turns).await?;
    let count = |counted: &std::sync::atomic::AtomicUsize| counted.load(Ordering::Relaxed);
    let measured = Attacked {
        connections: CLIENTS.iter().map(|(count, _)| count).sum(),
        calm_p50: calm.percentile(50),
        calm_p99: calm.percentile(99),
        attacked_p50: attacked.percentile(50),
        attacked_p99: attacked.percentile(99),
        peak_bytes: subject.peak()?,
        cut: count(&attack.counts.cut),
        served: count(&attack.counts.served),
        refused: count(&attack.counts.refused),
    };
    drop(attack);
    subject.stop().await?;
    Ok(measured)
}

/// How long each of a number of turns takes, each in a chat of its own, one after the other.
async fn take_turns(subject: &Subject, name: &str, turns: usize) -> io::Result<Sample> {
    let mut sample = Sample::default();
    let mut client = Http::open(subject.address).await?;
    for number in 0..turns {
        let chat = format!("{name}-{number}");
        let request = Http::chat(&chat, &chat, "What is the weather in Tokyo?");
        let begun = Instant::now();
        client.stream(&Http::with_key(&request, GOOD)).await?;
        sample.push(begun.elapsed());
    }
    Ok(sample)
}
