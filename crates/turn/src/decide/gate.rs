//! Decisions about gates: how they are opened, answered and withdrawn, and what that makes of their calls.

use std::time::Duration;

use serde_json::Value;

use crate::call::{Outcome, Place};
use crate::chat::Chat;
use crate::event::Event;
use crate::gate::{Decision, Gate, GateKind};
use crate::id::{CallId, GateId};
use crate::input::{Effect, Output};
use crate::limits::MAX_OPEN_GATES;
use crate::reason;
use crate::time::At;
use crate::turn::Turn;

/// How long a page has for a call whose approval had a deadline.
const PAGE_TIMEOUT: Duration = Duration::from_secs(30);

impl Chat {
    pub(super) fn open_gate(&mut self, output: &mut Output, gate: Gate) {
        let Some(turn) = self.current() else {
            return;
        };
        let gate = Gate {
            is_excess: turn.open_gates().count() >= MAX_OPEN_GATES,
            ..gate
        };
        let turn = turn.id().clone();
        let call = self.call(&gate.call).map(|(_, call)| call);
        let refusal = call.and_then(|call| gate.refusal(call));
        let (id, expires) = (gate.id.clone(), gate.expires);
        self.decide(output, [Event::GateOpened { turn, gate }]);
        match (refusal, expires) {
            // In the same entry: nobody sees it open.
            (Some(decision), _) => self.answer(output, &id, decision, At(0)),
            (None, Some(at)) => output.effects.push(Effect::SetTimer { gate: id, at }),
            (None, None) => {}
        }
    }

    /// Closes a gate. One that is closed already stays as it is: the first answer wins.
    pub(super) fn answer(&mut self, output: &mut Output, id: &GateId, decision: Decision, now: At) {
        let Some(turn) = self.current() else { return };
        let Some((gate, None)) = turn.gate(id) else {
            return;
        };
        let (gate, turn) = (gate.clone(), turn.id().clone());
        let Some((_, call)) = self.call(&gate.call) else {
            return;
        };
        let (place, parent) = (call.place, call.parent.clone());
        let closed = Event::GateClosed {
            turn: turn.clone(),
            gate: id.clone(),
            decision: decision.clone(),
        };
        self.decide(output, [closed]);
        match gate.kind {
            GateKind::ToolApproval { .. } => {
                // A call of an agent inside that may not run is over. One that may is for the agent to
                // run, which reports the outcome.
                if parent.is_some() && decision.approved() != Some(true) {
                    self.settle_call(output, gate.call.clone(), outcome(decision.clone()));
                }
                output.effects.push(Effect::WakeTool {
                    gate: gate.id,
                    call: parent.unwrap_or(gate.call),
                    decision,
                });
            }
            GateKind::Approval { .. } => match decision {
                Decision::Approved { .. } if place == Place::Server => {
                    output.effects.push(Effect::RunTool(gate.call.clone()));
                    let call = gate.call;
                    self.decide(output, [Event::CallStarted { turn, call }]);
                }
                // The agent gets the answers once all are there.
                Decision::Approved { .. } if place == Place::Agent => {}
                Decision::Approved { .. } => {
                    // The time that the person took is not the page's.
                    let wait = self.client_deadline(gate.expires.map(|_| PAGE_TIMEOUT), now);
                    if let Some(turn) = self.current() {
                        let gate = self::gate(turn, gate.call, GateKind::ClientCall, wait);
                        self.open_gate(output, gate);
                    }
                }
                decision => self.settle_call(output, gate.call, outcome(decision)),
            },
            kind @ (GateKind::ClientCall | GateKind::Question { .. }) => {
                let outcome = match (&decision, kind) {
                    (Decision::TimedOut, GateKind::Question { .. }) => Outcome::Error {
                        error: reason::QUESTION_TIMED_OUT.to_owned(),
                    },
                    (Decision::TimedOut, _) => Outcome::Error {
                        error: reason::PAGE_TIMED_OUT.to_owned(),
                    },
                    // Nothing was to run: the question has no answer.
                    (Decision::Denied { reason }, GateKind::Question { .. }) => Outcome::Error {
                        error: reason::declined(reason.as_deref()),
                    },
                    _ => outcome(decision.clone()),
                };
                self.settle_call(output, gate.call.clone(), outcome);
                let is_agents = gate.token.is_some();
                if let Some(call) = parent.clone().filter(|_| is_agents) {
                    // The agent gets the answers once all are there. Without one, the call that it
                    // asked about does not run.
                    if !matches!(decision, Decision::Output { .. }) {
                        self.settle_call(output, call, self::outcome(decision));
                    }
                } else if let Some(call) = parent {
                    output.effects.push(Effect::WakeTool {
                        gate: gate.id,
                        call,
                        decision,
                    });
                }
            }
        }
        self.advance(output);
    }

    /// Closes what a call asked in the middle of its work: one that is over waits for no answer.
    pub(super) fn cancel_questions(&mut self, output: &mut Output, call: &CallId) {
        let Some(turn) = self.current() else { return };
        let gates = turn.gates_of(call).cloned().collect();
        self.withdraw(output, gates, Some(call));
    }

    /// Closes gates that nobody waits at any more, and settles the pages' calls that tools asked for;
    /// but not the one that is being settled.
    pub(super) fn withdraw(
        &mut self,
        output: &mut Output,
        gates: Vec<Gate>,
        settling: Option<&CallId>,
    ) {
        let Some(id) = self.current().map(|turn| turn.id().clone()) else {
            return;
        };
        for gate in gates {
            let closed = Event::GateClosed {
                turn: id.clone(),
                gate: gate.id,
                decision: Decision::Cancelled,
            };
            self.decide(output, [closed]);
            let made = self.call(&gate.call).map(|(_, made)| made);
            if made.is_some_and(|made| made.parent.is_some() && Some(&made.id) != settling) {
                let error = reason::NOT_NEEDED.to_owned();
                self.settle_call(output, gate.call, Outcome::Error { error });
            }
        }
    }
}

/// The turn's next gate.
pub(super) fn gate(turn: &Turn, call: CallId, kind: GateKind, expires: Option<At>) -> Gate {
    Gate {
        id: GateId::of(turn.id(), turn.gates.len()),
        call,
        kind,
        expires,
        token: None,
        input: None,
        is_excess: false,
    }
}

/// What becomes of a call whose gate was closed so.
fn outcome(decision: Decision) -> Outcome {
    match decision {
        Decision::Output { output } => Outcome::Output { output },
        Decision::Failed { error } => Outcome::Error { error },
        Decision::Denied { reason } => Outcome::Denied { reason },
        Decision::Superseded => Outcome::Denied {
            reason: Some(reason::SUPERSEDED.to_owned()),
        },
        Decision::TimedOut => Outcome::Error {
            error: reason::TIMED_OUT.to_owned(),
        },
        Decision::Cancelled => Outcome::Error {
            error: reason::CANCELLED.to_owned(),
        },
        Decision::Approved { .. } => Outcome::Output {
            output: Value::Null,
        },
    }
}
