//! A chat: its journal, folded. Who owns it, which turns it had, and which is the current one.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::agent::HistoryItem;
use crate::call::Call;
use crate::event::{Cause, Entry, Event};
use crate::gate::{Decision, Gate};
use crate::id::{CallId, GateId, Principal, TurnId};
use crate::item::Item;
use crate::page_tool::{PageTool, PageTools};
use crate::path::Path;
use crate::queue::{Queue, QueuedMessage};
use crate::time::At;
use crate::trace::TraceContext;
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
    /// The seq of the last entry that clients were shown something of.
    shown_seq: u64,
    /// Whether that has to be moved with the next entry.
    is_shown_more: bool,
    /// Messages that wait.
    pub(crate) queue: Queue,
    /// What the agent noted last of its conversation.
    session: Option<Value>,
    epoch: u64,
    /// How long a page has for a call that says nothing of it: for ever, if nothing is said.
    client_timeout: Option<Duration>,
    /// The first turn that may have said something since somebody took what was said.
    untaken: usize,
    /// Where the turn that is opened next belongs in a distributed trace.
    pub(crate) next_trace: Option<TraceContext>,
}

impl Chat {
    /// Folds a journal from its start.
    pub fn replay<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Self {
        let mut chat = Self::default();
        entries.into_iter().for_each(|entry| chat.append(entry));
        chat
    }

    /// Gives pages so long for a call that says nothing of it. What is asked already stays as it is.
    pub fn limit_client_calls(&mut self, timeout: Option<Duration>) {
        self.client_timeout = timeout;
    }

    /// Says where a turn that is opened by what comes next belongs in a distributed trace.
    pub fn trace_next(&mut self, trace: Option<TraceContext>) {
        self.next_trace = trace;
    }

    /// Below which span a turn belongs that the result of a call opens.
    pub(crate) fn trace_of_call(&self, id: &CallId) -> Option<TraceContext> {
        let (turn, _) = self.call(id)?;
        turn.call_trace(id)
    }

    /// When a page need not run a call any more that it is asked for now.
    pub(crate) fn client_deadline(&self, own: Option<Duration>, now: At) -> Option<At> {
        own.or(self.client_timeout).map(|timeout| now + timeout)
    }

    /// Takes in one more entry.
    pub fn append(&mut self, entry: &Entry) {
        self.apply(&entry.events, entry.at);
        self.end_entry();
        self.appended(entry.seq);
    }

    /// Gives what was said and done since this was asked last, in order: with each turn, its place among
    /// all turns of the chat.
    pub fn take_items(&mut self, mut take: impl FnMut(usize, Item)) {
        let turns = self.turns.iter_mut().enumerate().skip(self.untaken);
        for (place, turn) in turns {
            for item in turn.items.drain(..) {
                take(place, item);
            }
        }
        self.untaken = self.turns.len().saturating_sub(1);
    }

    /// Takes in the events of one entry.
    pub(crate) fn apply(&mut self, events: &[Event], at: At) {
        for event in events {
            self.is_shown_more |= !is_hidden(event);
            self.apply_queued(event, at);
            match event {
                Event::ChatOpened { owner } => self.owner = Some(owner.clone()),
                Event::TurnOpened {
                    turn,
                    message_id,
                    cause,
                    after,
                    page_tools,
                    request,
                    trace,
                } => {
                    let (turn, message_id) = (turn.clone(), message_id.clone());
                    let mut opened = Turn::open(turn, message_id, cause.clone(), after.clone(), at);
                    let before = self.turns.last().map(|turn| &turn.page_tools);
                    opened.page_tools = PageTools::new(page_tools, before);
                    opened.request.clone_from(request);
                    opened.trace.clone_from(trace);
                    if self.turns.is_empty() {
                        // Most chats that are open have one turn, and a turn is large.
                        self.turns.reserve_exact(1);
                    }
                    self.turns.push(opened);
                    self.path.open(&self.turns);
                }
                Event::BranchSelected { turn } => {
                    if let Some(place) = self.place(turn) {
                        self.path.select(&self.turns, place);
                    }
                }
                Event::SessionNoted { session, .. } => self.session = Some(session.clone()),
                Event::TurnClaimed { epoch, .. } => self.epoch = *epoch,
                event => {
                    if let Some(place) = event.turn().and_then(|id| self.place(id)) {
                        self.untaken = self.untaken.min(place);
                        self.turns[place].apply(event);
                    }
                }
            }
        }
    }

