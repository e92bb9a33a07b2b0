//! An open session: what happens to it, and its end.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::SubscriptionFilter;
use rmcp::service::{
    QuitReason, RoleClient, RunningService, RunningServiceCancellationToken, Subscription,
};
use tokio::sync::Notify;
use tokio::task::JoinError;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::handler::{Handler, OpenCalls};
use super::peer::{Peer, Sent};
use super::process::Process;
use super::{Failure, short};
use crate::tool::BoxFuture;

/// How long a server may take to acknowledge a subscription, and how long a lost one is not asked for again.
const SUBSCRIPTION_DELAY: Duration = Duration::from_secs(5);

/// How often a list that changes is read, at most.
const CHANGE_INTERVAL: Duration = Duration::from_millis(200);

/// An open session.
pub(in crate::mcp) struct Session {
    peer: Peer,
    changes: Changes,
    /// The end of the session. If it is dropped, the session ends.
    end: Option<BoxFuture<Result<QuitReason, JoinError>>>,
    cancel: Option<RunningServiceCancellationToken>,
    process: Option<Arc<Process>>,
}

/// Who is at the other end of a session.
#[derive(Clone)]
pub(in crate::mcp) struct About {
    /// The way to it.
    pub(in crate::mcp) peer: Peer,
    /// The version of the protocol.
    pub(in crate::mcp) protocol: String,
    /// What it says that it is: name and version.
    pub(in crate::mcp) implementation: Option<String>,
}

/// What happens to a session.
pub(in crate::mcp) enum SessionEvent {
    /// It is over.
    Ended(Failure),
    /// The server has other tools.
    ListChanged,
}

impl Session {
    pub(super) fn new(
        service: RunningService<RoleClient, Handler>,
        sent: Arc<Sent>,
        open_calls: Arc<OpenCalls>,
        notified: Arc<Notify>,
        process: Option<Arc<Process>>,
    ) -> Self {
        let peer = Peer {
            inner: service.peer().clone(),
            sent,
            open_calls,
        };
        let info = peer.inner.peer_info();
        let wants_subscription = info.is_some_and(|info| {
            let tools = info.capabilities.tools.as_ref();
            let changes = tools.and_then(|tools| tools.list_changed) == Some(true);
            changes && !info.protocol_version.has_initialize()
        });
        Self {
            changes: Changes {
                peer: peer.inner.clone(),
                notified,
                subscription: None,
                wants_subscription,
                has_changed: false,
                last: Instant::now(),
            },
            peer,
            cancel: Some(service.cancellation_token()),
            end: Some(Box::pin(service.waiting())),
            process,
        }
    }

    /// Who is at the other end.
    pub(in crate::mcp) fn about(&self) -> About {
        let info = self.peer.inner.peer_info();
        let protocol = info
            .as_ref()
            .map(|info| short(info.protocol_version.as_str()));
        let said = info.as_ref().and_then(|info| info.server_info.as_ref());
        About {
            peer: self.peer.clone(),
            protocol: protocol.unwrap_or_default(),
            implementation: said.map(|said| short(&format!("{} {}", said.name, said.version))),
        }
    }

    /// What happens next.
    pub(in crate::mcp) async fn next(&mut self) -> SessionEvent {
        let Self { changes, end, .. } = self;
        let ended = async {
            match end {
                Some(end) => end.await,
                // It was reported before.
                None => std::future::pending().await,
            }
        };
        let ended = tokio::select! {
            biased;
            ended = ended => ended,
            () = changes.next() => return SessionEvent::ListChanged,
        };
        self.end = None;
        let why = match ended {
            Ok(QuitReason::Cancelled) => "it was closed",
            Ok(_) => "the connection was closed",
            Err(_) => "its session crashed",
        };
        SessionEvent::Ended(self.explain(Failure::new(why)))
    }

    /// A failure with what is known of the process.
    pub(in crate::mcp) fn explain(&self, failure: Failure) -> Failure {
        match &self.process {
            Some(process) => process.explain(failure),
            None => failure,
        }
    }

    /// Kills the process, if there is one: it is not asked to end.
    pub(in crate::mcp) fn kill(&self, why: &str) {
        if let Some(process) = &self.process {
            process.kill(why);
        }
    }

    /// Ends the session, and with it the process.
    pub(in crate::mcp) async fn close(mut self) {
        if let Some(cancel) = self.cancel.take() {
            cancel.cancel();
        }
        if let Some(end) = &mut self.end {
            let _ = end.await;
        }
    }
}

/// How one learns that a server has other tools.
struct Changes {
    peer: rmcp::service::Peer<RoleClient>,
    /// Older protocols tell everybody.
    notified: Arc<Notify>,
    /// Newer ones tell who subscribes.
    subscription: Option<Subscription>,
    wants_subscription: bool,
    has_changed: bool,
    last: Instant,
}

impl Changes {
    /// Waits for a change. One that comes soon after another is reported later.
    async fn next(&mut self) {
        // A caller that drops the future calls again, and the change is not lost.
        if !self.has_changed {
            self.wait().await;
            self.has_changed = true;
        }
        sleep_until(self.last + CHANGE_INTERVAL).await;
        (self.has_changed, self.last) = (false, Instant::now());
    }

    async fn wait(&mut self) {
        loop {
            if let Some(subscription) = &mut self.subscription {
                if let Ok(Some(_)) = subscription.next().await {
                    return;
                }
                // What was missed meanwhile is found by reading the list.
                self.subscription = None;
                return sleep(SUBSCRIPTION_DELAY).await;
            }
            if !self.wants_subscription {
                return self.notified.notified().await;
            }
            let filter = SubscriptionFilter::builder().tools_list_changed().build();
            match timeout(SUBSCRIPTION_DELAY, self.peer.listen(filter)).await {
                Ok(Ok(subscription)) => self.subscription = Some(subscription),
                Ok(Err(_)) | Err(_) => {
                    tracing::debug!("MCP server does not report changes of its tool list");
                    self.wants_subscription = false;
                }
            }
        }
    }
}
