//! One turn, folded from its events: what it has done, what it waits for, and what it has said.

mod apply;
mod call_state;
mod own_calls;
mod recorded;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) use self::call_state::{CallState, Phase};
pub use self::recorded::{AskedOf, Recorded, RecordedGate};
use crate::agent::{CallResult, HistoryItem, Part};
use crate::call::{Call, Outcome};
use crate::event::{Cause, End};
use crate::gate::{Decision, Gate, GateKind};
use crate::id::{CallId, GateId, TurnId};
use crate::item::Item;
use crate::message::Message;
use crate::page_tool::{PageTool, PageTools};
use crate::queue::InjectedMessage;
use crate::step_in_progress::StepInProgress;
use crate::time::At;
use crate::trace::{SpanKey, TraceContext};

/// The status of a turn.
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
    pub(crate) page_tools: PageTools,
    opened: At,
    /// The request that opened it, by the id that its client gave it.
    pub(crate) request: Option<Box<str>>,
    pub(crate) trace: Option<TraceContext>,
    pub(crate) steps: Vec<Step>,
    /// Messages that were given to the agent between its steps.
    pub(crate) injected: Vec<InjectedMessage>,
    /// Calls in the order in which they were made.
    pub(crate) calls: Vec<CallState>,
    index: HashMap<CallId, usize>,
    pub(crate) gates: Vec<GateState>,
    end: Option<End>,
    /// Whether the agent was asked for a step that it has not ended. No journal says so: a
    /// server that takes the turn up asks again.
    pub(crate) is_agent_asked: bool,
    /// Whether a server that is gone may have asked before.
    pub(crate) is_asked_again: bool,
    pub(crate) in_progress: Option<StepInProgress>,
    /// What was said since it was last taken.
    pub(crate) items: Vec<Item>,
}

/// A step that the model has ended.
#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) parts: Vec<Part>,
    pub(crate) calls: Vec<CallId>,
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
            page_tools: PageTools::default(),
            opened,
            request: None,
            trace: None,
            steps: Vec::new(),
            injected: Vec::new(),
            calls: Vec::new(),
            index: HashMap::new(),
            gates: Vec::new(),
            end: None,
            is_agent_asked: false,
            is_asked_again: false,
            in_progress: None,
            items: Vec::new(),
        }
    }

    /// The tools that the page declared with its message.
    pub fn page_tools(&self) -> &[PageTool] {
        self.page_tools.as_slice()
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

    /// Where it belongs in a distributed trace, if it is traced.
    pub fn trace(&self) -> Option<TraceContext> {
        self.trace.clone()
    }

    /// The span of the step that runs, or is about to.
    pub fn step_trace(&self) -> Option<TraceContext> {
        let step = SpanKey::Step(self.steps.len());
        Some(self.trace.as_ref()?.below(&self.id, step))
    }

    /// The span of a call.
    pub fn call_trace(&self, call: &CallId) -> Option<TraceContext> {
        Some(self.trace.as_ref()?.below(&self.id, SpanKey::Call(call)))
    }

    pub(crate) fn push_item(&mut self, item: Item) {
        self.items.push(item);
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

    /// Its status.
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

    /// Long-running calls, whose results open turns of their own.
    pub(crate) fn pending_calls(&self) -> impl Iterator<Item = &Call> {
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

    /// Its steps after the first `steps`, as items of the history, with the messages that were given to
    /// the agent between them after the first `injected`.
    pub(crate) fn items_after(
        &self,
        steps: usize,
        injected: usize,
    ) -> impl Iterator<Item = HistoryItem> {
        (steps..=self.steps.len()).flat_map(move |place| {
            let messages = self.injected.iter().skip(injected);
            let messages = messages.filter(move |next| next.after_steps.max(steps) == place);
            let messages = messages.map(|next| HistoryItem::Message(next.message.clone()));
            messages.chain(self.history_step(place))
        })
    }

    fn history_step(&self, place: usize) -> Option<HistoryItem> {
        self.steps.get(place).map(|step| {
            let results = step.calls.iter().filter_map(|id| self.call_state(id));
            let results = results.filter_map(|state| {
                Some(CallResult {
                    call: state.call.clone(),
                    edited_input: state.edited_input.clone(),
                    outcome: state.outcome()?.clone(),
                })
            });
            HistoryItem::Step {
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

    /// The open gates of a call, and of those that it asked for.
    pub(crate) fn gates_of(&self, id: &CallId) -> impl Iterator<Item = &Gate> {
        self.open_gates().filter(move |gate| {
            let parent = self.call(&gate.call).and_then(|call| call.parent.as_ref());
            gate.call == *id || parent == Some(id)
        })
    }

    /// Whether an agent made a call that runs as a tool.
    fn is_inner(&self, id: &CallId) -> bool {
        self.call_state(id).is_some_and(CallState::is_inner)
    }

    /// The calls inside of a call that an agent makes there, and that are not over.
    pub(crate) fn open_inner_calls(&self, parent: &CallId) -> impl Iterator<Item = &CallId> {
        let calls = self.calls.iter().filter(move |state| {
            let is_inside = state.call.parent.as_ref() == Some(parent);
            is_inside && state.is_inner() && !state.is_settled()
        });
        calls.map(|state| &state.call.id)
    }

    /// The call of a key that an agent made inside of a call, until it is over.
    pub(crate) fn inner_call(&self, parent: &CallId, key: &str) -> Option<CallId> {
        let mut calls = self.open_inner_calls(parent);
        let is_meant = |id: &&CallId| {
            let made = self.call(id).and_then(|call| call.provider_id.as_deref());
            made == Some(key)
        };
        calls.find(is_meant).cloned()
    }

    /// Whether a server that is gone may have asked the agent for the running step before.
    pub fn is_asked_again(&self) -> bool {
        self.is_asked_again
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
