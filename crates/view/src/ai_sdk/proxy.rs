//! Proxy calls: calls that clients are shown in the place of one that a gate holds.

use serde_json::json;
use turn::call::Call;
use turn::gate::Gate;
use turn::metadata::OURS;
use turn::{CallId, GateId};

/// The key of what a call is a proxy for, in the metadata that pages get.
pub(crate) const PROXY_FOR: &str = "proxyFor";

/// The n-th proxy of a call that a gate holds: one that asks its question again, or one that a page
/// runs in its place.
pub(crate) fn of(call: &Call, gate: &Gate, n: usize) -> Call {
    let mark = if gate.is_approval() { '~' } else { '+' };
    let mut proxied = json!({"toolCallId": call.id});
    if gate.is_approval() {
        proxied["approvalId"] = json!(gate.id);
    }
    let all = call.provider_metadata.as_ref();
    let ours = all.and_then(|all| all.get(OURS)?.as_object());
    let mut ours = ours.cloned().unwrap_or_default();
    ours.insert(PROXY_FOR.to_owned(), proxied);
    Call {
        id: CallId::from(format!("{}{mark}{n}", gate.id)),
        provider_metadata: Some(json!({OURS: ours})),
        ..call.clone()
    }
}

/// Whether a call is a proxy that asks the question of a gate again.
pub(crate) fn is_question(call: &str) -> bool {
    call.starts_with("gate_") && call.contains('~')
}

/// The gate that a call is a proxy for, if it is one.
pub(crate) fn gate_of(call: &str) -> Option<GateId> {
    call.rsplit_once(['~', '+']).map(|(gate, _)| gate.into())
}
