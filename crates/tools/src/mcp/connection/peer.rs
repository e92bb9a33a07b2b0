//! The way to a server that is there: its list, and calls.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, ErrorCode, ErrorData, ListToolsRequest,
    PaginatedRequestParams, RequestId, RequestParamsMeta, ServerResult,
};
use rmcp::service::{PeerRequestOptions, RequestHandle, RoleClient, ServiceError};
use serde_json::{Map, Value};
use tokio::sync::watch;
use turn::TraceContext;

use super::handler::{Elicitation, Meanwhile, OpenCalls, Progress};
use super::{TOO_LARGE, UNREADABLE, short};

/// How many pages of a list are read.
const MAX_PAGES: usize = 256;

/// Why a call has no answer.
#[derive(Debug)]
pub(in crate::mcp) enum CallFailure {
    /// The server never got it.
    NotSent(String),
    /// The server answered, and it is not a result.
    Refused(String),
    /// The server may have got it, and there is no answer.
    Lost(String),
}

/// What was written, wholly or in part, for requests that have no answer yet.
#[derive(Default)]
pub(super) struct Sent(Mutex<HashSet<RequestId>>);

impl Sent {
    fn ids(&self) -> MutexGuard<'_, HashSet<RequestId>> {
        // Nothing that holds the lock can panic half-way through a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The server may get it from now on.
    pub(super) fn begin(&self, id: &RequestId) {
        self.ids().insert(id.clone());
    }

    /// It is certain that the server did not get it, or it does not matter any more. Says whether it may
    /// have.
    pub(super) fn forget(&self, id: &RequestId) -> bool {
        self.ids().remove(id)
    }
}

/// The way to a server that is there. Clones are the same way.
#[derive(Clone)]
pub(in crate::mcp) struct Peer {
    pub(super) inner: rmcp::service::Peer<RoleClient>,
    pub(super) sent: Arc<Sent>,
    pub(super) open_calls: Arc<OpenCalls>,
}

impl Peer {
    /// All tools of the server, page by page, as it describes them. More than the limit are not read.
    pub(in crate::mcp) async fn list(&self, max: usize) -> Result<Vec<Value>, String> {
        let (mut tools, mut cursor) = (Vec::new(), None);
        for _ in 0..MAX_PAGES {
            let params = PaginatedRequestParams::default().with_cursor(cursor.clone());
            let request = ListToolsRequest {
                params: Some(params),
                ..ListToolsRequest::default()
            };
            // Not `list_tools`, which keeps answers, and fails for all tools if one can't be read.
            let request = ClientRequest::ListToolsRequest(request);
            let listed = self.inner.send_request(request).await;
            let listed = listed.map_err(|error| short(&error.to_string()))?;
            let mut page = serde_json::to_value(listed).map_err(|error| error.to_string())?;
            let Some(Value::Array(listed)) = page.get_mut("tools").map(Value::take) else {
                return Err("its list of tools can't be read".to_owned());
            };
            tools.extend(listed);
            let next = page.get("nextCursor").and_then(Value::as_str);
            let next = next.map(str::to_owned);
            if next.is_none() || next == cursor || tools.len() > max {
                return Ok(tools);
            }
            cursor = next;
        }
        Ok(tools)
    }

    /// Sends a call.
    pub(in crate::mcp) async fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        trace: Option<TraceContext>,
    ) -> Result<Call, String> {
        let mut params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        if let Some(trace) = trace {
            params.set_traceparent(&trace.to_string());
            if let Some(state) = &trace.state {
                params.set_tracestate(state);
            }
        }
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let options = PeerRequestOptions::no_options();
        let handle = self.inner.send_cancellable_request(request, options).await;
        let handle = handle.map_err(|error| short(&error.to_string()))?;
        let meanwhile = self.open_calls.watch(&handle.progress_token);
        Ok(Call {
            peer: self.clone(),
            handle: Some(handle),
            meanwhile,
        })
    }
}

/// A call that was handed over. If it is dropped without an answer, the server is asked to stop.
pub(in crate::mcp) struct Call {
    peer: Peer,
    handle: Option<RequestHandle<RoleClient>>,
    meanwhile: Meanwhile,
}

/// What comes of a call.
pub(in crate::mcp) enum Event {
    Answer(Result<Value, CallFailure>),
    Progress(Progress),
    /// The server asks the person whose call it is for data.
    Elicitation(Elicitation),
}

impl Call {
    /// What comes next. Nothing comes after an answer.
    pub(in crate::mcp) async fn next(&mut self) -> Event {
        let Some(handle) = &mut self.handle else {
            return std::future::pending().await;
        };
        tokio::select! {
            biased;
            answer = &mut handle.rx => {
                let id = handle.id.clone();
                self.finish();
                let was_sent = self.peer.sent.forget(&id);
                let answer = answer.unwrap_or(Err(ServiceError::TransportClosed));
                Event::Answer(answer.map_or_else(|error| Err(failure(error, was_sent)), result))
            }
            Some(asked) = self.meanwhile.elicitations.recv() => Event::Elicitation(asked),
            Some(progress) = changed(&mut self.meanwhile.progress) => Event::Progress(progress),
        }
    }

    fn finish(&mut self) -> Option<RequestHandle<RoleClient>> {
        let handle = self.handle.take()?;
        self.peer.open_calls.forget(&handle.progress_token);
        Some(handle)
    }

    /// Tells the server to stop. What it still answers is ignored.
    pub(in crate::mcp) fn cancel(&mut self, reason: &'static str) {
        let Some(handle) = self.finish() else {
            return;
        };
        self.peer.sent.forget(&handle.id);
        // Without a runtime there is no session either.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let _ = handle.cancel(Some(reason.to_owned())).await;
            });
        }
    }
}

impl Drop for Call {
    fn drop(&mut self) {
        self.cancel("the turn was stopped");
    }
}

async fn changed(progress: &mut watch::Receiver<Option<Progress>>) -> Option<Progress> {
    match progress.changed().await {
        Ok(()) => progress.borrow_and_update().clone(),
        Err(_) => std::future::pending().await,
    }
}

fn failure(error: ServiceError, was_sent: bool) -> CallFailure {
    let why = match error {
        ServiceError::McpError(error) => return refusal(error),
        ServiceError::TransportSend(error) => short(&error.error.to_string()),
        ServiceError::TransportClosed => "the connection was closed".to_owned(),
        other => short(&other.to_string()),
    };
    match was_sent {
        true => CallFailure::Lost(why),
        false => CallFailure::NotSent(why),
    }
}

fn refusal(error: ErrorData) -> CallFailure {
    let said = &error.message;
    match error.code {
        TOO_LARGE | UNREADABLE => CallFailure::Refused(said.to_string()),
        ErrorCode(code) => {
            CallFailure::Refused(format!("The MCP server refused the call ({code}): {said}"))
        }
    }
}

fn result(result: ServerResult) -> Result<Value, CallFailure> {
    let refused = |why: &str| Err(CallFailure::Refused(why.to_owned()));
    match result {
        ServerResult::InputRequiredResult(_) => refused(
            "The MCP server asks for more input before it runs the call. That is refused here.",
        ),
        ServerResult::CreateTaskResult(_) => {
            refused("The MCP server made a task of the call. Tasks are not followed here.")
        }
        other => {
            serde_json::to_value(other).map_err(|error| CallFailure::Refused(error.to_string()))
        }
    }
}
