//! A chat: its journal, folded. Who owns it, which turns it had, and which is the current one.

use std::sync::Arc;

use serde_json::Value;
use wire::assembler::{Assembler, Sdk};
use wire::tool_part::Approval;
use wire::{Chunk, Message, Part, ToolPart, ToolState};

use crate::agent::Past;
use crate::call::Call;
use crate::event::{Cause, Entry, Event};
use crate::gate::{Decision, Gate};
use crate::id::{CallId, GateId, Principal, TurnId};
use crate::path::Path;
use crate::telling;
use crate::transcript::Item;
use crate::turn::{Status, Turn};

/// A chat, folded from its journal.
#[derive(Debug, Clone, Default)]
pub struct Chat {
    owner: Option<Principal>,
    /// All turns, in the order in which they were opened; an edit or a regeneration cuts some off.
    turns: Vec<Turn>,
    /// Those that were not cut off.
    path: Path,
    seq: u64,
    /// What the agent noted last of its conversation.
    session: Option<Value>,
    epoch: u64,
}

impl Chat {
    /// Folds a journal from its start.
    pub fn replay<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Self {
        let mut chat = Self::default();
        entries.into_iter().for_each(|entry| chat.append(entry));
        chat
    }

    /// Takes in one more entry.
    pub fn append(&mut self, entry: &Entry) {
        self.seq = entry.seq;
        self.apply(&entry.events);
        self.settle();
    }

    /// Takes in the events of one entry. What is said comes to stand in the turns' transcripts.
    pub(crate) fn apply(&mut self, events: &[Event]) {
        for event in events {
            match event {
                Event::ChatOpened { owner } => self.owner = Some(owner.clone()),
                Event::TurnOpened {
                    turn,
                    message_id,
                    cause,
                    after,
                } => {
                    let (turn, message_id) = (turn.clone(), message_id.clone());
                    let opened = Turn::open(turn, message_id, cause.clone(), after.clone());
                    if self.turns.is_empty() {
                        // Most chats that are open have one turn, and a turn is large.
                        self.turns.reserve_exact(1);
                    }
                    self.turns.push(opened);
                    self.path.open(&self.turns);
                }
                Event::SessionNoted { session, .. } => self.session = Some(session.clone()),
                Event::TurnClaimed { epoch, .. } => self.epoch = *epoch,
                event => {
                    if let Some(turn) = event.turn().and_then(|id| self.turn_mut(id)) {
                        turn.apply(event);
                    }
                }
            }
        }
    }

    /// Notes a park, once the events of an entry are all in.
    pub(crate) fn settle(&mut self) {
        if let Some(turn) = self.current_mut() {
            turn.settle();
        }
    }

    /// Whose it is; nobody's, if its journal is empty.
    pub fn owner(&self) -> Option<&Principal> {
        self.owner.as_ref()
    }

    /// The seq of the last entry that was taken in.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// Notes that what was decided is in the journal, at this place.
    pub fn appended(&mut self, seq: u64) {
        self.seq = seq;
    }

    /// The turn that was opened last.
    pub fn current(&self) -> Option<&Turn> {
        self.turns.last()
    }

    pub(crate) fn current_mut(&mut self) -> Option<&mut Turn> {
        self.turns.last_mut()
    }

    /// A turn, cut off or not.
    pub fn turn(&self, id: &TurnId) -> Option<&Turn> {
        // Nearly always one of the last.
        self.turns.iter().rev().find(|turn| turn.id() == id)
    }

    fn turn_mut(&mut self, id: &TurnId) -> Option<&mut Turn> {
        self.turns.iter_mut().rev().find(|turn| turn.id() == id)
    }

    /// How the current turn stands.
    pub fn status(&self) -> Option<Status> {
        self.current().map(Turn::status)
    }

    /// The turns that were not cut off, in order.
    pub fn path(&self) -> impl DoubleEndedIterator<Item = &Turn> + ExactSizeIterator {
        let places = self.path.places().iter();
        places.map(|place| &self.turns[*place])
    }

    /// The turn at a place of the path.
    pub(crate) fn turn_at(&self, place: usize) -> Option<&Turn> {
        let place = self.path.places().get(place)?;
        self.turns.get(*place)
    }

    /// Where on the path the user message of an id stands.
    pub(crate) fn asked(&self, message_id: &str) -> Option<usize> {
        self.path.asked(message_id)
    }

    /// The turn that has a gate, the gate, and what was decided.
    pub fn gate(&self, id: &GateId) -> Option<(&Turn, &Gate, Option<&Decision>)> {
        self.turns.iter().rev().find_map(|turn| {
            let (gate, decision) = turn.gate(id)?;
            Some((turn, gate, decision))
        })
    }

    /// The turn that made a call, and the call.
    pub fn call(&self, id: &CallId) -> Option<(&Turn, &Call)> {
        let mut turns = self.turns.iter().rev();
        turns.find_map(|turn| Some((turn, turn.call(id)?)))
    }

