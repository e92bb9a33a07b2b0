//! What a turn has said, placed in the message that clients hold: one transcript, whichever window they
//! use, with marks where a window closes. [`super::window`] turns a stretch of it into what one client is
//! sent; `place` says where questions are asked.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;
use turn::call::{Call, Outcome, Place};
use turn::event::{End, Finish as Finished};
use turn::gate::{Decision, Gate};
use turn::item::Item;
use turn::{CallId, GateId};
use wire::chunk::FinishReason;

use super::closing::{self, Closing};
use super::line::{Block, BlockLine, CallLine, Delta, Line, PartLine, Settlement};
use super::{chunks, compact};
use crate::weight::Weight;

/// What a line takes that says nothing.
const LINE: usize = 200;

/// What a turn has said.
#[derive(Debug, Clone, Default)]
pub struct Transcript {
    lines: Vec<Line>,
    /// Whether it is inside of a step.
    in_step: bool,
    /// How many steps clients were shown: those of the model, and those that a question needed.
    pub(super) steps: usize,
    /// How many texts, reasonings and sources it has.
    blocks: u32,
    /// The text or reasoning that is open.
    open: Option<Block>,
    metadata: Option<Value>,
    /// Why the model ended its last step.
    finish: Option<Finished>,
    is_over: bool,
    pub(super) is_parked: bool,
    /// Calls in the order in which they were made.
    pub(super) calls: Vec<ShownCall>,
    index: HashMap<CallId, usize>,
    pub(super) gates: Vec<ShownGate>,
    /// Denials that wait for a page's output: sent earlier, no client would ever send that output.
    deferred: Vec<CallLine>,
    /// Whether it was drawn together.
    is_compact: bool,
    /// How many bytes it takes, once it is over.
    weight: Option<usize>,
}

/// A call, and where clients find it.
#[derive(Debug, Clone)]
pub(super) struct ShownCall {
    pub(super) call: Arc<Call>,
    /// The model's step that it belongs to; none for one that a tool asked for.
    pub(super) step: Option<usize>,
    pub(super) shown: Extent,
    pub(super) progress: Progress,
    /// The step, among those that clients were shown, in which they find it.
    pub(super) shown_in: usize,
}

/// How much of a call clients were shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// Nothing: its step was shown without it.
    Nothing,
    /// That it was made, and nothing at which a page would run it.
    Begun,
    /// Its whole input, at which a page's tool runs.
    Announced,
    /// A proxy of it in another step, and nothing more of it in its own.
    Proxy,
}

/// How far a call has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// It is not announced with its step: a page's call that waits for an approval, or one whose input
    /// is invalid.
    Held,
    Free,
    Settled,
}

/// A gate, and where clients find it.
#[derive(Debug, Clone)]
pub(super) struct ShownGate {
    pub(super) gate: Gate,
    pub(super) decision: Option<Decision>,
    /// The step, among those that clients were shown, in which they find it last, if they do.
    pub(super) shown_in: Option<usize>,
    /// Whether they find it at its call.
    pub(super) is_at_call: bool,
    /// How many proxies of its call they were shown.
    pub(super) proxy_calls: usize,
}

impl Transcript {
    /// What it has said so far.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// How many bytes it takes, by estimate.
    pub(crate) fn weight(&self) -> usize {
        // What is over is weighed once.
        self.weight.unwrap_or_else(|| {
            let mut weight = Weight(LINE * self.lines.len());
            for line in &self.lines {
                let chunk = match line {
                    Line::StepBegun | Line::StepEnded | Line::Close(_) => continue,
                    line => line.chunk(),
                };
                weight.add(|out| serde_json::to_writer(out, &*chunk));
            }
            weight.0
        })
    }

    /// Whether clients run a proxy in the place of a call.
    pub(crate) fn is_superseded(&self, call: &CallId) -> bool {
        let shown = self.shown(call);
        shown.is_some_and(|shown| shown.shown == Extent::Proxy)
    }

