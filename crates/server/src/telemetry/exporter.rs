//! Sends spans to a collector, in batches, by OTLP over HTTP.

use std::collections::HashMap;
use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry_otlp::{Protocol, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SpanData, SpanExporter};
use reqwest::Url;
use reqwest::redirect::Policy;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until, timeout};

use super::TelemetryConfig;
#[cfg(feature = "cli")]
use crate::cause::cause;
use crate::metrics::Metrics;
use crate::random_id::random_id;

/// Where a collector takes spans, below its address.
const PATH: &str = "v1/traces";

/// How many spans are sent at once.
const BATCH: usize = 512;

/// How long a span waits for others.
const DELAY: Duration = Duration::from_secs(1);

/// How long a collector may take.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// How often a failed batch is sent again.
const RETRIES: u32 = 2;

/// Sends spans until it is stopped.
pub(super) struct Exporter {
    exporter: opentelemetry_otlp::SpanExporter,
    spans: mpsc::Receiver<SpanData>,
    metrics: Metrics,
    /// Whether the last batch was sent.
    is_healthy: bool,
}

impl Exporter {
    pub(super) fn new(
        config: &TelemetryConfig,
        spans: mpsc::Receiver<SpanData>,
        metrics: Metrics,
    ) -> Result<Self, String> {
        let endpoint = endpoint(&config.endpoint)?;
        let client = client(&endpoint)?;
        let headers: HashMap<String, String> = config.headers.iter().cloned().collect();
        let mut exporter = opentelemetry_otlp::SpanExporter::builder()
            .with_http()
            .with_http_client(client)
            .with_protocol(Protocol::HttpBinary)
            .with_endpoint(endpoint.to_string())
            .with_headers(headers)
            .with_timeout(TIME_LIMIT)
            .build()
            .map_err(|error| error.to_string())?;
        let resource = Resource::builder_empty()
            .with_service_name(config.service_name.clone())
            .with_attributes([
                KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
                KeyValue::new("service.instance.id", random_id("")),
            ]);
        exporter.set_resource(&resource.build());
        Ok(Self {
            exporter,
            spans,
            metrics,
            is_healthy: true,
        })
    }

    /// Sends what comes; once stopped, what is there by then.
    pub(super) async fn run(mut self, mut stop: oneshot::Receiver<()>) {
        let mut batch = Vec::new();
        let mut is_stopped = false;
        while !is_stopped {
            tokio::select! {
                count = self.spans.recv_many(&mut batch, BATCH) => if count == 0 { break },
                _ = &mut stop => is_stopped = true,
            }
            let until = Instant::now() + DELAY;
            while !is_stopped && batch.len() < BATCH {
                let room = BATCH - batch.len();
                tokio::select! {
                    count = self.spans.recv_many(&mut batch, room) => if count == 0 { break },
                    () = sleep_until(until) => break,
                    _ = &mut stop => is_stopped = true,
                }
            }
            self.send(std::mem::take(&mut batch)).await;
        }
        self.spans.close();
        while self.spans.recv_many(&mut batch, BATCH).await > 0 {
            self.send(std::mem::take(&mut batch)).await;
        }
    }

    async fn send(&mut self, batch: Vec<SpanData>) {
        if batch.is_empty() {
            return;
        }
        let count = batch.len() as u64;
        let mut tries = 0;
        let problem = loop {
            let sent = timeout(TIME_LIMIT, self.exporter.export(batch.clone())).await;
            let problem = match sent {
                Ok(Ok(())) => {
                    self.metrics.spans("exported", count);
                    if !std::mem::replace(&mut self.is_healthy, true) {
                        tracing::info!("collector accepts spans again");
                    }
                    return;
                }
                Ok(Err(error)) => error.to_string(),
                Err(_) => "it did not respond in time".to_owned(),
            };
            tries += 1;
            // Spans that come meanwhile wait in the queue, which has a bound.
            if tries > RETRIES || !self.is_healthy {
                break problem;
            }
            tokio::time::sleep(DELAY / 4 * tries).await;
        };
        self.metrics.spans("failed", count);
        // Once for each outage, and not for each batch.
        if std::mem::replace(&mut self.is_healthy, false) {
            tracing::warn!(spans = count, problem, "collector accepts no spans");
        }
    }
}

/// Where spans are sent: a path below the collector's address, unless it is that path.
fn endpoint(text: &str) -> Result<Url, String> {
    let mut url = Url::parse(text).map_err(|error| format!("{text:?} is no URL: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(format!(
            "{text:?} begins neither with http:// nor with https://"
        ));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("the address names a user: keys belong into headers".to_owned());
    }
    if !url.path().trim_end_matches('/').ends_with(PATH) {
        let path = format!("{}/{PATH}", url.path().trim_end_matches('/'));
        url.set_path(&path);
    }
    Ok(url)
}

fn client(endpoint: &Url) -> Result<reqwest::Client, String> {
    let tls = agents::tls_config().map_err(|error| error.to_string())?;
    let mut client = reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .user_agent(concat!("adk-stream/", env!("CARGO_PKG_VERSION")))
        // Wherever it would lead, the headers would go with it.
        .redirect(Policy::none())
        .timeout(TIME_LIMIT);
    if is_loopback(endpoint) {
        client = client.no_proxy();
    }
    let client = client.build();
    client.map_err(|error| error.without_url().to_string())
}

/// Sends a collector no spans, as it would be sent some, and says what is wrong.
#[cfg(feature = "cli")]
pub(super) async fn probe(address: &str, headers: &[(String, String)]) -> Result<(), String> {
    let endpoint = endpoint(address)?;
    // A message without fields has no bytes, which the library does not say by itself.
    let mut request = client(&endpoint)?
        .post(endpoint)
        .header("content-type", "application/x-protobuf")
        .header("content-length", "0");
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let answer = request.send().await;
    let status = match answer {
        Ok(answer) => answer.status(),
        Err(error) => return Err(cause(&error)),
    };
    match status.is_success() {
        true => Ok(()),
        false => Err(format!("it answers {status}")),
    }
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_of_a_collector_is_completed() {
        let of = |text| endpoint(text).map(|url| url.to_string());
        let whole = "http://127.0.0.1:4318/v1/traces";
        for text in ["http://127.0.0.1:4318", "http://127.0.0.1:4318/", whole] {
            assert_eq!(of(text).unwrap(), whole);
        }
        assert_eq!(
            of("https://otlp.example/team/a").unwrap(),
            "https://otlp.example/team/a/v1/traces"
        );
        for wrong in ["", "localhost:4317", "grpc://x", "http://me:pw@x/"] {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
