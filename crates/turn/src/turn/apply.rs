//! How events change a turn, and what it says of them.

use std::sync::Arc;

use serde_json::Value;
use wire::Chunk;
use wire::chunk::FinishReason;

use super::{CallState, GateState, Step, Turn};
use crate::agent::Part;
use crate::call::{Call, Outcome, Place};
use crate::event::{End, Event, Finish};
use crate::gate::{Decision, Gate, GateKind};
use crate::id::{CallId, GateId};
use crate::live;
use crate::telling;
use crate::transcript::{self, Closing, Item};

impl Turn {
    /// Takes in one event of the journal.
    pub(crate) fn apply(&mut self, event: &Event) {
        match event {
            Event::ChatOpened { .. }
            | Event::TurnOpened { .. }
            | Event::TurnClaimed { .. }
            | Event::SessionNoted { .. } => {}
            Event::StepEnded {
                parts,
                finish,
                metadata,
                ..
            } => self.apply_step(parts, *finish, metadata.as_ref()),
            Event::CallNested { call, .. } => {
                self.register(call.clone(), None, false, false);
            }
            Event::GateOpened { gate, .. } => self.apply_gate(gate),
            Event::GateClosed { gate, decision, .. } => self.apply_decision(gate, decision),
            Event::CallStarted { call, .. } => {
                self.announce(call);
                if let Some(state) = self.call_state_mut(call) {
                    state.is_started = true;
                }
            }
            Event::CallRecorded {
                call, name, value, ..
            } => {
                if let Some(state) = self.call_state_mut(call) {
                    state.records.push((name.clone(), value.clone()));
                }
            }
            Event::CallSettled { call, outcome, .. } => self.apply_outcome(call, outcome),
            Event::TurnEnded { end, .. } => self.apply_end(end),
        }
    }

    /// Notes a park, once the events of an entry are all in.
    pub(crate) fn settle(&mut self) {
        let marked = matches!(self.transcript.last(), Some(Item::Close(_)));
        if self.is_parked() && !marked {
            self.leave_step();
            self.transcript.push(Item::Close(Closing::Parked));
        }
    }

    fn register(&mut self, call: Call, step: Option<usize>, is_held: bool, is_open: bool) {
        self.index.insert(call.id.clone(), self.calls.len());
        self.calls.push(CallState {
            call,
            step,
            is_announced: false,
            is_held,
            is_hidden: is_open,
            is_open,
            is_started: false,
            edited_input: None,
            records: Vec::new(),
            outcome: None,
        });
    }

    fn apply_step(&mut self, parts: &[Part], finish: Finish, metadata: Option<&Value>) {
        // Clients of this process have been told all but the calls already, as it was said.
        match self.live.take() {
            Some(mut live) => self.say_all(live.close()),
            None => {
                self.enter_step();
                for part in parts {
                    let chunks = live::told(part, &mut self.blocks);
                    self.say_all(chunks);
                }
            }
        }
        if !self.in_step {
            self.enter_step();
        }
        self.finish = finish;
        if let Some(metadata) = metadata {
            live::merge(&mut self.metadata, metadata.clone());
        }
        let step = self.steps.len();
        let mut calls = Vec::new();
        for part in parts {
            if let Part::Call { call, held, open } = part {
                calls.push(call.id.clone());
                self.register(call.clone(), Some(step), *held, *open);
                if !open {
                    self.say(telling::input_start(call));
                }
                if !held {
                    self.announce(&call.id);
                }
            }
        }
        self.is_agent_asked = false;
        self.steps.push(Step {
            parts: parts.to_vec(),
            calls,
        });
    }

    fn apply_gate(&mut self, gate: &Gate) {
        let Some(state) = self.call_state(&gate.call) else {
            return;
        };
        match &gate.kind {
            GateKind::Approval { question, .. } => {
                self.show(&gate.call);
                let Some(state) = self.call_state(&gate.call) else {
                    return;
                };
                // A held call is shown with its input, and yet no page takes it for announced.
                let held = state.is_held && !state.is_announced;
                let delta = held.then(|| telling::input_delta(&state.call));
                self.say_all(delta);
                self.say(telling::approval_request(gate, question));
            }
            GateKind::ClientCall if state.call.parent.is_some() => {
                // In a step of its own: no predicate looks further back than that.
                let start = telling::input_start(&state.call);
                self.enter_step();
                self.say(start);
                self.announce(&gate.call);
            }
            GateKind::ClientCall if self.is_agent_waiting(state.step) => {}
            GateKind::ClientCall => self.announce(&gate.call),
        }
        self.gates.push(GateState {
            gate: gate.clone(),
            decision: None,
        });
    }

    fn apply_decision(&mut self, id: &GateId, decision: &Decision) {
        let Some(state) = self.gates.iter_mut().find(|state| state.gate.id == *id) else {
            return;
        };
        state.decision = Some(decision.clone());
        let gate = state.gate.clone();
        if let GateKind::Approval { .. } = gate.kind {
            self.say_all(telling::approval_response(&gate, decision));
        }
        if let Decision::Approved {
            input: Some(input), ..
        } = decision
            && let Some(state) = self.call_state_mut(&gate.call)
        {
            state.edited_input = Some(input.clone());
        }
        let step = self.call_state(&gate.call).and_then(|state| state.step);
        if !self.is_agent_waiting(step) {
            self.announce_pages(step);
        }
    }

