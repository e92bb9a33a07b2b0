//! The journal of every chat, as the engine sees it, whatever keeps it.

use std::pin::Pin;

use turn::call::Call;
use turn::gate::{Decision, Gate};
use turn::{Actor, At, CallId, ChatId, Entry, Event, GateId, OpenTurn, Principal, TurnId};

use crate::chat_list::ChatList;
use crate::error::StoreError;
use crate::lease::Leases;
use crate::tail::Tail;

/// What a store answers, once it has. Boxed, so that a store can be chosen at run time.
pub type Reply<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// The append-only record of every chat, and what can be looked up in it.
///
/// All that can be looked up is derived from the entries by [`turn::index`], in the same
/// transaction as the append: a caller whose append returned finds it everywhere.
///
/// An error means that nothing is known to be stored. The next append decides: if the entry was
/// stored after all, it conflicts.
pub trait Journal: Leases + ChatList {
    /// Appends one entry behind the last one that the caller has seen, all of it or nothing, and
    /// returns when it is durable.
    ///
    /// `expected_seq` is that last entry's place, 0 where there is none. If the journal has grown
    /// or was deleted since, nothing is appended and that is a [`Appended::Conflict`]. The first
    /// entry opens the chat: its first event is [`Event::ChatOpened`], or
    /// [`StoreError::OwnerMissing`].
    ///
    /// A caller that stops waiting does not take the append back: it may be stored all the same.
    fn append<'a>(
        &'a self,
        chat: &'a ChatId,
        expected_seq: u64,
        entry: NewEntry,
    ) -> Reply<'a, Appended>;

    /// The entries after the given place, in order; none where there is no such chat.
    fn read<'a>(&'a self, chat: &'a ChatId, after: u64) -> Reply<'a, Vec<Entry>>;

    /// The first entries after the given place, in order: as many as the bounds allow, and at least
    /// one where there is one.
    fn read_page<'a>(
        &'a self,
        chat: &'a ChatId,
        after: u64,
        bounds: Bounds,
    ) -> Reply<'a, EntryPage>;

    /// The entries after the given place and then those that are yet to come, without gaps and
    /// without duplicates. The chat need not be there yet.
    fn tail(&self, chat: &ChatId, after: u64) -> Tail;

    /// The open gates in the chats of this owner, oldest first, at most this many: the first ones,
    /// or those behind a place that an earlier page ended at. A gate whose call is not in the
    /// journal is not among them, since nobody could know its question.
    fn open_gates<'a>(
        &'a self,
        owner: &'a Principal,
        after: Option<GatePlace>,
        limit: usize,
    ) -> Reply<'a, GatePage>;

    /// How much an owner has open, each kind counted no further than a limit, and whether this chat
    /// of theirs is part of it.
    fn usage<'a>(
        &'a self,
        owner: &'a Principal,
        chat: &'a ChatId,
        limit: usize,
    ) -> Reply<'a, Usage>;

    /// A gate's chat, and its outcome.
    fn gate<'a>(&'a self, id: &'a GateId) -> Reply<'a, Option<GateRecord>>;

    /// The chat that a call is in.
    fn call<'a>(&'a self, id: &'a CallId) -> Reply<'a, Option<ChatId>>;

    /// Open gates whose time is up by a moment, the longest overdue first, at most this many: what a
    /// timer that was lost with its server would have closed.
    fn overdue_gates(&self, by: At, limit: usize) -> Reply<'_, Vec<(ChatId, GateId)>>;

    /// Those of the chats whose journals are not where the caller has seen them last, in no order:
    /// another appended, or deleted the chat.
    fn outdated<'a>(&'a self, seen: &'a [(ChatId, u64)]) -> Reply<'a, Vec<ChatId>>;

    /// Whose chat it is.
    fn owner<'a>(&'a self, chat: &'a ChatId) -> Reply<'a, Option<Principal>>;

    /// Deletes a chat and all that is derived from it, and returns whether there was one. Its tails
    /// end. Another may be opened under its id; [`ChatList::delete_for_good`] prevents that.
    fn delete<'a>(&'a self, chat: &'a ChatId) -> Reply<'a, bool>;
}

/// An entry that has no place yet.
#[derive(Debug, Clone, PartialEq)]
pub struct NewEntry {
    /// When it is written.
    pub at: At,
    /// How often turns of the chat were claimed by then: under which claim it is written.
    pub epoch: u64,
    /// Who causes it.
    pub actor: Actor,
    /// What happened.
    pub events: Vec<Event>,
    /// The turn that is open after it, if one is: [`turn::Chat::open_turn`].
    pub open: Option<OpenTurn>,
}

/// The outcome of an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "a conflict means that nothing was appended"]
pub enum Appended {
    /// The entry is stored, durably.
    Ok {
        /// Its place.
        seq: u64,
    },
    /// Another append was first. Read again, decide again.
    Conflict {
        /// The place of the last entry that there is, 0 for none.
        seq: u64,
    },
}

/// A gate that waits for an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenGate {
    /// The chat.
    pub chat: ChatId,
    /// The turn.
    pub turn: TurnId,
    /// What is asked.
    pub gate: Gate,
    /// The call that it holds.
    pub call: Call,
    /// When it was asked.
    pub asked: At,
}

