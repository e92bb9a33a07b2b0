//! Connections: how many there are, how long each may take, and what is served on one.
//!
//! - `limits`: the caps and the timeouts.
//! - `listener`: the accept loop.
//! - `refusal`: what is answered without a router.
//! - `table`: the open connections, and which is closed for another.
//! - `state`: what one connection is doing, and since when.
//! - `stream`: the bytes of one, and whether its client takes them.
//! - `body`: a request's body, which has to come in time, and a response's.

mod body;
mod limits;
mod listener;
mod refusal;
mod state;
mod stream;
mod table;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Poll, Waker};

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{Request, Response, StatusCode};
use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::coop::unconstrained;
use tokio::time::Sleep;

use crate::access_log::AccessLine;

use self::body::{RequestBody, ResponseBody, ServedRequest};
use self::state::{Connection, TimedOut};
use self::stream::Stream;
use self::table::{Slot, Table};
#[cfg(feature = "cli")]
use crate::tls::Tls;

pub(crate) use self::body::TooSlow;
pub use self::limits::ConnectionLimits;
#[cfg(feature = "cli")]
pub(crate) use self::limits::raise_descriptor_limit;
pub use self::listener::serve;
#[cfg(feature = "cli")]
pub(crate) use self::listener::serve_over;
#[cfg(feature = "cli")]
pub(crate) use self::refusal::{TLS_REQUIRED, plain};
pub(crate) use self::state::Metered;
pub(crate) use self::table::network;

/// How large the head of a request may be, in bytes.
const HEAD: usize = 32 * 1024;

/// How many bytes a connection holds for reading, and about as many for writing.
const BUFFER: usize = 64 * 1024;

/// What connections are made of.
pub(crate) enum Transport {
    /// TCP alone.
    Plain,
    /// TLS over TCP.
    #[cfg(feature = "cli")]
    Tls(Box<Tls>),
}

/// What is served on each connection.
struct Server {
    transport: Transport,
    router: Router,
    limits: ConnectionLimits,
    table: Arc<Table>,
}

/// Serves one connection from its beginning: with TLS, that is a handshake, which has the time of a
/// request's head, and which is not waited for when the server drains.
async fn accepted(
    stream: TcpStream,
    peer: SocketAddr,
    slot: Slot,
    server: Arc<Server>,
    is_draining: watch::Receiver<bool>,
) {
    match &server.transport {
        Transport::Plain => connection(stream, peer, slot, server, is_draining).await,
        #[cfg(feature = "cli")]
        Transport::Tls(tls) => {
            let mut drains = is_draining.clone();
            let limit = server.limits.header_timeout;
            let handshake = tokio::time::timeout(limit, tls.accept(stream));
            let stream = tokio::select! {
                accepted = handshake => accepted,
                _ = drains.wait_for(|is_draining| *is_draining) => return,
            };
            match stream {
                Ok(Ok(stream)) => connection(stream, peer, slot, server, is_draining).await,
                Ok(Err(error)) => tracing::debug!(%peer, %error, "TLS handshake failed"),
                Err(_) => {
                    let seconds = limit.as_secs_f32();
                    tracing::debug!(%peer, seconds, "connection closed: no TLS handshake in time");
                }
            }
        }
    }
}