    /// Takes in what was said or done.
    pub fn take(&mut self, item: Item) {
        match item {
            Item::StepBegun => self.enter_step(),
            Item::TextBegun { provider_metadata } => {
                self.begin(Block::Text, provider_metadata.as_ref());
            }
            Item::ReasoningBegun { provider_metadata } => {
                self.begin(Block::Reasoning, provider_metadata.as_ref());
            }
            Item::Delta(delta) => self.push_delta(delta),
            Item::BlockEnded => {
                if let Some(block) = self.open.take() {
                    let end = BlockLine::ended(block, self.blocks);
                    self.lines.push(Line::Block(Arc::new(end)));
                }
            }
            Item::Part(part) => {
                let line = PartLine::of_agent(*part, &mut self.blocks);
                self.lines
                    .extend(line.map(|line| Line::Part(Arc::new(line))));
            }
            Item::StepEnded { finish, metadata } => {
                self.finish = Some(finish);
                if let Some(metadata) = metadata {
                    turn::metadata::merge(&mut self.metadata, metadata);
                }
            }
            Item::CallMade {
                call,
                step,
                is_held,
                is_open,
            } => self.call_made(*call, step, is_held, is_open),
            Item::CallStarted(call) => self.announce(&call),
            Item::CallProgressed { call, output } => {
                let call = self.call(&call);
                let line = call.map(|call| CallLine::progressed(call, output));
                self.push_all(line);
            }
            Item::CallSettled { call, outcome } => self.settle_call(&call, outcome),
            Item::GateOpened(gate) => {
                if gate.kind.schema().is_some()
                    && let Some(state) = self.shown_mut(&gate.call)
                {
                    chunks::note_question(Arc::make_mut(&mut state.call), &gate);
                }
                self.gates.push(ShownGate {
                    gate: (*gate).clone(),
                    decision: None,
                    shown_in: None,
                    is_at_call: false,
                    proxy_calls: 0,
                });
                self.show_at_call(&gate);
            }
            Item::GateClosed { gate, decision } => self.close_gate(&gate, &decision),
            Item::MessageInjected(message) => {
                let line = PartLine::injected(message);
                self.lines.push(Line::Part(Arc::new(line)));
            }
            Item::EntryEnded { is_parked } => self.end_entry(is_parked),
            Item::Ended(end) => self.end(&end),
        }
    }

    /// Makes room for this many deltas.
    pub fn reserve(&mut self, words: usize) {
        self.lines.reserve(words);
    }

    /// More of the text or reasoning that is open. Nearly all that is said is this.
    #[inline]
    pub fn push_delta(&mut self, delta: String) {
        let line = match self.open {
            Some(Block::Text) => Line::Text(Delta::text(self.blocks, delta)),
            Some(Block::Reasoning) => Line::Reasoning(Delta::reasoning(self.blocks, delta)),
            None => return,
        };
        self.lines.push(line);
    }

    /// Draws the words of each block together, once the turn is over: as many chunks as there were
    /// words are worth keeping only for those who read along. Says whether there was anything to do.
    pub fn compact(&mut self) -> bool {
        if !self.is_over || self.is_compact {
            return false;
        }
        self.is_compact = true;
        self.lines = compact::compact(std::mem::take(&mut self.lines));
        self.weight = Some(self.weight());
        true
    }

    fn begin(&mut self, block: Block, provider_metadata: Option<&Value>) {
        self.blocks += 1;
        self.open = Some(block);
        let start = BlockLine::begun(block, self.blocks, provider_metadata);
        self.lines.push(Line::Block(Arc::new(start)));
    }

    fn call_made(&mut self, call: Call, step: Option<usize>, is_held: bool, is_open: bool) {
        let id = call.id.clone();
        let call = Arc::new(call);
        self.index.insert(id.clone(), self.calls.len());
        let start = (!is_open).then(|| CallLine::begun(&call));
        self.calls.push(ShownCall {
            call,
            step,
            shown: match is_open {
                true => Extent::Nothing,
                false => Extent::Begun,
            },
            progress: match is_held {
                true => Progress::Held,
                false => Progress::Free,
            },
            shown_in: self.steps,
        });
        self.push_all(start);
        if !is_held && !is_open {
            self.announce(&id);
        }
    }

    fn settle_call(&mut self, id: &CallId, outcome: Arc<Outcome>) {
        let Some(index) = self.index.get(id).copied() else {
            return;
        };
        let shown = &mut self.calls[index];
        let before = std::mem::replace(&mut shown.progress, Progress::Settled);
        match shown.shown {
            // Its proxy has said so.
            Extent::Proxy => return,
            // It was never shown, and need not be any more.
            Extent::Nothing if shown.call.parent.is_some() => return,
            _ => {}
        }
        self.show(id);
        let shown = &self.calls[index];
        let is_output = matches!(*outcome, Outcome::Output { .. });
        // Announced in a later step, it would be shown twice.
        let is_held = before == Progress::Held && (!is_output || shown.shown_in != self.steps);
        if !matches!(*outcome, Outcome::Invalid { .. }) && !is_held {
            self.announce(id);
        }
        let shown = &self.calls[index];
        let step = shown.step;
        let line = match &*outcome {
            // What a denied tool returns is for the model: clients show no output behind a no.
            Outcome::Output { .. } | Outcome::Denied { .. } if self.is_refused(id) => {
                CallLine::denied(&shown.call, outcome)
            }
            _ => CallLine::settled(&shown.call, outcome),
        };
        let is_denied = line.settlement() == Some(Settlement::Denied);
        if is_denied && self.page_may_still_answer(step) {
            self.deferred.push(line);
            return;
        }
        self.push(line);
        if !self.page_may_still_answer(step) {
            let deferred = std::mem::take(&mut self.deferred);
            self.push_all(deferred);
        }
    }

