//! A user message in what a client sends: a new one, an edit, one that came before, or one that is to be
//! answered again.

use std::time::Duration;

use serde_json::json;
use turn::gate::Decision;
use turn::queue::QueueState;
use turn::refusal::{Refusal, RefusalCode};
use turn::{At, GateId, Principal, Turn};
use wire::{Message, Role};

use super::Intake;
use crate::ai_sdk::user_message;
use crate::shown::ShownChat;

/// What was said no longer ago than this a page may not have seen, and so has not cut off.
const JUST_NOW: Duration = Duration::from_secs(2);

impl ShownChat {
    /// A user message behind others: a new one, an edit, or one that came before.
    pub(super) fn say(
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
        let before_place = |index: usize| follow(self.turn_at(index.checked_sub(1)?));
        // Only an edit that keeps the id is not known by it when it comes again.
        let is_edit = message_id.is_some() && message_id == message.id.as_deref();
        let mut answers = Vec::new();
        let after = match known {
            None => {
                // It may have come before, and have been cut off since.
                let cut_off = self.turns().rev().find(|turn| {
                    let known = turn.user_message();
                    known
                        .is_some_and(|known| known.id == message.id && known.parts == message.parts)
                });
                if let (Some(turn), false) = (cut_off, is_edit) {
                    return Ok(Intake::known(turn));
                }
                answers = self.answers_before(principal, before)?;
                match message_id.and_then(|id| self.asked(id)) {
                    // It takes the place of the one that is named.
                    Some(index) => before_place(index),
                    None => follow(self.parent(before, now).or(self.current())),
                }
            }
            Some((index, turn)) => {
                let same = turn
                    .user_message()
                    .is_some_and(|known| known.parts == message.parts);
                if same && !is_edit {
                    // The same request again, maybe one that comes late: the same turn. An edit says
                    // which message it edits.
                    return Ok(Intake::known(turn));
                }
                before_place(index)
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
            let message = "A queued or injected message can't be edited.";
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
    pub(super) fn regenerate(
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
            let message = "The message to regenerate does not exist.";
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
