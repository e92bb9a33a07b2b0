//! Routes whose handlers are closures over what a server has, and bodies that are written piece by piece.
#![expect(
    dead_code,
    reason = "what is here describes, and is never called or made"
)]

use serde_json::Value;
use utoipa::ToSchema;

use super::UiMessage;

/// Whether the store takes writes.
#[utoipa::path(
    get, path = "/readyz", tag = "Server", operation_id = "readReadiness",
    responses(
        (status = 200, description = "It does.", body = Ready),
        (status = 503, description = "It does not.", body = Unready),
    ),
    security(()),
)]
fn readiness() {}

/// The metrics, for Prometheus, where `ADK_STREAM_METRICS_KEY` is set; otherwise there is no such path.
#[utoipa::path(
    get, path = "/metrics", tag = "Server", operation_id = "readMetrics",
    responses(
        (status = 200, description = "The metrics, in OpenMetrics' text format.",
         content_type = "application/openmetrics-text", body = String),
        (status = 404, description = "not_found"),
    ),
    security(("metricsKey" = [])),
)]
fn metrics() {}

/// This document.
#[utoipa::path(
    get, path = "/openapi.json", tag = "Server", operation_id = "readDocument",
    responses(
        (status = 200, description = "The document.", body = Value),
        (status = 304, description = "The client has it."),
    ),
    security(()),
)]
fn document() {}

/// The server can do its work.
#[derive(ToSchema)]
struct Ready {
    /// `ready`
    status: String,
}

/// The server can't do its work.
#[derive(ToSchema)]
struct Unready {
    /// `unavailable`
    status: String,
    reason: UnreadyReason,
}

/// Why a store takes no writes.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
enum UnreadyReason {
    Corrupt,
    Failed,
    Full,
    Locked,
    Moved,
    Timeout,
    Unreachable,
    Unwritable,
}

/// What happened in a chat at one moment.
#[derive(ToSchema)]
pub(crate) struct JournalEntry {
    /// Its place in the journal, from 1.
    seq: u64,
    at: u64,
    /// The principal that caused it, or `@agent`, `@tool/NAME`, `@clock` or `@server`.
    actor: String,
    /// The events, as they are stored.
    events: Vec<Value>,
}

/// A chat as a recording.
#[derive(ToSchema)]
#[schema(as = Recording)]
pub(crate) struct Recorded {
    chat: String,
    frames: Vec<Frame>,
}

/// What one entry of the journal added to a turn's message.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase", as = RecordingFrame)]
struct Frame {
    seq: u64,
    at: u64,
    actor: String,
    message_id: String,
    chunks: Vec<Value>,
    /// In the first frame of a turn.
    opens: Option<Opens>,
}

/// What a turn answers.
#[derive(ToSchema)]
#[schema(as = RecordingOpens)]
struct Opens {
    /// The user's message.
    #[schema(required)]
    message: Option<UiMessage>,
    /// The agent's message that it follows.
    #[schema(required)]
    after: Option<String>,
}

/// What is wrong with one field of an answer.
#[derive(ToSchema)]
pub(crate) struct WrongField {
    /// Where it is in the answer, as a JSON pointer.
    path: String,
    message: String,
}

/// What a tool at the agent is answered.
#[derive(ToSchema)]
pub(crate) struct AskDecision {
    /// Null after a while without a decision: ask again.
    #[schema(required)]
    decision: Option<AskOutcome>,
    /// Why it was denied or cancelled.
    reason: Option<String>,
    /// What a page or a person gave.
    output: Option<Value>,
    /// Why a page failed.
    error: Option<String>,
}

/// How a question of a tool ended.
#[derive(ToSchema)]
#[schema(rename_all = "kebab-case")]
enum AskOutcome {
    Approved,
    Denied,
    Output,
    Failed,
    TimedOut,
    Cancelled,
}
