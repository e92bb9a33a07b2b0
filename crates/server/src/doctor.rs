//! `adk-stream doctor`: whether a server would run well here, and what to do where it would not.
//!
//! It takes the settings that `serve` takes, and changes nothing: a store is written to only if its
//! schema is the current one, by the write that `/readyz` makes.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use store::{Location, Schema, StoreError};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use turn::At;

use crate::check::{self, Findings};
use crate::cluster::HttpPeers;
use crate::config::{Config, Settings};
use crate::connection::{ConnectionLimits, raise_descriptor_limit};
use crate::environment::Environment;
use crate::error::Error;
use crate::runtime::runtime;
use crate::store_url::StoreUrl;
use crate::tls::Tls;

/// How long a host, a peer or the store may take.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// How far clocks may be apart before deadlines and takeovers are noticeably early or late.
const CLOCKS_APART: Duration = Duration::from_secs(2);

/// How long a write may take before people notice: every question and answer waits for some.
const SLOW_WRITE: Duration = Duration::from_millis(100);

/// How few days a certificate is valid for when it should have been replaced: those that are valid for
/// ninety are replaced after sixty.
const FEW_DAYS: u64 = 14;

/// How few descriptors are too few for a server that is open to others.
const FEW_DESCRIPTORS: usize = 4096;

/// What to look at.
#[derive(Debug, clap::Args)]
pub(crate) struct Doctor {
    #[command(flatten)]
    settings: Box<Settings>,
    /// Configuration file in TOML, or a folder of them [env: ADK_STREAM_CONFIG] [default: adk-stream.toml, when it exists]
    #[arg(long, value_name = "PATH")]
    config: Option<PathBuf>,
    /// Connect to no model, tool, peer or collector
    #[arg(long)]
    offline: bool,
}

/// Looks at everything, prints what was found, and fails if something would keep a server from its work.
pub(crate) fn run(command: Doctor, environment: &Environment) -> Result<(), Error> {
    let Doctor {
        settings,
        config,
        offline,
    } = command;
    let config = Config::load(*settings, config, environment, Path::new(""))?;
    let mut report = Report::default();
    report.good("configuration", "it can be read");
    for warning in &config.warnings {
        report.warn("configuration", warning, None);
    }
    let runtime = runtime().map_err(|source| Error::System {
        attempt: "start the runtime",
        source,
    })?;
    runtime.block_on(async {
        listen(&config, &mut report).await;
        limits(config.connections, &mut report);
        certificate(&config, now(), &mut report);
        let servers = store(&config, &mut report).await;
        if offline {
            return;
        }
        peers(&config, servers, &mut report).await;
        agent(&config, &mut report).await;
        collector(&config, &mut report).await;
    });
    runtime.shutdown_background();
    report.print();
    match report.problems {
        0 => Ok(()),
        count => Err(Error::Unsound(count)),
    }
}

/// What was found, a line each.
#[derive(Default)]
struct Report {
    lines: String,
    problems: usize,
}

impl Report {
    fn good(&mut self, what: &str, found: &str) {
        self.line("ok      ", what, found, None);
    }

    fn warn(&mut self, what: &str, found: &str, advice: Option<&str>) {
        self.line("warning ", what, found, advice);
    }

    fn problem(&mut self, what: &str, found: &str, advice: Option<&str>) {
        self.problems += 1;
        self.line("problem ", what, found, advice);
    }

    fn line(&mut self, kind: &str, what: &str, found: &str, advice: Option<&str>) {
        self.lines.push_str(&format!("{kind}{what}: {found}\n"));
        if let Some(advice) = advice {
            self.lines.push_str(&format!("        {advice}\n"));
        }
    }

    fn print(&self) {
        // A closed stdout has no reader.
        let _ = std::io::stdout().write_all(self.lines.as_bytes());
    }
}