/// Serves the requests of one connection, until it ends, its time is over, or the server drains.
async fn connection(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    peer: SocketAddr,
    slot: Slot,
    server: Arc<Server>,
    mut is_draining: watch::Receiver<bool>,
) {
    let limits = server.limits;
    let state = slot.connection().clone();
    let requests = {
        let state = state.clone();
        let router = TowerToHyperService::new(server.router.clone());
        service_fn(move |request| {
            let (server, state, router) = (server.clone(), state.clone(), router.clone());
            respond(request, peer, server, state, router)
        })
    };
    let http = http1::Builder::new()
        .max_header_size(HEAD)
        .max_buf_size(BUFFER)
        .serve_connection(TokioIo::new(Stream::new(stream, slot)), requests)
        .with_upgrades();
    let mut http = std::pin::pin!(http);
    let drain_changes = is_draining.clone();
    let mut drain = std::pin::pin!(is_draining.wait_for(|is_draining| *is_draining));
    let mut has_drained = false;
    // Whom it wakes: a connection is polled at every delta, and it waits behind a lock that all share.
    let mut drain_waker: Option<Waker> = None;
    let mut clock = Clock::default();
    let ended = std::future::poll_fn(|context| {
        if http.as_mut().poll(context).is_ready() {
            // A client that goes away is no news.
            return Poll::Ready(Ok(()));
        }
        // After the input is read: a request that is complete is still served.
        let is_waiting = drain_waker
            .as_ref()
            .is_some_and(|waker| waker.will_wake(context.waker()))
            && matches!(drain_changes.has_changed(), Ok(false));
        if !has_drained && !is_waiting {
            // Set also where this task has done its share for now.
            let drain = std::pin::pin!(unconstrained(drain.as_mut()));
            if drain.poll(context).is_pending() {
                drain_waker = Some(context.waker().clone());
                return clock.poll(&state, &limits, context).map(Err);
            }
            has_drained = true;
            // One that waits for nothing need not be waited for.
            if state.is_quiet() {
                return Poll::Ready(Ok(()));
            }
            http.as_mut().graceful_shutdown();
            if http.as_mut().poll(context).is_ready() {
                return Poll::Ready(Ok(()));
            }
        }
        clock.poll(&state, &limits, context).map(Err)
    });
    match ended.await {
        Ok(()) => {}
        Err(TimedOut::Idle) => tracing::debug!(%peer, "idle connection closed"),
        Err(TimedOut::Header) => {
            let seconds = limits.header_timeout.as_secs_f32();
            tracing::debug!(%peer, seconds, "connection closed: no whole request head in time");
        }
        Err(TimedOut::Write) => {
            let seconds = limits.write_timeout.as_secs_f32();
            tracing::info!(%peer, seconds, "connection closed: the client does not read");
        }
    }
}

/// Resolves when a connection's time is over.
#[derive(Default)]
struct Clock(Option<Pin<Box<Sleep>>>);

impl Clock {
    /// The timer is moved only when it runs out, or is too late: requests come and go without it.
    fn poll(
        &mut self,
        state: &Connection,
        limits: &ConnectionLimits,
        context: &mut std::task::Context<'_>,
    ) -> Poll<TimedOut> {
        loop {
            let Some((deadline, why)) = state.deadline(limits) else {
                return Poll::Pending;
            };
            let timer = self
                .0
                .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(deadline)));
            if timer.deadline() > deadline {
                timer.as_mut().reset(deadline);
            }
            if timer.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            if deadline <= tokio::time::Instant::now() {
                return Poll::Ready(why);
            }
            timer.as_mut().reset(deadline);
        }
    }
}

/// Answers one request.
async fn respond(
    mut request: Request<Incoming>,
    peer: SocketAddr,
    server: Arc<Server>,
    state: Arc<Connection>,
    router: TowerToHyperService<Router>,
) -> Result<Response<ResponseBody>, Infallible> {
    let served = ServedRequest::begin(state.clone());
    request.extensions_mut().insert(ConnectInfo(peer));
    request.extensions_mut().insert(Metered(state.clone()));
    let request = request.map(|body| match body.is_end_stream() {
        true => Body::empty(),
        false => {
            let timeout = server.limits.body_timeout;
            Body::new(RequestBody::new(body, timeout, state.clone()))
        }
    });
    let mut response = router.call(request).await?;
    let line = AccessLine::of(&mut response);
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        state.upgrade();
    }
    let table = server.table.clone();
    Ok(response.map(|body| ResponseBody::new(body, served, table, line)))
}
