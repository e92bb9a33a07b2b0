//! Metrics: who may read them, what they say, and that the real Prometheus reads them.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::process::{Server, Start, adk_stream};
use crate::prometheus::{Prometheus, TIME_LIMIT, deploy, expressions};
use crate::request::{Answer, send};

const KEY: &str = "the-key-of-the-metrics";
const ON: [&str; 3] = ["serve", "--listen", "127.0.0.1:0"];

/// A server with an address of its own for metrics.
fn with_metrics() -> (Server, SocketAddr) {
    of(adk_stream(
        &[&ON[..], &["--metrics-listen", "127.0.0.1:0"]].concat(),
    ))
}

pub(crate) fn of(start: Start) -> (Server, SocketAddr) {
    let mut server = start.running();
    let line = server.log_says("serving metrics");
    let (_, address) = line.trim().rsplit_once("address=").unwrap();
    (server, address.parse().unwrap())
}

fn read(address: SocketAddr) -> String {
    let answer = send(address, "GET", "/metrics", &[], "");
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.text().to_owned()
}

/// The value of a metric with these labels.
fn value(text: &str, metric: &str) -> f64 {
    let line = text.lines().find_map(|line| line.strip_prefix(metric));
    let line = line.unwrap_or_else(|| panic!("no {metric} in {text}"));
    line.trim().parse().unwrap()
}

fn say(server: &Server, chat: &str, text: &str) -> Answer {
    let part = json!({"type": "text", "text": text});
    let message = json!({"id": format!("{chat}-u"), "role": "user", "parts": [part]});
    let body = json!({"id": chat, "trigger": "submit-message", "messages": [message]});
    server.post("/api/chat", &[], &body.to_string())
}

