//! How much waits in a whole store, for those who operate it.

use std::borrow::Borrow;

use turn::At;
use turn::gate::{Gate, GateKind};

use crate::journal::Reply;

/// Counts what waits for people and pages, in the chats of all owners.
pub trait Backlog: Send + Sync {
    /// The open gates, counted no further than a limit.
    fn open_gates_of_all(&self, limit: usize) -> Reply<'_, OpenGates>;
}

/// The open gates of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OpenGates {
    /// Those that wait for a person's yes or no.
    pub approvals: usize,
    /// Those that wait for data from a person.
    pub questions: usize,
    /// Those that wait for a page.
    pub client_calls: usize,
    /// When the oldest of them was asked.
    pub oldest: Option<At>,
}

impl OpenGates {
    /// Counts gates, each with the time at which it was asked.
    pub(crate) fn of(gates: impl IntoIterator<Item = (impl Borrow<Gate>, At)>) -> Self {
        let mut open = Self::default();
        for (gate, asked) in gates {
            match gate.borrow().kind {
                GateKind::Approval { .. } | GateKind::ToolApproval { .. } => open.approvals += 1,
                GateKind::Question { .. } => open.questions += 1,
                GateKind::ClientCall => open.client_calls += 1,
            }
            open.oldest = Some(open.oldest.map_or(asked, |at| at.min(asked)));
        }
        open
    }
}
