//! The bodies of responses, as types: what a route writes is what `/openapi.json` says of it.

use serde::Serialize;
use serde_json::Value;
use turn::queue::Placement;
use turn::{Entry, Status};
use wire::Message;

/// The status of a chat's last turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(utoipa::ToSchema))]
pub(crate) enum ChatStatus {
    /// The agent answers, or a tool runs.
    Running,
    /// It waits for a person or a page.
    Parked,
    /// It ended.
    Finished,
    /// It failed, and may be regenerated.
    Failed,
    /// Somebody stopped it.
    Stopped,
}

impl From<Status> for ChatStatus {
    fn from(status: Status) -> Self {
        match status {
            Status::Running => Self::Running,
            Status::Parked => Self::Parked,
            Status::Finished => Self::Finished,
            Status::Failed => Self::Failed,
            Status::Stopped => Self::Stopped,
        }
    }
}

/// A chat with its messages.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "cli", derive(utoipa::ToSchema))]
pub(crate) struct Chat {
    pub(crate) id: String,
    pub(crate) status: ChatStatus,
    #[cfg_attr(feature = "cli", schema(value_type = Vec<crate::document::UiMessage>))]
    pub(crate) messages: Vec<Message>,
    /// The position in the journal that this state includes.
    pub(crate) seq: u64,
    /// Why the last turn failed, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<TurnError>,
    /// Messages that wait for the open turn, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "cli", schema(required = false))]
    pub(crate) queued: Vec<QueuedMessage>,
}

/// A message that waits for the open turn.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "cli", derive(utoipa::ToSchema))]
pub(crate) struct QueuedMessage {
    pub(crate) while_running: WhileRunning,
    #[cfg_attr(feature = "cli", schema(value_type = crate::document::UiMessage))]
    pub(crate) message: Message,
}

/// What a message waits for.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "cli", derive(utoipa::ToSchema))]
pub(crate) enum WhileRunning {
    /// The end of the turn.
    Queue,
    /// The agent's next step.
    Inject,
}

impl From<Placement> for WhileRunning {
    fn from(placement: Placement) -> Self {
        match placement {
            Placement::Queue => Self::Queue,
            Placement::Inject => Self::Inject,
        }
    }
}

/// What became of the chats of pages that name none.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "cli", derive(utoipa::ToSchema))]
pub(crate) struct ClearedSessions {
    /// `success`
    pub(crate) status: &'static str,
    /// How many chats were stopped and archived.
    pub(crate) cleared: usize,
}

/// Why a turn failed.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "cli", derive(utoipa::ToSchema))]
pub(crate) struct TurnError {
    /// A code, as the stream had it.
    pub(crate) code: String,
    pub(crate) message: String,
    /// When it is worth another try, if the agent said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) retry_after_ms: Option<u64>,
}

/// A page of the list of chats.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "cli", derive(utoipa::ToSchema))]
pub(crate) struct ChatList {
    pub(crate) chats: Vec<ChatRow>,
    /// The cursor of the next page; the last page has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<String>,
}

/// A chat as the list shows it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "cli", derive(utoipa::ToSchema))]
pub(crate) struct ChatRow {
    pub(crate) id: String,
    /// What the owner calls it, or else the beginning of the first message; null without either.
    #[cfg_attr(feature = "cli", schema(required))]
    pub(crate) title: Option<String>,
    pub(crate) status: ChatStatus,
    /// How many approvals and calls of pages are open.
    pub(crate) waiting: usize,
    pub(crate) archived: bool,
    /// Milliseconds since 1970, as all times.
    pub(crate) created_at: u64,
    /// When the last entry was written to its journal.
    pub(crate) updated_at: u64,
    /// When its last turn was opened.
    pub(crate) active_at: u64,
}

/// Whether a turn was stopped.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "cli", derive(utoipa::ToSchema))]
pub(crate) struct Stopped {
    /// False, if no turn ran or was parked.
    pub(crate) stopped: bool,
}

/// A page of approvals.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "cli", derive(utoipa::ToSchema))]
pub(crate) struct ApprovalList {
    pub(crate) approvals: Vec<Approval>,
    /// The cursor of the next page; the last page has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<String>,
}

