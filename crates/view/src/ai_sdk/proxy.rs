//! Proxy calls: calls that clients are shown in the place of one that a gate holds.

use turn::call::Call;
use turn::gate::Gate;
use turn::{CallId, GateId};

/// The n-th proxy of a call that a gate holds: one that asks its question again, or one that a page
/// runs in its place.
pub(crate) fn of(call: &Call, gate: &Gate, n: usize) -> Call {
    let mark = if gate.is_approval() { '~' } else { '+' };
    let id = CallId::from(format!("{}{mark}{n}", gate.id));
    Call { id, ..call.clone() }
}

/// Whether a call is a proxy that asks the question of a gate again.
pub(crate) fn is_question(call: &str) -> bool {
    call.starts_with("gate_") && call.contains('~')
}

/// The gate that a call is a proxy for, if it is one.
pub(crate) fn gate_of(call: &str) -> Option<GateId> {
    call.rsplit_once(['~', '+']).map(|(gate, _)| gate.into())
}
