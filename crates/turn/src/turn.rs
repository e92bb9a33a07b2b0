//! One turn, folded from its events: what it has done, what it waits for, and what it has said.

mod apply;
mod show;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use wire::{Chunk, Message};

use crate::agent::{Asked, CallResult, OwnCall, Part, Past};
use crate::call::{Call, Outcome, Place};
use crate::event::{Cause, End, Finish};
use crate::gate::{Decision, Gate, GateKind};
use crate::id::{CallId, GateId, TurnId};
use crate::live::Live;
use crate::transcript::Item;

/// How a turn stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// The model or a tool is at work.
    Running,
    /// It waits at gates, and costs nothing.
    Parked,
    /// The agent said all it had to say.
    Finished,
    /// The agent failed.
    Failed,
    /// Somebody stopped it.
    Stopped,
}

/// One turn.
#[derive(Debug, Clone)]
pub struct Turn {
    id: TurnId,
    message_id: String,
    cause: Cause,
    after: Option<TurnId>,
    pub(crate) steps: Vec<Step>,
    /// Calls in the order in which they were made.
    pub(crate) calls: Vec<CallState>,
    index: HashMap<CallId, usize>,
    pub(crate) gates: Vec<GateState>,
    end: Option<End>,
    /// Whether the agent was asked for a step that it has not ended. No journal says so: whoever takes
    /// the turn up asks again.
    pub(crate) is_agent_asked: bool,
    /// Whether a server that is gone may have asked before.
    pub(crate) is_asked_again: bool,
    pub(crate) live: Option<Live>,
    transcript: Vec<Item>,
    /// Whether the transcript is inside of a step.
    in_step: bool,
    /// How many steps clients were shown: those of the model, and those that a question needed.
    shown_steps: usize,
    /// How many texts, reasonings and sources it has.
    pub(crate) blocks: u32,
    metadata: Option<Value>,
    finish: Finish,
    /// Denials that wait for a page's output: told earlier, no client would ever send that output.
    deferred: Vec<Chunk>,
    /// Whether the transcript was drawn together.
    is_compact: bool,
}

/// A step that the model has ended.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) parts: Vec<Part>,
    pub(crate) calls: Vec<CallId>,
}

/// A call and how far it has come.
#[derive(Debug, Clone)]
pub(crate) struct CallState {
    pub(crate) call: Call,
    /// The step that it belongs to; none for one that a tool asked for.
    pub(crate) step: Option<usize>,
    pub(crate) is_announced: bool,
    pub(crate) is_held: bool,
    /// Whether its step was shown without it.
    pub(crate) is_hidden: bool,
    /// The step, among those that clients were shown, in which they find it.
    pub(crate) shown_in: usize,
    /// Whether clients find in another step what stands for it, and nothing more of it in its own.
    pub(crate) is_left_behind: bool,
    /// Whether the agent left it to say later who runs it.
    pub(crate) is_open: bool,
    pub(crate) is_started: bool,
    pub(crate) edited_input: Option<Value>,
    pub(crate) records: Vec<(String, Value)>,
    pub(crate) outcome: Option<Outcome>,
}

impl CallState {
    fn new(call: Call, step: Option<usize>) -> Self {
        Self {
            call,
            step,
            is_announced: false,
            is_held: false,
            is_hidden: false,
            shown_in: 0,
            is_left_behind: false,
            is_open: false,
            is_started: false,
            edited_input: None,
            records: Vec::new(),
            outcome: None,
        }
    }
}

/// A gate and what was decided.
#[derive(Debug, Clone)]
pub(crate) struct GateState {
    pub(crate) gate: Gate,
    pub(crate) decision: Option<Decision>,
    /// The step, among those that clients were shown, in which they find it last, if they do.
    shown_in: Option<usize>,
    /// Whether they find it at its call.
    is_at_call: bool,
    /// How many calls they were shown that stand for its own.
    stand_ins: usize,
}

impl Turn {
    pub(crate) fn open(
        id: TurnId,
        message_id: String,
        cause: Cause,
        after: Option<TurnId>,
    ) -> Self {
        Self {
            id,
            message_id,
            cause,
            after,
            steps: Vec::new(),
            calls: Vec::new(),
            index: HashMap::new(),
            gates: Vec::new(),
            end: None,
            is_agent_asked: false,
            is_asked_again: false,
            live: None,
            transcript: Vec::new(),
            in_step: false,
            shown_steps: 0,
            blocks: 0,
            metadata: None,
            finish: Finish::Stop,
            deferred: Vec::new(),
            is_compact: false,
        }
    }

