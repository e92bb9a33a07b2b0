//! One turn, folded from its events: what it has done, what it waits for, and what it has said.

mod apply;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agent::{Asked, CallResult, OwnCall, Part, Past};
use crate::call::{Call, Outcome, Place};
use crate::event::{Cause, End};
use crate::gate::{Decision, Gate, GateKind};
use crate::id::{CallId, GateId, TurnId};
use crate::live::Live;
use crate::message::Message;
use crate::said::Item;
use crate::time::At;

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
    opened: At,
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
    /// What was said since somebody took it.
    pub(crate) said: Vec<Item>,
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
    /// It may run. The agent that runs it is told once everything that its step asks is answered.
    Approved,
    /// It runs, here or at the agent; its tool may be asking somebody meanwhile.
    Running,
    /// It is over.
    Settled(Outcome),
}

impl CallState {
    fn new(call: Call) -> Self {
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

    fn is_own(&self) -> bool {
        self.call.place == Place::Agent
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
    fn is_left_open(&self) -> bool {
        self.phase == Phase::Proposed && !self.is_own()
    }
}

/// A gate and what was decided.
#[derive(Debug, Clone)]
pub(crate) struct GateState {
    pub(crate) gate: Gate,
    pub(crate) decision: Option<Decision>,
}

impl Turn {
    pub(crate) fn open(
        id: TurnId,
        message_id: String,
        cause: Cause,
        after: Option<TurnId>,
        opened: At,
    ) -> Self {
        Self {
            id,
            message_id,
            cause,
            after,
            opened,
            steps: Vec::new(),
            calls: Vec::new(),
            index: HashMap::new(),
            gates: Vec::new(),
            end: None,
            is_agent_asked: false,
            is_asked_again: false,
            live: None,
            said: Vec::new(),
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

    /// When it was opened.
    pub fn opened(&self) -> At {
        self.opened
    }

    pub(crate) fn say(&mut self, item: Item) {
        self.said.push(item);
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
        self.call_state(id)?.outcome()
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

    /// All gates, in the order in which they were opened, with what was decided.
    pub fn gates(
        &self,
    ) -> impl DoubleEndedIterator<Item = (&Gate, Option<&Decision>)> + ExactSizeIterator {
        let gates = self.gates.iter();
        gates.map(|state| (&state.gate, state.decision.as_ref()))
    }

    /// The gate that was opened last.
    pub fn last_gate(&self) -> Option<&Gate> {
        self.gates.last().map(|state| &state.gate)
    }

    /// Calls that go on by themselves, and whose results open turns of their own.
    pub fn pending_calls(&self) -> impl Iterator<Item = &Call> {
        let is_pending =
            |state: &&CallState| matches!(state.outcome(), Some(Outcome::Pending { .. }));
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
            GateKind::Approval { .. } => false,
            GateKind::ToolApproval { .. } => state.gate.call == *id,
            GateKind::ClientCall => {
                let call = self.call(&state.gate.call);
                call.is_some_and(|call| call.parent.as_ref() == Some(id))
            }
        });
        let gates = asked.map(|state| RecordedGate {
            id: state.gate.id.clone(),
            asked: match &state.gate.kind {
                GateKind::ClientCall => self.call(&state.gate.call).map(|call| AskedOf::Page {
                    tool: call.tool.clone(),
                    input: call.input.clone(),
                }),
                kind => kind.question().map(|question| AskedOf::Person {
                    question: question.to_owned(),
                }),
            },
            decision: state.decision.clone(),
        });
        Recorded {
            records: records.unwrap_or_default(),
            gates: gates.collect(),
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
                    outcome: state.outcome()?.clone(),
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

    /// The calls of the last step.
    fn last_calls(&self) -> impl Iterator<Item = &CallState> {
        let calls = self.steps.last().into_iter().flat_map(|step| &step.calls);
        calls.filter_map(|id| self.call_state(id))
    }

    /// Whether it is the model's turn to speak: every call of the last step is settled.
    pub(crate) fn is_model_due(&self) -> bool {
        self.end.is_none() && self.last_calls().all(CallState::is_settled)
    }

    /// Whether the agent is to be asked: it is the model's turn to speak, or all that holds the last
    /// step are calls of the agent's own whose questions are answered.
    pub(crate) fn is_agent_due(&self) -> bool {
        let may_go_on = |state: &CallState| state.is_settled() || state.phase == Phase::Approved;
        !self.is_agent_asked && self.end.is_none() && self.last_calls().all(may_go_on)
    }

    /// The calls of the agent's own that it may run, and was not told so.
    pub(crate) fn approved_calls(&self) -> impl Iterator<Item = &CallId> {
        let calls = self.calls.iter();
        let approved = calls.filter(|state| state.phase == Phase::Approved);
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
            let is_meant = state.call.provider_id.as_deref() == Some(provider_id);
            is_meant && (state.is_own() || state.is_left_open())
        })?;
        (!state.is_settled()).then(|| state.call.id.clone())
    }

    /// Whether the agent has not said yet who runs a call.
    pub(crate) fn is_left_open(&self, id: &CallId) -> bool {
        self.call_state(id).is_some_and(CallState::is_left_open)
    }

    /// Whether the agent has asked about a call, and was not told the answer yet.
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

    /// Whether a server that is gone may have asked the agent for the running step before.
    pub fn is_asked_again(&self) -> bool {
        self.is_asked_again
    }

    /// The calls of the last step that the agent runs by itself, asked about or left open, and how
    /// they stand.
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

    /// What the agent asked last of a call of its own.
    fn asked(&self, id: &CallId) -> Option<Asked> {
        let mut gates = self.gates.iter().rev();
        let is_asked = |state: &&GateState| {
            let is_question = matches!(state.gate.kind, GateKind::Approval { .. });
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
        let asked = gates.find(|state| {
            let is_tools = matches!(state.gate.kind, GateKind::ToolApproval { .. });
            state.gate.call == *id && is_tools
        })?;
        match &asked.decision {
            Some(Decision::Denied { reason }) => Some(reason.clone()),
            _ => None,
        }
    }

    /// The calls that are under way and wait at no gate.
    pub(crate) fn calls_at_work(&self) -> impl Iterator<Item = &CallState> {
        let is_waiting = |state: &CallState| self.gates_of(&state.call.id).next().is_some();
        let calls = self.calls.iter().filter(|state| state.is_under_way());
        calls.filter(move |state| !is_waiting(state))
    }

    fn is_parked(&self) -> bool {
        self.end.is_none()
            && !self.is_model_due()
            && self.calls_at_work().next().is_none()
            && !self.calls.iter().any(CallState::is_left_open)
            && self.open_gates().next().is_some()
    }
}

/// What a tool that runs again is told of its earlier run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Recorded {
    /// Results by name.
    pub records: Vec<(String, Value)>,
    /// Gates that the tool opened.
    pub gates: Vec<RecordedGate>,
}

/// A gate that a tool opened in an earlier run.
#[derive(Debug, Clone, PartialEq)]
pub struct RecordedGate {
    /// The gate.
    pub id: GateId,
    /// What was asked: an answer belongs to a question, not to its number.
    pub asked: Option<AskedOf>,
    /// What was decided.
    pub decision: Option<Decision>,
}

/// What a tool asks in the middle of its work, and of whom.
#[derive(Debug, Clone, PartialEq)]
pub enum AskedOf {
    /// Of a person.
    Person {
        /// The question.
        question: String,
    },
    /// Of a page.
    Page {
        /// The tool that it is to run.
        tool: String,
        /// The tool's input.
        input: Value,
    },
}