    fn close_gate(&mut self, id: &GateId, decision: &Decision) {
        let Some(shown) = self.gates.iter_mut().find(|shown| shown.gate.id == *id) else {
            return;
        };
        shown.decision = Some(decision.clone());
        let (gate, is_shown) = (shown.gate.clone(), shown.shown_in.is_some());
        if gate.is_approval() && is_shown {
            let call = self.call(&gate.call);
            let answer = call.and_then(|call| CallLine::answered(call, &gate, decision));
            self.push_all(answer);
        }
        self.settle_proxy_calls(&gate, decision);
        if let Decision::Approved {
            input: Some(input), ..
        } = decision
        {
            self.edit_input(&gate.call, input);
        }
        self.show_pages_beside(&gate);
    }

    /// Puts the approver's input in place of the model's: a page runs what it is shown.
    fn edit_input(&mut self, id: &CallId, input: &Value) {
        let state = self.shown_mut(id);
        let is_unannounced = |state: &&mut ShownCall| state.shown != Extent::Announced;
        let state =
            state.filter(|state| state.call.place == Place::Client && is_unannounced(state));
        if let Some(state) = state {
            Arc::make_mut(&mut state.call).input = input.clone();
        }
    }

    /// Whether clients show a call with a no: only then do they accept a denial as such.
    fn is_refused(&self, id: &CallId) -> bool {
        let mut gates = self.gates.iter().rev();
        let last = gates
            .find(|shown| shown.gate.call == *id && shown.gate.is_approval() && shown.is_at_call);
        let decision = last.and_then(|shown| shown.decision.as_ref());
        decision.and_then(Decision::approved) == Some(false)
    }

    /// Whether a page's call of the step, held for an approval, is not settled.
    fn page_may_still_answer(&self, step: Option<usize>) -> bool {
        let mut calls = self.calls.iter();
        calls.any(|shown| {
            let is_page = shown.call.place == Place::Client;
            shown.step == step && is_page && shown.progress == Progress::Held
        })
    }

    fn end_entry(&mut self, is_parked: bool) {
        self.is_parked = is_parked;
        if !self.is_over {
            self.show_rest();
        }
        if !is_parked {
            return;
        }
        let questions = self.questions();
        let is_closed = match self.lines.last() {
            // A question that nobody answered in time may leave no line of its own.
            Some(Line::Close(Closing::Parked(known))) => *known == questions,
            line => matches!(line, Some(Line::Close(_))),
        };
        if !is_closed {
            self.leave_step();
            self.lines.push(Line::Close(Closing::Parked(questions)));
        }
    }

    fn end(&mut self, end: &End) {
        self.is_over = true;
        let deferred = std::mem::take(&mut self.deferred);
        self.push_all(deferred);
        if *end == End::Stopped {
            // A client that finds settled calls in the last step would send them.
            self.enter_step();
        }
        self.leave_step();
        let closing = match end {
            End::Finished => Closing::Finished {
                reason: self
                    .finish
                    .map_or(FinishReason::Stop, closing::finish_reason),
                metadata: self.metadata.clone().map(Box::new),
            },
            End::Failed {
                code,
                message,
                retry_after_ms,
            } => Closing::failed_until(code, message, *retry_after_ms),
            End::Stopped => Closing::Stopped,
        };
        self.lines.push(Line::Close(closing));
    }

    /// Whether it is inside of a step.
    pub(super) fn is_in_step(&self) -> bool {
        self.in_step
    }

    pub(super) fn enter_step(&mut self) {
        self.leave_step();
        self.in_step = true;
        self.steps += 1;
        self.lines.push(Line::StepBegun);
    }

    fn leave_step(&mut self) {
        if std::mem::take(&mut self.in_step) {
            self.lines.push(Line::StepEnded);
        }
    }

    pub(super) fn call(&self, id: &CallId) -> Option<&Arc<Call>> {
        self.shown(id).map(|shown| &shown.call)
    }

    pub(super) fn shown(&self, id: &CallId) -> Option<&ShownCall> {
        self.index.get(id).map(|index| &self.calls[*index])
    }

    pub(super) fn shown_mut(&mut self, id: &CallId) -> Option<&mut ShownCall> {
        self.index.get(id).map(|index| &mut self.calls[*index])
    }

    pub(super) fn push(&mut self, line: CallLine) {
        self.lines.push(Line::Call(Arc::new(line)));
    }

    pub(super) fn push_all(&mut self, lines: impl IntoIterator<Item = CallLine>) {
        lines.into_iter().for_each(|line| self.push(line));
    }
}