/// A question that waits for a person, or did.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "cli", derive(utoipa::ToSchema))]
pub(crate) struct Approval {
    pub(crate) approval_id: String,
    pub(crate) chat_id: String,
    pub(crate) tool_call_id: String,
    pub(crate) tool_name: String,
    /// The input that the call would run with.
    pub(crate) input: Value,
    #[cfg_attr(feature = "cli", schema(required))]
    pub(crate) question: Option<String>,
    pub(crate) asked_at: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expires_at: Option<u64>,
    /// Whether an answer may change the input.
    pub(crate) editable: bool,
    /// Whether the tool itself asks while it runs.
    pub(crate) within: bool,
    /// Identifies what a person is asked. It is opaque.
    #[cfg_attr(feature = "cli", schema(required))]
    pub(crate) digest: Option<String>,
    /// The agents from the first to the one that asks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "cli", schema(required = false))]
    pub(crate) path: Vec<String>,
    /// `question` for one that asks for data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<ApprovalKind>,
    /// The JSON Schema of the data that is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) schema: Option<Value>,
    /// What was decided, once it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) decision: Option<Decision>,
}

/// What a person is asked for, if not a yes or a no.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "cli", derive(utoipa::ToSchema))]
pub(crate) enum ApprovalKind {
    /// Data, by a schema.
    Question,
}

/// What was decided.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "cli", derive(utoipa::ToSchema))]
pub(crate) struct Decision {
    pub(crate) approval_id: String,
    pub(crate) decided_at: u64,
    /// Who decided; missing if it timed out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) decided_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) approved: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reason: Option<String>,
    /// The input that replaced the model's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) input: Option<Value>,
    /// The data that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) answer: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) declined: Option<bool>,
    /// How it ended without an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) decision: Option<Unanswered>,
}

/// How a question ended without an answer.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "cli", derive(utoipa::ToSchema))]
pub(crate) enum Unanswered {
    TimedOut,
    Superseded,
    Cancelled,
}

/// Whether an output was taken.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "cli", derive(utoipa::ToSchema))]
pub(crate) struct OutputTaken {
    pub(crate) tool_call_id: String,
    /// False, if another output was first.
    pub(crate) taken: bool,
}

/// A part of a chat's journal.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "cli", derive(utoipa::ToSchema))]
pub(crate) struct JournalPage {
    pub(crate) chat: String,
    #[cfg_attr(feature = "cli", schema(value_type = Vec<crate::document::JournalEntry>))]
    pub(crate) entries: Vec<Entry>,
    /// The value of `after` for the next page; the last page has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<u64>,
}

/// What edits and regenerations cut off.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "cli", derive(utoipa::ToSchema))]
pub(crate) struct BranchList {
    pub(crate) chat: String,
    pub(crate) branches: Vec<Branch>,
}

/// Messages that were cut off together.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "cli", derive(utoipa::ToSchema))]
pub(crate) struct Branch {
    /// The message of the agent's that it follows; null, if it opened the chat.
    #[cfg_attr(feature = "cli", schema(required))]
    pub(crate) after: Option<String>,
    pub(crate) opened_at: u64,
    /// When the message that replaced the branch was sent, if the chat has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) current_opened_at: Option<u64>,
    #[cfg_attr(feature = "cli", schema(value_type = Vec<crate::document::UiMessage>))]
    pub(crate) messages: Vec<Message>,
}

/// What a page has to know of the server.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "cli", derive(utoipa::ToSchema))]
pub(crate) struct Info {
    /// The name of the agent.
    pub(crate) agent: String,
    pub(crate) audio_input: bool,
    /// As whom the request is served.
    pub(crate) principal: String,
    pub(crate) version: &'static str,
    /// True, if every request is served as one principal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) insecure: Option<bool>,
}

/// A ticket for a WebSocket.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "cli", derive(utoipa::ToSchema))]
pub(crate) struct Ticket {
    pub(crate) ticket: String,
    /// For how many seconds it is good.
    pub(crate) expires_in: u64,
}
