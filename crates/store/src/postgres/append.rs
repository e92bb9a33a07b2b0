//! Appends of many chats, worked out together: what each comes to, and the rows that they leave.
//!
//! No I/O happens here. The places of the journals are given, under locks that keep
//! them there, and takes the appends one after the other, as if each were alone.

use std::collections::{HashMap, HashSet};

use turn::index::{self, Change};
use turn::{ChatId, Event, OpenTurn, Principal, TurnId, title};

use crate::chat_list::ended;
use crate::error::StoreError;
use crate::journal::{Appended, NewEntry};
use crate::json::encode;
use crate::number::{from_at, from_seq};

/// An append, ready to run. All that can be done by the caller is done by the caller, since there is
/// one writer and many of them.
#[derive(Debug)]
pub(super) struct Append {
    pub(super) chat: ChatId,
    expected_seq: u64,
    entry: NewEntry,
    kind: String,
    actor: String,
    events: String,
    rows: Vec<IndexRow>,
}

/// What an append leaves in the indexes, in the order of its events.
#[derive(Debug)]
enum IndexRow {
    TurnOpened {
        title: Option<String>,
    },
    TurnEnded {
        ended: &'static str,
    },
    CallMade {
        id: String,
        call: String,
    },
    GateOpened {
        id: String,
        turn: String,
        call: String,
        gate: String,
        expires: Option<i64>,
    },
    GateClosed {
        id: String,
        decision: String,
    },
}

impl Append {
    pub(super) fn new(
        chat: ChatId,
        expected_seq: u64,
        entry: NewEntry,
    ) -> Result<Self, StoreError> {
        let mut rows = Vec::new();
        for change in index::changes(&entry.events) {
            rows.push(match change {
                Change::ChatOpened { .. } => continue,
                Change::TurnOpened { message } => IndexRow::TurnOpened {
                    title: message.and_then(title::of_message),
                },
                Change::TurnEnded { status } => IndexRow::TurnEnded {
                    ended: ended(status),
                },
                Change::CallMade { call } => IndexRow::CallMade {
                    id: call.id.to_string(),
                    call: encode("a call", call)?,
                },
                Change::GateOpened { turn, gate } => IndexRow::GateOpened {
                    id: gate.id.to_string(),
                    turn: turn.to_string(),
                    call: gate.call.to_string(),
                    gate: encode("a gate", gate)?,
                    expires: gate.expires.map(from_at),
                },
                Change::GateClosed { gate, decision } => IndexRow::GateClosed {
                    id: gate.to_string(),
                    decision: encode("a decision", decision)?,
                },
            });
        }
        let append = Self {
            kind: index::kind(&entry.events),
            actor: entry.actor.to_string(),
            events: encode("the events of an entry", &entry.events)?,
            chat,
            expected_seq,
            entry,
            rows,
        };
        append.refuse_nul()?;
        Ok(append)
    }

    /// PostgreSQL has no text with a NUL in it. In JSON there is none, since there it is escaped.
    fn refuse_nul(&self) -> Result<(), StoreError> {
        let ids = self.rows.iter().flat_map(|row| match row {
            // A title has no control characters.
            IndexRow::TurnOpened { .. } | IndexRow::TurnEnded { .. } => [""; 3],
            IndexRow::CallMade { id, .. } | IndexRow::GateClosed { id, .. } => {
                [id.as_str(), "", ""]
            }
            IndexRow::GateOpened { id, turn, call, .. } => {
                [id.as_str(), turn.as_str(), call.as_str()]
            }
        });
        let owner = self.owner().map(Principal::as_str);
        let turn = index::turn(&self.entry.events).map(TurnId::as_str);
        let own = [self.chat.as_str(), self.actor.as_str()];
        let mut all = ids.chain(own).chain(owner).chain(turn);
        if all.any(|id| id.contains('\0')) {
            return Err(StoreError::Malformed {
                what: "an id".to_owned(),
                problem: "PostgreSQL stores no NUL character".to_owned(),
            });
        }
        Ok(())
    }

    fn owner(&self) -> Option<&Principal> {
        index::owner(&self.entry.events)
    }

    fn events(&self) -> &[Event] {
        &self.entry.events
    }

    /// Whether it is to open its chat.
    pub(super) fn opens(&self) -> bool {
        self.expected_seq == 0
    }

    /// The ids of its calls and of its gates, which must not be those of another chat.
    pub(super) fn unique_ids(&self) -> (Vec<&str>, Vec<&str>) {
        let (mut calls, mut gates) = (Vec::new(), Vec::new());
        for row in &self.rows {
            match row {
                IndexRow::CallMade { id, .. } => calls.push(id.as_str()),
                IndexRow::GateOpened { id, .. } => gates.push(id.as_str()),
                IndexRow::GateClosed { .. }
                | IndexRow::TurnOpened { .. }
                | IndexRow::TurnEnded { .. } => {}
            }
        }
        (calls, gates)
    }
}

