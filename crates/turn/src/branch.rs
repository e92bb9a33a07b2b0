//! Branches: turns that an edit or a regeneration cut off, and how they become those of the chat again.

use crate::chat::Chat;
use crate::event::Event;
use crate::id::TurnId;
use crate::input::Output;
use crate::refusal::{Refusal, RefusalCode};
use crate::turn::Turn;

impl Chat {
    /// The last turn of the branch that has a message, by the id of the agent's message or of the user's;
    /// nothing, if it is the branch that the chat is on.
    ///
    /// Regenerations answer the same user's message, so the id of that one means the newest turn that was
    /// cut off with it.
    pub fn branch_of(&self, message_id: &str) -> Result<Option<TurnId>, Refusal> {
        let is_asked = |turn: &&Turn| {
            let asked = turn
                .user_message()
                .and_then(|message| message.id.as_deref());
            asked == Some(message_id)
        };
        let is_on_path = |turn: &Turn| self.path().any(|on_path| on_path.id() == turn.id());
        let newest = || self.turns().rev();
        let answer = newest().find(|turn| turn.message_id() == message_id);
        let cut_off = || newest().filter(is_asked).find(|turn| !is_on_path(turn));
        let asked = || newest().find(is_asked);
        let Some(turn) = answer.or_else(cut_off).or_else(asked) else {
            let message = "No branch of the chat has such a message.";
            return Err(Refusal::new(RefusalCode::UnknownMessage, message));
        };
        if is_on_path(turn) {
            return Ok(None);
        }
        if self.current().is_some_and(|turn| turn.end().is_none()) {
            let message = "The chat's turn has not ended: stop it, or wait for its end.";
            return Err(Refusal::new(RefusalCode::TurnOpen, message));
        }
        Ok(Some(self.leaf(turn).id().clone()))
    }

    /// The end of the newest branch that goes on from a turn.
    fn leaf<'a>(&'a self, turn: &'a Turn) -> &'a Turn {
        let mut leaf = turn;
        // No path is longer than all turns.
        for _ in 0..self.turns().len() {
            let follows = |next: &&Turn| next.after() == Some(leaf.id());
            let Some(next) = self.turns().rev().find(follows) else {
                break;
            };
            leaf = next;
        }
        leaf
    }

    /// Makes a branch the one that the chat is on, by its last turn.
    pub(crate) fn select_branch(&mut self, output: &mut Output, turn: TurnId) {
        let is_open = self.current().is_some_and(|turn| turn.end().is_none());
        let is_current = self.current().map(Turn::id) == Some(&turn);
        if !is_open && !is_current && self.turn(&turn).is_some() {
            self.decide(output, [Event::BranchSelected { turn }]);
        }
    }
}
