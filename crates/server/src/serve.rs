//! From the socket to the last connection.

use std::future::pending;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use agents::Agent;
use axum::Router;
use axum::middleware::map_response;
use engine::replica::Replica;
use engine::{Engine, Tools};
use futures_util::future::join_all;
use store::{Holder, Location};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;
use tools::mcp::Server;
use tracing::{info, warn};
use wire::Limits;

use crate::api::Api;
use crate::cluster::HttpPeers;
use crate::config::{Cluster, Config, Remote};
use crate::connection::{self, ConnectionLimits, Transport};
use crate::demo;
use crate::error::Error;
use crate::identity::KeyIdentity;
use crate::metrics::{Endpoint, Metrics};
use crate::quota::{QuotaLimits, Quotas};
use crate::random_id::random_id;
use crate::readiness::Readiness;
use crate::routes;
use crate::runtime::runtime;
use crate::signals;
use crate::store_url::StoreUrl;
#[cfg(feature = "otel")]
use crate::telemetry::{Contents, Telemetry, TelemetryConfig};
use crate::ticket::Secret;
use crate::trace_sampler::TraceSampler;

/// How long tools at work are waited for once the server has a signal to end, unless the operator
/// sets another time. With the grace below, it ends before orchestrators that wait 30 seconds kill it.
const DRAIN: Duration = Duration::from_secs(20);

/// How long open connections may take to end after that. A turn that is cut resumes from its journal.
const GRACE: Duration = Duration::from_secs(5);

/// The memory limit for idle chats, in bytes, unless the operator says otherwise.
const RESTING_MEMORY: u32 = 64 << 20;

/// How long approvals wait where a live model waits for them, unless the operator says otherwise.
const LIVE_TIMEOUT: Duration = Duration::from_secs(30);

/// The lease: how long without a renewal until the chats of another server may be taken over.
const LEASE: Duration = Duration::from_secs(10);

/// How many connections may read metrics at once.
const METRICS_CONNECTIONS: usize = 64;

/// Serves until a signal says stop.
pub(crate) fn run(config: &Config) -> Result<(), Error> {
    on_runtime(start(config))
}

/// Runs something to its end, and lets nothing hold up the exit.
fn on_runtime(work: impl Future<Output = Result<(), Error>>) -> Result<(), Error> {
    let runtime = runtime().map_err(|source| Error::System {
        attempt: "start the runtime",
        source,
    })?;
    let result = runtime.block_on(work);
    // What still runs had its time: it must not hold up the exit.
    runtime.shutdown_background();
    result
}

async fn start(config: &Config) -> Result<(), Error> {
    // Before the store and the agent open files of their own.
    connection::raise_descriptor_limit();
    let refused = |source| Error::Listen {
        address: config.listen.clone(),
        source,
    };
    let listener = TcpListener::bind(config.listen.as_str())
        .await
        .map_err(refused)?;
    let address = listener.local_addr().map_err(refused)?;
    let is_exposed = !address.ip().to_canonical().is_loopback() && config.keys.is_empty();
    if is_exposed && !config.insecure {
        return Err(Error::Exposed(config.listen.clone()));
    }
    // Before the address is announced: a program that reads it may send a signal at once.
    let signals = signals::listen().map_err(|source| Error::System {
        attempt: "listen for signals",
        source,
    })?;
    let (closing, is_closing) = watch::channel(false);
    let metrics_listener = match &config.metrics.listen {
        Some(address) => Some(config.metrics.bind(address).await?),
        None => None,
    };
    let metrics = match config.metrics.token_prices {
        Some(prices) => Metrics::with_token_prices(prices),
        None => Metrics::new(),
    };
    let telemetry = telemetry(config, &metrics)?;
    let assembled = assemble(config, address, metrics, telemetry.as_ref()).await?;
    let (api, others, endpoint, readiness, servers) = assembled;
    let api = Api {
        closing: is_closing,
        ..api
    };
    let engine = api.engine.clone();
    for warning in &config.warnings {
        warn!("{warning}");
    }
    if config.insecure && config.keys.is_empty() {
        warn!(
            "INSECURE: no keys are configured; every client that reaches {address} is served as `local`"
        );
    }
    // Dropped, and so ended, when this server ends.
    let mut metrics = JoinSet::new();
    if let Some((listener, address)) = metrics_listener {
        info!(%address, "serving metrics");
        let headers = config.headers.clone();
        let apply = move |response| std::future::ready(headers.apply(response));
        let router = endpoint.guarded_router().layer(map_response(apply));
        let limits = ConnectionLimits {
            max: Some(METRICS_CONNECTIONS),
            ..config.connections
        };
        metrics.spawn(connection::serve(listener, router, limits, pending()));
    }
    let transport = match &config.tls {
        None => Transport::Plain,
        Some(tls) => {
            let reloads = signals::hangups().map_err(|source| Error::System {
                attempt: "listen for signals",
                source,
            })?;
            // It ends with the runtime.
            tokio::spawn(tls.clone().watch(reloads));
            Transport::Tls(Box::new(tls.clone()))
        }
    };
    announce(config.scheme(), address);
    detect_version(config.remote.as_ref());
    let router = routes::router(
        api,
        others,
        readiness,
        config.page.page(),
        config.headers.clone(),
    );
    let drain = config.drain.0.unwrap_or(DRAIN);
    let limits = config.connections;
    let served = serve(
        (transport, listener, router, limits),
        signals,
        closing,
        (engine, drain),
    );
    let served = served.await.map_err(|source| Error::System {
        attempt: "continue serving",
        source,
    });
    // Programs that were started here must not outlive this process.
    let ends = servers.iter().map(Server::shut_down);
    if tokio::time::timeout(GRACE, join_all(ends)).await.is_err() {
        warn!("MCP servers did not end in time");
    }
    // Last: what ended until now has spans.
    #[cfg(feature = "otel")]
    if let Some(telemetry) = telemetry
        && !telemetry.shut_down(GRACE).await
    {
        warn!("collector did not accept all spans in time");
    }
    served
}