/// Whether the address is free, and who could reach it.
async fn listen(config: &Config, report: &mut Report) {
    let address = config.listen.as_str();
    let what = format!("address {address}");
    match TcpListener::bind(address).await {
        Ok(listener) => {
            let local = listener.local_addr().map(|at| at.ip().to_canonical());
            let is_open = local.is_ok_and(|ip| !ip.is_loopback());
            if is_open && config.keys.is_empty() && !config.insecure {
                let advice = "set ADK_STREAM_KEYS or --keys-file, or listen on 127.0.0.1";
                report.problem(
                    &what,
                    "other machines reach it, and there are no keys",
                    Some(advice),
                );
            } else {
                report.good(&what, "it is free");
            }
        }
        Err(error) => {
            let advice = "if that is the server itself, all is well; otherwise change --listen";
            report.warn(&what, &error.to_string(), Some(advice));
        }
    }
    if config.insecure && config.keys.is_empty() {
        let advice = "remove --insecure, unless something in front of the server knows people";
        report.warn(
            "keys",
            "every client is served as one principal",
            Some(advice),
        );
    }
}

/// Whether the system allows as many connections as are wanted.
fn limits(limits: ConnectionLimits, report: &mut Report) {
    let Some(descriptors) = raise_descriptor_limit() else {
        return report.warn("descriptors", "their number is unknown", None);
    };
    let wanted = limits.max.unwrap_or_default();
    let found = format!("{descriptors} are allowed");
    let advice = "raise the hard limit: LimitNOFILE= of systemd, --ulimit nofile= of containers";
    match descriptors {
        few if few < wanted.saturating_add(wanted / 8) => {
            let found = format!("{found}, too few for {wanted} connections");
            report.problem("descriptors", &found, Some(advice));
        }
        few if few < FEW_DESCRIPTORS => report.warn("descriptors", &found, Some(advice)),
        _ => report.good("descriptors", &found),
    }
}

/// Whether the certificate is valid for long enough to be replaced in time.
fn certificate(config: &Config, now: At, report: &mut Report) {
    let Some(expiry) = config.tls.as_ref().map(Tls::expiry) else {
        return;
    };
    let Some(expiry) = expiry else {
        return report.warn("certificate", "its expiry can't be read", None);
    };
    let advice = "replace it: the server reads the files again by itself";
    let days = expiry.0.saturating_sub(now.0) / Duration::from_secs(86_400).as_millis() as u64;
    let found = format!("it is valid for {days} more days");
    match days {
        _ if expiry <= now => {
            report.problem("certificate", "it has expired", Some(advice));
        }
        days if days < FEW_DAYS => report.warn("certificate", &found, Some(advice)),
        _ => report.good("certificate", &found),
    }
}

/// Whether the store can be used, and what time it is there. Gives the servers that use it.
async fn store(config: &Config, report: &mut Report) -> Vec<String> {
    let location = match &config.store {
        StoreUrl::Memory => {
            let advice = "everything is lost when the server ends; use sqlite:PATH or postgres://…";
            report.warn("store", "it is in memory", Some(advice));
            return Vec::new();
        }
        StoreUrl::Sqlite(path) => Location::Sqlite(path.clone()),
        StoreUrl::Postgres(url) => Location::Postgres(url.clone()),
    };
    let before = now();
    let inspected = timeout(TIME_LIMIT, store::inspect(location.clone())).await;
    let asked = (before, now());
    let inspected = match inspected {
        Ok(Ok(inspected)) => inspected,
        Ok(Err(error)) => {
            report.problem("store", &error.to_string(), Some(advice_for(&error)));
            return Vec::new();
        }
        Err(_) => {
            let advice = "check the address, the firewall, and whether the database is up";
            report.problem("store", "it does not answer", Some(advice));
            return Vec::new();
        }
    };
    if let Some(theirs) = inspected.clock {
        clocks("the database", theirs, asked, report);
    }
    match inspected.schema {
        Schema::Missing => report.good("store", "nothing is there yet; the first start creates it"),
        Schema::Older { found, known } => {
            let text =
                format!("its schema is version {found}, and the next start migrates it to {known}");
            let advice = "back it up before; an older server can't start over it afterwards";
            report.warn("store", &text, Some(advice));
        }
        Schema::Current => write(location, report).await,
    }
    inspected.servers
}