    /// Notes that the events of an entry are all in.
    pub(crate) fn end_entry(&mut self) {
        if let Some(place) = self.current_place() {
            self.untaken = self.untaken.min(place);
            self.turns[place].end_entry();
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
        if std::mem::take(&mut self.is_shown_more) {
            self.shown_seq = seq;
        }
    }

    /// Whether a client that knows the journal up to a place has not been shown everything: what servers
    /// and agents note for themselves is not shown.
    pub fn has_news_after(&self, seq: u64) -> bool {
        seq < self.shown_seq
    }

    /// The last turn that was not cut off: the one that was opened last, unless another branch was
    /// selected since.
    pub fn current(&self) -> Option<&Turn> {
        self.turns.get(self.current_place()?)
    }

    pub(crate) fn current_mut(&mut self) -> Option<&mut Turn> {
        let place = self.current_place()?;
        self.turns.get_mut(place)
    }

    /// The place of the current turn among all turns of the chat.
    pub fn current_place(&self) -> Option<usize> {
        self.path.places().last().copied()
    }

    /// Takes in a message that is given to the agent in the middle of a turn.
    pub(crate) fn apply_injected(&mut self, turn: &TurnId, queued: QueuedMessage) {
        if let Some(place) = self.place(turn) {
            self.untaken = self.untaken.min(place);
            self.turns[place].apply_injected(queued);
        }
    }

    /// A turn, cut off or not.
    pub fn turn(&self, id: &TurnId) -> Option<&Turn> {
        // Nearly always one of the last.
        self.turns.iter().rev().find(|turn| turn.id() == id)
    }

    /// The turn that a request opened, cut off or not, by the id that its client gave it.
    pub fn turn_of_request(&self, request: &str) -> Option<&Turn> {
        let mut turns = self.turns.iter().rev();
        turns.find(|turn| turn.request.as_deref() == Some(request))
    }

    /// The turn of an assistant message, cut off or not.
    pub fn turn_of_message(&self, message_id: &str) -> Option<&Turn> {
        let mut turns = self.turns.iter().rev();
        turns.find(|turn| turn.message_id() == message_id)
    }

    /// The place of a turn among all turns of the chat.
    pub fn place(&self, id: &TurnId) -> Option<usize> {
        self.turns.iter().rposition(|turn| turn.id() == id)
    }

    /// The status of the current turn.
    pub fn status(&self) -> Option<Status> {
        self.current().map(Turn::status)
    }

    /// All turns, cut off or not, in the order in which they were opened.
    pub fn turns(&self) -> impl DoubleEndedIterator<Item = &Turn> + ExactSizeIterator {
        self.turns.iter()
    }

    /// The turns that were not cut off, in order.
    pub fn path(&self) -> impl DoubleEndedIterator<Item = &Turn> + ExactSizeIterator {
        let places = self.path.places().iter();
        places.map(|place| &self.turns[*place])
    }

    /// The turns that were cut off, as runs of turns that follow one another, in the order in which
    /// their first turns were opened. Each turn is in one of them.
    pub fn branches(&self) -> Vec<Vec<&Turn>> {
        let mut path = self.path.places().iter().peekable();
        let mut branches: Vec<Vec<&Turn>> = Vec::new();
        for (place, turn) in self.turns.iter().enumerate() {
            if path.next_if(|on_path| **on_path == place).is_some() {
                continue;
            }
            let followed = branches
                .iter_mut()
                .find(|branch| branch.last().map(|last| last.id()) == turn.after());
            match followed {
                Some(branch) => branch.push(turn),
                None => branches.push(vec![turn]),
            }
        }
        branches
    }

    /// The turn at a place of the path.
    pub fn turn_at(&self, place: usize) -> Option<&Turn> {
        let place = self.path.places().get(place)?;
        self.turns.get(*place)
    }

    /// Where on the path the user message of an id is.
    pub fn asked(&self, message_id: &str) -> Option<usize> {
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
    pub fn history(&self) -> Vec<HistoryItem> {
        let mut history = Vec::new();
        for turn in self.path() {
            history.extend(self.opening(turn));
            history.extend(turn.items_after(0, 0));
        }
        history
    }

    /// The same, made from what was made before: one more turn costs what that turn costs.
    pub fn shared_history(&mut self) -> Arc<Vec<HistoryItem>> {
        let mut sent = std::mem::take(&mut self.path.sent);
        let known = sent.turns.saturating_sub(1);
        if self.path().skip(known).any(|turn| !turn.is_settled()) {
            // What may still change is not kept.
            return Arc::new(self.history());
        }
        // Copied only where the agent still holds what it was sent before.
        let history = Arc::make_mut(&mut sent.items);
        if history.is_empty() {
            // Most chats that are open have one turn, and the history is large.
            history.reserve_exact(1);
        }
        for (place, turn) in self.path().enumerate().skip(known) {
            if place == sent.turns {
                history.extend(self.opening(turn));
                (sent.turns, sent.steps, sent.injected) = (place + 1, 0, 0);
            }
            history.extend(turn.items_after(sent.steps, sent.injected));
            (sent.steps, sent.injected) = (turn.steps.len(), turn.injected.len());
        }
        let history = sent.items.clone();
        self.path.sent = sent;
        history
    }

    /// What a turn answers, as something that was said.
    fn opening(&self, turn: &Turn) -> Option<HistoryItem> {
        Some(match turn.cause() {
            Cause::Message { message } => HistoryItem::Message(message.clone()),
            Cause::Result { call, outcome, .. } => HistoryItem::Result {
                call: self.call(call)?.1.clone(),
                outcome: outcome.clone(),
            },
        })
    }

    /// The tools that the page declared with the last message. A turn that the result of a call opens
    /// has those of the message before it.
    pub fn page_tools(&self) -> &[PageTool] {
        let mut turns = self.path().rev();
        let asked = turns.find(|turn| turn.user_message().is_some());
        asked.map_or(&[], Turn::page_tools)
    }

    /// How many bytes the declarations of pages take.
    pub fn page_tools_weight(&self) -> usize {
        let before = self.turns.iter().map(|turn| Some(&turn.page_tools));
        let pairs = self.turns.iter().zip(std::iter::once(None).chain(before));
        pairs
            .map(|(turn, before)| turn.page_tools.weight(before))
            .sum()
    }

    /// What the agent noted last of its conversation.
    pub fn session(&self) -> Option<&Value> {
        self.session.as_ref()
    }

    /// How often turns of this chat were claimed.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }
}

/// Whether no client is ever shown an event.
fn is_hidden(event: &Event) -> bool {
    matches!(
        event,
        Event::SessionNoted { .. } | Event::TurnClaimed { .. }
    )
}
