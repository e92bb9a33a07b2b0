//! Whose answer counts: one rule, wherever an answer comes from.

use serde_json::Value;

use crate::actor::Actor;
use crate::call::{Call, Place};
use crate::chat::Chat;
use crate::digest::Asker;
use crate::gate::Decision;
use crate::id::{CallId, GateId};
use crate::reason::reason_of_declined;
use crate::refusal::{Refusal, RefusalCode};
use crate::turn::Turn;

/// An answer to a gate.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The gate.
    pub gate: GateId,
    /// Who answers: the owner of the chat, or the agent's side with an output.
    pub by: Actor,
    /// What is decided.
    pub decision: Decision,
    /// What it was given to.
    pub given_to: GivenTo,
}

/// What an answer was given to, as far as it says so.
#[derive(Debug, Clone, PartialEq)]
pub enum GivenTo {
    /// The question of this digest. The answer comes by itself.
    Question {
        /// The digest.
        digest: Option<String>,
    },
    /// What a page shows in a message, which it sends back whole, with answers of before.
    Message {
        /// The digest of the question that it shows.
        digest: Option<String>,
        /// The input that it shows.
        input: Option<Value>,
    },
}

/// What becomes of an answer that is not refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reception {
    /// It is the first, and counts, if it fits what [`Chat::requirement`] says.
    Counts,
    /// The gate was closed before, by an answer that says the same.
    Agrees,
    /// The gate was closed before, in another way.
    Contradicts,
}

/// A schema that an answer has to fit. Schemas are the tools' affair.
#[derive(Debug, PartialEq)]
pub enum Requirement<'a> {
    /// The input is one that the tool takes.
    Input {
        /// The tool.
        tool: &'a str,
        /// What the approver put in place of the model's input.
        input: &'a Value,
    },
    /// The output is one that the tool declares.
    Output {
        /// The tool.
        tool: &'a str,
        /// What the page gave.
        output: &'a Value,
    },
    /// The data is what was asked for.
    Data {
        /// What it has to be.
        schema: &'a Value,
        /// What the person gave.
        output: &'a Value,
    },
}

impl Chat {
    /// Whether an answer counts, if it is not refused.
    pub fn receive(&self, answer: &Answer) -> Result<Reception, Refusal> {
        let nobody = "There is no such approval.";
        let unknown = || Refusal::new(RefusalCode::UnknownApproval, nobody);
        let (turn, gate, decided) = self.gate(&answer.gate).ok_or_else(unknown)?;
        let call = turn.call(&gate.call).ok_or_else(unknown)?;
        // An approval of somebody else's chat is as unknown as one that was never asked for.
        match &answer.by {
            Actor::Principal(principal) if self.owner() == Some(principal) => {}
            Actor::Agent if !gate.is_question() => {}
            _ => return Err(unknown()),
        }
        let (digest, shown) = match &answer.given_to {
            GivenTo::Question { digest } => (digest, None),
            GivenTo::Message { digest, input } => (digest, input.as_ref()),
        };
        // What was asked about; and what a page has since, where the approver changed the input.
        let mut known = [Some(&call.input), turn.effective_input(&call.id)].into_iter();
        if let Some(input) = shown
            && !known.any(|known| known == Some(input))
        {
            let message = "The input of the answer differs from the input of the question.";
            return Err(Refusal::new(RefusalCode::InputChanged, message));
        }
        let asked_about = gate.shown_input(call);
        let late = decided.map(|decided| answer.decision.compare(decided, asked_about));
        if let (Some(late), GivenTo::Message { .. }) = (late, &answer.given_to) {
            // It is history, and may hold a digest of an older version.
            return Ok(late);
        }
        if !gate.kind.takes(&answer.decision) {
            let message = match (gate.is_question(), gate.is_approval()) {
                (false, _) => return Err(unknown()),
                (true, true) => "This asks for a yes or a no.",
                (true, false) => "This asks for data: give an answer, or decline.",
            };
            return Err(Refusal::new(RefusalCode::BadRequest, message));
        }
        // Also when it is decided: a person who saw something else must not take the decision for theirs.
        if digest.is_some() && *digest != gate.digest(call) {
            let message =
                "The answer was given to something else than what is asked. Look at it again.";
            return Err(Refusal {
                approval: Some(gate.id.clone()),
                ..Refusal::new(RefusalCode::ApprovalChanged, message)
            });
        }
        if let Some(late) = late {
            return Ok(late);
        }
        if answer.decision.input().is_some()
            && let Some(why) = fixed(gate.policy(call).asker)
        {
            let message = format!("The tool does not accept this input: {why}");
            return Err(Refusal::new(RefusalCode::InvalidInput, message));
        }
        Ok(Reception::Counts)
    }