/// Writes as `/readyz` does.
async fn write(location: Location, report: &mut Report) {
    let written = timeout(TIME_LIMIT, async {
        let stores = store::open(location).await?;
        let began = Instant::now();
        stores.probe.probe(now()).await?;
        Ok::<_, StoreError>((began.elapsed(), stores.warnings))
    });
    match written.await {
        Ok(Ok((took, warnings))) => {
            for warning in warnings {
                report.warn("store", &warning, None);
            }
            let found = format!("a write took {:.1} ms", took.as_secs_f64() * 1000.0);
            match took > SLOW_WRITE {
                true => {
                    let advice = "every question and answer waits for writes: look at the disk";
                    report.warn("store", &found, Some(advice));
                }
                false => report.good("store", &found),
            }
        }
        Ok(Err(error)) => report.problem("store", &error.to_string(), Some(advice_for(&error))),
        Err(_) => {
            let advice = "look at the disk, or at what holds locks in the database";
            report.problem("store", "a write did not end in time", Some(advice));
        }
    }
}

fn advice_for(error: &StoreError) -> &'static str {
    match error {
        StoreError::Unavailable { .. } => {
            "check the address, the firewall, and whether the database is up"
        }
        StoreError::FolderMissing { .. } => "create the folder, writable for the server's user",
        StoreError::ReadOnly { .. } => "give the server's user the right to write to it",
        StoreError::Full => "make room on the disk, or raise the quota",
        StoreError::DatabaseMissing { .. } => "create the database",
        StoreError::Denied { .. } => "check the name, the password and the rights in the database",
        StoreError::Busy => "end the other program that has the file locked",
        StoreError::TooNew { .. } => "start the newer version of adk-stream that wrote it",
        StoreError::Foreign { .. } => "it is another program's: choose another path",
        StoreError::Corrupt { .. } => "restore a backup",
        _ => "see docs/operations.md",
    }
}

/// Whether another clock, which was read at some moment between two, agrees with the one here: the middle
/// is off by half of what lies between them at most.
fn clocks(whose: &str, theirs: At, (before, after): (At, At), report: &mut Report) {
    let apart = Duration::from_millis(theirs.0.abs_diff(before.0.midpoint(after.0)));
    let uncertain = Duration::from_millis(after.0.saturating_sub(before.0)) / 2;
    let found = format!(
        "that of {whose} is {:.1} s from the one here",
        apart.as_secs_f64()
    );
    match apart > CLOCKS_APART + uncertain {
        true => {
            let advice =
                "run an NTP client on both: deadlines go by the database's clock, logs by this one";
            report.warn("clocks", &found, Some(advice));
        }
        false => report.good("clocks", &found),
    }
}

/// Whether the other servers over the same store can be reached, and this one where it says it is.
async fn peers(config: &Config, servers: Vec<String>, report: &mut Report) {
    let Some(cluster) = &config.cluster else {
        return;
    };
    match &cluster.advertise {
        Some(url) if is_only_here(url) => {
            let advice = "set --advertise to an address that the other servers reach";
            let found = format!("{url} means another machine on every machine");
            report.warn("peers", &found, Some(advice));
        }
        None if is_only_here(&format!("http://{}", config.listen)) => {
            let advice = "set --listen and --advertise to addresses that the other servers reach";
            report.warn("peers", "other servers can't reach this one", Some(advice));
        }
        _ => {}
    }
    if servers.is_empty() {
        report.good("peers", "no other server holds a lease at the moment");
    }
    for server in servers {
        let what = format!("peer {server}");
        let asked = async {
            let peers = HttpPeers::new(cluster.key.clone())?;
            peers.ask(&server).await
        };
        let asked = timeout(TIME_LIMIT, asked).await;
        match asked.unwrap_or_else(|_| Err("it did not answer in time".to_owned())) {
            Ok(()) => report.good(&what, "it answers, and has the same cluster key"),
            Err(problem) => {
                let advice = "check its --advertise, its ADK_STREAM_CLUSTER_KEY and the firewall: \
                              requests for its chats get 503";
                report.problem(&what, &problem, Some(advice));
            }
        }
    }
}