    /// Shows the page what it is to run of a step, now that the agent waits for nobody.
    fn announce_pages(&mut self, step: Option<usize>) {
        let gates = self.open_gates();
        let pages = gates.filter(|gate| gate.kind == GateKind::ClientCall);
        let calls: Vec<CallId> = pages.map(|gate| gate.call.clone()).collect();
        for call in calls {
            if self
                .call_state(&call)
                .is_some_and(|state| state.step == step)
            {
                self.announce(&call);
            }
        }
    }

    /// Shows a call without which its step was shown, in a step of its own if that is over.
    fn show(&mut self, id: &CallId) {
        let Some(state) = self.call_state_mut(id).filter(|state| state.is_hidden) else {
            return;
        };
        state.is_hidden = false;
        let start = telling::input_start(&state.call);
        if !self.in_step {
            self.enter_step();
        }
        self.say(start);
    }

    fn apply_outcome(&mut self, id: &CallId, outcome: &Outcome) {
        let Some(index) = self.index.get(id).copied() else {
            return;
        };
        self.calls[index].outcome = Some(outcome.clone());
        self.show(id);
        let is_output = matches!(outcome, Outcome::Output { .. });
        let is_held = self.calls[index].is_held && !is_output;
        if !matches!(outcome, Outcome::Invalid { .. }) && !is_held {
            self.announce(id);
        }
        let state = &self.calls[index];
        let was_asked = self.gates.iter().any(|asked| {
            let is_question = matches!(asked.gate.kind, GateKind::Approval { .. });
            let refused = asked.decision.as_ref().and_then(Decision::approved) == Some(false);
            asked.gate.call == *id && is_question && refused
        });
        let chunk = telling::outcome(&state.call, outcome, was_asked);
        if matches!(chunk, Chunk::ToolOutputDenied(_)) && self.page_may_still_answer(state.step) {
            self.deferred.push(chunk);
            return;
        }
        self.say(chunk);
        let step = self.calls[index].step;
        if !self.page_may_still_answer(step) {
            let deferred = std::mem::take(&mut self.deferred);
            self.say_all(deferred);
        }
    }

    /// Whether a page's call of the step, held for an approval, is not settled.
    fn page_may_still_answer(&self, step: Option<usize>) -> bool {
        let mut calls = self.calls.iter();
        calls.any(|state| {
            state.step == step
                && state.is_held
                && state.call.place == Place::Client
                && state.outcome.is_none()
        })
    }

    fn apply_end(&mut self, end: &End) {
        self.end = Some(end.clone());
        if let Some(mut live) = self.live.take() {
            self.say_all(live.close());
        }
        let deferred = std::mem::take(&mut self.deferred);
        self.say_all(deferred);
        if *end == End::Stopped {
            // A client that finds settled calls in the last step would send them.
            self.enter_step();
        }
        self.leave_step();
        let closing = match end {
            End::Finished => Closing::Finished {
                reason: self.finish_reason(),
                metadata: self.metadata.clone().map(Box::new),
            },
            End::Failed { code, message, .. } => Closing::Failed {
                code: code.as_str().into(),
                message: message.as_str().into(),
            },
            End::Stopped => Closing::Stopped,
        };
        self.transcript.push(Item::Close(closing));
    }

    fn finish_reason(&self) -> FinishReason {
        match self.finish {
            Finish::Stop => FinishReason::Stop,
            Finish::Length => FinishReason::Length,
            Finish::ContentFilter => FinishReason::ContentFilter,
            Finish::Error => FinishReason::Error,
            Finish::Cut | Finish::Other => FinishReason::Other,
        }
    }

    /// Shows a call with its whole input, at which a page's tool runs.
    fn announce(&mut self, id: &CallId) {
        self.show(id);
        let Some(state) = self.call_state_mut(id).filter(|state| !state.is_announced) else {
            return;
        };
        state.is_announced = true;
        let chunk = telling::input_available(&state.call);
        self.say(chunk);
    }

    pub(crate) fn enter_step(&mut self) {
        self.leave_step();
        self.in_step = true;
        self.say(Chunk::StartStep);
    }

    fn leave_step(&mut self) {
        if std::mem::take(&mut self.in_step) {
            self.say(Chunk::FinishStep);
        }
    }

    pub(crate) fn say(&mut self, chunk: Chunk) {
        self.transcript.push(Item::Chunk(Arc::new(chunk)));
    }

    /// Draws the words of each block together, once the turn is over: as many chunks as there were
    /// words are worth keeping only for those who read along. Says whether there was anything to do.
    pub(crate) fn compact(&mut self) -> bool {
        if self.end.is_none() || self.is_compact {
            return false;
        }
        self.is_compact = true;
        transcript::compact(&mut self.transcript);
        true
    }

    pub(crate) fn say_all(&mut self, chunks: impl IntoIterator<Item = Chunk>) {
        chunks.into_iter().for_each(|chunk| self.say(chunk));
    }
}