/// Starts to export traces, if they go anywhere.
#[cfg(feature = "otel")]
fn telemetry(config: &Config, metrics: &Metrics) -> Result<Option<Telemetry>, Error> {
    let Some(otlp) = &config.otlp else {
        return Ok(None);
    };
    let traces = TelemetryConfig {
        endpoint: otlp.endpoint.clone(),
        service_name: otlp.service_name.clone(),
        headers: otlp.headers.clone(),
        contents: match otlp.has_contents {
            true => Contents::Exported,
            false => Contents::Withheld,
        },
    };
    let started = Telemetry::start(&traces, metrics);
    started.map(Some).map_err(|problem| Error::Setting {
        origin: otlp.origin.clone(),
        problem,
    })
}

/// Nothing is exported by a server that was built without it.
#[cfg(not(feature = "otel"))]
enum Telemetry {}

#[cfg(not(feature = "otel"))]
fn telemetry(config: &Config, _: &Metrics) -> Result<Option<Telemetry>, Error> {
    match &config.otlp {
        None => Ok(None),
        Some(otlp) => Err(Error::Setting {
            origin: otlp.origin.clone(),
            problem: "this server was built without the feature otel".to_owned(),
        }),
    }
}

/// Logs which ADK it is before anybody says anything, if ADK is there by then. Nothing waits for it.
fn detect_version(remote: Option<&Remote>) {
    match remote.cloned() {
        Some(Remote::Adk(adk)) => drop(tokio::spawn(async move { adk.detect_version().await })),
        Some(Remote::AdkLive(live)) => {
            drop(tokio::spawn(async move { live.detect_version().await }));
        }
        _ => {}
    }
}

