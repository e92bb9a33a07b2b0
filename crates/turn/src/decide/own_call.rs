//! Decisions about calls that the agent runs by itself, and what it says when it is not its turn to speak.

use super::earliest;
use super::gate::gate;
use super::tool::question_call;
use crate::agent::{AgentEvent, Asking};
use crate::call::{Outcome, UnknownReason};
use crate::chat::Chat;
use crate::event::{Event, Finish};
use crate::gate::{Decision, Gate, GateKind};
use crate::id::{CallId, GateId};
use crate::input::Output;
use crate::item::Item;
use crate::policy::{PolicyDecision, Verdict};
use crate::reason::denial;
use crate::time::At;

/// The code of a failure: the agent's question can't be shown to anybody.
const QUESTION_UNSUPPORTED: &str = "agent_question_unsupported";

impl Chat {
    /// What an agent says that holds its conversation open when it is not its turn to speak.
    pub(super) fn agent_event_after_step(
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
            AgentEvent::Progress {
                provider_id,
                output: shown,
            } => {
                let call = turn.own_call(&provider_id);
                let call = call.filter(|call| !turn.is_left_open(call));
                if let (Some(call), Some(turn)) = (call, self.current_mut()) {
                    turn.push_item(Item::CallProgressed {
                        call,
                        output: shown,
                    });
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
            let message = format!("The agent's question can't be shown: {error}.");
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
    pub(super) fn settle_own_call(&mut self, output: &mut Output, call: CallId, outcome: Outcome) {
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
}