    /// Its id.
    pub fn id(&self) -> &TurnId {
        &self.id
    }

    /// The id of the assistant message that it streams.
    pub fn message_id(&self) -> &str {
        &self.message_id
    }

    /// What it answers.
    pub fn cause(&self) -> &Cause {
        &self.cause
    }

    /// The turn that it follows.
    pub fn after(&self) -> Option<&TurnId> {
        self.after.as_ref()
    }

    /// What it has said so far.
    pub fn transcript(&self) -> &[Item] {
        &self.transcript
    }

    /// How it ended, if it has.
    pub fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// The user message that it answers, if it answers one.
    pub fn user_message(&self) -> Option<&Message> {
        match &self.cause {
            Cause::Message { message } => Some(message),
            Cause::Result { .. } => None,
        }
    }

    /// How it stands.
    pub fn status(&self) -> Status {
        match &self.end {
            Some(End::Finished) => Status::Finished,
            Some(End::Failed { .. }) => Status::Failed,
            Some(End::Stopped) => Status::Stopped,
            None if self.is_parked() => Status::Parked,
            None => Status::Running,
        }
    }

    /// A call of this turn.
    pub fn call(&self, id: &CallId) -> Option<&Call> {
        self.call_state(id).map(|state| &state.call)
    }

    /// What became of a call, if it is settled.
    pub fn outcome(&self, id: &CallId) -> Option<&Outcome> {
        self.call_state(id)?.outcome.as_ref()
    }

    /// A gate of this turn, and what was decided.
    pub fn gate(&self, id: &GateId) -> Option<(&Gate, Option<&Decision>)> {
        let state = self.gates.iter().find(|state| state.gate.id == *id)?;
        Some((&state.gate, state.decision.as_ref()))
    }

    /// All calls, in the order in which they were made.
    pub fn calls(&self) -> impl Iterator<Item = &Call> {
        self.calls.iter().map(|state| &state.call)
    }

    /// The gate that was opened last.
    pub fn last_gate(&self) -> Option<&Gate> {
        self.gates.last().map(|state| &state.gate)
    }

    /// Calls that go on by themselves, and whose results open turns of their own.
    pub fn pending_calls(&self) -> impl Iterator<Item = &Call> {
        let is_pending =
            |state: &&CallState| matches!(state.outcome, Some(Outcome::Pending { .. }));
        self.calls
            .iter()
            .filter(is_pending)
            .map(|state| &state.call)
    }

    /// The gates that wait.
    pub fn open_gates(&self) -> impl Iterator<Item = &Gate> {
        let open = self.gates.iter().filter(|state| state.decision.is_none());
        open.map(|state| &state.gate)
    }

    /// The input that a call runs with: an approver may have put another in place of the model's.
    pub fn effective_input(&self, id: &CallId) -> Option<&Value> {
        let state = self.call_state(id)?;
        Some(state.edited_input.as_ref().unwrap_or(&state.call.input))
    }

    /// What a tool that runs again is told of its earlier run: the results that it recorded, and what
    /// was decided at the gates that it opened, in their order.
    pub fn recorded(&self, id: &CallId) -> Recorded {
        let records = self.call_state(id).map(|state| state.records.clone());
        let asked = self.gates.iter().filter(|state| match state.gate.kind {
            GateKind::Approval { within, .. } => within && state.gate.call == *id,
            GateKind::ClientCall => {
                let call = self.call(&state.gate.call);
                call.is_some_and(|call| call.parent.as_ref() == Some(id))
            }
        });
        Recorded {
            records: records.unwrap_or_default(),
            gates: asked
                .map(|state| (state.gate.id.clone(), state.decision.clone()))
                .collect(),
        }
    }

    /// Its steps after so many, as something that was said.
    pub(crate) fn steps_after(&self, known: usize) -> impl Iterator<Item = Past> {
        let steps = self.steps.iter().skip(known);
        steps.map(|step| {
            let results = step.calls.iter().filter_map(|id| self.call_state(id));
            let results = results.filter_map(|state| {
                Some(CallResult {
                    call: state.call.clone(),
                    edited_input: state.edited_input.clone(),
                    outcome: state.outcome.clone()?,
                })
            });
            Past::Step {
                parts: step.parts.clone(),
                results: results.collect(),
            }
        })
    }

