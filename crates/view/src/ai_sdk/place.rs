//! Where clients are shown what is asked.
//!
//! A client looks only at its last step to decide what to send. It sends an answer only if the question
//! is in that step. It resends an output in that step until a new step starts or another call in it is
//! open; calls that the agent runs do not count. A question is asked at its call while the call is in the
//! last step. A superseded question is asked once more, by a proxy call in a step of its own, when
//! nothing else is in progress.

use std::sync::Arc;

use serde_json::json;
use turn::CallId;
use turn::call::{Outcome, Place};
use turn::gate::{Decision, Gate};

use super::closing::OpenQuestion;
use super::line::CallLine;
use super::transcript::{Extent, Progress, ShownCall, ShownGate, Transcript};
use super::{chunks, proxy};

impl Transcript {
    /// Shows a gate at its call, if clients would send its answer from there.
    pub(super) fn show_at_call(&mut self, gate: &Gate) {
        let Some(state) = self.shown(&gate.call) else {
            return;
        };
        if gate.refusal(&state.call).is_some() {
            return;
        }
        let is_nested = state.call.parent.is_some();
        let is_page = gate.is_page_call();
        // What is asked inside of a call has a step of its own: in the call's, clients wait for the call.
        if is_nested || is_page && self.is_agent_waiting(state.step) || !self.is_at_hand(state) {
            return;
        }
        self.ask_at_call(gate);
    }

    /// Shows a gate at its call.
    fn ask_at_call(&mut self, gate: &Gate) {
        self.show(&gate.call);
        match gate.kind.approval() {
            None => self.announce(&gate.call),
            Some(question) => {
                // A held call is shown with its input, and yet no page takes it for announced.
                let state = self.shown(&gate.call);
                let held = state.filter(|state| {
                    state.progress == Progress::Held && state.shown != Extent::Announced
                });
                let input = held.map(|state| CallLine::input_shown(&state.call));
                let request = self.call(&gate.call);
                let request = request.map(|call| CallLine::asked(call, gate, question));
                self.push_all(input);
                self.push_all(request);
            }
        }
        self.note_shown(gate, |state| state.is_at_call = true);
    }

    /// Whether clients would send what is answered at a call: it is in their last step, and not beside
    /// a page's call where it runs at the agent.
    fn is_at_hand(&self, state: &ShownCall) -> bool {
        let is_last =
            |state: &ShownCall| state.shown == Extent::Nothing || state.shown_in == self.steps;
        let mut calls = self.calls.iter();
        let is_beside_page = calls.any(|other| {
            let is_page = other.call.place == Place::Client && other.shown == Extent::Announced;
            is_page && is_last(other)
        });
        is_last(state) && !(state.call.place == Place::Agent && is_beside_page)
    }

    /// Shows what could not be shown at its call: pages' calls one after another, and questions when
    /// nothing else moves.
    pub(super) fn show_rest(&mut self) {
        if self.is_page_called() {
            return;
        }
        if let Some(page) = self.next_page() {
            self.enter_step();
            let call = self.call(&page.call);
            if call.is_some_and(|call| call.parent.is_some()) {
                self.announce(&page.call);
                self.note_shown(&page, |state| state.is_at_call = true);
            } else {
                self.ask_by_proxy(&page);
            }
        } else if self.is_parked && self.is_question_superseded() {
            let questions = self.open_questions();
            let questions: Vec<Gate> = questions.map(|state| state.gate.clone()).collect();
            self.enter_step();
            for question in questions {
                match self.is_inner_and_hidden(&question.call) {
                    true => {
                        self.announce(&question.call);
                        self.ask_at_call(&question);
                    }
                    false => self.ask_by_proxy(&question),
                }
            }
        }
    }

    /// Whether an agent made a call that runs as a tool, and clients were not shown it yet.
    fn is_inner_and_hidden(&self, id: &CallId) -> bool {
        let state = self.shown(id);
        state.is_some_and(|state| state.shown == Extent::Nothing && state.call.parent.is_some())
    }

    /// Whether the agent waits for somebody to say whether it may run a call of a step. As long as it
    /// does, no page is shown what it is to run: its client would send the output at once, and again
    /// and again, since it takes no notice of what runs at the agent.
    fn is_agent_waiting(&self, step: Option<usize>) -> bool {
        let mut gates = self.open_gates();
        gates.any(|open| {
            let call = self.shown(&open.gate.call);
            call.is_some_and(|shown| shown.step == step && shown.call.place == Place::Agent)
        })
    }

    /// Shows what a page is to run of a gate's step, once the agent waits for nobody.
    pub(super) fn show_pages_beside(&mut self, gate: &Gate) {
        let step = self.shown(&gate.call).and_then(|shown| shown.step);
        let is_of_step = |open: &&ShownGate| {
            let call = self.shown(&open.gate.call);
            let is_page = open.gate.is_page_call();
            is_page && call.is_some_and(|shown| shown.step == step)
        };
        let pages = self.open_gates().filter(is_of_step);
        let pages: Vec<Gate> = pages.map(|open| open.gate.clone()).collect();
        for page in pages {
            self.show_at_call(&page);
        }
    }

