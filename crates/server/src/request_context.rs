//! What is known of a request while it is served: its id, who sends it, and which chat it is about.
//!
//! The id goes back to the client, in the header `x-request-id` and in the body of every error, and it
//! is in every line of the log that is about the request. A proxy or a client may choose it.

use std::fmt;
use std::sync::{Arc, OnceLock};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use axum::middleware::Next;
use axum::response::Response;
use engine::WindowStream;
use engine::origin::{self, Origin};
use tokio::time::Instant;
use turn::{ChatId, Principal, TraceContext, TurnId};

use crate::access_log::RefusalCode;
use crate::metrics::Metrics;
use crate::random_id::random_id;
use crate::trace_sampler::TraceSampler;

/// The header with the id.
pub(crate) const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// How long an id may be that somebody else has chosen.
const LENGTH: usize = 128;

/// How many characters of a path are logged.
const PATH: usize = 512;

/// The id of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequestId(Arc<str>);

impl RequestId {
    /// A fresh one.
    pub(crate) fn fresh() -> Self {
        Self(random_id("req_").into())
    }

    /// The one that a request brings, if it is valid, or a fresh one.
    fn of(headers: &HeaderMap) -> Self {
        let given = headers.get(HEADER).and_then(|id| id.to_str().ok());
        match given.filter(|id| is_valid(id)) {
            Some(id) => Self(id.into()),
            None => Self::fresh(),
        }
    }

    /// The id of a part of this: of a frame, say.
    pub(crate) fn part(&self, number: u64) -> Self {
        Self(format!("{self}.{number}").into())
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// The request of this id, at a place in a trace, for the commands that it gives.
    pub(crate) fn origin(&self, trace: Option<TraceContext>) -> Origin {
        Origin {
            request_id: Some(self.0.clone()),
            trace,
            turn_trace: None,
        }
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

/// Whether an id of somebody else's may be repeated in headers, bodies and the log.
fn is_valid(id: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:=+/@".contains(&byte);
    !id.is_empty() && id.len() <= LENGTH && id.bytes().all(is_plain)
}

/// What is known of a request. Cloning it gives the same.
#[derive(Clone)]
pub(crate) struct RequestContext(Arc<Known>);

struct Known {
    id: RequestId,
    began: Instant,
    method: Method,
    /// Without the query, which may hold a ticket.
    path: String,
    principal: OnceLock<Principal>,
    chat: OnceLock<ChatId>,
    /// The message that the turn streams, and the turn, where a window was opened.
    window: OnceLock<(String, Option<TurnId>)>,
    trace: Option<TraceContext>,
    /// The trace of the request that another server forwards.
    forwarded: OnceLock<TraceContext>,
}

tokio::task_local! {
    static CURRENT: RequestContext;
}

impl RequestContext {
    fn of(request: &Request, traces: Option<TraceSampler>) -> Self {
        let path = request.uri().path().chars().take(PATH);
        Self(Arc::new(Known {
            id: RequestId::of(request.headers()),
            began: Instant::now(),
            method: request.method().clone(),
            path: path.collect(),
            principal: OnceLock::new(),
            chat: OnceLock::new(),
            window: OnceLock::new(),
            forwarded: OnceLock::new(),
            trace: traces.map(|traces| traces.place(request.headers())),
        }))
    }

    /// The id of the request that this task serves, if it serves one.
    pub(crate) fn current_id() -> Option<RequestId> {
        CURRENT.try_with(|context| context.0.id.clone()).ok()
    }

    pub(crate) fn id(&self) -> &RequestId {
        &self.0.id
    }

    pub(crate) fn began(&self) -> Instant {
        self.0.began
    }

    pub(crate) fn method(&self) -> &str {
        self.0.method.as_str()
    }

    pub(crate) fn path(&self) -> &str {
        &self.0.path
    }

    pub(crate) fn principal(&self) -> Option<&str> {
        self.0.principal.get().map(Principal::as_str)
    }

    pub(crate) fn chat(&self) -> Option<&str> {
        self.0.chat.get().map(ChatId::as_str)
    }

    /// The id of the trace that the request belongs to, where requests are traced.
    pub(crate) fn trace_id(&self) -> Option<String> {
        let forwarded = self.0.forwarded.get();
        forwarded.or(self.0.trace.as_ref()).map(trace_id)
    }

    /// The message that the turn streams, where a window was opened.
    pub(crate) fn message(&self) -> Option<&str> {
        self.0.window.get().map(|(message, _)| message.as_str())
    }

    /// The turn of that window, if it is known.
    pub(crate) fn turn(&self) -> Option<&str> {
        let (_, turn) = self.0.window.get()?;
        turn.as_ref().map(TurnId::as_str)
    }
}

/// The id of the trace that this task belongs to, as the log has it.
pub(crate) fn current_trace_id() -> Option<String> {
    origin::current().trace.as_ref().map(trace_id)
}

pub(crate) fn trace_id(trace: &TraceContext) -> String {
    format!("{:032x}", trace.trace)
}

/// Notes who sends the request that this task serves.
pub(crate) fn note_principal(principal: &Principal) {
    let _ = CURRENT.try_with(|context| context.0.principal.set(principal.clone()));
}

/// Notes which chat the request is about that this task serves.
pub(crate) fn note_chat(chat: &ChatId) {
    let _ = CURRENT.try_with(|context| context.0.chat.set(chat.clone()));
}

/// Notes the trace of the request that another server forwards.
pub(crate) fn note_trace(trace: &TraceContext) {
    let _ = CURRENT.try_with(|context| context.0.forwarded.set(trace.clone()));
}

/// Notes which turn, and which message of it, the response streams.
pub(crate) fn note_window(window: &WindowStream) {
    let _ = CURRENT.try_with(|context| {
        let message = window.message_id().to_owned();
        context.0.window.set((message, window.turn().cloned()))
    });
}

/// Gives a request its id, and the response too.
pub(crate) async fn apply(
    State((metrics, traces)): State<(Metrics, Option<TraceSampler>)>,
    request: Request,
    next: Next,
) -> Response {
    let context = RequestContext::of(&request, traces);
    let served = CURRENT.scope(context.clone(), next.run(request));
    let origin = context.id().origin(context.0.trace.clone());
    let mut response = origin::scope(origin, served).await;
    // Every id is made of characters that a header may hold.
    if let Ok(id) = HeaderValue::from_str(context.id().as_str()) {
        response.headers_mut().insert(HEADER, id);
    }
    let code = response.extensions().get::<RefusalCode>();
    let code = code.map(|RefusalCode(code)| *code);
    metrics.responded(response.status().as_u16(), code);
    response.extensions_mut().insert(context);
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn id_of_a_client_is_kept_only_where_it_can_be_repeated() {
        let of = |id: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(HEADER, HeaderValue::from_str(id).unwrap());
            RequestId::of(&headers).to_string()
        };
        for id in [
            "3f1b9c1e-6f0a-4a52-9d7e-0d8f6f2b7c11",
            "Root=1-67891233-abcdef012345678912345678",
            "a",
        ] {
            assert_eq!(of(id), id);
        }
        let long = "x".repeat(LENGTH + 1);
        for id in ["", "two words", "\"quoted\"", "a\tb", "é", long.as_str()] {
            let Ok(value) = HeaderValue::from_str(id) else {
                continue;
            };
            let mut headers = HeaderMap::new();
            headers.insert(HEADER, value);
            let made = RequestId::of(&headers).to_string();
            assert!(made.starts_with("req_"), "{id}: {made}");
        }
        assert_ne!(RequestId::fresh(), RequestId::fresh());
    }
}
