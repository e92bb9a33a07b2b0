//! What LangGraph says in ways of its own.

use serde_json::{Value, json};
use wire::ag_ui::Interrupt;

/// The event that LangGraph sends of an interrupt, unless it is configured to use the protocol's.
pub(super) const ON_INTERRUPT: &str = "on_interrupt";

/// An interrupt, from the event that it sends of its own: what the graph interrupts with, often as JSON
/// text.
pub(super) fn interrupt(number: usize, value: Value) -> Interrupt {
    let raw = match value {
        Value::String(text) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        value => value,
    };
    let field = |names: [&str; 2]| names.iter().find_map(|name| raw.get(*name)).cloned();
    let text = |names| field(names).and_then(|value| value.as_str().map(str::to_owned));
    Interrupt {
        // LangGraph wants one answer, and does not say to what.
        id: format!("{ON_INTERRUPT}-{number}"),
        reason: "langgraph:interrupt".to_owned(),
        message: match &raw {
            Value::String(words) => Some(words.clone()),
            _ => text(["message", "question"]),
        },
        tool_call_id: text(["toolCallId", "tool_call_id"]),
        response_schema: field(["responseSchema", "response_schema"]),
        expires_at: text(["expiresAt", "expires_at"]),
        metadata: Some(json!({"langgraph": {"raw": raw}})),
        ..Interrupt::default()
    }
}

/// The calls that LangChain's middleware asks about, as it describes them.
pub(super) fn actions(interrupt: &Interrupt) -> &[Value] {
    let raw = interrupt
        .metadata
        .as_ref()
        .and_then(|all| all.pointer("/langgraph/raw/action_requests"));
    raw.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
