//! What shows only when nothing more comes.

use std::collections::HashSet;

use super::finding::Kind;
use super::messages::is_streaming;
use super::{Checker, valid};
use wire::message::Role;
use wire::part::Part;
use wire::tool_part::ToolState;

impl Checker {
    pub(super) fn look_at_the_end(&mut self) {
        if !self.unsent.is_empty() && self.request.is_none() && !self.waits_for_the_person() {
            let reason = "answers were given that no predicate sends";
            self.find(Kind::Stuck, reason.to_owned());
        }
        let mut previous = None;
        for index in 0..self.messages.len() {
            let message = &self.messages[index];
            let role = message.role;
            let mut seen = HashSet::new();
            let calls = message.parts.iter().filter_map(Part::as_tool);
            let twice = calls
                .map(|part| &part.tool_call_id)
                .find(|id| !seen.insert(*id));
            let unfinished = message.parts.iter().find(|part| is_unfinished(part));
            let mut found = Vec::new();
            if let Some(id) = twice {
                found.push((Kind::PartTwice, format!("call {id} is shown twice")));
            }
            if unfinished.is_some() {
                let reason = "a part is left as if more were to come";
                found.push((Kind::Unfinished, reason.to_owned()));
            }
            if let Err(reason) = valid::message(message, self.sdk) {
                found.push((Kind::Invalid, format!("messages[{index}].{reason}")));
            }
            if role == Role::Assistant && previous == Some(Role::Assistant) {
                let reason = "one answer is shown as two messages";
                found.push((Kind::Split, reason.to_owned()));
            }
            previous = Some(role);
            for (kind, reason) in found {
                self.find(kind, reason);
            }
        }
    }

    /// Whether a question or a call of the page's is still open.
    fn waits_for_the_person(&self) -> bool {
        let parts = self.messages.iter().flat_map(|message| &message.parts);
        parts
            .filter_map(Part::as_tool)
            .any(|part| match part.state {
                ToolState::ApprovalRequested => true,
                ToolState::InputAvailable => self.client_tools.contains_key(&part.tool_name),
                _ => false,
            })
    }
}

fn is_unfinished(part: &Part) -> bool {
    match part {
        Part::Tool(part) => part.state == ToolState::InputStreaming,
        _ => is_streaming(part),
    }
}