/// A turn that ends, one that waits, one that was denied, one that asks for data, and a refusal over
/// either transport.
pub(crate) fn use_it(server: &Server) {
    assert_eq!(say(server, "c1", "Hello").status, 200);
    assert_eq!(say(server, "c2", "Send $20 to Sam").status, 200);
    let approvals = server.get("/api/approvals").json();
    let approval = approvals["approvals"][0]["approvalId"].as_str().unwrap();
    let path = format!("/api/approvals/{approval}");
    let denied = server.post(&path, &[], r#"{"approved":false}"#);
    assert_eq!(denied.status, 200);
    assert_eq!(say(server, "c3", "Send $30 to Sam").status, 200);
    assert_eq!(say(server, "c4", "Book a table").status, 200);
    assert_eq!(server.get("/api/chat/nobodys").status, 404);
    let mut client = server.connect("/live");
    client.send(&json!({"type": "tool_result", "toolCallId": "nobody", "result": {}}));
    assert!(client.next().unwrap().contains("unknown_call"));
}

#[test]
fn metrics_say_what_happened() {
    let (server, address) = with_metrics();
    use_it(&server);
    let text = read(address);
    for (metric, expected) in [
        ("adk_stream_turns_opened_total", 4.0),
        (
            r#"adk_stream_turns_ended_total{outcome="finished",code=""}"#,
            2.0,
        ),
        (r#"adk_stream_gates_opened_total{kind="approval"}"#, 2.0),
        (r#"adk_stream_gates_closed_total{decision="denied"}"#, 1.0),
        (
            r#"adk_stream_answer_delay_seconds_count{decision="denied"}"#,
            1.0,
        ),
        (r#"adk_stream_calls_total{outcome="denied"}"#, 1.0),
        (r#"adk_stream_gates_open{kind="approval"}"#, 1.0),
        (r#"adk_stream_gates_open{kind="client_call"}"#, 0.0),
        (r#"adk_stream_gates_open{kind="question"}"#, 1.0),
        (r#"adk_stream_gates_opened_total{kind="question"}"#, 1.0),
        (
            r#"adk_stream_refusals_total{transport="http",code="unknown_chat"}"#,
            1.0,
        ),
        (
            r#"adk_stream_refusals_total{transport="socket",code="unknown_call"}"#,
            1.0,
        ),
        (r#"adk_stream_http_requests_total{status="4xx"}"#, 1.0),
        (r#"adk_stream_windows_open{transport="sse"}"#, 0.0),
        ("adk_stream_takeovers_total", 0.0),
        ("adk_stream_leases_held", 0.0),
        ("adk_stream_store_in_flight", 0.0),
    ] {
        assert!(
            (value(&text, metric) - expected).abs() < 0.1,
            "{metric} in {text}"
        );
    }
    for metric in [
        r#"adk_stream_steps_total{finish="stop"}"#,
        r#"adk_stream_tokens_total{direction="input"}"#,
        r#"adk_stream_tokens_total{direction="output"}"#,
        r#"adk_stream_store_operation_seconds_count{operation="append"}"#,
        "adk_stream_chats_loaded",
    ] {
        assert!(value(&text, metric) >= 1.0, "{metric} in {text}");
    }
    // Neither chats nor principals are labels, and so their number is bounded.
    for id in ["c1", "c2", "local", "nobody"] {
        assert!(!text.contains(&format!("\"{id}")), "{id} in {text}");
    }
}

#[test]
fn tokens_cost_what_the_operator_says() {
    // A million for each token of the input, and two for each of the output.
    let prices = "1000000000000/2000000000000";
    let flags = ["--metrics-listen", "127.0.0.1:0", "--token-prices", prices];
    let (server, address) = of(adk_stream(&[&ON[..], &flags].concat()));
    assert_eq!(say(&server, "c1", "Hello").status, 200);
    let text = read(address);
    for (direction, price) in [("input", 1e6), ("output", 2e6)] {
        let of = |metric: &str| {
            value(
                &text,
                &format!("adk_stream_{metric}_total{{direction=\"{direction}\"}}"),
            )
        };
        assert!(of("tokens") > 0.0);
        assert!((of("cost") - of("tokens") * price).abs() < 1.0, "{text}");
    }
    let (_server, address) = with_metrics();
    assert!(!read(address).contains("adk_stream_cost"));
    adk_stream(&[&ON[..], &["--token-prices", "5"]].concat())
        .refused()
        .says("--token-prices: \"5\" are no prices of a million tokens: INPUT/OUTPUT or INPUT/CACHED/OUTPUT, as in 1.25/10");
}

#[test]
fn address_of_the_metrics_tells_browsers_what_they_may_do() {
    let (_server, address) = with_metrics();
    for path in ["/metrics", "/nowhere"] {
        let answer = send(address, "GET", path, &[], "");
        let header = |name| answer.header(name);
        assert_eq!(header("x-frame-options"), Some("DENY"), "{path}");
        assert_eq!(header("x-content-type-options"), Some("nosniff"), "{path}");
        let policy = header("content-security-policy").unwrap();
        assert!(policy.ends_with("frame-ancestors 'none'"), "{policy}");
    }
}

#[test]
fn gates_are_counted_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", folder.path().join("chats.db").display());
    let flags = ["--store", &store, "--metrics-listen", "127.0.0.1:0"];
    let start = || of(adk_stream(&[&ON[..], &flags].concat()));
    let (server, _) = start();
    assert_eq!(say(&server, "c1", "Send $20 to Sam").status, 200);
    drop(server);
    let (server, address) = start();
    let text = read(address);
    let open = value(&text, r#"adk_stream_gates_open{kind="approval"}"#);
    assert!((open - 1.0).abs() < 0.1, "{text}");
    assert!(
        value(&text, "adk_stream_oldest_gate_age_seconds") > 0.0,
        "{text}"
    );
    // The delay of an answer counts from the question, which an earlier process asked.
    let approvals = server.get("/api/approvals").json();
    let approval = approvals["approvals"][0]["approvalId"].as_str().unwrap();
    let path = format!("/api/approvals/{approval}");
    let answered = server.post(&path, &[], r#"{"approved":true}"#);
    assert_eq!(answered.status, 200);
    let count = r#"adk_stream_answer_delay_seconds_count{decision="approved"}"#;
    let began = Instant::now();
    while !read(address).contains(count) {
        assert!(began.elapsed() < TIME_LIMIT, "it is not counted");
    }
}

#[test]
fn metrics_are_nobodys_by_accident() {
    let open = |server: &Server, headers: &[(&str, &str)]| {
        server.request("GET", "/metrics", headers).status
    };
    let bearer = format!("Bearer {KEY}");
    let right = [("authorization", bearer.as_str())];
    // Nothing is served where nothing is set.
    let server = adk_stream(&ON).running();
    assert_eq!(open(&server, &[]), 404);
    assert_eq!(open(&server, &right), 404);
    // With a key they are read at the server's own address, by that key alone.
    let server = adk_stream(&ON)
        .variable("ADK_STREAM_METRICS_KEY", KEY)
        .variable("ADK_STREAM_KEYS", "alice=a-key-that-is-alices")
        .running();
    assert_eq!(open(&server, &right), 200);
    assert_eq!(open(&server, &[]), 401);
    assert_eq!(open(&server, &[("x-api-key", "a-key-that-is-alices")]), 401);
    let alice = [("authorization", "Bearer a-key-that-is-alices")];
    assert_eq!(open(&server, &alice), 401);
    // An address of their own serves them alone, and to this machine alone.
    let (server, address) = with_metrics();
    assert_eq!(open(&server, &[]), 404);
    assert_eq!(send(address, "GET", "/api/info", &[], "").status, 404);
    let rebound = [("host", "evil.example")];
    assert_eq!(send(address, "GET", "/metrics", &rebound, "").status, 403);
    // A proxy on this machine would pass on everybody's requests.
    for proxied in [
        ("x-forwarded-for", "203.0.113.7"),
        ("forwarded", "for=203.0.113.7"),
        ("via", "1.1 proxy"),
        ("origin", "https://metrics.example"),
    ] {
        let answer = send(address, "GET", "/metrics", &[proxied], "");
        assert_eq!(answer.status, 403, "{proxied:?}");
        let error = &answer.json()["error"];
        assert_eq!(error["code"], "proxied_without_keys", "{proxied:?}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("ADK_STREAM_METRICS_KEY"), "{message}");
    }
    let old = format!("GET /metrics HTTP/1.0\r\nhost: {address}\r\n\r\n");
    assert!(answered(address, &old).contains("proxied_without_keys"));
    let two = format!("GET /metrics HTTP/1.1\r\nhost: {address}\r\nhost: evil.example\r\n");
    let two = format!("{two}connection: close\r\n\r\n");
    assert!(answered(address, &two).starts_with("HTTP/1.1 400 "));
    // With a key, it needs that too.
    let flags = [&ON[..], &["--metrics-listen", "127.0.0.1:0"]].concat();
    let (_server, address) = of(adk_stream(&flags).variable("ADK_STREAM_METRICS_KEY", KEY));
    assert_eq!(send(address, "GET", "/metrics", &[], "").status, 401);
    assert_eq!(send(address, "GET", "/metrics", &right, "").status, 200);
    let proxied = [right[0], ("x-forwarded-for", "203.0.113.7")];
    assert_eq!(send(address, "GET", "/metrics", &proxied, "").status, 200);
    // Other machines need a key.
    adk_stream(&[&ON[..], &["--metrics-listen", "0.0.0.0:0"]].concat())
        .refused()
        .says("--metrics-listen: other machines reach 0.0.0.0:0, so it needs a key: set ADK_STREAM_METRICS_KEY");
    adk_stream(&ON)
        .variable("A_SHORT_KEY", "short")
        .file("adk-stream.toml", "metrics-key = 'env:A_SHORT_KEY'")
        .refused()
        .says("adk-stream.toml: metrics-key: not a key: it needs at least 16 characters, and no spaces");
}

/// What is answered to bytes, whatever they are.
fn answered(address: SocketAddr, bytes: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(bytes.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn guesses_at_the_key_of_the_metrics_are_slowed_down_at_both_addresses() {
    let flags = [&ON[..], &["--metrics-listen", "127.0.0.1:0"]].concat();
    let (server, address) = of(adk_stream(&flags).variable("ADK_STREAM_METRICS_KEY", KEY));
    for address in [address, server.address] {
        let guess = || {
            let began = Instant::now();
            let wrong = [("authorization", "Bearer a-guess-that-is-wrong")];
            let answer = send(address, "GET", "/metrics", &wrong, "");
            let took = began.elapsed();
            assert!(
                took >= Duration::from_millis(250),
                "answered after {took:?}"
            );
            answer
        };
        let mut guesses = (0..100).map(|_| guess());
        let refused = guesses.find(|answer| answer.status != 401);
        let refused = refused.expect("some guess is one too many");
        assert_eq!(refused.status, 429);
        assert_eq!(refused.json()["error"]["code"], "too_many_wrong_keys");
        let bearer = format!("Bearer {KEY}");
        let right = [("authorization", bearer.as_str())];
        assert_eq!(send(address, "GET", "/metrics", &right, "").status, 200);
    }
}

/// The names of metrics in a text.
fn names(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (start, _) in text.match_indices("adk_stream_") {
        let rest = &text[start..];
        let end = rest.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        names.insert(rest[..end.unwrap_or(rest.len())].to_owned());
    }
    names
}

#[test]
fn every_metric_of_rules_and_dashboard_exists() {
    let flags = ["--metrics-listen", "127.0.0.1:0", "--token-prices", "1/2"];
    let (server, address) = of(adk_stream(&[&ON[..], &flags].concat()));
    use_it(&server);
    let text = read(address);
    // Counters and histograms of families have no line before their first event; their type is there.
    let mut known = BTreeSet::new();
    for line in text.lines() {
        let Some(kind) = line.strip_prefix("# TYPE ") else {
            continue;
        };
        let (name, kind) = kind.split_once(' ').unwrap();
        let endings: &[&str] = match kind {
            "counter" => &["_total"],
            "histogram" => &["_bucket", "_count", "_sum"],
            "info" => &["_info"],
            _ => &[""],
        };
        known.extend(endings.iter().map(|ending| format!("{name}{ending}")));
    }
    let dashboard = std::fs::read_to_string(deploy().join("grafana/adk-stream.json")).unwrap();
    let rules = std::fs::read_to_string(deploy().join("prometheus/rules.yml")).unwrap();
    serde_json::from_str::<Value>(&dashboard).unwrap();
    for (file, least) in [(&dashboard, 20), (&rules, 8)] {
        let named = names(file);
        assert!(named.len() >= least, "{named:?}");
        let unknown: Vec<_> = named.difference(&known).collect();
        assert!(unknown.is_empty(), "{unknown:?} of {known:?}");
    }
    // And all that there is has a line in the guide.
    let guide = include_str!("../../../../docs/operations.md");
    let undocumented: Vec<_> = known
        .iter()
        .filter(|name| !name.ends_with("_bucket") && !name.ends_with("_sum"))
        .map(|name| name.trim_end_matches("_count"))
        .filter(|name| !guide.contains(*name))
        .collect();
    assert!(undocumented.is_empty(), "{undocumented:?}");
}

#[test]
fn real_prometheus_scrapes_a_real_server() {
    let (server, address) = with_metrics();
    use_it(&server);
    let prometheus = Prometheus::of(&[address]);
    let is = |query: &str, expected: f64| {
        let value = prometheus.value(query);
        assert!((value - expected).abs() < 0.1, "{query}: {value}");
    };
    is(r#"up{job="adk-stream"}"#, 1.0);
    is("adk_stream_turns_opened_total", 4.0);
    is(
        r#"sum(adk_stream_refusals_total{code="unknown_chat"})"#,
        1.0,
    );
    is(r#"max(adk_stream_gates_open{kind="approval"})"#, 1.0);
    is(
        r#"sum(adk_stream_answer_delay_seconds_bucket{le="+Inf",decision="denied"})"#,
        1.0,
    );
    // Every panel's query is one that Prometheus takes; `dashboard` has what comes of them.
    for query in expressions() {
        assert_eq!(prometheus.query(&query)["status"], "success", "{query}");
    }
    let rules = prometheus.get("/api/v1/rules");
    let rules = rules["data"]["groups"][0]["rules"].as_array().unwrap();
    assert!(rules.len() >= 8, "{rules:?}");
    // Each alert fires when it should and not before; rules.test.yml has values for both.
    let tested = std::fs::read_to_string(deploy().join("prometheus/rules.test.yml")).unwrap();
    for rule in rules {
        let name = format!("alertname: {}\n", rule["name"].as_str().unwrap());
        assert_eq!(tested.matches(&name).count(), 2, "{name}");
    }
    for arguments in [
        ["check", "rules", "rules.yml"],
        ["test", "rules", "rules.test.yml"],
        ["check", "config", "prometheus.yml"],
    ] {
        promtool(&arguments, &deploy().join("prometheus"));
    }
}

fn promtool(arguments: &[&str], folder: &Path) {
    let checked = Command::new("promtool")
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(checked.status.success(), "{checked:?}");
}

/// Debian's Prometheus is built without the discovery of pods, which is the one part that is replaced here.
/// The tests of deploy/ compare that with the manifests.
#[test]
fn scrape_rule_for_kubernetes_is_valid() {
    let written = std::fs::read_to_string(deploy().join("prometheus/kubernetes.yml")).unwrap();
    let (before, discovery) = written.split_once("    kubernetes_sd_configs:\n").unwrap();
    let after = discovery.find("    authorization:\n").unwrap();
    let targets = "    static_configs:\n      - targets: [\"127.0.0.1:8080\"]\n";
    let folder = tempfile::tempdir().unwrap();
    let config = format!("{before}{targets}{}", &discovery[after..]);
    std::fs::write(folder.path().join("kubernetes.yml"), config).unwrap();
    let rules = deploy().join("prometheus/rules.yml");
    std::fs::copy(rules, folder.path().join("rules.yml")).unwrap();
    // The key that it reads is on no machine but Prometheus's.
    let arguments = ["check", "config", "--syntax-only", "kubernetes.yml"];
    promtool(&arguments, folder.path());
}
