//! Intake: what is new in what a client sends, and what is refused.
//!
//! The journal is the truth, the client is not. From a request the server takes a new user message,
//! answers to gates that are open, and outputs of page calls that are open. What contradicts the
//! journal is refused with a code; the rest is old news.

use serde_json::Value;
use wire::answer::Gate as Named;
use wire::prototype::without_refused_keys;
use wire::{Answer, Message, Role, Trigger};

use crate::call::Place;
use crate::chat::Chat;
use crate::gate::{Decision, GateKind};
use crate::id::{CallId, GateId, TurnId};
use crate::turn::Turn;
use crate::window;

/// What is new in a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Intake {
    /// A user message that opens a turn.
    Open {
        /// The message.
        message: Message,
        /// The turn to follow.
        after: Option<TurnId>,
    },
    /// Answers, maybe none, to gates of a turn; and how far the client has come in it.
    Continue {
        /// The turn.
        turn: TurnId,
        /// What was decided.
        answers: Vec<(GateId, Decision)>,
        /// The client's own copy of the turn's message, with the position in the transcript up to which
        /// it has seen it; nothing, if it has none.
        seen: Option<(usize, Message)>,
    },
}

/// Why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// A stable code, listed in docs/errors.md.
    pub code: &'static str,
    /// What to tell the client.
    pub message: String,
}

impl Refusal {
    /// The code of this name, if there is one.
    pub fn code_of(name: &str) -> Option<&'static str> {
        let codes = [
            "bad_request",
            "call_not_open",
            "forged_output",
            "input_changed",
            "unknown_approval",
            "unknown_call",
            "unknown_message",
        ];
        codes.into_iter().find(|code| *code == name)
    }

    fn new(code: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { code, message }
    }
}

impl Chat {
    /// What is new in a client's request.
    pub fn take(
        &self,
        trigger: Trigger,
        message_id: Option<&str>,
        messages: &[Message],
    ) -> Result<Intake, Refusal> {
        let invented = messages
            .iter()
            .find_map(|message| self.invented_call(message));
        if let Some(call) = invented {
            let message = format!("The journal knows no call {call}.");
            return Err(Refusal::new("unknown_call", message));
        }
        if trigger == Trigger::RegenerateMessage {
            return self.regenerate(message_id, messages);
        }
        let about = message_id.and_then(|id| messages.iter().find(|m| m.id.as_deref() == Some(id)));
        let Some(last) = about.or(messages.last()) else {
            let message = "The request has no message.";
            return Err(Refusal::new("bad_request", message));
        };
        let answers = self.answers(last)?;
        match last.role {
            Role::Assistant => self.continue_with(last, answers),
            // Pages of the seeds answer in a user message that says nothing else.
            Role::User if !answers.is_empty() || self.is_old_answer(last) => {
                self.continue_with(last, answers)
            }
            Role::User => self.say(last, message_id),
            Role::System => {
                let message = "A system message opens no turn.";
                Err(Refusal::new("bad_request", message))
            }
        }
    }

    /// A call that a message of the client's holds and that nobody made.
    fn invented_call(&self, message: &Message) -> Option<String> {
        let mut calls = message.parts.iter().filter_map(wire::Part::as_tool);
        let is_known = |id: &str| {
            let stood_for = GateId::stood_for(id);
            let is_gate = |id: GateId| self.gate(&id).is_some();
            self.call(&CallId::from(id)).is_some()
                || is_gate(id.into())
                || stood_for.is_some_and(is_gate)
        };
        let invented = calls.find(|part| {
            // A confirmation of the seeds is named by its gate.
            let gate = part.approval.as_ref().map(|approval| &approval.id);
            !is_known(&part.tool_call_id)
                && part.tool_name != wire::answer::CONFIRMATION_TOOL
                && gate.is_none_or(|gate| !is_known(gate))
        });
        invented.map(|part| part.tool_call_id.clone())
    }

    fn is_old_answer(&self, message: &Message) -> bool {
        !message.answers().is_empty() && message.text().is_empty()
    }

