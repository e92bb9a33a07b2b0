//! The dashboard, with everything happening that it shows: two servers on one PostgreSQL, which the real
//! Prometheus scrapes, while a third one is killed.

use crate::metrics::{of, use_it};
use crate::process::{Start, adk_stream};
use crate::prometheus::{Prometheus, expressions};
use crate::replicas::{HeldTable, answer, begin, finished, question, say};

/// A server of the cluster.
fn start(url: &str, flags: &[&str]) -> Start {
    let serve = ["serve", "--listen", "127.0.0.1:0", "--lease", "1"];
    adk_stream(&[&serve[..], flags].concat())
        .variable("ADK_STREAM_STORE", url)
        .variable("ADK_STREAM_CLUSTER_KEY", "known-to-this-cluster-alone")
}

/// Waits until a query has given more than nothing.
#[track_caller]
fn expect(prometheus: &Prometheus, metric: &str) {
    // The highest value so far: some are seen for a moment only.
    let query = format!("max(max_over_time({metric}[10m])) > 0");
    assert!(prometheus.value(&query) > 0.0, "{query}");
}

#[test]
fn every_panel_has_a_series_and_every_metric_moves() {
    let url = testkit::postgres::database();
    let metrics = ["--metrics-listen", "127.0.0.1:0", "--token-prices", "1/2"];
    // What rests is evicted at once; and words come slowly, so that a window stays open.
    let resting = ["--resting-memory", "1KiB", "--pace", "200"];
    let (a, scraped_a) = of(start(&url, &[&metrics[..], &resting].concat()));
    let (b, scraped_b) = of(start(&url, &[&metrics[..], &["--pace", "0"]].concat()));
    let prometheus = Prometheus::of(&[scraped_a, scraped_b]);
    let third = start(&url, &["--pace", "200"]).running();

    use_it(&b);
    let approval = question(&b, "c3");
    assert_eq!(answer(&a, &approval, true), 200);
    finished(&b, "c3");
    let _window = begin(&a, "w1", "take your time");
    let _socket = a.connect("/live");
    for (metric, label) in [
        ("windows_open", r#"{transport="sse"}"#),
        ("sockets_open", ""),
        ("leases_held", ""),
        ("chats_loaded", ""),
        ("oldest_gate_age_seconds", ""),
        ("gates_open", r#"{kind="question"}"#),
        ("refusals_total", r#"{transport="socket"}"#),
        ("cost_total", ""),
    ] {
        expect(&prometheus, &format!("adk_stream_{metric}{label}"));
    }
    // Chats that nothing happens to are evicted for others.
    for number in 0..3 {
        say(&a, &format!("rest-{number}"), "Hi");
    }
    expect(&prometheus, "adk_stream_evictions_total");
    expect(&prometheus, "adk_stream_chats_resting");
    // A server dies in the middle of its words, and one of the others takes the turn over.
    let _lost = begin(&third, "t1", "take your time");
    while b.get("/api/chat/t1").status != 200 {
        std::thread::yield_now();
    }
    drop(third);
    expect(&prometheus, "adk_stream_takeovers_total");
    // While nothing can be stored, messages wait for the chat that waits for the store.
    say(&b, "q1", "Hi");
    let entries = HeldTable::new(&url, "entry");
    let stop = || b.post("/api/chat/q1/stop", &[], "");
    std::thread::scope(|scope| {
        let first = scope.spawn(|| begin(&b, "q1", "And now?"));
        entries.is_waited_for();
        let waiting = [(); 4].map(|()| scope.spawn(stop));
        expect(&prometheus, "adk_stream_chat_queue_depth");
        expect(&prometheus, "adk_stream_store_in_flight");
        entries.release();
        drop(first.join());
        for waiting in waiting {
            drop(waiting.join());
        }
    });
    for query in expressions() {
        prometheus.value(&query);
    }
}
