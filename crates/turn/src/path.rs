//! The turns of a chat that were not cut off, kept as they are opened, so that a long chat costs no
//! more than a short one.

use std::collections::HashMap;
use std::sync::Arc;

use crate::agent::HistoryItem;
use crate::turn::Turn;

/// The turns that were not cut off, by their places among all turns of the chat.
#[derive(Debug, Clone, Default)]
pub(crate) struct Path {
    turns: Vec<usize>,
    /// Where on the path the user message of an id is, the first of them.
    asked: HashMap<String, usize>,
    pub(crate) sent: SentHistory,
}

/// What an agent was sent of the path, and how far that goes.
#[derive(Debug, Clone, Default)]
pub(crate) struct SentHistory {
    pub(crate) items: Arc<Vec<HistoryItem>>,
    /// How many turns it is of.
    pub(crate) turns: usize,
    /// How many steps it has of the last of them.
    pub(crate) steps: usize,
    /// How many messages that came in the middle of it.
    pub(crate) injected: usize,
}

impl Path {
    /// The last of these turns was opened.
    pub(crate) fn open(&mut self, turns: &[Turn]) {
        let Some((opened, before)) = turns.split_last() else {
            return;
        };
        let last = self.turns.last().map(|place| before[*place].id());
        if opened.after() != last {
            self.select(turns, before.len());
            return;
        }
        self.push(turns, before.len());
    }

    fn push(&mut self, turns: &[Turn], place: usize) {
        let message = turns[place].user_message();
        if let Some(id) = message.and_then(|message| message.id.clone()) {
            self.asked.entry(id).or_insert(self.turns.len());
        }
        self.turns.push(place);
    }

    /// Follows the turns back from one.
    pub(crate) fn select(&mut self, turns: &[Turn], last: usize) {
        let mut path = Vec::new();
        let mut next = Some(last);
        while let Some(place) = next {
            path.push(place);
            let after = turns[place].after();
            next = after.and_then(|id| turns[..place].iter().rposition(|turn| turn.id() == id));
        }
        *self = Self::default();
        for place in path.into_iter().rev() {
            self.push(turns, place);
        }
    }

    /// The places, in order.
    pub(crate) fn places(&self) -> &[usize] {
        &self.turns
    }

    /// Where on the path the user message of an id is.
    pub(crate) fn asked(&self, message_id: &str) -> Option<usize> {
        self.asked.get(message_id).copied()
    }
}