    /// Calls whose results were to open turns, and have opened none yet.
    pub fn awaited_results(&self) -> Vec<CallId> {
        let pending = self.turns.iter().flat_map(Turn::pending_calls);
        pending
            .map(|call| call.id.clone())
            .filter(|id| !self.has_come(id))
            .collect()
    }

    /// Whether the result of a call has opened a turn.
    pub(crate) fn has_come(&self, id: &CallId) -> bool {
        let mut turns = self.turns.iter();
        turns.any(|turn| matches!(turn.cause(), Cause::Result { call, .. } if call == id))
    }

    /// What was said before the model speaks next.
    pub fn history(&self) -> Vec<Past> {
        let mut past = Vec::new();
        for turn in self.path() {
            past.extend(self.opening(turn));
            past.extend(turn.steps_after(0));
        }
        past
    }

    /// The same, made from what was made before: one more turn costs what that turn costs.
    pub fn shared_history(&mut self) -> Arc<Vec<Past>> {
        let mut told = std::mem::take(&mut self.path.told);
        let known = told.turns.saturating_sub(1);
        if self.path().skip(known).any(|turn| !turn.is_settled()) {
            // What may still change is not kept.
            return Arc::new(self.history());
        }
        // Copied only where the agent still has what it was told before.
        let past = Arc::make_mut(&mut told.past);
        if past.is_empty() {
            // Most chats that are open have one turn, and what is past is large.
            past.reserve_exact(1);
        }
        for (place, turn) in self.path().enumerate().skip(known) {
            if place == told.turns {
                past.extend(self.opening(turn));
                (told.turns, told.steps) = (place + 1, 0);
            }
            past.extend(turn.steps_after(told.steps));
            told.steps = turn.steps.len();
        }
        let past = told.past.clone();
        self.path.told = told;
        past
    }

    /// What a turn answers, as something that was said.
    fn opening(&self, turn: &Turn) -> Option<Past> {
        Some(match turn.cause() {
            Cause::Message { message } => Past::Message(message.clone()),
            Cause::Result { call, outcome, .. } => Past::Result {
                call: self.call(call)?.1.clone(),
                outcome: outcome.clone(),
            },
        })
    }

    /// Draws together what the current turn has said, once it is over: whoever reads along must have
    /// been shown all of it. Says whether there was anything to do.
    pub fn compact(&mut self) -> bool {
        self.current_mut().is_some_and(Turn::compact)
    }

    /// What the agent noted last of its conversation.
    pub fn session(&self) -> Option<&Value> {
        self.session.as_ref()
    }

    /// How often turns of this chat were claimed.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The chat as UI messages, as a page shows it.
    pub fn messages(&self) -> Vec<Message> {
        let mut messages = Vec::new();
        for turn in self.path() {
            messages.extend(turn.user_message().cloned());
            let message = assemble(turn).complete();
            // A turn that was cut short before it said anything has no message to show.
            if !message.parts.is_empty() {
                messages.push(message);
            }
        }
        messages
    }
}

/// The assistant message of a turn, by the fold that the page uses.
fn assemble(turn: &Turn) -> Message {
    let mut assembler = Assembler::new(Sdk::V7, turn.message_id());
    let last = turn.transcript().len().saturating_sub(1);
    for (index, item) in turn.transcript().iter().enumerate() {
        let chunk = match item {
            Item::Chunk(chunk) => Chunk::clone(chunk),
            // A park that was left again is over.
            Item::Close(_) if index < last => continue,
            // A failure is told beside the message, not in it.
            Item::Close(closing) => match closing.chunk() {
                Chunk::Error(_) => continue,
                chunk => chunk,
            },
        };
        // A transcript is made here, and every order that can be made is tested against the checker.
        let applied = assembler.apply(&chunk);
        debug_assert!(applied.is_ok(), "{applied:?}");
    }
    let mut message = assembler.message().clone();
    for part in message.parts.iter_mut().filter_map(Part::as_tool_mut) {
        note_answer(turn, part);
    }
    message
}

/// Notes at a call that stood for a gate's own what was answered: the fold finds but the first call
/// that asked.
fn note_answer(turn: &Turn, part: &mut ToolPart) {
    let gate = GateId::stood_for(&part.tool_call_id);
    let found = gate.as_ref().and_then(|gate| turn.gate(gate));
    let Some((gate, Some(decision))) = found else {
        return;
    };
    let Some(Chunk::ToolApprovalResponse(response)) = telling::approval_response(gate, decision)
    else {
        return;
    };
    if !response.approved {
        part.state = ToolState::OutputDenied;
        part.error_text = None;
    }
    part.approval = Some(Approval {
        id: response.approval_id,
        approved: Some(response.approved),
        reason: response.reason,
        ..Approval::default()
    });
}
