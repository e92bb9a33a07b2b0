//! Intake: what is new in what a client sends, and what is refused.
//!
//! The journal is the truth, the client is not. From a request the server takes a new user message,
//! answers to gates that are open, and outputs of page calls that are open. What contradicts the
//! journal is refused with a code; the rest is old news.

mod answers;
mod said;

use turn::gate::Decision;
use turn::refusal::{Refusal, RefusalCode};
use turn::{At, CallId, GateId, Principal, Turn, TurnId};
use wire::legacy::confirmation::is_confirmation;
use wire::{Message, Role, Trigger};

use crate::ai_sdk::{self, proxy};
use crate::shown::ShownChat;

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
            let message = "The journal has no turn to continue.";
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
}