/// Whether the agent and its tools can be reached.
async fn agent(config: &Config, report: &mut Report) {
    if let Some(agent) = &config.file_agent {
        let mut findings = Findings::default();
        for agent in check::with_used([agent]) {
            check::try_agent(agent, &mut findings).await;
        }
        for problem in &findings.problems {
            let advice = "see `adk-stream check`";
            report.problem(&format!("agent {}", agent.name), problem, Some(advice));
        }
        for warning in &findings.warnings {
            report.warn(&format!("agent {}", agent.name), warning, None);
        }
        if findings.problems.is_empty() {
            report.good(
                &format!("agent {}", agent.name),
                "its model and tools can be reached",
            );
        }
    }
    if let Some(url) = &config.agent_url {
        let what = format!("agent at {url}");
        match reach(url).await {
            Ok(()) => report.good(&what, "it accepts connections"),
            Err(problem) => {
                let advice = "check the address and the network; behind a proxy this can't be seen from here";
                report.problem(&what, &problem, Some(advice));
            }
        }
    }
}

/// Whether the collector takes traces, if they go anywhere. Nothing waits for it.
#[cfg(feature = "otel")]
async fn collector(config: &Config, report: &mut Report) {
    let Some(otlp) = &config.otlp else {
        return;
    };
    let what = format!("collector {}", otlp.endpoint);
    let probed = crate::telemetry::probe(&otlp.endpoint, &otlp.headers);
    let probed = timeout(TIME_LIMIT, probed).await;
    match probed.unwrap_or_else(|_| Err("it did not answer in time".to_owned())) {
        Ok(()) => report.good(&what, "it takes traces"),
        Err(problem) => {
            let advice = "check --otlp-endpoint and ADK_STREAM_OTLP_HEADERS: spans are dropped until it \
                          takes them, and nothing else";
            report.warn(&what, &problem, Some(advice));
        }
    }
}

#[cfg(not(feature = "otel"))]
async fn collector(_: &Config, _: &mut Report) {}

/// Whether an address names whatever machine reads it.
fn is_only_here(url: &str) -> bool {
    let host = host_and_port(url).map(|(host, _)| host);
    host.is_some_and(|host| {
        let ip = host.parse::<std::net::IpAddr>();
        host == "localhost" || ip.is_ok_and(|ip| ip.is_loopback() || ip.is_unspecified())
    })
}

/// The host and the port of an address.
fn host_and_port(url: &str) -> Option<(String, u16)> {
    let url = reqwest::Url::parse(url).ok()?;
    let host = url.host_str()?.trim_matches(['[', ']']).to_owned();
    Some((host, url.port_or_known_default()?))
}

/// Connects to an address.
async fn reach(url: &str) -> Result<(), String> {
    let (host, port) = host_and_port(url).ok_or("it is not an address")?;
    match timeout(TIME_LIMIT, TcpStream::connect((host, port))).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err("it did not answer in time".to_owned()),
    }
}

fn now() -> At {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    At(now.map_or(0, |now| u64::try_from(now.as_millis()).unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_that_is_far_off_is_warned_about() {
        let found = |theirs: u64| {
            let mut report = Report::default();
            let asked = (At(99_000), At(101_000));
            clocks("the database", At(theirs), asked, &mut report);
            assert_eq!(report.problems, 0);
            report.lines
        };
        for near in [97_000, 99_000, 100_000, 101_000, 103_000] {
            let lines = found(near);
            assert!(lines.starts_with("ok      clocks: that of the database is "));
            assert_eq!(lines.lines().count(), 1, "{lines}");
        }
        for (far, apart) in [(96_999, "3.0"), (103_500, "3.5"), (160_000, "60.0")] {
            let lines = found(far);
            let warned =
                format!("warning clocks: that of the database is {apart} s from the one here\n");
            assert!(lines.starts_with(&warned), "{lines}");
            assert!(lines.contains("run an NTP client on both"), "{lines}");
        }
    }
}
