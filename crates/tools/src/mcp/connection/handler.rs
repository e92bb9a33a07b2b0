//! What a server says and asks by itself.

#![expect(
    deprecated,
    reason = "older servers ask for sampling and roots, and they log"
)]

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult,
    ElicitRequestParams, ElicitResult, ElicitationAction, ErrorCode, ErrorData, Implementation,
    ListRootsResult, LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken,
    ProtocolVersion, Root,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use tokio::sync::{Notify, watch};

use super::short;

/// How far a call has come, as its server says.
#[derive(Debug, Clone)]
pub(in crate::mcp) struct Progress {
    pub(in crate::mcp) progress: f64,
    pub(in crate::mcp) total: Option<f64>,
    pub(in crate::mcp) message: Option<String>,
}

/// Who wants to know how far a call has come. Only the latest word of each is kept.
#[derive(Default)]
pub(super) struct Progresses(Mutex<HashMap<ProgressToken, watch::Sender<Option<Progress>>>>);

impl Progresses {
    fn calls(&self) -> MutexGuard<'_, HashMap<ProgressToken, watch::Sender<Option<Progress>>>> {
        // Nothing that holds the lock can panic half-way through a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn watch(&self, token: &ProgressToken) -> watch::Receiver<Option<Progress>> {
        let (sender, receiver) = watch::channel(None);
        self.calls().insert(token.clone(), sender);
        receiver
    }

    pub(super) fn forget(&self, token: &ProgressToken) {
        self.calls().remove(token);
    }
}

/// Takes what a server says by itself, and refuses what it asks. Nothing here waits: a server that floods
/// would otherwise fill the memory with what waits.
pub(super) struct Handler {
    pub(super) server: String,
    pub(super) progresses: Arc<Progresses>,
    pub(super) list_changed: Arc<Notify>,
    pub(super) roots: Vec<String>,
}

impl Handler {
    fn refuse(&self, what: &str) -> ErrorData {
        tracing::debug!(server = %self.server, what, "MCP request refused");
        ErrorData::new(
            ErrorCode::METHOD_NOT_FOUND,
            format!("{what} is not allowed here"),
            None,
        )
    }
}

impl ClientHandler for Handler {
    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        Err(self.refuse("sampling"))
    }

    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        match self.roots.is_empty() {
            true => Err(self.refuse("listing roots")),
            false => {
                let roots = self.roots.iter().map(Root::new).collect();
                Ok(ListRootsResult::new(roots))
            }
        }
    }

    async fn create_elicitation(
        &self,
        _: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        tracing::debug!(server = %self.server, "MCP elicitation declined");
        Ok(ElicitResult::new(ElicitationAction::Decline))
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        if let Some(call) = self.progresses.calls().get(&params.progress_token) {
            call.send_replace(Some(Progress {
                progress: params.progress,
                total: params.total,
                message: params.message,
            }));
        }
    }

    async fn on_logging_message(
        &self,
        params: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        tracing::debug!(
            server = %self.server, level = ?params.level, data = %short(&params.data.to_string()),
            "MCP server log"
        );
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.list_changed.notify_one();
    }

    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        if !self.roots.is_empty() {
            capabilities.roots = Some(Default::default());
        }
        let us = Implementation::new("adk-stream", env!("CARGO_PKG_VERSION"));
        let mut info = ClientConfig::new(capabilities, us);
        info.protocol_version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        info
    }
}
