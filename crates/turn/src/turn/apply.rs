//! How events change a turn, and what it says of them.

use std::iter::Peekable;
use std::sync::Arc;

use serde_json::Value;
use wire::Chunk;
use wire::chunk::FinishReason;

use super::{CallState, GateState, Step, Turn};
use crate::agent::{Part, Said};
use crate::call::{Outcome, Place};
use crate::event::{End, Event, Finish};
use crate::gate::{Decision, Gate, GateKind};
use crate::id::{CallId, GateId};
use crate::live::{self, Live};
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
            Event::CallNested { call, .. } => self.register(CallState {
                is_hidden: true,
                ..CallState::new(call.clone(), None)
            }),
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

    /// Shows what is still to be shown, and notes a park, once the events of an entry are all in.
    pub(crate) fn settle(&mut self) {
        if self.end.is_none() {
            self.show_rest();
        }
        let marked = matches!(self.transcript.last(), Some(Item::Close(_)));
        if self.is_parked() && !marked {
            self.leave_step();
            self.transcript.push(Item::Close(Closing::Parked));
        }
    }

    fn register(&mut self, state: CallState) {
        self.index.insert(state.call.id.clone(), self.calls.len());
        self.calls.push(state);
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
                self.register(CallState {
                    is_held: *held,
                    is_hidden: *open,
                    is_open: *open,
                    shown_in: self.shown_steps,
                    ..CallState::new(call.clone(), Some(step))
                });
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
        self.gates.push(GateState {
            gate: gate.clone(),
            decision: None,
            shown_in: None,
            is_at_call: false,
            stand_ins: 0,
        });
        self.show_at_call(gate);
    }

    fn apply_decision(&mut self, id: &GateId, decision: &Decision) {
        let Some(state) = self.gates.iter_mut().find(|state| state.gate.id == *id) else {
            return;
        };
        state.decision = Some(decision.clone());
        let (gate, is_shown) = (state.gate.clone(), state.shown_in.is_some());
        if matches!(gate.kind, GateKind::Approval { .. }) && is_shown {
            self.say_all(telling::approval_response(&gate, decision));
        }
        self.settle_stand_ins(&gate, decision);
        if let Decision::Approved {
            input: Some(input), ..
        } = decision
            && let Some(state) = self.call_state_mut(&gate.call)
        {
            state.edited_input = Some(input.clone());
        }
        // What a page is to run of the step it is shown once the agent waits for nobody.
        let step = self.call_state(&gate.call).and_then(|state| state.step);
        let is_of_step = |gate: &&Gate| {
            let state = self.call_state(&gate.call);
            gate.kind == GateKind::ClientCall && state.is_some_and(|state| state.step == step)
        };
        let pages: Vec<Gate> = self.open_gates().filter(is_of_step).cloned().collect();
        for page in pages {
            self.show_at_call(&page);
        }
    }

    fn apply_outcome(&mut self, id: &CallId, outcome: &Outcome) {
        let Some(index) = self.index.get(id).copied() else {
            return;
        };
        let state = &mut self.calls[index];
        state.outcome = Some(outcome.clone());
        if state.is_left_behind || state.call.parent.is_some() && state.is_hidden {
            // What stands for it has said so; or it was never shown, and need not be any more.
            return;
        }
        self.show(id);
        let state = &self.calls[index];
        let is_output = matches!(outcome, Outcome::Output { .. });
        let is_held = state.is_held && !is_output;
        if !matches!(outcome, Outcome::Invalid { .. }) && !is_held {
            self.announce(id);
        }
        let state = &self.calls[index];
        let chunk = match outcome {
            // What a tool says that was told no is for the model: clients show no output behind a no.
            Outcome::Output { .. } | Outcome::Denied { .. } if self.is_refused(id) => {
                telling::denied(&state.call)
            }
            outcome => telling::outcome(&state.call, outcome),
        };
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

    /// Whether clients show a call with a no: only then do they accept a denial as such.
    fn is_refused(&self, id: &CallId) -> bool {
        let mut gates = self.gates.iter().rev();
        let last = gates.find(|state| {
            let is_question = matches!(state.gate.kind, GateKind::Approval { .. });
            state.gate.call == *id && is_question && state.is_at_call
        });
        let decision = last.and_then(|state| state.decision.as_ref());
        decision.and_then(Decision::approved) == Some(false)
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
            End::Failed { code, message, .. } => Closing::failed(code, message),
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

    pub(crate) fn enter_step(&mut self) {
        self.leave_step();
        self.in_step = true;
        self.shown_steps += 1;
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

    /// Says the words that come first and are more of the block that is open.
    pub(crate) fn hear(&mut self, said: &mut Peekable<impl Iterator<Item = Said>>) {
        let Some(mut more) = self.live.as_mut().and_then(Live::more) else {
            return;
        };
        self.transcript.reserve(said.size_hint().0);
        while let Some(chunk) = more.take(said) {
            self.transcript.push(Item::Chunk(Arc::new(chunk)));
        }
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
