//! What the handle of a server, its calls and its supervisor share.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use tokio::sync::{Notify, Semaphore, watch};
use tokio::time::{Instant, timeout_at};

use super::config::ServerConfig;
use super::connection::Peer;
use super::status::{LeftOut, State, Status};
use crate::toolset::ToolMap;

/// A call waits for a server that is about to be started again, if it is so soon.
const SOON: Duration = Duration::from_secs(1);

/// What the handle of a server, its calls and its supervisor share.
pub(super) struct Link {
    pub(super) config: ServerConfig,
    pub(super) phase: watch::Sender<Phase>,
    /// What the server offers. There is none before it has listed its tools, nor after its end.
    listing: RwLock<Option<Listing>>,
    status: Mutex<Status>,
    /// Room for calls.
    pub(super) calls: Semaphore,
    /// Notified when a call got no answer: is the server still there?
    pub(super) suspicion: Notify,
}

/// What a server offers, and what it would offer. Both change at once: a lookup sees one
/// list of the server.
#[derive(Clone)]
pub(super) struct Listing {
    pub(super) tools: Arc<ToolMap>,
    pub(super) left_out: Arc<[LeftOut]>,
}

/// Whether a server can be called.
#[derive(Clone)]
pub(super) enum Phase {
    Starting,
    Ready(Peer),
    /// It failed, and is started again then.
    Waiting {
        until: Instant,
        why: Arc<str>,
    },
    Stopped,
}

impl Link {
    pub(super) fn new(config: ServerConfig) -> Self {
        Self {
            calls: Semaphore::new(config.limits.max_calls.max(1)),
            phase: watch::Sender::new(Phase::Starting),
            listing: RwLock::default(),
            status: Mutex::default(),
            suspicion: Notify::new(),
            config,
        }
    }

    pub(super) fn listing(&self) -> Option<Listing> {
        // Nothing that holds the lock can panic half-way through a change.
        let listing = self.listing.read().unwrap_or_else(PoisonError::into_inner);
        listing.clone()
    }

    pub(super) fn set_listing(&self, listing: Option<Listing>) {
        let mut held = self.listing.write().unwrap_or_else(PoisonError::into_inner);
        *held = listing;
    }

    pub(super) fn status(&self) -> MutexGuard<'_, Status> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters a phase, which the status shows as well.
    pub(super) fn enter(&self, phase: Phase) {
        self.status().state = match &phase {
            Phase::Starting => State::Starting,
            Phase::Ready(_) => State::Ready,
            Phase::Waiting { until, .. } => {
                State::Waiting(until.saturating_duration_since(Instant::now()))
            }
            Phase::Stopped => State::Stopped,
        };
        self.phase.send_replace(phase);
    }

    /// Why the server can't be called now, if it can't.
    pub(super) fn fault(&self) -> Option<String> {
        let name = &self.config.name;
        match &*self.phase.borrow() {
            Phase::Ready(_) => None,
            Phase::Starting => Some(format!("The MCP server {name} is still starting.")),
            Phase::Stopped => Some(format!("The MCP server {name} was shut down.")),
            Phase::Waiting { until, why } => {
                let left = until.saturating_duration_since(Instant::now());
                let left = left.as_secs_f64().ceil();
                Some(format!(
                    "The MCP server {name} is down: {why}. It is started again in {left} s."
                ))
            }
        }
    }

    /// Waits for a server that is starting, until a time at most.
    pub(super) async fn ready(&self, deadline: Instant) -> Result<Peer, String> {
        let mut phases = self.phase.subscribe();
        loop {
            let is_hopeless = match &*phases.borrow_and_update() {
                Phase::Ready(peer) => return Ok(peer.clone()),
                Phase::Starting => false,
                Phase::Waiting { until, .. } => *until > Instant::now() + SOON,
                Phase::Stopped => true,
            };
            let changed =
                !is_hopeless && matches!(timeout_at(deadline, phases.changed()).await, Ok(Ok(())));
            if !changed {
                let why = self.fault();
                // It has become ready between the two looks.
                match &*phases.borrow() {
                    Phase::Ready(peer) => return Ok(peer.clone()),
                    _ => return Err(why.unwrap_or_default()),
                }
            }
        }
    }
}
