//! What a server says and asks by itself.

#![expect(
    deprecated,
    reason = "older servers ask for sampling and roots, and they log"
)]

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult,
    ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationCapability, ErrorCode,
    ErrorData, FormElicitationCapability, Implementation, ListRootsResult,
    LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken, ProtocolVersion,
    Root,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use serde_json::Value;
use tokio::sync::{Notify, mpsc, oneshot, watch};

use super::short;

/// How far a call has come, as its server says.
#[derive(Debug, Clone)]
pub(in crate::mcp) struct Progress {
    pub(in crate::mcp) progress: f64,
    pub(in crate::mcp) total: Option<f64>,
    pub(in crate::mcp) message: Option<String>,
}

/// What a server asks a person for in the middle of a call.
#[derive(Debug)]
pub(in crate::mcp) struct Elicitation {
    pub(in crate::mcp) message: String,
    /// What the answer has to be.
    pub(in crate::mcp) schema: Value,
    /// Where the answer goes. If it is dropped, the request is cancelled.
    pub(in crate::mcp) answer: oneshot::Sender<Elicited>,
}

/// What became of it.
#[derive(Debug)]
pub(in crate::mcp) enum Elicited {
    Accepted(Value),
    Declined,
    Cancelled,
}

/// The calls that have no answer yet.
#[derive(Default)]
pub(super) struct OpenCalls(Mutex<HashMap<ProgressToken, OpenCall>>);

/// Who wants to know what comes of a call before its answer.
struct OpenCall {
    /// How far it has come. Only the latest word is kept.
    progress: watch::Sender<Option<Progress>>,
    /// What its server asks for, one after the other.
    elicitations: mpsc::Sender<Elicitation>,
}

/// What comes of a call before its answer.
pub(super) struct Meanwhile {
    pub(super) progress: watch::Receiver<Option<Progress>>,
    pub(super) elicitations: mpsc::Receiver<Elicitation>,
}

impl OpenCalls {
    fn calls(&self) -> MutexGuard<'_, HashMap<ProgressToken, OpenCall>> {
        // Nothing that holds the lock can panic half-way through a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn watch(&self, token: &ProgressToken) -> Meanwhile {
        let (sender, progress) = watch::channel(None);
        let (asks, elicitations) = mpsc::channel(1);
        let call = OpenCall {
            progress: sender,
            elicitations: asks,
        };
        self.calls().insert(token.clone(), call);
        Meanwhile {
            progress,
            elicitations,
        }
    }

    /// The one call that is open. With several, nobody can say whose person is asked.
    async fn only(&self) -> Option<mpsc::Sender<Elicitation>> {
        for _ in 0..REGISTRATION_LOOKS {
            {
                let calls = self.calls();
                let mut open = calls.values();
                match (open.next(), open.next()) {
                    (Some(call), None) => return Some(call.elicitations.clone()),
                    (Some(_), Some(_)) => return None,
                    (None, _) => {}
                }
            }
            tokio::time::sleep(REGISTRATION_PAUSE).await;
        }
        None
    }

    pub(super) fn forget(&self, token: &ProgressToken) {
        self.calls().remove(token);
    }
}

/// How long a server may be faster than the note of the call that it was sent.
const REGISTRATION_LOOKS: usize = 10;
const REGISTRATION_PAUSE: Duration = Duration::from_millis(20);

/// Takes what a server says by itself, and refuses what it asks, but for data of the person whose call
/// runs. Nothing else waits here: a server that floods would otherwise fill the memory with what waits.
pub(super) struct Handler {
    pub(super) server: String,
    pub(super) open_calls: Arc<OpenCalls>,
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
        params: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let declined = |why: &str| {
            tracing::debug!(server = %self.server, why, "MCP elicitation declined");
            Ok(ElicitResult::new(ElicitationAction::Decline))
        };
        let (message, schema) = match params {
            ElicitRequestParams::FormElicitationParams {
                message,
                requested_schema,
                ..
            } => (message, requested_schema),
            _ => return declined("nobody is sent to a URL"),
        };
        let Ok(schema) = serde_json::to_value(schema) else {
            return declined("its schema can't be read");
        };
        let Some(call) = self.open_calls.only().await else {
            return declined("it is not about the one call that is open");
        };
        let (answer, elicited) = oneshot::channel();
        let asked = Elicitation {
            message,
            schema,
            answer,
        };
        if call.try_send(asked).is_err() {
            return declined("the call asks for something else already");
        }
        Ok(match elicited.await {
            Ok(Elicited::Accepted(content)) => {
                ElicitResult::new(ElicitationAction::Accept).with_content(content)
            }
            Ok(Elicited::Declined) => ElicitResult::new(ElicitationAction::Decline),
            Ok(Elicited::Cancelled) | Err(_) => ElicitResult::new(ElicitationAction::Cancel),
        })
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        if let Some(call) = self.open_calls.calls().get(&params.progress_token) {
            call.progress.send_replace(Some(Progress {
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
        let form = FormElicitationCapability::default();
        capabilities.elicitation = Some(ElicitationCapability::new().with_form(form));
        let us = Implementation::new("adk-stream", env!("CARGO_PKG_VERSION"));
        let mut info = ClientConfig::new(capabilities, us);
        info.protocol_version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        info
    }
}
