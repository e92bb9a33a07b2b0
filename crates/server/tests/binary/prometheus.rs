//! Debian's Prometheus, with the configuration and the rules of this repository.

use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::request::send;

/// How long Prometheus may take to start and to scrape: it scrapes every second.
pub(crate) const TIME_LIMIT: Duration = Duration::from_secs(60);

pub(crate) fn deploy() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy")
}

/// Debian's Prometheus, ended when the test ends.
pub(crate) struct Prometheus {
    child: Child,
    address: SocketAddr,
    _folder: tempfile::TempDir,
}

impl Drop for Prometheus {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Prometheus {
    /// Scrapes targets every second, with the rules of this repository.
    pub(crate) fn of(targets: &[SocketAddr]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let targets: Vec<String> = targets.iter().map(SocketAddr::to_string).collect();
        let written = std::fs::read_to_string(deploy().join("prometheus/prometheus.yml")).unwrap();
        let config = written
            .replace("[\"127.0.0.1:9464\"]", &format!("{targets:?}"))
            .replace("scrape_interval: 15s", "scrape_interval: 1s");
        assert!(config.contains(&format!("{targets:?}")), "{config}");
        std::fs::write(folder.path().join("prometheus.yml"), config).unwrap();
        let rules = deploy().join("prometheus/rules.yml");
        std::fs::copy(rules, folder.path().join("rules.yml")).unwrap();
        // It has no way to say which free port it took; another may take this one, and then it ends.
        for _ in 0..5 {
            let free = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = free.local_addr().unwrap();
            drop(free);
            let mut child = Command::new("prometheus")
                .arg("--config.file=prometheus.yml")
                .arg("--storage.tsdb.path=data")
                .arg(format!("--web.listen-address={address}"))
                .current_dir(folder.path())
                .stdout(Stdio::null())
                .stderr(Stdio::piped())
                .spawn()
                .expect("Debian's package prometheus is installed");
            let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
            let is_ready =
                lines.any(|line| line.unwrap().contains("ready to receive web requests"));
            // Read on, so that it is never held up.
            std::thread::spawn(move || lines.for_each(drop));
            if is_ready {
                let _folder = folder;
                return Self {
                    child,
                    address,
                    _folder,
                };
            }
            let _ = child.wait();
        }
        panic!("Prometheus does not start");
    }

    pub(crate) fn get(&self, path: &str) -> Value {
        send(self.address, "GET", path, &[], "").json()
    }

    /// What it answers to a query.
    pub(crate) fn query(&self, query: &str) -> Value {
        let encoded: String = query.bytes().map(|byte| format!("%{byte:02x}")).collect();
        self.get(&format!("/api/v1/query?query={encoded}"))
    }

    /// The value of a query, once it has one.
    pub(crate) fn value(&self, query: &str) -> f64 {
        let began = Instant::now();
        loop {
            let answer = self.query(query);
            if let Some(value) = answer["data"]["result"][0]["value"][1].as_str() {
                return value.parse().unwrap();
            }
            assert!(began.elapsed() < TIME_LIMIT, "{query}: {answer}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// The queries of the dashboard's panels.
pub(crate) fn expressions() -> Vec<String> {
    let dashboard = std::fs::read_to_string(deploy().join("grafana/adk-stream.json")).unwrap();
    let dashboard: Value = serde_json::from_str(&dashboard).unwrap();
    let targets = dashboard["panels"].as_array().unwrap().iter();
    let targets = targets.flat_map(|panel| panel["targets"].as_array().unwrap());
    let expressions = targets.map(|target| target["expr"].as_str().unwrap());
    expressions
        .map(|query| {
            query
                .replace("$__rate_interval", "1m")
                .replace("$job", ".*")
        })
        .collect()
}
