//! The address of a database: one host, or several with one primary among them.
//!
//! All hosts are asked side by side, since one that is silent must not keep the others from
//! answering. The first that takes writes, and has not been replaced by another, is used.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio_postgres::{Config, Notification};

use super::failure::{silent, standby, while_opening};
use super::session::Session;
use super::tls::Tls;
use super::url::{PostgresUrl, place};
use crate::error::StoreError;

/// How long a host that has refused is left alone while others are still silent.
const AGAIN: Duration = Duration::from_millis(250);

/// How long the first connection of all waits for other hosts that may have a newer history.
const COMPARISON: Duration = Duration::from_secs(1);

/// Where to connect to, ready to be used.
#[derive(Clone)]
pub(super) struct Address {
    pub(super) url: Arc<PostgresUrl>,
    hosts: Arc<[Config]>,
    tls: Tls,
}

impl Address {
    pub(super) fn new(url: PostgresUrl) -> Result<Self, StoreError> {
        let tls = Tls::new(&url)?;
        let hosts = url.hosts().into();
        let url = Arc::new(url);
        Ok(Self { url, hosts, tls })
    }

    /// The longest that an answer is waited for: longer than the server itself allows a statement.
    pub(super) fn statement_limit(&self) -> Duration {
        self.url.time_limit * 2 + Duration::from_secs(1)
    }

    /// Opens a connection.
    pub(super) async fn connect(&self) -> Result<Session, StoreError> {
        self.connect_listening(|_| {}).await
    }

    /// Opens a connection, and passes on the server's asynchronous messages.
    pub(super) async fn connect_listening(
        &self,
        notify: impl Fn(Notification) + Clone + Send + 'static,
    ) -> Result<Session, StoreError> {
        self.url.search.run(self.find_primary(notify)).await
    }

    /// Asks all hosts, and takes the first that is a primary.
    async fn find_primary(
        &self,
        notify: impl Fn(Notification) + Clone + Send + 'static,
    ) -> Result<Session, StoreError> {
        let is_first = self.url.servers.newest().is_none();
        let attempt = |host: usize, delay: Duration| {
            let notify = notify.clone();
            async move {
                tokio::time::sleep(delay).await;
                // The driver's own timeout ends with the socket; a server that hangs has one, and
                // is silent.
                let opening = self.open(host, notify);
                let opened = tokio::time::timeout(self.url.time_limit, opening).await;
                (host, opened.unwrap_or_else(|_| Err(silent())))
            }
        };
        let hosts = 0..self.hosts.len();
        let mut attempts: FuturesUnordered<_> =
            hosts.map(|host| attempt(host, Duration::ZERO)).collect();
        let mut refusals = vec![None; self.hosts.len()];
        let mut comparison = None;
        let mut found: Option<(usize, Session)> = None;
        while let Some((host, opened)) = next(&mut attempts, comparison).await {
            match opened {
                Ok(session) if is_first => {
                    // A server that has just started knows of no failover, and the first to answer
                    // may be a primary of the past.
                    let best = found.as_ref().map(|(_, found)| found);
                    if best.is_none_or(|best| is_newer(&session, best)) {
                        found = Some((host, session));
                    }
                    comparison.get_or_insert(tokio::time::Instant::now() + COMPARISON);
                }
                Ok(session) => match self.accept(host, session) {
                    Ok(session) => return Ok(session),
                    Err(error) => refusals[host] = Some(error),
                },
                Err(error) => refusals[host] = Some(error),
            }
            if found.is_none() {
                if refusals.iter().all(Option::is_some) {
                    break;
                }
                // Others are silent: this one may be promoted meanwhile.
                if refusals[host].is_some() && refusals.len() > 1 {
                    attempts.push(attempt(host, AGAIN));
                }
            }
        }
        match found {
            Some((host, session)) => self.accept(host, session),
            None => Err(foremost(refusals)),
        }
    }

    /// Opens a connection to one host, and asks which history it follows.
    async fn open(
        &self,
        host: usize,
        notify: impl Fn(Notification) + Send + 'static,
    ) -> Result<Session, StoreError> {
        let config = &self.hosts[host];
        let failed = |error| while_opening(error, config);
        let servers = self.url.servers.clone();
        let origin = servers.origin(host);
        let connecting = config.connect(self.tls.clone());
        let (client, connection) = connecting.await.map_err(failed)?;
        let mut session = Session::new(client, connection, notify, servers, origin);
        let is_standby = session.set_up(self.url.time_limit).await.map_err(failed)?;
        // A standby can't be written to, whatever the URL asks for.
        match is_standby {
            true => Err(standby(config)),
            false => Ok(session),
        }
    }

    /// Takes a connection, unless its server was replaced by another.
    fn accept(&self, host: usize, session: Session) -> Result<Session, StoreError> {
        let servers = &self.url.servers;
        let place = || place(&self.hosts[host]);
        match session.lineage() {
            Some(lineage) => servers.observe(lineage, &place())?,
            // One that could not tell for once may be any.
            None if servers.newest().is_some() => {
                let problem = format!("{}: it does not tell its timeline", place());
                return Err(StoreError::Unavailable { problem });
            }
            None => {}
        }
        Ok(session)
    }
}

/// Whether one connection leads to a newer history than another. What is no copy of the same cluster
/// can't be compared.
fn is_newer(session: &Session, other: &Session) -> bool {
    match (session.lineage(), other.lineage()) {
        (Some(own), Some(other)) => {
            own.system_identifier == other.system_identifier && own.timeline > other.timeline
        }
        _ => false,
    }
}

/// The next attempt that ends, by a deadline if there is one.
async fn next<F: Future>(
    attempts: &mut FuturesUnordered<F>,
    deadline: Option<tokio::time::Instant>,
) -> Option<F::Output> {
    match deadline {
        None => attempts.next().await,
        Some(deadline) => {
            let next = tokio::time::timeout_at(deadline, attempts.next()).await;
            next.unwrap_or(None)
        }
    }
}

/// Of the errors of all hosts, the one to tell: that somebody must do something rather than that a
/// host is away.
fn foremost(refusals: Vec<Option<StoreError>>) -> StoreError {
    let is_away = |error: &StoreError| matches!(error, StoreError::Unavailable { .. });
    let refusals: Vec<_> = refusals.into_iter().flatten().collect();
    if let Some(error) = refusals.iter().find(|error| !is_away(error)) {
        return error.clone();
    }
    let problems = refusals.into_iter().map(|error| match error {
        StoreError::Unavailable { problem } => problem,
        error => error.to_string(),
    });
    let problems: Vec<_> = problems.collect();
    match problems.is_empty() {
        true => silent(),
        false => StoreError::Unavailable {
            problem: problems.join("; "),
        },
    }
}
