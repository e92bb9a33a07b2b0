//! Intake: what is new in what a client sends, and what is refused.
//!
//! The journal is the truth, the client is not. From a request the server takes a new user message,
//! answers to gates that are open, and outputs of page calls that are open. What contradicts the
//! journal is refused with a code; the rest is old news.

use std::time::Duration;

use serde_json::{Value, json};
use turn::answer::{GivenTo, Reception};
use turn::gate::Decision;
use turn::queue::QueueState;
use turn::refusal::{Refusal, RefusalCode};
use turn::{Actor, At, CallId, GateId, Principal, Turn, TurnId};
use wire::answer::Gate as Named;
use wire::legacy::confirmation::is_confirmation;
use wire::prototype::without_refused_keys;
use wire::{Answer, Message, Role, Trigger};

use crate::ag_ui;
use crate::ai_sdk::{self, proxy, user_message};
use crate::shown::ShownChat;

/// What was said no longer ago than this a page may not have seen, and so has not cut off.
const JUST_NOW: Duration = Duration::from_secs(2);

/// What is new in a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Intake {
    /// A user message that opens a turn.
    Open {
        /// The message.
        message: turn::Message,
        /// The turn to follow.
        after: Option<TurnId>,
        /// What was decided at gates of the turn that is open, before the message was written.
        answers: Vec<(GateId, Decision)>,
    },
    /// A message that came before, and waits.
    Queued {
        /// The turn that it will open.
        turn: TurnId,
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

impl Intake {
    /// Nothing is new: the turn came of the same request.
    pub fn known(turn: &Turn) -> Self {
        Self::Continue {
            turn: turn.id().clone(),
            answers: Vec::new(),
            seen: None,
        }
    }
}

/// The place of the message that a request is about: the one that it names, or else the last.
fn subject(message_id: Option<&str>, messages: &[Message]) -> Option<usize> {
    let is_about = |message: &Message| message_id.is_some() && message.id.as_deref() == message_id;
    let named = messages.iter().position(is_about);
    named.or(messages.len().checked_sub(1))
}

/// The place of the user's message that a run is about though answers follow it: see
/// [`ShownChat::take_run`].
fn subject_before_answers(message_id: Option<&str>, messages: &[Message]) -> Option<usize> {
    match messages {
        [.., said, answers] if answers.id.is_none() && said.role == Role::User => {
            subject(message_id, messages).map(|place| place.min(messages.len() - 2))
        }
        _ => None,
    }
}

/// Whether a request may be found to open a turn, whatever the journal holds. What this says no to never is
/// [`Intake::Open`], so it is what a limit on turns may be decided by.
pub fn may_open_turn(trigger: Trigger, message_id: Option<&str>, messages: &[Message]) -> bool {
    let subjects = [
        subject(message_id, messages),
        subject_before_answers(message_id, messages),
    ];
    let mut subjects = subjects.into_iter().flatten();
    trigger == Trigger::RegenerateMessage
        || subjects.any(|place| messages[place].role == Role::User)
}

impl ShownChat {
    /// What is new in a client's request.
    pub fn take(
        &self,
        principal: &Principal,
        trigger: Trigger,
        message_id: Option<&str>,
        messages: &[Message],
        now: At,
    ) -> Result<Intake, Refusal> {
        let answering = messages.last().filter(|_| message_id.is_none());
        let invented = messages.iter().find_map(|message| {
            // Answers that no message shows are in one without an id.
            let is_answering =
                message.id.is_none() || answering.is_some_and(|last| std::ptr::eq(last, message));
            self.invented_call(message, is_answering)
        });
        if let Some(call) = invented {
            let message = format!("The journal knows no call {call}.");
            return Err(Refusal::new(RefusalCode::UnknownCall, message));
        }
        if trigger == Trigger::RegenerateMessage {
            return self.regenerate(principal, message_id, messages, now);
        }
        let Some(place) = subject(message_id, messages) else {
            let message = "The request has no message.";
            return Err(Refusal::new(RefusalCode::BadRequest, message));
        };
        let (before, last) = (&messages[..place], &messages[place]);
        let answers = self.answers(principal, last)?;
        match last.role {
            Role::Assistant => self.continue_with(last, answers),
            // Pages of the legacy bridge answer in a user message that says nothing else.
            Role::User if !answers.is_empty() || self.is_old_answer(last) => {
                self.continue_with(last, answers)
            }
            Role::User => self.say(principal, before, last, message_id, now),
            Role::System => {
                let message = "A system message opens no turn.";
                Err(Refusal::new(RefusalCode::BadRequest, message))
            }
        }
    }

    /// The same for a client whose answers may be in a message of their own behind all others, also where
    /// they were given before the last message was written.
    pub fn take_run(
        &self,
        principal: &Principal,
        trigger: Trigger,
        message_id: Option<&str>,
        messages: &[Message],
        now: At,
    ) -> Result<Intake, Refusal> {
        if let [before @ .., said, answers] = messages
            && answers.id.is_none()
            && said.role == Role::User
            && said.id.as_deref().is_some_and(|id| !self.has_message(id))
        {
            let ordered = [before, &[answers.clone(), said.clone()]].concat();
            return self.take(principal, trigger, message_id, &ordered, now);
        }
        self.take(principal, trigger, message_id, messages, now)
    }

    /// Whether a user's message has come before, cut off since or not.
    fn has_message(&self, id: &str) -> bool {
        let mut turns = self.turns();
        turns.any(|turn| {
            let known = turn.user_message().and_then(|known| known.id.as_deref());
            known == Some(id)
        }) || self.queue_state(id).is_some()
    }

    /// A call that a message of the client's holds as open and that nobody made. One that is settled is
    /// history, maybe of another chat that the page has continued here, and has no effect: the model
    /// gets what the journal has. Nor is one that is nothing but an answer, in a message whose answers are
    /// taken: that is refused as an answer.
    fn invented_call(&self, message: &Message, is_answering: bool) -> Option<String> {
        let calls = message.parts.iter().filter_map(wire::Part::as_tool);
        let mut calls = calls.filter(|part| !part.is_settled());
        let is_known = |id: &str| {
            let proxied = proxy::gate_of(id);
            let is_gate = |id: GateId| self.gate(&id).is_some();
            self.call(&CallId::from(id)).is_some()
                || is_gate(id.into())
                || proxied.is_some_and(is_gate)
        };
        let is_answer =
            |part: &wire::ToolPart, gate: &String| is_answering && *gate == part.tool_call_id;
        let invented = calls.find(|part| {
            let gate = part.approval.as_ref().map(|approval| &approval.id);
            !is_known(&part.tool_call_id)
                && !is_confirmation(part)
                && gate.is_none_or(|gate| !is_known(gate) && !is_answer(part, gate))
        });
        invented.map(|part| part.tool_call_id.clone())
    }

    fn is_old_answer(&self, message: &Message) -> bool {
        !message.answers().is_empty() && message.text().is_empty()
    }

    /// A user message behind others: a new one, an edit, or one that came before.
    fn say(
        &self,
        principal: &Principal,
        before: &[Message],
        message: &Message,
        message_id: Option<&str>,
        now: At,
    ) -> Result<Intake, Refusal> {
        let message = named(message, before.len());
        match self.queued_before(&message)? {
            Some(intake) => Ok(intake),
            None => self.say_named(principal, before, message, message_id, now),
        }
    }

    fn say_named(
        &self,
        principal: &Principal,
        before: &[Message],
        message: turn::Message,
        message_id: Option<&str>,
        now: At,
    ) -> Result<Intake, Refusal> {
        let known = message.id.as_deref().and_then(|id| self.asked(id));
        let known = known.and_then(|index| Some((index, self.turn_at(index)?)));
        let follow = |turn: Option<&Turn>| turn.map(|turn| turn.id().clone());
        let mut answers = Vec::new();
        let after = match known {
            None => {
                // It may have come before, and have been cut off since.
                let cut_off = self.turns().rev().find(|turn| {
                    let known = turn.user_message();
                    known
                        .is_some_and(|known| known.id == message.id && known.parts == message.parts)
                });
                if let (Some(turn), None) = (cut_off, message_id) {
                    return Ok(Intake::known(turn));
                }
                answers = self.answers_before(principal, before)?;
                follow(self.parent(before, now).or(self.current()))
            }
            Some((index, turn)) => {
                let same = turn
                    .user_message()
                    .is_some_and(|known| known.parts == message.parts);
                if same && message_id.is_none() {
                    // The same request again, maybe one that comes late: the same turn. An edit says
                    // which message it edits.
                    return Ok(Intake::known(turn));
                }
                index
                    .checked_sub(1)
                    .and_then(|index| follow(self.turn_at(index)))
            }
        };
        Ok(Intake::Open {
            message,
            after,
            answers,
        })
    }

    /// What becomes of a message that waits, or that opened no turn of its own, and comes again.
    fn queued_before(&self, message: &turn::Message) -> Result<Option<Intake>, Refusal> {
        let state = message.id.as_deref().and_then(|id| self.queue_state(id));
        let (known, intake) = match state {
            None => return Ok(None),
            Some(QueueState::Withdrawn) => {
                let message = "This message was withdrawn while it waited.";
                return Err(Refusal::new(RefusalCode::MessageWithdrawn, message));
            }
            Some(QueueState::Waiting(queued)) => {
                let turn = queued.opens.clone();
                (&queued.message, Intake::Queued { turn })
            }
            Some(QueueState::Injected(turn, known)) => (known, Intake::known(turn)),
        };
        if known.parts != message.parts {
            let message = "A message that waits, or was given to a turn that ran, can't be edited.";
            return Err(Refusal::new(RefusalCode::BadRequest, message));
        }
        Ok(Some(intake))
    }

    /// The answers to what is open that travel with a new message, in the assistant's message before it.
    fn answers_before(
        &self,
        principal: &Principal,
        before: &[Message],
    ) -> Result<Vec<(GateId, Decision)>, Refusal> {
        let last = before.last().filter(|last| last.role == Role::Assistant);
        let open = self.current().filter(|turn| turn.end().is_none());
        match (last, open) {
            // Answers that no message shows are in one without an id.
            (Some(last), Some(open))
                if last.id.as_deref().is_none_or(|id| id == open.message_id()) =>
            {
                self.answers(principal, last)
            }
            _ => Ok(Vec::new()),
        }
    }

    /// The turn that a new message follows by the history that comes with it. A page that cuts its
    /// history off edits, whether it says so or not. One that lacks only what came by itself, as the
    /// result of a long-running call does, or what was said just now, in another tab, has cut nothing
    /// off.
    fn parent(&self, before: &[Message], now: At) -> Option<&Turn> {
        let last = before.last().filter(|last| last.role == Role::Assistant);
        let parent = self.turn_of_message(last?.id.as_deref()?)?;
        let mut later = self
            .path()
            .rev()
            .take_while(|turn| turn.id() != parent.id());
        later
            .any(|turn| turn.user_message().is_some() && turn.opened() + JUST_NOW < now)
            .then_some(parent)
    }

    /// The last answer, or one of an id, is to be given again.
    fn regenerate(
        &self,
        principal: &Principal,
        message_id: Option<&str>,
        messages: &[Message],
        now: At,
    ) -> Result<Intake, Refusal> {
        let path: Vec<_> = self.path().collect();
        let is_meant = |turn: &&Turn| {
            let user = turn
                .user_message()
                .and_then(|message| message.id.as_deref());
            message_id == Some(turn.message_id()) || message_id.is_some() && message_id == user
        };
        // Without an id, the client's last message says which answer it lacks; without a message, it is
        // the last one.
        let last = messages.last().and_then(|message| message.id.as_deref());
        let answers_last = |turn: &&Turn| {
            let user = turn
                .user_message()
                .and_then(|message| message.id.as_deref());
            let is_last = messages.is_empty() && user.is_some();
            message_id.is_none() && (is_last || last.is_some() && user == last)
        };
        let index = path.iter().rposition(is_meant);
        let index = index.or_else(|| path.iter().rposition(answers_last));
        let Some(index) = index else {
            // A page whose message never arrived tries again in this way.
            if let Some(unanswered) = messages.last().filter(|last| last.role == Role::User)
                && message_id.is_none_or(|id| unanswered.id.as_deref() == Some(id))
            {
                let before = &messages[..messages.len() - 1];
                return match self.say(principal, before, unanswered, None, now) {
                    // Somebody wants it answered after all.
                    Err(refusal) if refusal.code == RefusalCode::MessageWithdrawn => {
                        let said = named(unanswered, before.len());
                        self.say_named(principal, before, said, None, now)
                    }
                    said => said,
                };
            }
            let message = "There is no such message to give again.";
            return Err(Refusal::new(RefusalCode::UnknownMessage, message));
        };
        let Some(message) = path[index].user_message().cloned() else {
            let message = "This message answers no user message.";
            return Err(Refusal::new(RefusalCode::UnknownMessage, message));
        };
        let after = index.checked_sub(1).map(|index| path[index].id().clone());
        Ok(Intake::Open {
            message,
            after,
            answers: Vec::new(),
        })
    }

    fn continue_with(
        &self,
        message: &Message,
        answers: Vec<(GateId, Decision)>,
    ) -> Result<Intake, Refusal> {
        // A client may go on with a message that is not the last: one that was typed over, or cut off.
        let own = message
            .id
            .as_deref()
            .and_then(|id| self.turn_of_message(id));
        let Some(turn) = own.or_else(|| self.answered(message)).or(self.current()) else {
            let message = "The journal has no turn to go on with.";
            return Err(Refusal::new(RefusalCode::UnknownMessage, message));
        };
        let seen = own.and_then(|turn| self.transcript(turn.id()));
        let seen = seen.map(|shown| {
            (
                ai_sdk::client_position(shown.lines(), message),
                message.clone(),
            )
        });
        let turn = turn.id().clone();
        Ok(Intake::Continue {
            turn,
            answers,
            seen,
        })
    }

    /// The turn of the last question that a message answers, which need not name the message that asks.
    fn answered(&self, message: &Message) -> Option<&Turn> {
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

    /// The answers of a message that are news.
    fn answers(
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
                    ..
                } => self.output(&by, &tool_call_id, output, &news)?,
            };
            news.extend(found);
        }
        Ok(news)
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
            let message = "Nobody asked for this approval.";
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
        self.output(by, call.as_str(), output, &[])
    }

    fn output(
        &self,
        by: &Actor,
        call: &str,
        output: Result<Value, String>,
        news: &[(GateId, Decision)],
    ) -> Result<Option<(GateId, Decision)>, Refusal> {
        let proxied = proxy::gate_of(call).and_then(|gate| self.gate(&gate));
        let id = match proxied {
            Some((_, gate, _)) if gate.is_page_call() => gate.call.clone(),
            // The answer to a question is the approval beside it.
            Some(_) => return Ok(None),
            None => CallId::from(call),
        };
        self.receive_output(by, &id, output, news)
    }
}

/// A message with an id. One that comes without gets it by its place and content, so that the same
/// request sent twice is the same message.
fn named(message: &Message, place: usize) -> turn::Message {
    let mut message = user_message::read(message);
    if message.id.is_none() {
        let hash = turn::digest::hash(&json!([place, message.parts]));
        message.id = Some(format!("user_{}", &hash[..24]));
    }
    message
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