/// Where a journal is.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) owner: String,
    pub(super) seq: u64,
    /// The turn that is open after the last append of the group.
    pub(super) open: Option<OpenTurn>,
}

/// The rows that a group of appends leaves, column by column, as PostgreSQL takes many at once.
#[derive(Debug, Default)]
pub(super) struct Batch<'a> {
    /// Chats that were not there before.
    pub(super) opened: Chats<'a>,
    /// Chats that were.
    pub(super) grown: Chats<'a>,
    pub(super) entries: Entries<'a>,
    pub(super) calls: Calls<'a>,
    pub(super) gates: Gates<'a>,
    /// Gates that are closed by an entry that comes before any that opens them.
    pub(super) closed_before: Closings<'a>,
    /// Gates that are closed by an entry after the one that opens them.
    pub(super) closed_after: Closings<'a>,
}

#[derive(Debug, Default)]
pub(super) struct Chats<'a> {
    pub(super) id: Vec<&'a str>,
    pub(super) owner: Vec<String>,
    pub(super) opened: Vec<i64>,
    pub(super) updated: Vec<i64>,
    pub(super) seq: Vec<i64>,
    pub(super) turn: Vec<Option<String>>,
    pub(super) running: Vec<bool>,
    pub(super) active: Vec<Option<i64>>,
    pub(super) ended: Vec<Option<&'static str>>,
    pub(super) title: Vec<Option<&'a str>>,
}

#[derive(Debug, Default)]
pub(super) struct Entries<'a> {
    pub(super) chat: Vec<&'a str>,
    pub(super) seq: Vec<i64>,
    pub(super) turn: Vec<Option<&'a str>>,
    pub(super) kind: Vec<&'a str>,
    pub(super) actor: Vec<&'a str>,
    pub(super) events: Vec<&'a str>,
    pub(super) at: Vec<i64>,
    pub(super) epoch: Vec<i64>,
}

#[derive(Debug, Default)]
pub(super) struct Calls<'a> {
    pub(super) id: Vec<&'a str>,
    pub(super) chat: Vec<&'a str>,
    pub(super) call: Vec<&'a str>,
}

#[derive(Debug, Default)]
pub(super) struct Gates<'a> {
    pub(super) id: Vec<&'a str>,
    pub(super) chat: Vec<&'a str>,
    pub(super) turn: Vec<&'a str>,
    pub(super) owner: Vec<String>,
    pub(super) call: Vec<&'a str>,
    pub(super) gate: Vec<&'a str>,
    pub(super) asked: Vec<i64>,
    pub(super) expires: Vec<Option<i64>>,
}

#[derive(Debug, Default)]
pub(super) struct Closings<'a> {
    pub(super) id: Vec<&'a str>,
    pub(super) chat: Vec<&'a str>,
    pub(super) decision: Vec<&'a str>,
    pub(super) by: Vec<&'a str>,
    pub(super) at: Vec<i64>,
}

/// The outcome of an append, if the transaction is committed.
pub(super) type Answer = Result<Appended, StoreError>;

/// What is known of the chats of a group.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Where their journals are.
    pub(super) places: HashMap<String, Place>,
    /// Those that were deleted for good.
    pub(super) deleted: HashSet<String>,
}

/// Takes appends one after the other, given where the journals are that there are.
pub(super) fn work_out<'a>(appends: &[&'a Append], known: Known) -> (Vec<Answer>, Batch<'a>) {
    let mut group = Group {
        places: known.places,
        deleted: known.deleted,
        touched: Vec::new(),
        seen: HashSet::new(),
        batch: Batch::default(),
    };
    let answers = appends.iter().map(|append| group.take(append)).collect();
    (answers, group.finish())
}

struct Group<'a> {
    places: HashMap<String, Place>,
    deleted: HashSet<String>,
    /// The chats that grow, in the order in which they do, with the time of their first entry here.
    touched: Vec<Touched<'a>>,
    /// Calls, gates and closings that the group has: the first counts.
    seen: HashSet<(Seen, &'a str, &'a str)>,
    batch: Batch<'a>,
}

struct Touched<'a> {
    chat: &'a str,
    is_new: bool,
    opened: i64,
    updated: i64,
    /// When its last turn was opened, if that is here.
    active: Option<i64>,
    ended: Option<&'static str>,
    /// The first title here.
    title: Option<&'a str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Seen {
    Chat,
    Call,
    Gate,
    ClosedBefore,
    ClosedAfter,
}

