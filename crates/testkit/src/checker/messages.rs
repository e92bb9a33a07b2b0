//! The client's messages: where the open window's message is among them, and how what a person
//! does changes them.

use super::{Checker, Place};
use wire::message::Message;
use wire::part::{BlockState, Part};
use wire::tool_part::ToolPart;

impl Checker {
    /// Records that the page was updated, and the message that it has now.
    pub(super) fn place(&mut self) {
        let Some(window) = &mut self.window else {
            return;
        };
        window.is_stale = true;
        let id = &window.assembler.message().id;
        let with = |id: &Option<String>| self.messages.iter().rposition(|m| m.id == *id);
        let index = match &window.place {
            Some(place) if place.copy.as_ref().is_none_or(|copy| copy == id) => Some(place.index),
            _ => with(id).or_else(|| {
                let original = window.is_earlier.then_some(&window.original);
                original.and_then(with)
            }),
        };
        let place = match index {
            Some(index) => Place {
                index,
                copy: Some(id.clone()),
            },
            None => {
                self.messages.push(window.assembler.visible());
                Place {
                    index: self.messages.len() - 1,
                    copy: None,
                }
            }
        };
        window.place = Some(place);
    }

    /// Brings `messages` up to what the window's writes have made of them.
    pub(super) fn flush(&mut self) {
        let Some(window) = self.window.as_mut().filter(|window| window.is_stale) else {
            return;
        };
        window.is_stale = false;
        if let Some(place) = &window.place {
            self.messages[place.index] = match place.copy {
                Some(_) => window.assembler.visible(),
                None => window.assembler.message().clone(),
            };
        }
    }

    /// The page drops the texts and thoughts of a message that were cut off, since they come again from
    /// their start. No client of the SDK does that; a page of the legacy dialect does.
    pub fn drop_unfinished(&mut self, message_id: &str) {
        self.flush();
        let mut messages = self.messages.iter_mut();
        if let Some(message) = messages.find(|message| message.id.as_deref() == Some(message_id)) {
            message.parts.retain(|part| !is_streaming(part));
        }
    }

    /// Changes the calls of the first message that has one of the kind, and those of the open window.
    pub(super) fn act(
        &mut self,
        is_meant: impl Fn(&ToolPart) -> bool,
        change: impl Fn(&mut ToolPart),
    ) {
        self.flush();
        if let Some(window) = &mut self.window {
            window.assembler.change_calls(|part| {
                if is_meant(part) {
                    change(part);
                }
            });
        }
        let has_one = |message: &Message| {
            message
                .parts
                .iter()
                .filter_map(Part::as_tool)
                .any(&is_meant)
        };
        let Some(index) = self.messages.iter().position(has_one) else {
            return;
        };
        let is_last = index + 1 == self.messages.len();
        let parts = self.messages[index].parts.iter_mut();
        let calls = parts.filter_map(Part::as_tool_mut);
        for part in calls.filter(|part| is_meant(part)) {
            change(part);
            // The predicates look at the last message only: an older one was typed over.
            if is_last {
                self.unsent.insert(part.tool_call_id.clone());
            }
        }
        // While a window is open the client keeps the answer; it looks again when the body ends.
        if self.window.is_none() && self.request.is_none() && self.sends_by_itself() {
            let about = self.messages[index].id.clone();
            self.send(about);
        }
    }
}

/// Whether a text or a thought has begun and not ended.
pub(super) fn is_streaming(part: &Part) -> bool {
    let state = match part {
        Part::Text(text) => text.state,
        Part::Reasoning(reasoning) => reasoning.state,
        _ => None,
    };
    state == Some(BlockState::Streaming)
}