    /// A user message: a new one, an edit, or one that came before.
    fn say(&self, message: &Message, message_id: Option<&str>) -> Result<Intake, Refusal> {
        let known = message.id.as_deref().and_then(|id| self.asked(id));
        let known = known.and_then(|index| Some((index, self.turn_at(index)?)));
        let follow = |turn: Option<&Turn>| turn.map(|turn| turn.id().clone());
        let after = match known {
            None => follow(self.current()),
            Some((index, turn)) => {
                let same = turn
                    .user_message()
                    .is_some_and(|known| known.parts == message.parts);
                if same && message_id.is_none() {
                    // The same request again, maybe one that comes late: the same turn. An edit says
                    // which message it edits.
                    return Ok(Intake::Continue {
                        turn: turn.id().clone(),
                        answers: Vec::new(),
                        seen: None,
                    });
                }
                index
                    .checked_sub(1)
                    .and_then(|index| follow(self.turn_at(index)))
            }
        };
        let message = message.clone();
        Ok(Intake::Open { message, after })
    }

    /// The last answer, or one of an id, is to be given again.
    fn regenerate(
        &self,
        message_id: Option<&str>,
        messages: &[Message],
    ) -> Result<Intake, Refusal> {
        let path: Vec<_> = self.path().collect();
        let is_meant = |turn: &&Turn| {
            let user = turn
                .user_message()
                .and_then(|message| message.id.as_deref());
            message_id == Some(turn.message_id()) || message_id.is_some() && message_id == user
        };
        // Without an id, the client's last message says which answer it lacks.
        let last = messages.last().and_then(|message| message.id.as_deref());
        let answers_last = |turn: &&Turn| {
            let user = turn
                .user_message()
                .and_then(|message| message.id.as_deref());
            message_id.is_none() && last.is_some() && user == last
        };
        let index = path.iter().rposition(is_meant);
        let index = index.or_else(|| path.iter().rposition(answers_last));
        let Some(index) = index else {
            // A page whose message never arrived tries again in this way.
            if let Some(unheard) = messages.last().filter(|last| last.role == Role::User)
                && message_id.is_none_or(|id| unheard.id.as_deref() == Some(id))
            {
                return self.say(unheard, None);
            }
            let message = "There is no such message to give again.";
            return Err(Refusal::new("unknown_message", message));
        };
        let Some(message) = path[index].user_message().cloned() else {
            let message = "This message answers no user message.";
            return Err(Refusal::new("unknown_message", message));
        };
        let after = index.checked_sub(1).map(|index| path[index].id().clone());
        Ok(Intake::Open { message, after })
    }

    fn continue_with(
        &self,
        message: &Message,
        answers: Vec<(GateId, Decision)>,
    ) -> Result<Intake, Refusal> {
        // A client may go on with a message that is not the last: one that was typed over.
        let is_own = |turn: &&Turn| message.id.as_deref() == Some(turn.message_id());
        let own = self.path().rev().find(is_own);
        let Some(turn) = own.or(self.current()) else {
            let message = "The journal has no turn to go on with.";
            return Err(Refusal::new("unknown_message", message));
        };
        let seen = own.map(|turn| (window::seen(turn.transcript(), message), message.clone()));
        let turn = turn.id().clone();
        Ok(Intake::Continue {
            turn,
            answers,
            seen,
        })
    }

    /// The answers of a message that are news.
    fn answers(&self, message: &Message) -> Result<Vec<(GateId, Decision)>, Refusal> {
        let mut news: Vec<(GateId, Decision)> = Vec::new();
        for answer in message.answers() {
            let found = match answer {
                Answer::Approval {
                    gate,
                    approved,
                    reason,
                    input,
                } => self.approval(&gate, approved, reason, input.as_ref())?,
                // The page was told so itself: it runs what stands for the call.
                Answer::Output { tool_call_id, .. } if self.is_left_behind(&tool_call_id) => None,
                Answer::Output {
                    tool_call_id,
                    output,
                    ..
                } => self.output(&tool_call_id, output, &news)?,
            };
            news.extend(found);
        }
        Ok(news)
    }

    fn is_left_behind(&self, call: &str) -> bool {
        let id = CallId::from(call);
        let state = self.call(&id).and_then(|(turn, _)| turn.call_state(&id));
        state.is_some_and(|state| state.is_left_behind)
    }

