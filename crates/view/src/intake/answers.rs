//! The answers in what a client sends, and the outputs of page calls.

use serde_json::Value;
use turn::answer::{GivenTo, Reception};
use turn::gate::Decision;
use turn::refusal::{Refusal, RefusalCode};
use turn::{Actor, CallId, GateId, Principal, Turn};
use wire::answer::Gate as Named;
use wire::prototype::without_refused_keys;
use wire::{Answer, Message};

use crate::ag_ui;
use crate::ai_sdk::proxy;
use crate::shown::ShownChat;

impl ShownChat {
    /// The answers of a message that are news.
    pub(super) fn answers(
        &self,
        principal: &Principal,
        message: &Message,
    ) -> Result<Vec<(GateId, Decision)>, Refusal> {
        let by = Actor::from(principal.clone());
        let mut news: Vec<(GateId, Decision)> = Vec::new();
        for answer in message.answers() {
            let found = match answer {
                Answer::Approval {
                    gate,
                    approved,
                    reason,
                    input,
                    digest,
                } => {
                    let gate = match gate {
                        Named::Approval(id) => Some(GateId::from(id)),
                        Named::Call(call) => self.gate_of(&CallId::from(call)),
                    };
                    let input = input.map(|input| self.known_input(gate.as_ref(), input));
                    let answer = turn::answer::Answer {
                        // A call that nobody asked about has none, and there is none of its name.
                        gate: gate.unwrap_or_else(|| GateId::from("")),
                        by: by.clone(),
                        decision: match approved {
                            true => Decision::Approved {
                                reason,
                                input: None,
                            },
                            false => Decision::Denied { reason },
                        },
                        given_to: GivenTo::Message { digest, input },
                    };
                    let counts = self.receive(&answer)? == Reception::Counts;
                    counts.then_some((answer.gate, answer.decision))
                }
                Answer::Payload {
                    gate,
                    payload,
                    digest,
                } => self.payload(&by, GateId::from(gate), payload, digest)?,
                // The page has the call as settled: it runs the proxy of it.
                Answer::Output { tool_call_id, .. } if self.is_superseded(&tool_call_id) => None,
                Answer::Output {
                    tool_call_id,
                    output,
                    digest,
                    ..
                } => self.output(&by, &tool_call_id, (output, digest), &news)?,
            };
            news.extend(found);
        }
        Ok(news)
    }

    /// The turn of the last question that a message answers, which need not name the message that asks.
    pub(super) fn answered(&self, message: &Message) -> Option<&Turn> {
        let answers = message.answers();
        answers.iter().rev().find_map(|answer| {
            let call = match answer {
                Answer::Approval {
                    gate: Named::Approval(id),
                    ..
                } => return self.gate(&GateId::from(id.as_str())).map(|(turn, ..)| turn),
                Answer::Approval {
                    gate: Named::Call(call),
                    ..
                } => call,
                Answer::Payload { gate, .. } => {
                    return self
                        .gate(&GateId::from(gate.as_str()))
                        .map(|(turn, ..)| turn);
                }
                Answer::Output { tool_call_id, .. } => tool_call_id,
            };
            Some(self.call(&CallId::from(call.as_str()))?.0)
        })
    }

    /// The answer to an interrupt, if that is news.
    fn payload(
        &self,
        by: &Actor,
        gate: GateId,
        payload: Value,
        digest: Option<String>,
    ) -> Result<Option<(GateId, Decision)>, Refusal> {
        let Some((_, asked, _)) = self.gate(&gate) else {
            let message = "There is no such approval.";
            return Err(Refusal::new(RefusalCode::UnknownApproval, message));
        };
        let given = ag_ui::answer::read(&asked.kind, payload, digest).map_err(|why| {
            let message = format!("The answer to {gate} is not one: {why}.");
            Refusal::new(RefusalCode::BadRequest, message)
        })?;
        let input = given.input;
        let input = input.map(|input| self.known_input(Some(&gate), input));
        let answer = turn::answer::Answer {
            gate,
            by: by.clone(),
            decision: given.decision,
            given_to: GivenTo::Message {
                digest: given.digest,
                input,
            },
        };
        let counts = self.receive(&answer)? == Reception::Counts;
        Ok(counts.then_some((answer.gate, answer.decision)))
    }

    /// The input that a page means by the one that it shows: it is shown no keys that JavaScript refuses,
    /// and has one kind of number.
    fn known_input(&self, gate: Option<&GateId>, shown: Value) -> Value {
        let asked = gate.and_then(|gate| self.gate(gate));
        let inputs = asked.map(|(turn, gate, _)| {
            let asked = turn.call(&gate.call).map(|call| &call.input);
            [asked, turn.effective_input(&gate.call)]
        });
        let mut inputs = inputs.into_iter().flatten().flatten();
        let meant = inputs.find(|known| is_same(&shown, &without_refused_keys((*known).clone())));
        meant.cloned().unwrap_or(shown)
    }

    fn is_superseded(&self, call: &str) -> bool {
        let id = CallId::from(call);
        let turn = self.call(&id).map(|(turn, _)| turn.id());
        let shown = turn.and_then(|turn| self.transcript(turn));
        shown.is_some_and(|shown| shown.is_superseded(&id))
    }

    /// The approval that a call waits for, or the last that it had.
    fn gate_of(&self, call: &CallId) -> Option<GateId> {
        let (turn, _) = self.call(call)?;
        let mut gates = turn.gates().map(|(gate, _)| gate).rev();
        let gate = gates.find(|gate| gate.call == *call && gate.is_approval())?;
        Some(gate.id.clone())
    }

    /// The output of a page's call, if that is news. The call may be a proxy.
    pub fn take_output(
        &self,
        by: &Actor,
        call: &CallId,
        output: Result<Value, String>,
    ) -> Result<Option<(GateId, Decision)>, Refusal> {
        self.output(by, call.as_str(), (output, None), &[])
    }

    fn output(
        &self,
        by: &Actor,
        call: &str,
        (output, digest): (Result<Value, String>, Option<String>),
        news: &[(GateId, Decision)],
    ) -> Result<Option<(GateId, Decision)>, Refusal> {
        let proxied = proxy::gate_of(call).and_then(|gate| self.gate(&gate));
        let id = match proxied {
            Some((_, gate, _)) if gate.is_page_call() => gate.call.clone(),
            // The answer to a question is the approval beside it.
            Some(_) => return Ok(None),
            None => CallId::from(call),
        };
        self.receive_output(by, &id, output, digest, news)
    }
}

/// Whether two values are the same to JavaScript, which has one kind of number.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            let has = |key: &String, value| b.get(key).is_some_and(|other| is_same(value, other));
            a.len() == b.len() && a.iter().all(|(key, value)| has(key, value))
        }
        (a, b) => a == b,
    }
}
