//! Decisions about a turn that another process left.

use crate::call::{Outcome, Place, UnknownReason};
use crate::chat::Chat;
use crate::event::Event;
use crate::gate::{Decision, GateKind};
use crate::id::{CallId, GateId};
use crate::input::{Effect, Output};
use crate::time::At;
use crate::turn::{Status, Turn};

impl Chat {
    /// Takes up a turn that another process left, or this one while the store could not be written to.
    pub(super) fn recover(
        &mut self,
        output: &mut Output,
        idempotent: &[CallId],
        here: &[CallId],
        by: Option<String>,
    ) {
        let Some(turn) = self.current().filter(|turn| turn.end().is_none()) else {
            return self.open_queued(output);
        };
        if let Some(by) = by.filter(|_| turn.status() == Status::Running) {
            let (turn, epoch) = (turn.id().clone(), self.epoch() + 1);
            self.decide(output, [Event::TurnClaimed { turn, epoch, by }]);
        }
        // Asked by a version that did not look whether what it showed was what would run.
        for (gate, decision) in self.refused_questions() {
            self.answer(output, &gate, decision, At(0));
        }
        if output.effects.contains(&Effect::CallModel) {
            return;
        }
        let Some(turn) = self.current() else { return };
        let timers = turn.open_gates().filter_map(|gate| {
            let at = gate.expires?;
            let gate = gate.id.clone();
            Some(Effect::SetTimer { gate, at })
        });
        output.effects.extend(timers);
        let at_work: Vec<CallId> = turn
            .calls_at_work()
            .filter(|state| state.call.place == Place::Server)
            .map(|state| state.call.id.clone())
            .filter(|call| !here.contains(call))
            .collect();
        if turn.is_model_due() {
            return self.ask_agent(output);
        }
        // A tool of the agent's that asked is gone with the server that listened.
        let orphans = turn.gates_within_own_calls().cloned().collect();
        self.withdraw(output, orphans, None);
        if self.current().is_some_and(Turn::is_agent_busy) {
            self.ask_agent(output);
        }
        for call in at_work {
            if idempotent.contains(&call) {
                output.effects.push(Effect::RunTool(call));
            } else {
                let reason = UnknownReason::ServerStopped;
                self.settle_call(output, call, Outcome::Unknown { reason });
            }
        }
        self.advance(output);
    }

    /// The open questions about calls that have not begun which nobody should be asked.
    fn refused_questions(&self) -> Vec<(GateId, Decision)> {
        let turn = self.current().into_iter();
        let gates = turn.flat_map(|turn| turn.open_gates().map(move |gate| (turn, gate)));
        let refused = gates.filter_map(|(turn, gate)| {
            let is_question = matches!(gate.kind, GateKind::Approval { .. });
            let call = turn.call(&gate.call).filter(|_| is_question)?;
            Some((gate.id.clone(), gate.refusal(call)?))
        });
        refused.collect()
    }
}
