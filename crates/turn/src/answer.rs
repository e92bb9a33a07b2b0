//! Whose answer counts: one rule, wherever an answer comes from.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::call::{Call, Place};
use crate::chat::Chat;
use crate::digest::Asker;
use crate::gate::{Decision, Gate};
use crate::id::{CallId, GateId};
use crate::reason::reason_of_declined;
use crate::refusal::{Refusal, RefusalCode};
use crate::turn::Turn;

/// An answer to a gate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The gate.
    pub gate: GateId,
    /// What is decided.
    pub decision: Decision,
    /// The digest of what the person was shown, where the answer brings it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// What becomes of an answer that is not refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reception {
    /// It is the first, and counts.
    Counts,
    /// The gate was closed before.
    Late,
}

impl Chat {
    /// Whether an answer counts, if it is not refused.
    pub fn receive(&self, answer: &Answer) -> Result<Reception, Refusal> {
        let id = &answer.gate;
        let found = self.gate(id);
        let is_meant = |gate: &Gate| gate.is_question() || gate.kind.takes(&answer.decision);
        let Some((turn, gate, decided)) = found.filter(|(_, gate, _)| is_meant(gate)) else {
            let message = "Nobody asked for this approval.";
            return Err(Refusal::new(RefusalCode::UnknownApproval, message));
        };
        if !gate.kind.takes(&answer.decision) {
            let message = match gate.is_approval() {
                true => "This asks for a yes or a no.",
                false => "This asks for data: give an answer, or decline.",
            };
            return Err(Refusal::new(RefusalCode::BadRequest, message));
        }
        // Also when it is decided: a person who saw something else must not take the decision for theirs.
        self.require_digest(id, answer.digest.as_deref())?;
        if decided.is_some() {
            return Ok(Reception::Late);
        }
        let call = turn.call(&gate.call);
        if answer.decision.input().is_some()
            && let Some(why) = call.and_then(|call| fixed(gate.policy(call).asker))
        {
            let message = format!("The input is not one that the tool takes: {why}");
            return Err(Refusal::new(RefusalCode::InvalidInput, message));
        }
        Ok(Reception::Counts)
    }

    /// The output of a page's call as an answer to its gate, if it counts. One request may bring an
    /// approval together with the output of the call that it lets a page run, at a gate that is not
    /// open yet: `news` are the answers before it.
    pub fn receive_output(
        &self,
        id: &CallId,
        output: Result<Value, String>,
        news: &[(GateId, Decision)],
    ) -> Result<Option<(GateId, Decision)>, Refusal> {
        let Some((turn, call)) = self.call(id) else {
            let message = format!("The journal knows no call {id}.");
            return Err(Refusal::new(RefusalCode::UnknownCall, message));
        };
        if turn.outcome(id).is_some() {
            return Ok(None);
        }
        if call.place != Place::Client {
            let message = format!("{} does not run in a page.", call.tool);
            return Err(Refusal::new(RefusalCode::ForgedOutput, message));
        }
        let mut open = turn.open_gates().filter(|gate| gate.call == *id);
        let open = open.next();
        let decision = match output {
            Ok(output) => Decision::Output { output },
            // A page has no other way to say that the person declines.
            Err(error) if open.is_some_and(|gate| gate.kind.schema().is_some()) => {
                let reason = reason_of_declined(&error);
                Decision::Denied { reason }
            }
            Err(error) => Decision::Failed { error },
        };
        match open {
            Some(gate) if gate.is_page_call() => Ok(Some((gate.id.clone(), decision))),
            // The gate opens with the approval, and is the next one of the turn.
            Some(gate) if approvals(news).any(|approved| *approved == gate.id) => {
                let opened = approvals(news).filter(|gate| opens_a_page(turn, gate));
                let before = opened.take_while(|approved| **approved != gate.id).count();
                let page = GateId::of(turn.id(), turn.gates().len() + before);
                Ok(Some((page, decision)))
            }
            _ => {
                let message = "This call is not open to be run by a page.";
                Err(Refusal::new(RefusalCode::CallNotOpen, message))
            }
        }
    }

    /// The call that an answer of a request is about: see [`Chat::receive_output`].
    pub fn call_of_answer(&self, gate: &GateId, news: &[(GateId, Decision)]) -> Option<&Call> {
        if let Some((turn, gate, _)) = self.gate(gate) {
            return turn.call(&gate.call);
        }
        let turn = self.current()?;
        let opening = approvals(news).filter(|gate| opens_a_page(turn, gate));
        let mut pages = (turn.gates().len()..).zip(opening);
        let (_, approval) = pages.find(|(n, _)| GateId::of(turn.id(), *n) == *gate)?;
        let (approval, _) = turn.gate(approval)?;
        turn.call(&approval.call)
    }
}

/// The gates that answers approve.
fn approvals(answers: &[(GateId, Decision)]) -> impl Iterator<Item = &GateId> {
    let approved = answers
        .iter()
        .filter(|(_, decision)| decision.approved() == Some(true));
    approved.map(|(gate, _)| gate)
}

fn opens_a_page(turn: &Turn, gate: &GateId) -> bool {
    let call = turn.gate(gate).and_then(|(gate, _)| turn.call(&gate.call));
    call.is_some_and(|call| call.place == Place::Client)
}

/// Why an answer can't put another input in place of the one that it is asked about, if so.
fn fixed(asker: Asker) -> Option<&'static str> {
    match asker {
        Asker::Policy => None,
        Asker::Tool => Some("the tool that asks runs already, with the input that it has"),
        Asker::Agent => {
            Some("the agent runs this call by itself, with the input that it was asked about")
        }
    }
}

impl Decision {
    /// The input that the approver put in place of the model's.
    pub fn input(&self) -> Option<&Value> {
        match self {
            Self::Approved { input, .. } => input.as_ref(),
            _ => None,
        }
    }

    /// Whether two answers to what is asked about an input say the same: both no, both yes to the same
    /// input, or both the same data.
    pub fn agrees(&self, other: &Self, asked_about: &Value) -> bool {
        if let (Self::Output { output }, Self::Output { output: other }) = (self, other) {
            return output == other;
        }
        let input = |decision: &Self| decision.input().unwrap_or(asked_about).clone();
        self.approved() == other.approved()
            && (self.approved() != Some(true) || input(self) == input(other))
    }
}