    /// What an answer of a request has to fit: `news` are all of them, see [`Chat::receive_output`].
    pub fn requirement<'a>(
        &'a self,
        (gate, decision): (&GateId, &'a Decision),
        news: &[(GateId, Decision)],
    ) -> Option<Requirement<'a>> {
        let asked = self.gate(gate);
        let schema = asked.and_then(|(_, gate, _)| gate.kind.schema());
        let tool = || Some(self.call_of_answer(gate, news)?.tool.as_str());
        Some(match (decision, schema) {
            (Decision::Output { output }, Some(schema)) => Requirement::Data { schema, output },
            (Decision::Output { output }, None) => Requirement::Output {
                tool: tool()?,
                output,
            },
            (decision, _) => Requirement::Input {
                input: decision.input()?,
                tool: tool()?,
            },
        })
    }

    /// The output of a page's call as an answer to its gate, if it counts: given to the question of this
    /// digest, where the page says so. One request may bring an
    /// approval together with the output of the call that it lets a page run, at a gate that is not
    /// open yet: `news` are the answers before it.
    pub fn receive_output(
        &self,
        by: &Actor,
        id: &CallId,
        output: Result<Value, String>,
        digest: Option<String>,
        news: &[(GateId, Decision)],
    ) -> Result<Option<(GateId, Decision)>, Refusal> {
        // A call of somebody else's chat is as unknown as one that was never made.
        let is_person = by.principal().is_some();
        let is_owner = by.principal().is_none_or(|by| self.owner() == Some(by));
        let Some((turn, call)) = self.call(id).filter(|_| is_owner) else {
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
            // What a person is asked, a person answers.
            Some(gate) if gate.is_page_call() && (is_person || !gate.is_question()) => {
                let answer = Answer {
                    gate: gate.id.clone(),
                    by: by.clone(),
                    decision,
                    given_to: GivenTo::Question { digest },
                };
                let counts = self.receive(&answer)? == Reception::Counts;
                Ok(counts.then_some((answer.gate, answer.decision)))
            }
            // The gate opens with the approval, and is the next one of the turn.
            Some(gate) if approvals(news).any(|approved| *approved == gate.id) => {
                let opened = approvals(news).filter(|gate| opens_a_page(turn, gate));
                let before = opened.take_while(|approved| **approved != gate.id).count();
                let page = GateId::of(turn.id(), turn.gates().len() + before);
                Ok(Some((page, decision)))
            }
            _ => {
                let message = "This call is not open for a page's output.";
                Err(Refusal::new(RefusalCode::CallNotOpen, message))
            }
        }
    }

    /// The call that an answer of a request is about: see [`Chat::receive_output`].
    fn call_of_answer(&self, gate: &GateId, news: &[(GateId, Decision)]) -> Option<&Call> {
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

    /// What becomes of a later answer to what is asked about an input: it agrees if both say no, yes to
    /// the same input, or give the same data.
    fn compare(&self, first: &Self, asked_about: &Value) -> Reception {
        let input = |decision: &Self| decision.input().unwrap_or(asked_about).clone();
        let agrees = match (self.approved(), first.approved()) {
            (Some(true), Some(true)) => input(self) == input(first),
            (None, None) => self == first,
            (mine, first) => mine == first,
        };
        match agrees {
            true => Reception::Agrees,
            false => Reception::Contradicts,
        }
    }
}
