//! Decisions about the running step: what the agent says, and what becomes of its calls.

use std::vec::IntoIter;

use serde_json::Value;

use super::earliest;
use super::gate::gate;
use crate::agent::{AgentEvent, CompactEvent, Part};
use crate::call::{Call, Outcome, Place};
use crate::chat::Chat;
use crate::event::{End, Event, Finish};
use crate::gate::{Gate, GateKind};
use crate::id::{CallId, TurnId};
use crate::input::{Effect, Output};
use crate::item::Item;
use crate::policy::{PolicyDecision, Verdict};
use crate::step_in_progress::{Piece, ProposedCall, StepInProgress};
use crate::time::At;

impl Chat {
    /// Takes the leading deltas of the text or reasoning that is open, and hands each to `say`. Nearly
    /// all events of an agent are deltas; they need no entry and have no effect.
    pub fn push_deltas(&mut self, events: &mut IntoIter<CompactEvent>, say: impl FnMut(String)) {
        let turn = self.current_mut().filter(|turn| turn.is_model_due());
        if let Some(turn) = turn {
            turn.push_deltas(events, say);
        }
    }

    pub(super) fn agent_event(
        &mut self,
        output: &mut Output,
        event: AgentEvent,
        policy: Option<PolicyDecision>,
        now: At,
    ) {
        let is_of_earlier = matches!(
            event,
            AgentEvent::Asks { .. }
                | AgentEvent::Waits { .. }
                | AgentEvent::Progress { .. }
                | AgentEvent::Settled { .. }
        );
        let turn = self.current_mut().filter(|turn| turn.is_model_due());
        let Some(turn) = turn.filter(|_| !is_of_earlier) else {
            return self.agent_event_after_step(output, event, policy, now);
        };
        let finish = match &event {
            AgentEvent::Ended(finish) => Some(*finish),
            AgentEvent::Failed {
                code,
                message,
                retry_after_ms,
            } => {
                let (code, message, retry) = (*code, message.clone(), *retry_after_ms);
                return self.agent_fails(output, code, message, retry);
            }
            _ => None,
        };
        // What no page is shown begins nothing: the agent may fail before it says a word.
        let is_silent = matches!(event, AgentEvent::Session(_) | AgentEvent::Metadata(_));
        let in_progress = turn.in_progress.get_or_insert_default();
        let items = in_progress.take(event, policy);
        if !in_progress.is_begun && !is_silent {
            in_progress.is_begun = true;
            turn.items.push(Item::StepBegun);
        }
        turn.items.extend(items);
        if let Some(finish) = finish {
            self.end_step(output, finish, now);
        }
    }

    /// Journals the running step, and decides what becomes of its calls.
    pub(super) fn end_step(&mut self, output: &mut Output, finish: Finish, now: At) {
        let Some(turn) = self.current() else {
            return;
        };
        let id = turn.id().clone();
        let in_progress = turn.in_progress.clone().unwrap_or_default();
        let first = turn.calls.len();
        let calls: Vec<Call> = in_progress
            .calls
            .iter()
            .enumerate()
            .map(|(n, made)| call(&id, first + n, made))
            .collect();
        let step = step_ended(&id, &in_progress, &calls, finish);
        self.decide(output, [step]);
        self.note_session(output, &id, in_progress.session);
        for (made, call) in in_progress.calls.into_iter().zip(calls) {
            self.rule(output, made, call.id, now);
        }
        if self
            .current()
            .is_some_and(|turn| turn.steps.last().is_some_and(|step| step.calls.is_empty()))
        {
            let end = End::Finished;
            self.decide(output, [Event::TurnEnded { turn: id, end }]);
            self.open_queued(output);
        } else {
            self.advance(output);
        }
    }

    fn rule(&mut self, output: &mut Output, made: ProposedCall, call: CallId, now: At) {
        let Some(turn) = self.current() else {
            return;
        };
        let id = turn.id().clone();
        let timeout = made.policy.timeout;
        let expires = earliest(timeout.map(|timeout| now + timeout), made.expires);
        if made.is_open {
            return;
        }
        match made.policy.verdict {
            Verdict::Invalid { error } => {
                self.settle_call(output, call, Outcome::Invalid { error });
            }
            Verdict::Deny { reason } => {
                let reason = Some(reason);
                self.settle_call(output, call, Outcome::Denied { reason });
            }
            Verdict::Ask { question } => {
                let kind = GateKind::Approval { question };
                let gate = Gate {
                    token: made.token,
                    ..gate(turn, call, kind, expires)
                };
                self.open_gate(output, gate);
            }
            Verdict::Allow => match made.policy.place {
                Place::Client => {
                    let expires = self.client_deadline(made.policy.timeout, now);
                    let gate = gate(turn, call, GateKind::ClientCall, expires);
                    self.open_gate(output, gate);
                }
                Place::Server => {
                    output.effects.push(Effect::RunTool(call.clone()));
                    self.decide(output, [Event::CallStarted { turn: id, call }]);
                }
                // It says by itself that it has run it, or asks.
                Place::Agent => {}
            },
        }
    }

    pub(super) fn note_session(
        &mut self,
        output: &mut Output,
        turn: &TurnId,
        session: Option<Value>,
    ) {
        if let Some(session) = session {
            let turn = turn.clone();
            self.decide(output, [Event::SessionNoted { turn, session }]);
        }
    }
}

fn call(turn: &TurnId, n: usize, made: &ProposedCall) -> Call {
    Call {
        id: CallId::of(turn, n),
        provider_id: made.provider_id.clone(),
        tool: made.tool.clone(),
        input: made.input.clone(),
        place: made.policy.place,
        parent: None,
        provider_metadata: made.provider_metadata.clone(),
    }
}

pub(super) fn step_ended(
    turn: &TurnId,
    in_progress: &StepInProgress,
    calls: &[Call],
    finish: Finish,
) -> Event {
    let parts = in_progress.parts.iter().map(|said| match said {
        Piece::Part(part) => part.clone(),
        Piece::Call(n) => {
            let held = match in_progress.calls[*n].policy.verdict {
                _ if in_progress.calls[*n].is_open => true,
                Verdict::Invalid { .. } => true,
                Verdict::Ask { .. } => calls[*n].place == Place::Client,
                _ => false,
            };
            Part::Call {
                call: calls[*n].clone(),
                held,
                open: in_progress.calls[*n].is_open,
            }
        }
    });
    Event::StepEnded {
        turn: turn.clone(),
        parts: parts.collect(),
        finish,
        metadata: in_progress.metadata.clone(),
    }
}
