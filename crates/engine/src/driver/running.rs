//! Which runs of the agent and of tools are current. Runs have numbers, so that the events of one that
//! was stopped are ignored.

use std::collections::{BTreeMap, BTreeSet};

use turn::{CallId, GateId};

/// What runs for a chat.
#[derive(Debug, Default)]
pub(super) struct Running {
    last: u64,
    /// The model call that is listened to, also when it has ended its step.
    model: Option<u64>,
    /// Whether the model has not ended its step yet.
    pub(super) is_speaking: bool,
    /// The run of each call that is listened to.
    pub(super) tools: BTreeMap<CallId, u64>,
    /// The gates at which somebody waits: a run of a tool, or the agent's side.
    waiting: BTreeMap<GateId, Option<u64>>,
    /// Long-running calls, which continue even if their turn ends.
    pub(super) later: BTreeSet<CallId>,
}

impl Running {
    /// Whether nothing runs.
    pub(super) fn is_quiet(&self) -> bool {
        !self.is_speaking && self.tools.is_empty() && self.later.is_empty()
    }

    /// Listens to a new model call.
    pub(super) fn call_model(&mut self) -> u64 {
        self.last += 1;
        self.model = Some(self.last);
        self.is_speaking = true;
        self.last
    }

    /// Whether a model call is the one that is listened to.
    pub(super) fn is_current(&self, run: u64) -> bool {
        self.model == Some(run)
    }

    /// Listens to a new run of a call, and no more to an earlier one.
    pub(super) fn run_tool(&mut self, call: &CallId) -> u64 {
        self.end_tool(call);
        self.last += 1;
        self.tools.insert(call.clone(), self.last);
        self.last
    }

    /// Whether a run of a call is listened to.
    pub(super) fn is_current_tool(&self, call: &CallId, run: u64) -> bool {
        self.tools.get(call) == Some(&run)
    }

    /// Listens no more to the run of a call, and says whether there was one.
    pub(super) fn end_tool(&mut self, call: &CallId) -> bool {
        let run = self.tools.remove(call);
        self.waiting
            .retain(|_, waits| waits.is_none() || *waits != run);
        run.is_some()
    }

    /// Has a run, or the agent's side, wait at a gate.
    pub(super) fn wait(&mut self, gate: GateId, run: Option<u64>) {
        self.waiting.insert(gate, run);
    }

    /// Whether somebody waited at a gate, who waits no more.
    pub(super) fn wake(&mut self, gate: &GateId) -> bool {
        self.waiting.remove(gate).is_some()
    }

    /// The calls whose tools run and wait for nobody.
    pub(super) fn calls_at_work(&self) -> Vec<CallId> {
        let tools = self.tools.iter();
        let waits = |run: &u64| self.waiting.values().any(|waits| *waits == Some(*run));
        let at_work = tools.filter(|(_, run)| !waits(run));
        at_work.map(|(call, _)| call.clone()).collect()
    }

    /// Ignores all runs except the tools of these calls. Long-running calls continue.
    pub(super) fn stop(&mut self, kept: &[CallId]) {
        self.tools.retain(|call, _| kept.contains(call));
        *self = Self {
            last: self.last,
            tools: std::mem::take(&mut self.tools),
            later: std::mem::take(&mut self.later),
            ..Self::default()
        };
    }
}
