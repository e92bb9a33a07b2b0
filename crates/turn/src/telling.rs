//! What clients are told of calls and gates, in chunks.

use serde_json::json;
use wire::Chunk;
use wire::chunk::{
    ToolApprovalRequest, ToolApprovalResponse, ToolInputAvailable, ToolInputDelta, ToolInputError,
    ToolInputStart, ToolOutputAvailable, ToolOutputDenied, ToolOutputError,
};
use wire::prototype::without_refused_keys;

use crate::call::{Call, Outcome, Place};
use crate::gate::{Decision, Gate};
use crate::window::denial;

/// What the model and the page are told of a gate that nobody answered in time.
pub const TIMED_OUT: &str = "Approval request timed out";

/// What the model and the page are told of a call that was started and never heard of again.
pub const UNKNOWN: &str = "The outcome is unknown: the server stopped while the call ran. It may or may not have happened.";

/// What clients are told of a call that the agent runs by itself: no page knows its tool, and none
/// is waited for.
fn own(call: &Call) -> Option<bool> {
    (call.place == Place::Agent).then_some(true)
}

pub(crate) fn input_start(call: &Call) -> Chunk {
    Chunk::from(ToolInputStart {
        tool_call_id: call.id.to_string(),
        tool_name: call.tool.clone(),
        dynamic: own(call),
        provider_executed: own(call),
        ..ToolInputStart::default()
    })
}

pub(crate) fn input_delta(call: &Call) -> Chunk {
    Chunk::from(ToolInputDelta {
        tool_call_id: call.id.to_string(),
        input_text_delta: without_refused_keys(call.input.clone()).to_string(),
    })
}

pub(crate) fn input_available(call: &Call) -> Chunk {
    Chunk::from(ToolInputAvailable {
        tool_call_id: call.id.to_string(),
        tool_name: call.tool.clone(),
        input: without_refused_keys(call.input.clone()),
        dynamic: own(call),
        provider_executed: own(call),
        ..ToolInputAvailable::default()
    })
}

pub(crate) fn approval_request(gate: &Gate, question: &str) -> Chunk {
    Chunk::from(ToolApprovalRequest {
        approval_id: gate.id.to_string(),
        tool_call_id: gate.call.to_string(),
        approval_descriptor: Some(Box::new(match gate.expires {
            Some(expires) => json!({"question": question, "expiresAt": expires}),
            None => json!({"question": question}),
        })),
        reason: Some(question.to_owned()),
        ..ToolApprovalRequest::default()
    })
}

pub(crate) fn approval_response(gate: &Gate, decision: &Decision) -> Option<Chunk> {
    let reason = match decision {
        Decision::Approved { reason, .. } | Decision::Denied { reason } => reason.clone(),
        Decision::Superseded => Some(SUPERSEDED.to_owned()),
        _ => None,
    };
    Some(Chunk::from(ToolApprovalResponse {
        approval_id: gate.id.to_string(),
        approved: decision.approved()?,
        reason,
        ..ToolApprovalResponse::default()
    }))
}

/// What is said of a call that the model took back.
pub(crate) const CANCELLED: &str = "The model took the call back.";

/// What is said of a page's call whose tool went on without it.
pub(crate) const NOT_NEEDED: &str = "The tool went on without it.";

/// Why a gate is closed that the person typed over.
pub(crate) const SUPERSEDED: &str = "superseded: the user wrote something else";

/// What is told of a call that stands for one whose gate was closed so.
pub(crate) fn answered(decision: &Decision) -> Outcome {
    let error = |error: &str| Outcome::Error {
        error: error.to_owned(),
    };
    match decision {
        Decision::Approved { .. } => Outcome::Output {
            output: json!({"approved": true}),
        },
        Decision::Output { output } => Outcome::Output {
            output: output.clone(),
        },
        Decision::Failed { error } => Outcome::Error {
            error: error.clone(),
        },
        Decision::Denied { reason } => Outcome::Denied {
            reason: reason.clone(),
        },
        Decision::Superseded => Outcome::Denied {
            reason: Some(SUPERSEDED.to_owned()),
        },
        Decision::TimedOut => error(TIMED_OUT),
        Decision::Cancelled => error(NOT_NEEDED),
    }
}

/// What is told of a call that a person said no to.
pub(crate) fn denied(call: &Call) -> Chunk {
    let tool_call_id = call.id.to_string();
    Chunk::ToolOutputDenied(ToolOutputDenied { tool_call_id })
}

/// What is told of a settled call.
pub(crate) fn outcome(call: &Call, outcome: &Outcome) -> Chunk {
    let tool_call_id = call.id.to_string();
    let error_text = match outcome {
        Outcome::Output { output } | Outcome::Pending { output } => {
            return Chunk::from(ToolOutputAvailable {
                tool_call_id,
                output: without_refused_keys(output.clone()),
                dynamic: own(call),
                provider_executed: own(call),
                ..ToolOutputAvailable::default()
            });
        }
        Outcome::Invalid { error } => {
            return Chunk::from(ToolInputError {
                tool_call_id,
                tool_name: call.tool.clone(),
                input: without_refused_keys(call.input.clone()),
                error_text: error.clone(),
                ..ToolInputError::default()
            });
        }
        Outcome::Denied { reason } => denial(reason.as_deref()),
        Outcome::Error { error } => error.clone(),
        Outcome::Unknown => UNKNOWN.to_owned(),
    };
    Chunk::from(ToolOutputError {
        tool_call_id,
        error_text,
        dynamic: own(call),
        provider_executed: own(call),
        ..ToolOutputError::default()
    })
}

pub(crate) fn progress(call: &Call, output: &serde_json::Value) -> Chunk {
    Chunk::from(ToolOutputAvailable {
        tool_call_id: call.id.to_string(),
        output: without_refused_keys(output.clone()),
        preliminary: Some(true),
        ..ToolOutputAvailable::default()
    })
}
