//! How events change a turn, and what it says of them.

use std::sync::Arc;
use std::vec::IntoIter;

use serde_json::Value;

use super::{CallState, GateState, Phase, Step, Turn};
use crate::agent::{CompactEvent, Part};
use crate::call::Call;
use crate::event::{Event, Finish};
use crate::gate::{Decision, Gate, GateKind};
use crate::id::{CallId, GateId};
use crate::item::Item;
use crate::step_in_progress::{self, StepInProgress};

impl Turn {
    /// Takes in one event of the journal.
    pub(crate) fn apply(&mut self, event: &Event) {
        match event {
            Event::ChatOpened { .. }
            | Event::TurnOpened { .. }
            | Event::MessageQueued { .. }
            | Event::MessageInjected { .. }
            | Event::MessageWithdrawn { .. }
            | Event::BranchSelected { .. }
            | Event::TurnClaimed { .. }
            | Event::SessionNoted { .. } => {}
            Event::StepEnded {
                parts,
                finish,
                metadata,
                ..
            } => self.apply_step(parts, *finish, metadata.as_ref()),
            Event::CallNested { call, .. } => self.register(call, None, false, true),
            Event::GateOpened { gate, .. } => self.apply_gate(gate),
            Event::GateClosed { gate, decision, .. } => self.apply_decision(gate, decision),
            Event::CallStarted { call, .. } => {
                self.enter(call, Phase::Running);
                self.push_item(Item::CallStarted(call.clone()));
            }
            Event::CallRecorded {
                call, name, value, ..
            } => {
                if let Some(state) = self.call_state_mut(call) {
                    state.records.push((name.clone(), value.clone()));
                }
            }
            Event::CallSettled { call, outcome, .. } => {
                if let Some(state) = self.call_state_mut(call) {
                    let (call, outcome) = (call.clone(), Arc::new(outcome.clone()));
                    state.phase = Phase::Settled(outcome.clone());
                    self.push_item(Item::CallSettled { call, outcome });
                }
            }
            Event::TurnEnded { end, .. } => {
                self.end = Some(end.clone());
                let closed = self
                    .in_progress
                    .take()
                    .and_then(|mut in_progress| in_progress.close());
                self.items.extend(closed);
                self.push_item(Item::Ended(end.clone()));
            }
        }
    }

    /// Notes that the events of an entry are all in.
    pub(crate) fn end_entry(&mut self) {
        let is_parked = self.is_parked();
        self.push_item(Item::EntryEnded { is_parked });
    }

    fn register(&mut self, call: &Call, step: Option<usize>, is_held: bool, is_open: bool) {
        self.index.insert(call.id.clone(), self.calls.len());
        self.calls.push(CallState::new(call.clone()));
        self.push_item(Item::CallMade {
            call: Box::new(call.clone()),
            step,
            is_held,
            is_open,
        });
    }

    fn apply_step(&mut self, parts: &[Part], finish: Finish, metadata: Option<&Value>) {
        // What was received in this process was said as it came.
        match self.in_progress.take() {
            Some(mut in_progress) if in_progress.is_begun => self.items.extend(in_progress.close()),
            _ => {
                self.push_item(Item::StepBegun);
                self.items
                    .extend(parts.iter().flat_map(step_in_progress::items));
            }
        }
        self.push_item(Item::StepEnded {
            finish,
            metadata: metadata.cloned(),
        });
        let step = self.steps.len();
        let mut calls = Vec::new();
        for part in parts {
            if let Part::Call { call, held, open } = part {
                calls.push(call.id.clone());
                self.register(call, Some(step), *held, *open);
            }
        }
        self.is_agent_asked = false;
        self.steps.push(Step {
            parts: parts.to_vec(),
            calls,
        });
    }

    fn apply_gate(&mut self, gate: &Gate) {
        self.gates.push(GateState {
            gate: gate.clone(),
            decision: None,
        });
        // A tool that asks goes on waiting, and yet it runs; but not what an agent inside of it asks about.
        let is_tools = matches!(gate.kind, GateKind::ToolApproval { .. });
        if !is_tools || self.is_inner(&gate.call) {
            self.enter(&gate.call, Phase::Held(gate.id.clone()));
        }
        // An agent that asks for data about a call does not run it meanwhile.
        if let Some(call) = self.asked_for_data(gate) {
            self.enter(&call, Phase::Held(gate.id.clone()));
        }
        self.push_item(Item::GateOpened(Box::new(gate.clone())));
    }

    /// Moves a call on. What is settled stays so.
    fn enter(&mut self, id: &CallId, phase: Phase) {
        let state = self.call_state_mut(id);
        if let Some(state) = state.filter(|state| !state.is_settled()) {
            state.phase = phase;
        }
    }

    fn apply_decision(&mut self, id: &GateId, decision: &Decision) {
        let Some(state) = self.gates.iter_mut().find(|state| state.gate.id == *id) else {
            return;
        };
        state.decision = Some(decision.clone());
        let gate = state.gate.clone();
        let call = gate.call.clone();
        if let Some(call) = self.asked_for_data(&gate)
            && matches!(decision, Decision::Output { .. })
        {
            self.enter(&call, Phase::Approved);
        }
        // What else becomes of its call is said by the events that follow.
        let is_held = matches!(gate.kind, GateKind::Approval { .. }) || self.is_inner(&call);
        if is_held && decision.approved() == Some(true) {
            self.enter(&call, Phase::Approved);
        }
        if let Decision::Approved {
            input: Some(input), ..
        } = decision
            && let Some(state) = self.call_state_mut(&call)
        {
            state.edited_input = Some(input.clone());
        }
        self.push_item(Item::GateClosed {
            gate: id.clone(),
            decision: decision.clone(),
        });
    }

    /// Takes in the words that come first and are more of the block that is open.
    pub(crate) fn push_deltas(
        &mut self,
        events: &mut IntoIter<CompactEvent>,
        mut say: impl FnMut(String),
    ) {
        let Some(mut block) = self
            .in_progress
            .as_mut()
            .and_then(StepInProgress::open_block)
        else {
            return;
        };
        while let Some(delta) = block.take(events) {
            say(delta);
        }
    }
}
