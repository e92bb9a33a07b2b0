//! Calls that the agent runs by itself, and those of which it has not said yet who runs them.

use super::call_state::{CallState, Phase};
use super::{GateState, Turn};
use crate::agent::{OwnCall, OwnQuestion};
use crate::call::{Call, Place};
use crate::gate::{Gate, GateKind};
use crate::id::CallId;

impl Turn {
    /// The calls of the agent's own that it may run, and does not know so yet.
    pub(crate) fn approved_calls(&self) -> impl Iterator<Item = &CallId> {
        let calls = self.calls.iter();
        let is_approved = |state: &&CallState| state.phase == Phase::Approved && !state.is_inner();
        let approved = calls.filter(is_approved);
        approved.map(|state| &state.call.id)
    }

    /// Whether the agent was asked for a step, or has calls of its own at work.
    pub(crate) fn is_agent_busy(&self) -> bool {
        self.end.is_none() && (self.is_agent_asked || self.own_calls_at_work().next().is_some())
    }

    /// The calls that the agent runs by itself and that wait for nothing that it has asked, and those
    /// of which it has not said yet who runs them.
    pub(crate) fn own_calls_at_work(&self) -> impl Iterator<Item = &CallId> {
        let is_agents =
            |state: &&CallState| state.is_left_open() || state.is_under_way() && state.is_own();
        let calls = self.calls.iter().filter(is_agents);
        calls.map(|state| &state.call.id)
    }

    /// The open gates that somebody in the middle of a call of the agent's has opened.
    pub(crate) fn gates_within_own_calls(&self) -> impl Iterator<Item = &Gate> {
        self.open_gates()
            // The agent itself gets the answer to these.
            .filter(|gate| gate.token.is_none())
            .filter(|gate| match self.call(&gate.call) {
                Some(Call {
                    parent: Some(parent),
                    ..
                }) => self.call_state(parent).is_some_and(CallState::is_own),
                Some(call) => {
                    let is_tools = matches!(gate.kind, GateKind::ToolApproval { .. });
                    call.place == Place::Agent && is_tools
                }
                None => false,
            })
    }

    /// Whether the agent runs a call by itself, and waits for no answer to it.
    pub fn has_own_calls_at_work(&self) -> bool {
        self.own_calls_at_work().next().is_some()
    }

    /// Whether a tool that the agent runs by itself has asked somebody, and waits.
    pub fn is_asked_within_own_calls(&self) -> bool {
        self.gates_within_own_calls().next().is_some()
    }

    /// The call that the agent runs by itself, or left open, under an id of its own, until it is
    /// settled.
    pub(crate) fn own_call(&self, provider_id: &str) -> Option<CallId> {
        let mut calls = self.calls.iter().rev();
        let state = calls.find(|state| {
            let is_meant = state.call.provider_id.as_deref() == Some(provider_id);
            is_meant && (state.is_own() || state.is_left_open())
        })?;
        (!state.is_settled()).then(|| state.call.id.clone())
    }

    /// Whether the agent has not said yet who runs a call.
    pub(crate) fn is_left_open(&self, id: &CallId) -> bool {
        self.call_state(id).is_some_and(CallState::is_left_open)
    }

    /// Whether the agent has asked about a call, and does not have the answer yet.
    pub(crate) fn is_asked_of(&self, id: &CallId) -> bool {
        let state = self.call_state(id);
        state.is_some_and(|state| matches!(state.phase, Phase::Held(_) | Phase::Approved))
    }

    /// The call that the agent runs, or ran, by itself under an id of its own.
    pub fn call_of_agent(&self, provider_id: &str) -> Option<CallId> {
        let mut calls = self.calls.iter().rev();
        let call = calls.find(|state| {
            let is_meant = state.call.provider_id.as_deref() == Some(provider_id);
            is_meant && state.call.place == Place::Agent
        })?;
        Some(call.call.id.clone())
    }

    /// The calls of the last step that the agent runs by itself, asked about or left open, and
    /// their state.
    pub fn own_calls(&self) -> Vec<OwnCall> {
        let own = self.last_calls().filter_map(|state| {
            let asked = self.asked(&state.call.id);
            let is_asked = asked.as_ref().is_some_and(|asked| asked.token.is_some());
            (state.is_own() || is_asked || state.is_left_open()).then(|| OwnCall {
                call: state.call.clone(),
                asked,
                outcome: state.outcome().cloned(),
            })
        });
        own.collect()
    }

    /// The call of the agent's own about which it asks for data at a gate.
    pub(super) fn asked_for_data(&self, gate: &Gate) -> Option<CallId> {
        let is_asked = gate.kind.schema().is_some() && gate.token.is_some();
        self.call(&gate.call).filter(|_| is_asked)?.parent.clone()
    }

    /// What the agent asked last of a call of its own.
    fn asked(&self, id: &CallId) -> Option<OwnQuestion> {
        let mut gates = self.gates.iter().rev();
        let is_asked = |state: &&GateState| match state.gate.kind {
            GateKind::Approval { .. } => state.gate.call == *id,
            GateKind::Question { .. } => self.asked_for_data(&state.gate).as_ref() == Some(id),
            GateKind::ToolApproval { .. } | GateKind::ClientCall => false,
        };
        let state = gates.find(is_asked)?;
        Some(OwnQuestion {
            token: state.gate.token.clone(),
            decision: state.decision.clone(),
        })
    }
}