    /// Whether every call of its steps is settled, so that nothing of them changes any more.
    pub(crate) fn is_settled(&self) -> bool {
        let mut calls = self.steps.iter().flat_map(|step| &step.calls);
        calls.all(|id| self.outcome(id).is_some())
    }

    pub(crate) fn call_state(&self, id: &CallId) -> Option<&CallState> {
        self.index.get(id).map(|index| &self.calls[*index])
    }

    fn call_state_mut(&mut self, id: &CallId) -> Option<&mut CallState> {
        self.index.get(id).map(|index| &mut self.calls[*index])
    }

    /// Whether a call is at work here, and not waiting at a gate.
    fn is_at_work(&self, state: &CallState) -> bool {
        let id = &state.call.id;
        state.is_started
            && state.outcome.is_none()
            && !self.is_waiting(id)
            && !self.is_held_back(id)
    }

    /// Whether the agent has not been told yet that a call of its own may run: it is told once
    /// everything that its step asks is answered.
    fn is_held_back(&self, id: &CallId) -> bool {
        let last = self.steps.last();
        let mut calls = last.into_iter().flat_map(|step| &step.calls);
        self.is_own(id)
            && self.asked(id).is_some_and(|asked| asked.decision.is_some())
            && calls.any(|id| self.is_waiting(id) || self.is_left_open(id))
    }

    /// Whether the agent waits for somebody to say whether it may run a call of a step. As long as it
    /// does, no page is shown what it is to run: its client would send the output at once, and again
    /// and again, since it takes no notice of what runs at the agent.
    pub(crate) fn is_agent_waiting(&self, step: Option<usize>) -> bool {
        let mut gates = self.open_gates();
        gates.any(|gate| {
            let state = self.call_state(&gate.call);
            state.is_some_and(|state| state.step == step && state.call.place == Place::Agent)
        })
    }

    /// Whether a call, or one that it asked for, waits at a gate.
    pub(crate) fn is_waiting(&self, id: &CallId) -> bool {
        self.gates_of(id).next().is_some()
    }

    /// Whether it is the model's turn to speak: every call of the last step is settled.
    pub(crate) fn is_model_due(&self) -> bool {
        let last = self.steps.last();
        let mut calls = last.into_iter().flat_map(|step| &step.calls);
        self.end.is_none() && calls.all(|id| self.outcome(id).is_some())
    }

    /// Whether the agent is to be asked: it is the model's turn to speak, or all that holds the last
    /// step are calls of the agent's own whose questions are answered.
    pub(crate) fn is_agent_due(&self) -> bool {
        if self.is_agent_asked || self.end.is_some() {
            return false;
        }
        let last = self.steps.last();
        let calls = last.into_iter().flat_map(|step| &step.calls);
        let mut open = calls.filter(|id| self.outcome(id).is_none());
        open.all(|id| self.is_own(id) && !self.is_waiting(id) && self.asked(id).is_some())
    }

    /// Whether the agent was asked for a step, or has calls of its own at work.
    pub(crate) fn is_agent_busy(&self) -> bool {
        self.end.is_none() && (self.is_agent_asked || self.own_calls_at_work().next().is_some())
    }

    /// The calls that the agent runs by itself and that wait for nothing that it has asked, and those
    /// of which it has not said yet who runs them.
    pub(crate) fn own_calls_at_work(&self) -> impl Iterator<Item = &CallId> {
        let calls = self.calls.iter().filter(|state| {
            let id = &state.call.id;
            let is_asked = self.gates_of(id).any(|gate| !gate.is_within());
            let is_own = state.call.place == Place::Agent && state.outcome.is_none();
            is_own && !is_asked && !self.is_held_back(id) || self.is_left_open(id)
        });
        calls.map(|state| &state.call.id)
    }