    fn approval(
        &self,
        named: &Named,
        approved: bool,
        reason: Option<String>,
        input: Option<&Value>,
    ) -> Result<Option<(GateId, Decision)>, Refusal> {
        let id = match named {
            Named::Approval(id) => Some(GateId::from(id.as_str())),
            Named::Call(call) => self.gate_of(&CallId::from(call.as_str())),
        };
        let found = id.as_ref().and_then(|id| self.gate(id));
        let Some((turn, gate, decision)) = found else {
            let message = "Nobody asked for this approval.";
            return Err(Refusal::new("unknown_approval", message));
        };
        if !matches!(gate.kind, GateKind::Approval { .. }) {
            let message = "This is not a question that can be approved.";
            return Err(Refusal::new("unknown_approval", message));
        }
        let own = turn.call(&gate.call).map(|call| call.input.clone());
        if let (Some(input), Some(own)) = (input, own)
            && !is_same(input, &without_refused_keys(own))
        {
            let message = "The approval names another input than the one that was asked about.";
            return Err(Refusal::new("input_changed", message));
        }
        if decision.is_some() {
            return Ok(None);
        }
        let decision = if approved {
            let input = None;
            Decision::Approved { reason, input }
        } else {
            Decision::Denied { reason }
        };
        Ok(Some((gate.id.clone(), decision)))
    }

    /// The approval that a call waits for, or the last that it had.
    fn gate_of(&self, call: &CallId) -> Option<GateId> {
        let (turn, _) = self.call(call)?;
        let mut gates = turn.gates.iter().rev();
        let is_asked = |kind: &GateKind| matches!(kind, GateKind::Approval { .. });
        let gate = gates.find(|state| state.gate.call == *call && is_asked(&state.gate.kind))?;
        Some(gate.gate.id.clone())
    }

    /// The output of a page's call, if that is news.
    pub fn take_output(
        &self,
        call: &CallId,
        output: Result<Value, String>,
    ) -> Result<Option<(GateId, Decision)>, Refusal> {
        self.output(call.as_str(), output, &[])
    }

    fn output(
        &self,
        call: &str,
        output: Result<Value, String>,
        news: &[(GateId, Decision)],
    ) -> Result<Option<(GateId, Decision)>, Refusal> {
        let stood_for = GateId::stood_for(call).and_then(|gate| self.gate(&gate));
        let id = match stood_for {
            Some((_, gate, _)) if gate.kind == GateKind::ClientCall => gate.call.clone(),
            // The answer to a question is the approval that stands beside it.
            Some(_) => return Ok(None),
            None => CallId::from(call),
        };
        let Some((turn, call)) = self.call(&id) else {
            let message = format!("The journal knows no call {id}.");
            return Err(Refusal::new("unknown_call", message));
        };
        if turn.outcome(&id).is_some() {
            return Ok(None);
        }
        if call.place != Place::Client {
            let message = format!("{} does not run in a page.", call.tool);
            return Err(Refusal::new("forged_output", message));
        }
        let decision = match output {
            Ok(output) => Decision::Output { output },
            Err(error) => Decision::Failed { error },
        };
        let mut open = turn.open_gates().filter(|gate| gate.call == id);
        match open.next() {
            Some(gate) if gate.kind == GateKind::ClientCall => {
                Ok(Some((gate.id.clone(), decision)))
            }
            // An approval and its output in one message: the gate opens with the approval, and is the
            // next one of the turn.
            Some(gate) if is_approved(news, &gate.id) => {
                let approvals = news.iter().filter(|(_, d)| d.approved() == Some(true));
                let opened = approvals.filter(|(gate, _)| opens_a_page(turn, gate));
                let before = opened
                    .take_while(|(approved, _)| *approved != gate.id)
                    .count();
                let page = GateId::of(turn.id(), turn.gates.len() + before);
                Ok(Some((page, decision)))
            }
            _ => {
                let message = "This call is not open to be run by a page.";
                Err(Refusal::new("call_not_open", message))
            }
        }
    }
}

fn is_approved(news: &[(GateId, Decision)], gate: &GateId) -> bool {
    news.iter()
        .any(|(answered, decision)| answered == gate && decision.approved() == Some(true))
}

fn opens_a_page(turn: &Turn, gate: &GateId) -> bool {
    let call = turn.gate(gate).and_then(|(gate, _)| turn.call(&gate.call));
    call.is_some_and(|call| call.place == Place::Client)
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