/// A place in an owner's list of open gates. It stays good when gates before it are closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct GatePlace {
    /// When the gate there was asked.
    pub asked: At,
    /// Its number in the order of those that were asked in the same millisecond.
    pub position: u64,
}

impl GatePlace {
    /// Before all others: positions start at 1.
    #[cfg(any(feature = "postgres", feature = "sqlite"))]
    pub(crate) const START: Self = Self {
        asked: At(0),
        position: 0,
    };
}

/// How many bytes of inputs a page of open gates holds before it ends, as JSON.
const PAGE_BYTES: usize = 1024 * 1024;

/// A part of an owner's list of open gates.
#[derive(Debug, Clone, PartialEq)]
pub struct GatePage {
    /// The gates.
    pub gates: Vec<OpenGate>,
    /// Where the next page begins, if there are more.
    pub next: Option<GatePlace>,
}

impl GatePage {
    /// A page of rows that were read one further than the page may hold, to see if there are more. It
    /// ends earlier where their inputs are large.
    pub(crate) fn of(mut rows: Vec<(GatePlace, OpenGate)>, limit: usize) -> Self {
        let mut bytes = 0;
        let fits = rows.iter().take_while(|(_, open)| {
            let has_room = bytes < PAGE_BYTES;
            bytes += turn::limits::json_size(&open.call.input);
            has_room
        });
        let limit = fits.count().min(limit);
        let has_more = rows.len() > limit;
        rows.truncate(limit);
        let last = rows.last().map(|(place, _)| *place);
        Self {
            next: last.filter(|_| has_more),
            gates: rows.into_iter().map(|(_, gate)| gate).collect(),
        }
    }
}

/// How much an owner has open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Usage {
    /// Chats whose turn has not ended.
    pub open_chats: usize,
    /// Gates that wait, of either kind.
    pub open_gates: usize,
    /// Whether the chat that was asked about is one of those.
    pub is_open: bool,
}

/// How much of a journal is read at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Entries.
    pub entries: usize,
    /// Bytes of their events, as they are stored. One entry alone may be larger.
    pub bytes: usize,
}

/// A part of a journal.
#[derive(Debug, Clone, PartialEq)]
pub struct EntryPage {
    /// The entries.
    pub entries: Vec<Entry>,
    /// The place after which the next page begins, if there are more.
    pub next: Option<u64>,
}

impl EntryPage {
    /// The first of the entries that fit. `rows` may end one entry after the last that fits, and
    /// come with the bytes of each.
    pub(crate) fn of<E>(
        rows: impl IntoIterator<Item = Result<(Entry, usize), E>>,
        bounds: Bounds,
    ) -> Result<Self, E> {
        let (mut entries, mut bytes, mut next) = (Vec::<Entry>::new(), 0_usize, None);
        for row in rows {
            let (entry, size) = row?;
            bytes = bytes.saturating_add(size);
            let is_full = entries.len() >= bounds.entries.max(1) || bytes > bounds.bytes;
            if let Some(last) = entries.last().filter(|_| is_full) {
                next = Some(last.seq);
                break;
            }
            entries.push(entry);
        }
        Ok(Self { entries, next })
    }
}

/// A gate's chat, and its outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct GateRecord {
    /// The chat.
    pub chat: ChatId,
    /// The turn.
    pub turn: TurnId,
    /// Whose chat it is.
    pub owner: Principal,
    /// What is asked.
    pub gate: Gate,
    /// When it was asked.
    pub asked: At,
    /// How it was closed; nothing as long as it is open.
    pub closed: Option<Closed>,
}

/// How a gate was closed.
#[derive(Debug, Clone, PartialEq)]
pub struct Closed {
    /// What was decided.
    pub decision: Decision,
    /// By whom.
    pub by: Actor,
    /// When.
    pub at: At,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn open_gate() -> OpenGate {
        let call = json!({"id": "c", "tool": "pay", "place": "server", "input": {}});
        let kind = json!({"kind": "approval", "question": "Pay?"});
        let gate = json!({"id": "g", "call": "c", "kind": kind});
        OpenGate {
            chat: ChatId::from("chat"),
            turn: TurnId::from("turn"),
            gate: serde_json::from_value(gate).unwrap(),
            call: serde_json::from_value(call).unwrap(),
            asked: At(1),
        }
    }

    #[test]
    fn page_of_large_inputs_ends_early_and_continues() {
        let mut rows: Vec<_> = (0..5)
            .map(|position| {
                let asked = At(1);
                (GatePlace { asked, position }, open_gate())
            })
            .collect();
        for (_, open) in &mut rows[..4] {
            open.call.input = json!({"note": "x".repeat(PAGE_BYTES / 2)});
        }
        let page = GatePage::of(rows.clone(), 4);
        assert_eq!(page.gates.len(), 2);
        assert_eq!(page.next, Some(rows[1].0));
        // One that is larger than a page is a page.
        rows[0].1.call.input = json!({"note": "x".repeat(2 * PAGE_BYTES)});
        assert_eq!(GatePage::of(rows.clone(), 4).gates.len(), 1);
        let last = GatePage::of(rows.split_off(4), 4);
        assert_eq!((last.gates.len(), last.next), (1, None));
    }
}