    /// The open gates that somebody in the middle of a call of the agent's has opened.
    pub(crate) fn gates_within_own_calls(&self) -> impl Iterator<Item = &Gate> {
        self.open_gates()
            .filter(|gate| match self.call(&gate.call) {
                Some(Call {
                    parent: Some(parent),
                    ..
                }) => self.is_own(parent),
                Some(call) => call.place == Place::Agent && gate.is_within(),
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

    /// The open gates of a call, and of those that it asked for.
    pub(crate) fn gates_of(&self, id: &CallId) -> impl Iterator<Item = &Gate> {
        self.open_gates().filter(move |gate| {
            let parent = self.call(&gate.call).and_then(|call| call.parent.as_ref());
            gate.call == *id || parent == Some(id)
        })
    }

    /// The call that the agent runs by itself, or left open, under an id of its own, until it is
    /// settled.
    pub(crate) fn own_call(&self, provider_id: &str) -> Option<CallId> {
        let mut calls = self.calls.iter().rev();
        let state = calls.find(|state| {
            let id = &state.call.id;
            let is_meant = state.call.provider_id.as_deref() == Some(provider_id);
            is_meant && (self.is_own(id) || self.is_left_open(id))
        })?;
        state.outcome.is_none().then(|| state.call.id.clone())
    }

    /// Whether the agent has not said yet who runs a call.
    pub(crate) fn is_left_open(&self, id: &CallId) -> bool {
        let is_asked = || self.gates.iter().any(|state| state.gate.call == *id);
        let state = self.call_state(id);
        state.is_some_and(|state| state.is_open && state.outcome.is_none() && !is_asked())
    }

    /// Whether the agent has asked about a call, and was not told the answer yet.
    pub(crate) fn is_asked_of(&self, id: &CallId) -> bool {
        let mut gates = self.open_gates();
        gates.any(|gate| gate.call == *id && !gate.is_within()) || self.is_held_back(id)
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

    /// Whether a server that is gone may have asked the agent for the running step before.
    pub fn is_asked_again(&self) -> bool {
        self.is_asked_again
    }

    /// The calls of the last step that the agent runs by itself, asked about or left open, and how
    /// they stand.
    pub fn own_calls(&self) -> Vec<OwnCall> {
        let calls = self.steps.last().into_iter().flat_map(|step| &step.calls);
        let states = calls.filter_map(|id| self.call_state(id));
        let own = states.filter_map(|state| {
            let asked = self.asked(&state.call.id);
            let is_own = state.call.place == Place::Agent;
            let is_asked = asked.as_ref().is_some_and(|asked| asked.token.is_some());
            let is_open = self.is_left_open(&state.call.id);
            (is_own || is_asked || is_open).then(|| OwnCall {
                call: state.call.clone(),
                asked,
                outcome: state.outcome.clone(),
            })
        });
        own.collect()
    }

    /// What the agent asked last of a call of its own.
    fn asked(&self, id: &CallId) -> Option<Asked> {
        let mut gates = self.gates.iter().rev();
        let is_asked = |state: &&GateState| {
            let is_question = matches!(state.gate.kind, GateKind::Approval { within: false, .. });
            state.gate.call == *id && is_question
        };
        let state = gates.find(is_asked)?;
        Some(Asked {
            token: state.gate.token.clone(),
            decision: state.decision.clone(),
        })
    }

    /// Why somebody said no to what a call asked last in the middle of its work, if somebody did.
    pub(crate) fn denial_within(&self, id: &CallId) -> Option<Option<String>> {
        let mut gates = self.gates.iter().rev();
        let asked = gates.find(|state| state.gate.call == *id && state.gate.is_within())?;
        match &asked.decision {
            Some(Decision::Denied { reason }) => Some(reason.clone()),
            _ => None,
        }
    }

    fn is_own(&self, id: &CallId) -> bool {
        self.call(id).is_some_and(|call| call.place == Place::Agent)
    }

    pub(crate) fn calls_at_work(&self) -> impl Iterator<Item = &CallState> {
        self.calls.iter().filter(|state| self.is_at_work(state))
    }

    fn is_parked(&self) -> bool {
        self.end.is_none()
            && !self.is_model_due()
            && self.calls_at_work().next().is_none()
            && !self
                .calls
                .iter()
                .any(|state| self.is_left_open(&state.call.id))
            && self.open_gates().next().is_some()
    }
}

/// What a tool that runs again is told of its earlier run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Recorded {
    /// Results by name.
    pub records: Vec<(String, Value)>,
    /// Gates that the tool opened, with what was decided.
    pub gates: Vec<(GateId, Option<Decision>)>,
}
