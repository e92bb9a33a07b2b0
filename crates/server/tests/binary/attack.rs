//! A client that behaves, while two thousand do not.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use testkit::attack::{Attack, CLIENTS, Client, Counts, Defence};

use crate::process::{Server, adk_stream};

/// How long something that has to happen may take.
const LIMIT: Duration = Duration::from_secs(60);

const GOOD: &str = "a-client-that-behaves";
const HOSTILE: &str = "a-client-that-attacks";

/// How many turns are taken, alone and under attack.
const TURNS: usize = 20;

fn until(counter: &AtomicUsize, count: usize) {
    let began = Instant::now();
    while counter.load(Ordering::Relaxed) < count {
        assert!(began.elapsed() < LIMIT, "{counter:?} of {count}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What has to be done about each kind of client, by the codes of the quota that it exceeds.
fn defences() -> Vec<(Client, Defence)> {
    let too_many = |client, what: &str| {
        let code = format!("too_many_{what}");
        (client, Defence::refused(429, &code))
    };
    vec![
        (Client::Silent, Defence::Cut),
        (Client::SlowHeader, Defence::Cut),
        (Client::SlowBody, Defence::refused(408, "body_timeout")),
        (Client::NeverRead, Defence::Cut),
        too_many(Client::ParkApprovals, "open_approvals"),
        too_many(Client::HeavyBody, "bytes"),
        (Client::UnfinishedFrame, Defence::Cut),
        too_many(Client::UnfinishedBody, "bytes"),
        too_many(Client::IdleEvents, "event_streams"),
    ]
}

/// Waits until the server has done it all.
fn until_held_back(counts: &Counts) {
    let began = Instant::now();
    loop {
        let done = counts.by_client();
        let missing: Vec<_> = defences()
            .into_iter()
            .filter(|defence| !done.contains_key(defence))
            .collect();
        if missing.is_empty() {
            return;
        }
        assert!(
            began.elapsed() < LIMIT,
            "not seen: {missing:?}; seen: {done:?}"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Takes turns, each in a chat of its own, and returns how long each took, the shortest first.
fn take_turns(server: &Server, name: &str, count: usize) -> Vec<Duration> {
    let turns = (0..count).map(|number| {
        let body = format!(
            r#"{{"id":"{name}-{number}","messages":[{{"id":"m","role":"user","parts":[{{"type":"text","text":"What is the weather in Tokyo?"}}]}}]}}"#
        );
        let began = Instant::now();
        let answer = server.post("/api/chat", &[("x-api-key", GOOD)], &body);
        assert_eq!(answer.status, 200, "turn {number}");
        assert!(answer.text().contains("[DONE]"), "turn {number}");
        began.elapsed()
    });
    let mut turns: Vec<Duration> = turns.collect();
    turns.sort_unstable();
    turns
}

#[test]
fn client_that_behaves_is_served_beside_two_thousand_that_do_not() {
    // One descriptor for each of them, and some for the test itself.
    let descriptors = rlimit::increase_nofile_limit(4_000).unwrap();
    assert!(
        descriptors >= 2_500,
        "the system allows {descriptors} descriptors"
    );
    let keys = format!("good={GOOD},hostile={HOSTILE}");
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--pace", "0"];
    let store = ["--store", "sqlite:chats.db", "--keys", &keys];
    let server = adk_stream(&[&arguments[..], &store[..]].concat())
        .variable("ADK_STREAM_MAX_REQUESTS_PER_SECOND", "200")
        .variable("ADK_STREAM_MAX_OPEN_APPROVALS", "100")
        .running();
    let calm = take_turns(&server, "calm", TURNS);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let attack = runtime.block_on(async {
        let mut attack = Attack::on(server.address, HOSTILE);
        for (count, client) in CLIENTS {
            attack.add(count, client);
        }
        attack
    });
    until(&attack.counts.connected, 2_000);

    let attacked = take_turns(&server, "attacked", TURNS);
    // It was an attack, and it was held back.
    until_held_back(&attack.counts);
    // No kind of client is left out of what has to be done.
    for (_, client) in CLIENTS {
        assert!(defences().iter().any(|(held, _)| *held == client));
    }
    drop(attack);
    let peak = server.peak_memory();
    // How long a turn takes is for `make bench` to judge: here, other tests take their part.
    let last = |turns: &[Duration]| turns.last().map(Duration::as_millis);
    println!(
        "slowest of {TURNS} turns in ms: {:?} alone, {:?} attacked; peak memory: {} MB",
        last(&calm),
        last(&attacked),
        peak / 1_000_000
    );
    assert!(peak < 300_000_000, "{} MB", peak / 1_000_000);
}
