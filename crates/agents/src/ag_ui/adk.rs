//! What ADK says in ways of its own.
//!
//! ag-ui-adk tells of a confirmation by a call of `adk_request_confirmation`, whose arguments have the call
//! that waits for it. If it is configured to, it ends the run with an interrupt about that call; else the
//! call is all it says. Either way it takes an answer with the id of the call of `adk_request_confirmation`.
//!
//! The call that waits may have a result before that: what the tool returned when it asked. The true one
//! comes with the run that has the answer.

use serde_json::{Value, json};
use wire::ag_ui::Interrupt;

use super::calls::OpenCall;

/// The tool by which ADK asks for a confirmation.
pub(super) const REQUEST_CONFIRMATION: &str = "adk_request_confirmation";

/// How the ids begin that ADK gives to calls.
const ID_PREFIX: &str = "adk-";

/// Whether the next event may ask about one of these calls, though all have a result.
pub(super) fn may_ask_about(settled: &[OpenCall]) -> bool {
    settled.iter().any(|call| call.id.starts_with(ID_PREFIX))
}

/// The interrupt that a call represents.
pub(super) fn interrupt(call: &OpenCall) -> Option<Interrupt> {
    if call.tool != REQUEST_CONFIRMATION || call.is_offered {
        return None;
    }
    let hint = call.input.pointer("/toolConfirmation/hint");
    let hint = hint.and_then(Value::as_str).filter(|hint| !hint.is_empty());
    Some(Interrupt {
        id: call.id.clone(),
        reason: "confirmation".to_owned(),
        message: hint.map(str::to_owned),
        tool_call_id: Some(call.id.clone()),
        metadata: Some(json!({ "adk": call.input })),
        ..Interrupt::default()
    })
}

/// The call that waits for a confirmation.
pub(super) fn confirmed_call(interrupt: &Interrupt) -> Option<&str> {
    let metadata = interrupt.metadata.as_ref()?;
    metadata.pointer("/adk/originalFunctionCall/id")?.as_str()
}