/// Opens the store, and puts the agent and its tools over it.
async fn assemble(
    config: &Config,
    address: SocketAddr,
    metrics: Metrics,
    telemetry: Option<&Telemetry>,
) -> Result<(Api, Router<Api>, Endpoint, Readiness, Vec<Server>), Error> {
    let location = match &config.store {
        StoreUrl::Memory => Location::Memory,
        StoreUrl::Sqlite(path) => Location::Sqlite(path.clone()),
        StoreUrl::Postgres(url) => Location::Postgres(url.clone()),
    };
    let stores = store::open(location.clone()).await.map_err(Error::Store)?;
    for warning in &stores.warnings {
        warn!("{warning}");
    }
    let agent: Arc<dyn Agent> = match &config.remote {
        Some(remote) => remote.agent(),
        None => demo::agent(config)?,
    };
    // A live model that waits for a call says nothing else meanwhile.
    let is_live = matches!(config.remote, Some(Remote::GeminiLive(_)));
    let timeout = config.approval_timeout.or(is_live.then_some(LIVE_TIMEOUT));
    let mut servers = Vec::new();
    // A model is offered the demo's tools only where the operator asks for it.
    let (tools, routes) = match &config.file_agent {
        Some(agent) => {
            let (tools, started) = agent.start_tools()?;
            servers = started;
            (tools, demo::no_tools())
        }
        None if config.remote.is_none() || config.demo_tools => {
            demo::tools(config, location.clone(), timeout).await?
        }
        None => (Tools::default(), demo::no_tools()),
    };
    let journal = metrics.observe(stores.journal);
    let journal = match telemetry {
        #[cfg(feature = "otel")]
        Some(telemetry) => {
            let named = config.file_agent.as_ref().map(|agent| agent.name.as_str());
            telemetry.observe(journal, &*agent, named.unwrap_or(agent.name()))
        }
        #[cfg(not(feature = "otel"))]
        Some(never) => match *never {},
        None => journal,
    };
    let mut engine = Engine::builder(journal, agent, tools)
        .approval_timeout(timeout)
        .client_timeout(config.client_timeout.or(None));
    if let Some(agent) = &config.file_agent {
        engine = engine.agent_name(&agent.name);
    }
    let resting = config.resting_memory.or(NonZeroU32::new(RESTING_MEMORY));
    let resting = resting.map_or(usize::MAX, |bytes| bytes.get() as usize);
    engine = engine.resting_memory(resting);
    if let Some(linger) = config.linger.0 {
        engine = engine.idle(linger);
    }
    if let Some(cluster) = &config.cluster {
        engine = engine.replica(replica(cluster, address, &location)?);
    }
    let engine = engine.start().await.map_err(Error::Recover)?;
    let key = config.metrics.key.clone();
    let endpoint = Endpoint::new(metrics.clone(), engine.clone(), stores.backlog, key);
    // Where no key is set, the address that everybody reaches has no metrics.
    let routes = match config.metrics.key.is_some() {
        true => routes.merge(endpoint.clone().router()),
        false => routes,
    };
    let cluster = config.cluster.as_ref().map(|cluster| cluster.key.clone());
    let origins = Arc::new(config.origins.clone());
    let identity = KeyIdentity {
        keys: config.keys.clone(),
        insecure: config.insecure,
        origins: origins.clone(),
    };
    let api = Api {
        secret: cluster.as_ref().map_or_else(Secret::fresh, Secret::of),
        cluster,
        location,
        identity: identity.into(),
        insecure: config.insecure && config.keys.is_empty(),
        origins,
        on_abort: config.on_abort,
        quotas: Quotas::new(quotas(config), Limits::default().bytes),
        agent_key: config.agent_key.clone(),
        nonces: stores.nonces,
        metrics,
        traces: config
            .otlp
            .as_ref()
            .map(|otlp| TraceSampler::new(otlp.ratio)),
        ..Api::new(engine)
    };
    let readiness = Readiness::new(stores.probe);
    Ok((api, routes, endpoint, readiness, servers))
}

/// The quotas, within what there is of connections. Without keys there is one principal, which takes nothing
/// from another.
fn quotas(config: &Config) -> QuotaLimits {
    match connection::raise_descriptor_limit() {
        Some(descriptors) if !config.keys.is_empty() => {
            let max = config.connections.max_within(descriptors);
            config.quotas.within_connections(max)
        }
        _ => config.quotas,
    }
}

/// This server as one of several over one store.
fn replica(cluster: &Cluster, address: SocketAddr, location: &Location) -> Result<Replica, Error> {
    let peers = HttpPeers::new(cluster.key.clone()).map_err(|problem| Error::Setting {
        origin: "the cluster".to_owned(),
        problem,
    })?;
    let peers = peers.with_location(location.clone());
    let here = || format!("http://{address}");
    Ok(Replica {
        holder: Holder {
            owner: random_id("server_"),
            address: cluster.advertise.clone().unwrap_or_else(here),
        },
        peers: Arc::new(peers),
        lease: cluster.lease.0.unwrap_or(LEASE),
    })
}

/// The one line on stdout, by which scripts and tests learn the address.
fn announce(scheme: &str, address: SocketAddr) {
    let mut stdout = io::stdout();
    if writeln!(stdout, "listening on {scheme}://{address}")
        .and_then(|()| stdout.flush())
        .is_err()
    {
        info!("listening on {scheme}://{address}");
    }
}