    /// Whether a page was shown what it is to run, and has not run it.
    fn is_page_called(&self) -> bool {
        let mut gates = self.open_gates();
        gates.any(|state| state.gate.is_page_call() && state.shown_in.is_some())
    }

    /// What a page is to run next.
    fn next_page(&self) -> Option<Gate> {
        let mut gates = self.open_gates();
        let next = gates.find(|open| {
            let call = self.shown(&open.gate.call);
            let may_run = call.is_some_and(|shown| !self.is_agent_waiting(shown.step));
            open.gate.is_page_call() && may_run
        });
        next.map(|open| open.gate.clone())
    }

    /// Whether a question is not to be seen in the last step.
    fn is_question_superseded(&self) -> bool {
        let mut questions = self.open_questions();
        questions.any(|state| state.shown_in != Some(self.steps))
    }

    /// What people are asked just now.
    pub(super) fn questions(&self) -> Arc<Vec<OpenQuestion>> {
        let questions = self.open_gates().filter(|open| {
            let call = self.call(&open.gate.call);
            let is_refused = call.is_some_and(|call| open.gate.refusal(call).is_some());
            open.gate.is_question() && !is_refused
        });
        let questions = questions.filter_map(|open| {
            Some(OpenQuestion {
                gate: open.gate.clone(),
                call: self.call(&open.gate.call)?.clone(),
            })
        });
        Arc::new(questions.collect())
    }

    fn open_questions(&self) -> impl Iterator<Item = &ShownGate> {
        self.open_gates().filter(|state| {
            let call = self.call(&state.gate.call);
            let is_refused = call.is_some_and(|call| state.gate.refusal(call).is_some());
            state.gate.is_approval() && !is_refused
        })
    }

    fn open_gates(&self) -> impl Iterator<Item = &ShownGate> {
        self.gates.iter().filter(|state| state.decision.is_none())
    }

    /// Shows a gate at a proxy of its call.
    fn ask_by_proxy(&mut self, gate: &Gate) {
        let shown = self.gates.iter().find(|state| state.gate.id == gate.id);
        let (Some(shown), Some(call)) = (shown, self.call(&gate.call)) else {
            return;
        };
        let call = Arc::new(proxy::of(call, gate, shown.proxy_calls + 1));
        match gate.kind.approval() {
            None => {
                self.leave_behind(&gate.call);
                self.push(CallLine::begun(&call));
                self.push(CallLine::announced(&call));
            }
            Some(question) => {
                self.push(CallLine::begun(&call));
                self.push(match call.place {
                    Place::Client => CallLine::input_shown(&call),
                    _ => CallLine::announced(&call),
                });
                let request = Gate {
                    call: call.id.clone(),
                    ..gate.clone()
                };
                self.push(CallLine::asked(&call, &request, question));
            }
        }
        self.note_shown(gate, |state| state.proxy_calls += 1);
    }

    /// Supersedes a call that was held until its approval: its proxy is run in its place.
    fn leave_behind(&mut self, id: &CallId) {
        let Some(state) = self.shown_mut(id) else {
            return;
        };
        state.shown = Extent::Proxy;
        let output = json!({"approved": true});
        let line = CallLine::settled(&state.call, Arc::new(Outcome::Output { output }));
        self.push(line);
    }

    fn note_shown(&mut self, gate: &Gate, how: impl FnOnce(&mut ShownGate)) {
        let last = self.steps;
        let mut gates = self.gates.iter_mut();
        if let Some(state) = gates.find(|state| state.gate.id == gate.id) {
            state.shown_in = Some(last);
            how(state);
        }
    }

    /// Says what became of the proxies of a gate's call.
    pub(super) fn settle_proxy_calls(&mut self, gate: &Gate, decision: &Decision) {
        let shown = self.gates.iter().find(|state| state.gate.id == gate.id);
        let (Some(shown), Some(call)) = (shown, self.call(&gate.call)) else {
            return;
        };
        let proxy_calls = (1..=shown.proxy_calls).map(|n| proxy::of(call, gate, n));
        let outcome = Arc::new(chunks::answered(gate, decision));
        let lines = proxy_calls.map(|call| CallLine::settled(&Arc::new(call), outcome.clone()));
        let lines: Vec<_> = lines.collect();
        self.push_all(lines);
    }

    /// Shows a call without which its step was shown, in a step of its own if that is over.
    pub(super) fn show(&mut self, id: &CallId) {
        let state = self.shown_mut(id);
        let Some(state) = state.filter(|state| state.shown == Extent::Nothing) else {
            return;
        };
        state.shown = Extent::Begun;
        let start = CallLine::begun(&state.call);
        if !self.is_in_step() {
            self.enter_step();
        }
        let shown_in = self.steps;
        if let Some(state) = self.shown_mut(id) {
            state.shown_in = shown_in;
        }
        self.push(start);
    }

    /// Shows a call with its whole input, at which a page's tool runs.
    pub(super) fn announce(&mut self, id: &CallId) {
        self.show(id);
        let state = self.shown_mut(id);
        let Some(state) = state.filter(|state| state.shown == Extent::Begun) else {
            return;
        };
        state.shown = Extent::Announced;
        let line = CallLine::announced(&state.call);
        self.push(line);
    }
}
