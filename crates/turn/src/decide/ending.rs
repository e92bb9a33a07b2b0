//! Decisions about a turn that ends before its agent has said all.

use crate::call::{Outcome, UnknownReason};
use crate::chat::Chat;
use crate::event::{End, Event, Finish};
use crate::failure::FailureCode;
use crate::gate::Decision;
use crate::id::{CallId, GateId};
use crate::input::{Effect, Output};
use crate::reason;
use crate::step_in_progress::Piece;

use super::step::step_ended;

impl Chat {
    /// Ends the current turn, whatever it waits for or does.
    pub(super) fn give_up(&mut self, output: &mut Output, decision: Decision) {
        let Some(turn) = self.current().filter(|turn| turn.end().is_none()) else {
            return;
        };
        let id = turn.id().clone();
        let gates: Vec<GateId> = turn.open_gates().map(|gate| gate.id.clone()).collect();
        let at_work: Vec<CallId> = turn
            .calls_at_work()
            .map(|state| state.call.id.clone())
            .collect();
        let calls: Vec<CallId> = turn
            .calls
            .iter()
            .filter(|state| !state.is_settled())
            .map(|state| state.call.id.clone())
            .collect();
        for gate in gates {
            let (turn, decision) = (id.clone(), decision.clone());
            self.decide(
                output,
                [Event::GateClosed {
                    turn,
                    gate,
                    decision,
                }],
            );
        }
        for call in calls {
            let outcome = match decision {
                // What it was doing when it was stopped may have been done.
                _ if at_work.contains(&call) => Outcome::Unknown {
                    reason: UnknownReason::TurnStopped,
                },
                Decision::Superseded => Outcome::Denied {
                    reason: Some(reason::SUPERSEDED.to_owned()),
                },
                _ => Outcome::Error {
                    error: "The turn was stopped.".to_owned(),
                },
            };
            self.settle_call(output, call, outcome);
        }
        self.keep_what_was_said(output);
        let end = End::Stopped;
        self.decide(output, [Event::TurnEnded { turn: id, end }]);
        output.effects.push(Effect::StopWork);
    }

    pub(super) fn agent_fails(
        &mut self,
        output: &mut Output,
        code: &str,
        message: String,
        retry_after_ms: Option<u64>,
    ) {
        let Some(turn) = self.current().filter(|turn| turn.end().is_none()) else {
            return;
        };
        let unsettled = turn.calls.iter().filter(|state| !state.is_settled());
        let unsettled: Vec<CallId> = unsettled.map(|state| state.call.id.clone()).collect();
        // If the agent ran but one call, that is what failed.
        let mut at_work = turn.own_calls_at_work();
        let failure = FailureCode::named(code);
        let has_failed = failure == Some(FailureCode::AgentFailed);
        let only = at_work.next().filter(|_| has_failed).cloned();
        let failed = only.filter(|_| at_work.next().is_none());
        drop(at_work);
        let turn = turn.id().clone();
        let reason = match failure {
            Some(FailureCode::AgentCutOff) => UnknownReason::ConnectionCut,
            _ => UnknownReason::AgentFailed,
        };
        for call in unsettled {
            // With the call in the middle of which it was made.
            if self
                .call(&call)
                .is_some_and(|(turn, _)| turn.outcome(&call).is_some())
            {
                continue;
            }
            let outcome = match failed == Some(call.clone()) {
                true => Outcome::Error {
                    error: message.clone(),
                },
                // What the agent was doing by itself may have been done.
                false => Outcome::Unknown { reason },
            };
            self.settle_own_call(output, call, outcome);
        }
        self.keep_what_was_said(output);
        let end = End::Failed {
            code: code.to_owned(),
            message,
            retry_after_ms,
        };
        self.decide(output, [Event::TurnEnded { turn, end }]);
        output.effects.push(Effect::StopWork);
        self.open_queued(output);
    }

    /// Journals what the model said of a step that it will not end. Its calls are not made.
    pub(super) fn keep_what_was_said(&mut self, output: &mut Output) {
        let Some(turn) = self.current_mut() else {
            return;
        };
        let id = turn.id().clone();
        let Some(mut in_progress) = turn.in_progress.clone() else {
            return;
        };
        in_progress.calls.clear();
        in_progress
            .parts
            .retain(|said| matches!(said, Piece::Part(_)));
        if in_progress.is_begun {
            let step = step_ended(&id, &in_progress, &[], Finish::Cut);
            self.decide(output, [step]);
        }
        self.note_session(output, &id, in_progress.session);
    }
}
