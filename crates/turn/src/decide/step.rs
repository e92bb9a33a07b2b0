//! Decisions about the running step: what the agent says, and what becomes of its calls.

use std::vec::IntoIter;

use serde_json::Value;

use super::{gate, question_call};
use crate::agent::{AgentEvent, Asking, CompactEvent, Part};
use crate::call::{Call, Outcome, Place, UnknownReason};
use crate::chat::Chat;
use crate::event::{End, Event, Finish};
use crate::failure::FailureCode;
use crate::gate::{Decision, Gate, GateKind};
use crate::id::{CallId, GateId, TurnId};
use crate::input::{Effect, Output};
use crate::item::Item;
use crate::policy::{PolicyDecision, Verdict};
use crate::reason::denial;
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
            AgentEvent::Asks { .. } | AgentEvent::Waits { .. } | AgentEvent::Settled { .. }
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

    /// What an agent says that holds its conversation open when it is not its turn to speak.
    fn agent_event_after_step(
        &mut self,
        output: &mut Output,
        event: AgentEvent,
        policy: Option<PolicyDecision>,
        now: At,
    ) {
        let Some(turn) = self.current() else {
            return;
        };
        match event {
            AgentEvent::Session(session) if self.session() != Some(&session) => {
                let turn = turn.id().clone();
                self.decide(output, [Event::SessionNoted { turn, session }]);
            }
            AgentEvent::Cancelled { provider_ids } => {
                let is_cancelled = |gate: &&Gate| {
                    let call = turn.call(&gate.call);
                    let parent = call.and_then(|call| turn.call(call.parent.as_ref()?));
                    let provider_id = parent.or(call).and_then(|call| call.provider_id.as_ref());
                    provider_id.is_some_and(|id| provider_ids.contains(id))
                };
                let gates = turn.open_gates().filter(is_cancelled);
                let gates: Vec<GateId> = gates.map(|gate| gate.id.clone()).collect();
                for gate in gates {
                    self.answer(output, &gate, Decision::Cancelled, now);
                }
            }
            AgentEvent::Asks {
                provider_id,
                asking,
            } => {
                // A server that takes the turn up asks the agent again, and gets what is asked already.
                let call = turn.own_call(&provider_id);
                if let Some(call) = call.filter(|call| !turn.is_asked_of(call)) {
                    self.agent_asks(output, call, asking, policy, now);
                }
            }
            AgentEvent::Waits { provider_id } => {
                let call = turn.own_call(&provider_id);
                if let Some(call) = call.filter(|call| turn.is_left_open(call)) {
                    let expires = self.client_deadline(None, now);
                    let gate = gate(turn, call, GateKind::ClientCall, expires);
                    self.open_gate(output, gate);
                }
            }
            AgentEvent::Settled {
                provider_id,
                outcome,
            } => {
                if let Some(call) = turn.own_call(&provider_id) {
                    self.settle_own_call(output, call, outcome);
                    self.advance(output);
                }
            }
            AgentEvent::Failed {
                code,
                message,
                retry_after_ms,
            } if turn.is_agent_busy() => self.agent_fails(output, code, message, retry_after_ms),
            AgentEvent::Ended(finish) if turn.is_agent_asked => {
                self.agent_event_nothing(output, finish, now);
            }
            _ => {}
        }
    }

    /// The agent asks about a call that it runs by itself: for a yes or a no at the call, or for data
    /// at a call that is made for it.
    fn agent_asks(
        &mut self,
        output: &mut Output,
        call: CallId,
        asking: Asking,
        policy: Option<PolicyDecision>,
        now: At,
    ) {
        let Some(turn) = self.current() else {
            return;
        };
        let (verdict, timeout) = policy
            .map(|policy| (policy.verdict, policy.timeout))
            .unzip();
        if let Some(Verdict::Invalid { error }) = verdict {
            let message = format!("The agent asks what nobody can be asked: {error}.");
            let error = format!("It did not run: {message}");
            self.settle_own_call(output, call, Outcome::Error { error });
            return self.agent_fails(output, QUESTION_UNSUPPORTED, message, None);
        }
        let expires = earliest(
            timeout.flatten().map(|timeout| now + timeout),
            asking.expires,
        );
        let (question, token) = (asking.question, asking.token);
        let Some(schema) = asking.schema else {
            let kind = GateKind::Approval { question };
            let gate = Gate {
                token,
                ..gate(turn, call, kind, expires)
            };
            return self.open_gate(output, gate);
        };
        let nested = question_call(turn, call, &question, &schema);
        let gate = Gate {
            token,
            ..gate(
                turn,
                nested.id.clone(),
                GateKind::Question { question, schema },
                expires,
            )
        };
        self.open_nested(output, nested, gate);
    }

    /// The agent was asked to go on with its own calls, and ends without a word: what it has not
    /// settled and does not ask about it has lost.
    fn agent_event_nothing(&mut self, output: &mut Output, finish: Finish, now: At) {
        let Some(turn) = self.current_mut() else {
            return;
        };
        turn.is_agent_asked = false;
        let lost: Vec<CallId> = turn.own_calls_at_work().cloned().collect();
        for call in lost {
            let reason = UnknownReason::NoResult;
            self.settle_own_call(output, call, Outcome::Unknown { reason });
        }
        if self.current().is_some_and(|turn| turn.is_model_due()) {
            self.end_step(output, finish, now);
        } else {
            // What was answered since it was asked, it does not know yet.
            self.advance(output);
        }
    }

    /// Settles a call that the agent ran by itself. Nobody need answer what it still asks.
    fn settle_own_call(&mut self, output: &mut Output, call: CallId, outcome: Outcome) {
        let outcome = match outcome {
            Outcome::Denied { reason } => self.denied_within(&call, reason.as_deref()),
            outcome => outcome,
        };
        self.cancel_questions(output, &call);
        self.settle_call(output, call, outcome);
    }

    /// What becomes of a call of which the agent says that it was denied: only a person can deny it,
    /// and gives the reason. What a tool refuses by itself has failed.
    fn denied_within(&self, call: &CallId, reason: Option<&str>) -> Outcome {
        let denied = self.current().and_then(|turn| turn.denial_within(call));
        match denied {
            Some(reason) => Outcome::Denied { reason },
            None => Outcome::Error {
                error: denial(reason),
            },
        }
    }

    /// Journals the running step, and decides what becomes of its calls.
    fn end_step(&mut self, output: &mut Output, finish: Finish, now: At) {
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

    fn note_session(&mut self, output: &mut Output, turn: &TurnId, session: Option<Value>) {
        if let Some(session) = session {
            let turn = turn.clone();
            self.decide(output, [Event::SessionNoted { turn, session }]);
        }
    }
}

/// The code of a failure: the agent asks for something that nobody can be asked.
const QUESTION_UNSUPPORTED: &str = "agent_question_unsupported";

/// The earlier of two deadlines.
fn earliest(one: Option<At>, other: Option<At>) -> Option<At> {
    one.into_iter().chain(other).min()
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

fn step_ended(
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