/// Serves until the first signal, then lets tools at work and open connections end: until all have,
/// until the second signal, or until their time is over. Each is a good end, since no turn lives in a
/// connection, and what a tool was doing is then said to be unknown.
async fn serve(
    (transport, listener, router, limits): (Transport, TcpListener, Router, ConnectionLimits),
    mut signals: mpsc::Receiver<&'static str>,
    closing: watch::Sender<bool>,
    (engine, drain_time): (Engine, Duration),
) -> io::Result<()> {
    let (drain, asked_to_drain) = oneshot::channel::<()>();
    let drained = async {
        // The sender never sends: it is dropped.
        let _ = asked_to_drain.await;
    };
    let mut server = Box::pin(connection::serve_over(
        transport, listener, router, limits, drained,
    ));

    let signal = tokio::select! {
        result = &mut server => return result,
        signal = signals.recv() => signal.unwrap_or("no signal"),
    };
    info!(
        "{signal}: no new connections; running tools have {} s to finish, open connections {} s after that",
        drain_time.as_secs_f32(),
        GRACE.as_secs()
    );
    drop(drain);
    // Sockets would stay for ever; they tell their clients to come back.
    closing.send_replace(true);
    let (left, mut has_left) = watch::channel(false);
    tokio::spawn(async move {
        match engine.drain(drain_time).await {
            Ok(true) => {}
            Ok(false) => warn!("drain timeout: running tools cancelled"),
            Err(error) => warn!(%error, "releasing the leases of chats failed"),
        }
        left.send_replace(true);
    });
    let mut is_over = has_left.clone();
    let drained = async {
        let result = (&mut server).await;
        // Sockets that still send their close frame hold a receiver of `closing`.
        drop(server);
        closing.closed().await;
        // It fails only if the task above has ended without a word.
        let _ = has_left.wait_for(|left| *left).await;
        result
    };
    let over = async {
        let _ = is_over.wait_for(|left| *left).await;
        tokio::time::sleep(GRACE).await;
    };
    tokio::select! {
        result = drained => return result,
        signal = signals.recv() => warn!("{}: open connections closed", signal.unwrap_or("no signal")),
        () = over => warn!("drain timeout: open connections closed"),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::routing::get;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;
    use tokio::sync::Notify;
    use tokio::task::JoinHandle;

    use std::sync::Arc;

    /// A server with one request in progress, which is answered when the test says so.
    struct Busy {
        server: JoinHandle<io::Result<()>>,
        signals: mpsc::Sender<&'static str>,
        client: TcpStream,
        finish: Arc<Notify>,
    }

    async fn engine() -> Engine {
        let stores = store::open(Location::Memory).await.unwrap();
        Engine::builder(stores.journal, Arc::new(::demo::Demo::new()), Tools::new()).build()
    }

    async fn busy() -> Busy {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap())
            .await
            .unwrap();
        let (signals, received) = mpsc::channel(2);
        let (entered, finish) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (inside, finished) = (entered.clone(), finish.clone());
        let router = Router::new().route(
            "/",
            get(async move || {
                inside.notify_one();
                finished.notified().await;
                "done"
            }),
        );
        let server = tokio::spawn(serve(
            (
                Transport::Plain,
                listener,
                router,
                ConnectionLimits::default(),
            ),
            received,
            watch::Sender::new(false),
            (engine().await, DRAIN),
        ));
        client
            .write_all(b"GET / HTTP/1.1\r\nhost: here\r\n\r\n")
            .await
            .unwrap();
        entered.notified().await;
        Busy {
            server,
            signals,
            client,
            finish,
        }
    }

    #[tokio::test]
    async fn a_request_under_way_ends_before_the_server_does() {
        let mut busy = busy().await;
        busy.signals.send("SIGTERM").await.unwrap();
        busy.finish.notify_one();
        let mut answer = String::new();
        busy.client.read_to_string(&mut answer).await.unwrap();
        assert!(answer.ends_with("done"), "{answer}");
        busy.server.await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn a_second_signal_ends_it_at_once() {
        let busy = busy().await;
        // Time stands still, so it is not the grace that ends it.
        tokio::time::pause();
        let before = tokio::time::Instant::now();
        busy.signals.send("SIGINT").await.unwrap();
        busy.signals.send("SIGINT").await.unwrap();
        busy.server.await.unwrap().unwrap();
        assert_eq!(before.elapsed(), Duration::ZERO);
    }

    #[tokio::test]
    async fn a_request_that_never_ends_is_cut() {
        let busy = busy().await;
        tokio::time::pause();
        let before = tokio::time::Instant::now();
        busy.signals.send("SIGTERM").await.unwrap();
        busy.server.await.unwrap().unwrap();
        assert!(before.elapsed() >= GRACE);
    }
}
