//! A chat as AG-UI's messages.

use turn::{Turn, TurnId};
use wire::ag_ui::{Message, MessageCommon};
use wire::{Message as UiMessage, Role};

use super::content;
use super::fold::Fold;
use super::renderer::Renderer;
use crate::ai_sdk::{Line, user_message};
use crate::shown::ShownChat;

/// What a client has made of some lines of a turn.
pub(super) fn messages_of(base: &str, lines: &[Line]) -> Vec<Message> {
    let mut renderer = Renderer::new(base);
    let mut fold = Fold::default();
    for line in lines {
        let events = renderer.render(line);
        events.into_iter().for_each(|event| fold.apply(event));
    }
    fold.into_messages()
}

impl ShownChat {
    /// The messages before what a turn has said, the user's own among them.
    pub fn ag_ui_history(&self, turn: &TurnId) -> Vec<Message> {
        let mut messages = Vec::new();
        for before in self.path().take_while(|before| before.id() != turn) {
            messages.extend(user(before));
            if let Some(shown) = self.transcript(before.id()) {
                messages.extend(messages_of(shown.message_id(), shown.lines()));
            }
        }
        messages.extend(self.turn(turn).and_then(user));
        messages
    }

    /// Whether a client that sent a history with the message of a turn has what the journal has. Of the
    /// turns before the last only the ids are compared: they were sent to their ends.
    pub fn has_ag_ui_history(&self, turn: &TurnId, sent: &[UiMessage]) -> bool {
        let mut sent = sent.iter().peekable();
        let mut last = None;
        for before in self.path().take_while(|before| before.id() != turn) {
            if let Some(id) = user(before).as_ref().and_then(id) {
                let next = sent.next().and_then(|message| message.id.as_deref());
                if next != Some(id) {
                    return false;
                }
            }
            let own = sent.next_if(|message| message.id.as_deref() == Some(before.message_id()));
            last = Some((before, own));
        }
        if let Some((before, own)) = last {
            let said = own.map(UiMessage::text).unwrap_or_default();
            if said != self.text_of(before) {
                return false;
            }
        }
        // The message of the turn itself is the last.
        sent.next()
            .is_some_and(|message| message.role == Role::User)
            && sent.next().is_none()
    }

    /// All that the agent said in a turn.
    fn text_of(&self, turn: &Turn) -> String {
        let shown = self.transcript(turn.id());
        let lines = shown.map_or(&[][..], |shown| shown.lines());
        let texts = lines.iter().filter_map(|line| match line {
            Line::Text(delta) => Some(delta.as_str()),
            _ => None,
        });
        texts.collect()
    }
}

/// The user's message of a turn.
fn user(turn: &Turn) -> Option<Message> {
    let message = user_message::show(turn.user_message()?);
    let id = message.id.clone();
    Some(Message::User {
        // Older journals have messages without ids, which no client takes.
        id: id.unwrap_or_else(|| format!("user_{}", turn.id())),
        content: content::show(&message),
        common: MessageCommon::default(),
    })
}

fn id(message: &Message) -> Option<&str> {
    match message {
        Message::User { id, .. } => Some(id),
        _ => None,
    }
}
