//! A call and how far it has come.

use std::sync::Arc;

use serde_json::Value;

use crate::call::{Call, Outcome, Place};
use crate::id::GateId;

/// A call and how far it has come.
#[derive(Debug, Clone)]
pub(crate) struct CallState {
    pub(crate) call: Call,
    pub(crate) phase: Phase,
    pub(crate) edited_input: Option<Value>,
    pub(crate) records: Vec<(String, Value)>,
}

/// How far a call has come.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Phase {
    /// It was made. Beyond the entry that makes it, only the agent's word is missing: it runs a call of
    /// its own, or asks about it; of any other it has yet to say who runs it.
    Proposed,
    /// A gate holds it, before it has run.
    Held(GateId),
    /// It may run. The agent that runs it gets the answers once its step has all of them.
    Approved,
    /// It runs, here or at the agent; its tool may be asking somebody meanwhile.
    Running,
    /// It is over.
    Settled(Arc<Outcome>),
}

impl CallState {
    pub(super) fn new(call: Call) -> Self {
        Self {
            call,
            phase: Phase::Proposed,
            edited_input: None,
            records: Vec::new(),
        }
    }

    pub(crate) fn outcome(&self) -> Option<&Outcome> {
        match &self.phase {
            Phase::Settled(outcome) => Some(outcome),
            _ => None,
        }
    }

    pub(crate) fn is_settled(&self) -> bool {
        matches!(self.phase, Phase::Settled(_))
    }

    pub(super) fn is_own(&self) -> bool {
        self.call.place == Place::Agent
    }

    /// Whether an agent made it that runs as a tool.
    pub(super) fn is_inner(&self) -> bool {
        self.call.parent.is_some() && self.call.place == Place::Server
    }

    /// Whether it may be doing something, or waits in the middle of it.
    pub(crate) fn is_under_way(&self) -> bool {
        match self.phase {
            Phase::Running => true,
            Phase::Proposed => self.is_own(),
            _ => false,
        }
    }

    /// Whether the agent has not said yet who runs it.
    pub(super) fn is_left_open(&self) -> bool {
        self.phase == Phase::Proposed && !self.is_own()
    }
}