impl<'a> Group<'a> {
    fn take(&mut self, append: &'a Append) -> Answer {
        let chat = append.chat.as_str();
        let place = self.places.get_mut(chat);
        let last = place.as_ref().map_or(0, |place| place.seq);
        if last != append.expected_seq {
            return Ok(Appended::Conflict { seq: last });
        }
        let is_new = place.is_none();
        let place = match place {
            Some(place) => place,
            None => {
                let owner = append.owner().ok_or_else(|| StoreError::OwnerMissing {
                    chat: append.chat.clone(),
                })?;
                if self.deleted.contains(chat) {
                    return Err(StoreError::ChatDeleted {
                        chat: append.chat.clone(),
                    });
                }
                self.places.entry(chat.to_owned()).or_insert(Place {
                    owner: owner.to_string(),
                    seq: 0,
                    open: None,
                })
            }
        };
        place.seq += 1;
        place.open.clone_from(&append.entry.open);
        let (seq, owner) = (place.seq, place.owner.clone());
        self.touch(chat, is_new, from_at(append.entry.at));
        self.batch.entries.push(append, seq);
        for row in &append.rows {
            self.index(append, row, &owner);
        }
        Ok(Appended::Ok { seq })
    }

    fn touch(&mut self, chat: &'a str, is_new: bool, at: i64) {
        if self.seen.insert((Seen::Chat, chat, "")) {
            self.touched.push(Touched {
                chat,
                is_new,
                opened: at,
                updated: at,
                active: None,
                ended: None,
                title: None,
            });
        } else if let Some(touched) = self.touched(chat) {
            touched.updated = at;
        }
    }

    fn touched(&mut self, chat: &str) -> Option<&mut Touched<'a>> {
        // Nearly always the last.
        let mut touched = self.touched.iter_mut().rev();
        touched.find(|touched| touched.chat == chat)
    }

    fn index(&mut self, append: &'a Append, row: &'a IndexRow, owner: &str) {
        let chat = append.chat.as_str();
        match row {
            IndexRow::TurnOpened { title } => {
                if let Some(touched) = self.touched(chat) {
                    touched.active = Some(from_at(append.entry.at));
                    touched.title = touched.title.or(title.as_deref());
                }
            }
            IndexRow::TurnEnded { ended } => {
                if let Some(touched) = self.touched(chat) {
                    touched.ended = Some(*ended);
                }
            }
            IndexRow::CallMade { id, call } => {
                if self.seen.insert((Seen::Call, chat, id)) {
                    let calls = &mut self.batch.calls;
                    calls.id.push(id);
                    calls.chat.push(chat);
                    calls.call.push(call);
                }
            }
            IndexRow::GateOpened {
                id,
                turn,
                call,
                gate,
                expires,
            } => {
                if self.seen.insert((Seen::Gate, chat, id)) {
                    let gates = &mut self.batch.gates;
                    gates.id.push(id);
                    gates.chat.push(chat);
                    gates.turn.push(turn);
                    gates.owner.push(owner.to_owned());
                    gates.call.push(call);
                    gates.gate.push(gate);
                    gates.asked.push(from_at(append.entry.at));
                    gates.expires.push(*expires);
                }
            }
            IndexRow::GateClosed { id, decision } => {
                let is_opened_here = self.seen.contains(&(Seen::Gate, chat, id));
                let (seen, closings) = match is_opened_here {
                    true => (Seen::ClosedAfter, &mut self.batch.closed_after),
                    false => (Seen::ClosedBefore, &mut self.batch.closed_before),
                };
                if self.seen.insert((seen, chat, id)) {
                    closings.id.push(id);
                    closings.chat.push(chat);
                    closings.decision.push(decision);
                    closings.by.push(append.actor.as_str());
                    closings.at.push(from_at(append.entry.at));
                }
            }
        }
    }

    fn finish(mut self) -> Batch<'a> {
        for touched in self.touched {
            let Some(place) = self.places.get(touched.chat) else {
                continue;
            };
            let chats = match touched.is_new {
                true => &mut self.batch.opened,
                false => &mut self.batch.grown,
            };
            chats.id.push(touched.chat);
            chats.owner.push(place.owner.clone());
            chats.opened.push(touched.opened);
            chats.updated.push(touched.updated);
            chats.seq.push(from_seq(place.seq));
            let open = place.open.as_ref();
            chats.turn.push(open.map(|open| open.id.to_string()));
            chats.running.push(open.is_some_and(|open| open.is_running));
            chats.active.push(touched.active);
            chats.ended.push(touched.ended);
            chats.title.push(touched.title);
        }
        self.batch
    }
}

impl<'a> Entries<'a> {
    fn push(&mut self, append: &'a Append, seq: u64) {
        self.chat.push(append.chat.as_str());
        self.seq.push(from_seq(seq));
        let turn = index::turn(append.events());
        self.turn.push(turn.map(TurnId::as_str));
        self.kind.push(&append.kind);
        self.actor.push(append.actor.as_str());
        self.events.push(&append.events);
        self.at.push(from_at(append.entry.at));
        self.epoch.push(from_seq(append.entry.epoch));
    }
}
