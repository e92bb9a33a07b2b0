//! Journals in this process, for as long as it lives: for tests and for trying things out.

mod chat_list;
mod lease;

use std::collections::hash_map::Entry::{Occupied, Vacant};
use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use turn::call::Call;
use turn::index::{self, Change};
use turn::{At, CallId, ChatId, Entry, Event, GateId, OpenTurn, Principal, Status, title};

use crate::backlog::{Backlog, OpenGates};
use crate::change_notifier::ChangeNotifier;
use crate::clock::SteadyClock;
use crate::error::StoreError;
use crate::journal::{
    Appended, Bounds, Closed, EntryPage, GatePage, GatePlace, GateRecord, Journal, NewEntry,
    OpenGate, Reply, Usage,
};
use crate::lease::Lease;
use crate::nonce::Nonces;
use crate::probe::Probe;
use crate::tail::Tail;

/// Journals in memory.
#[derive(Debug, Default)]
pub struct MemoryJournal {
    state: Arc<Mutex<State>>,
    notifier: Arc<ChangeNotifier>,
    clock: SteadyClock,
}

#[derive(Debug, Default)]
struct State {
    chats: HashMap<ChatId, Chat>,
    gates: HashMap<GateId, IndexedGate>,
    /// The gates that wait, in the order of their owners' lists.
    open: HashMap<Principal, BTreeMap<GatePlace, GateId>>,
    calls: HashMap<CallId, (ChatId, Call)>,
    leases: HashMap<ChatId, Lease>,
    /// What owners call their chats, and which of them they archived.
    labels: HashMap<ChatId, Label>,
    /// The owners of chats that were deleted for good.
    tombstones: HashMap<ChatId, Principal>,
    /// What was used once, and until when that matters.
    nonces: HashMap<String, At>,
    /// How many gates were ever opened: the order of those asked in the same millisecond.
    asked: u64,
}

#[derive(Debug)]
struct Chat {
    entries: Vec<Entry>,
    owner: Principal,
    opened: At,
    updated: At,
    /// When its last turn was opened.
    active: At,
    open: Option<OpenTurn>,
    ended: Option<Status>,
    title: Option<String>,
}

/// What an owner has said of a chat.
#[derive(Debug, Default)]
struct Label {
    title: Option<String>,
    is_archived: bool,
}

#[derive(Debug)]
struct IndexedGate {
    place: GatePlace,
    record: GateRecord,
}

impl State {
    fn append(
        &mut self,
        id: &ChatId,
        expected_seq: u64,
        mut entry: NewEntry,
    ) -> Result<Appended, StoreError> {
        let chat = self.chats.entry(id.clone());
        let (seq, owner) = match &chat {
            Occupied(chat) => (chat.get().entries.len() as u64, Some(&chat.get().owner)),
            Vacant(_) => (0, index::owner(&entry.events)),
        };
        if seq != expected_seq {
            return Ok(Appended::Conflict { seq });
        }
        // All that can be refused is refused before anything is touched.
        let owner = owner.cloned();
        let owner = owner.ok_or_else(|| StoreError::OwnerMissing { chat: id.clone() })?;
        refuse_taken(&self.calls, &self.gates, id, &entry.events)?;
        if self.tombstones.contains_key(id) {
            return Err(StoreError::ChatDeleted { chat: id.clone() });
        }

        let chat = chat.or_insert_with(|| Chat {
            entries: Vec::new(),
            owner: owner.clone(),
            opened: entry.at,
            updated: entry.at,
            active: entry.at,
            open: None,
            ended: None,
            title: None,
        });
        chat.updated = entry.at;
        chat.open = entry.open.take();
        for change in index::changes(&entry.events) {
            match change {
                Change::ChatOpened { .. } => {}
                Change::TurnOpened { message } => {
                    chat.active = entry.at;
                    if chat.title.is_none() {
                        chat.title = message.and_then(title::of_message);
                    }
                }
                Change::TurnEnded { status } => chat.ended = Some(status),
                Change::CallMade { call } => {
                    let made = || (id.clone(), call.clone());
                    self.calls.entry(call.id.clone()).or_insert_with(made);
                }
                Change::GateOpened { turn, gate } => {
                    self.asked += 1;
                    let place = GatePlace {
                        asked: entry.at,
                        position: self.asked,
                    };
                    let record = GateRecord {
                        chat: id.clone(),
                        turn: turn.clone(),
                        owner: owner.clone(),
                        gate: gate.clone(),
                        asked: entry.at,
                        closed: None,
                    };
                    if let Vacant(vacant) = self.gates.entry(gate.id.clone()) {
                        vacant.insert(IndexedGate { place, record });
                        let open = self.open.entry(owner.clone()).or_default();
                        open.insert(place, gate.id.clone());
                    }
                }
                Change::GateClosed { gate, decision } => {
                    let asked = self.gates.get_mut(gate);
                    if let Some(IndexedGate { record, place }) = asked
                        && record.chat == *id
                    {
                        remove_open(&mut self.open, &record.owner, place);
                        record.closed.get_or_insert_with(|| Closed {
                            decision: decision.clone(),
                            by: entry.actor.clone(),
                            at: entry.at,
                        });
                    }
                }
            }
        }
        let seq = seq + 1;
        chat.entries.push(Entry {
            seq,
            at: entry.at,
            actor: entry.actor,
            events: entry.events,
        });
        Ok(Appended::Ok { seq })
    }

    fn read(&self, chat: &ChatId, after: u64) -> Vec<Entry> {
        let entries = self
            .chats
            .get(chat)
            .map_or(&[][..], |chat| &chat.entries[..]);
        // Seqs start at 1 and have no gaps, so a place in the journal is a place in the list.
        let start = usize::try_from(after).unwrap_or(usize::MAX);
        entries.get(start..).unwrap_or_default().to_vec()
    }

    fn read_page(&self, chat: &ChatId, after: u64, bounds: Bounds) -> EntryPage {
        let entries = self
            .chats
            .get(chat)
            .map_or(&[][..], |chat| &chat.entries[..]);
        let start = usize::try_from(after).unwrap_or(usize::MAX);
        let entries = entries.get(start..).unwrap_or_default().iter();
        let rows = entries.map(|entry| {
            let bytes = serde_json::to_vec(&entry.events).map_or(0, |events| events.len());
            Ok::<_, std::convert::Infallible>((entry.clone(), bytes))
        });
        match EntryPage::of(rows, bounds) {
            Ok(page) => page,
        }
    }

    fn open_gates(&self, owner: &Principal, after: Option<GatePlace>, limit: usize) -> GatePage {
        let start = after.map_or(Bound::Unbounded, Bound::Excluded);
        let open = self.open.get(owner).into_iter();
        let open = open.flat_map(|open| open.range((start, Bound::Unbounded)));
        let open = open.filter_map(|(place, id)| {
            let IndexedGate { record, .. } = self.gates.get(id)?;
            let (_, call) = self.calls.get(&record.gate.call)?;
            let gate = OpenGate {
                chat: record.chat.clone(),
                turn: record.turn.clone(),
                gate: record.gate.clone(),
                call: call.clone(),
                asked: record.asked,
            };
            Some((*place, gate))
        });
        GatePage::of(open.take(limit.saturating_add(1)).collect(), limit)
    }

    fn usage(&self, owner: &Principal, chat: &ChatId, limit: usize) -> Usage {
        let is_open = |chat: &&Chat| chat.owner == *owner && chat.open.is_some();
        let open_gates = self.open.get(owner).map_or(0, BTreeMap::len);
        Usage {
            open_chats: self.chats.values().filter(is_open).take(limit).count(),
            open_gates: open_gates.min(limit),
            is_open: self.chats.get(chat).as_ref().is_some_and(is_open),
        }
    }

    fn open_gates_of_all(&self, limit: usize) -> OpenGates {
        let open = self.open.values().flatten().take(limit);
        let records = open.filter_map(|(_, id)| Some(&self.gates.get(id)?.record));
        OpenGates::of(records.map(|record| (&record.gate, record.asked)))
    }

    fn overdue_gates(&self, by: At, limit: usize) -> Vec<(ChatId, GateId)> {
        let open = self.gates.values().map(|asked| &asked.record);
        let open = open.filter(|record| record.closed.is_none());
        let mut overdue: Vec<_> = open
            .filter_map(|record| {
                let expires = record.gate.expires?;
                // The last moment of all means "never".
                let is_due = expires <= by && expires != At(u64::MAX);
                is_due.then_some((expires, record))
            })
            .collect();
        overdue.sort_by_key(|(expires, _)| *expires);
        let overdue = overdue.into_iter().take(limit);
        let overdue = overdue.map(|(_, record)| (record.chat.clone(), record.gate.id.clone()));
        overdue.collect()
    }

    fn outdated(&self, seen: &[(ChatId, u64)]) -> Vec<ChatId> {
        let last = |chat| {
            let chat = self.chats.get(chat);
            chat.map_or(0, |chat: &Chat| chat.entries.len() as u64)
        };
        let outdated = seen.iter().filter(|(chat, seq)| last(chat) != *seq);
        outdated.map(|(chat, _)| chat.clone()).collect()
    }

    fn longest_untouched(&self, wanted: impl Fn(&ChatId, &Chat) -> bool) -> Vec<ChatId> {
        let chats = self.chats.iter().filter(|(id, chat)| wanted(id, chat));
        let mut chats: Vec<_> = chats.collect();
        chats.sort_by_key(|(id, chat)| (chat.updated, *id));
        chats.into_iter().map(|(id, _)| id.clone()).collect()
    }

    fn delete(&mut self, chat: &ChatId) -> bool {
        let open = &mut self.open;
        self.gates.retain(|_, IndexedGate { record, place }| {
            let stays = record.chat != *chat;
            if !stays {
                remove_open(open, &record.owner, place);
            }
            stays
        });
        self.calls.retain(|_, (of, _)| of != chat);
        self.leases.remove(chat);
        self.labels.remove(chat);
        self.chats.remove(chat).is_some()
    }
}

/// Fails if an entry says a call or a gate that another chat has.
fn refuse_taken(
    calls: &HashMap<CallId, (ChatId, Call)>,
    gates: &HashMap<GateId, IndexedGate>,
    id: &ChatId,
    events: &[Event],
) -> Result<(), StoreError> {
    for change in index::changes(events) {
        let (taken_by, taken) = match change {
            Change::CallMade { call } => {
                let known = calls.get(&call.id);
                (known.map(|(chat, _)| chat), call.id.as_str())
            }
            Change::GateOpened { gate, .. } => {
                let known = gates.get(&gate.id);
                (known.map(|asked| &asked.record.chat), gate.id.as_str())
            }
            _ => continue,
        };
        if taken_by.is_some_and(|chat| chat != id) {
            let id = taken.to_owned();
            return Err(StoreError::Taken { id });
        }
    }
    Ok(())
}

/// A gate that does not wait any more.
fn remove_open(
    open: &mut HashMap<Principal, BTreeMap<GatePlace, GateId>>,
    owner: &Principal,
    place: &GatePlace,
) {
    if let Some(of_owner) = open.get_mut(owner) {
        of_owner.remove(place);
        if of_owner.is_empty() {
            open.remove(owner);
        }
    }
}

/// Nothing between two locks can fail half-way: what can be refused is refused first.
fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

fn ready<'a, T: Send + 'a>(answer: Result<T, StoreError>) -> Reply<'a, T> {
    Box::pin(std::future::ready(answer))
}

impl Journal for MemoryJournal {
    fn append<'a>(
        &'a self,
        chat: &'a ChatId,
        expected_seq: u64,
        entry: NewEntry,
    ) -> Reply<'a, Appended> {
        Box::pin(async move {
            let appended = lock(&self.state).append(chat, expected_seq, entry)?;
            self.notifier.notify(chat);
            Ok(appended)
        })
    }

    fn read<'a>(&'a self, chat: &'a ChatId, after: u64) -> Reply<'a, Vec<Entry>> {
        Box::pin(async move { Ok(lock(&self.state).read(chat, after)) })
    }

    fn read_page<'a>(
        &'a self,
        chat: &'a ChatId,
        after: u64,
        bounds: Bounds,
    ) -> Reply<'a, EntryPage> {
        Box::pin(async move { Ok(lock(&self.state).read_page(chat, after, bounds)) })
    }

    fn tail(&self, chat: &ChatId, after: u64) -> Tail {
        let state = Arc::clone(&self.state);
        let listener = self.notifier.listen(chat);
        let chat = chat.clone();
        Tail::new(after, listener, move |after| {
            ready(Ok(Some(lock(&state).read(&chat, after))))
        })
    }

    fn open_gates<'a>(
        &'a self,
        owner: &'a Principal,
        after: Option<GatePlace>,
        limit: usize,
    ) -> Reply<'a, GatePage> {
        Box::pin(async move { Ok(lock(&self.state).open_gates(owner, after, limit)) })
    }

    fn usage<'a>(
        &'a self,
        owner: &'a Principal,
        chat: &'a ChatId,
        limit: usize,
    ) -> Reply<'a, Usage> {
        Box::pin(async move { Ok(lock(&self.state).usage(owner, chat, limit)) })
    }

    fn gate<'a>(&'a self, id: &'a GateId) -> Reply<'a, Option<GateRecord>> {
        Box::pin(async move {
            let state = lock(&self.state);
            Ok(state.gates.get(id).map(|asked| asked.record.clone()))
        })
    }

    fn call<'a>(&'a self, id: &'a CallId) -> Reply<'a, Option<ChatId>> {
        Box::pin(async move {
            let state = lock(&self.state);
            Ok(state.calls.get(id).map(|(chat, _)| chat.clone()))
        })
    }

    fn overdue_gates(&self, by: At, limit: usize) -> Reply<'_, Vec<(ChatId, GateId)>> {
        Box::pin(async move { Ok(lock(&self.state).overdue_gates(by, limit)) })
    }

    fn outdated<'a>(&'a self, seen: &'a [(ChatId, u64)]) -> Reply<'a, Vec<ChatId>> {
        Box::pin(async move { Ok(lock(&self.state).outdated(seen)) })
    }

    fn owner<'a>(&'a self, chat: &'a ChatId) -> Reply<'a, Option<Principal>> {
        Box::pin(async move {
            let state = lock(&self.state);
            Ok(state.chats.get(chat).map(|chat| chat.owner.clone()))
        })
    }

    fn delete<'a>(&'a self, chat: &'a ChatId) -> Reply<'a, bool> {
        Box::pin(async move {
            let mut state = lock(&self.state);
            let was_there = state.delete(chat);
            if was_there {
                // Under the lock, so that no reader sees the next chat under this id before.
                self.notifier.end(chat);
            }
            Ok(was_there)
        })
    }
}

impl Nonces for MemoryJournal {
    fn spend<'a>(&'a self, nonce: &'a str, now: At, expires: At) -> Reply<'a, bool> {
        Box::pin(async move {
            let nonces = &mut lock(&self.state).nonces;
            nonces.retain(|_, expires| *expires > now);
            let is_new = expires > now && !nonces.contains_key(nonce);
            if is_new {
                nonces.insert(nonce.to_owned(), expires);
            }
            Ok(is_new)
        })
    }
}

impl Backlog for MemoryJournal {
    fn open_gates_of_all(&self, limit: usize) -> Reply<'_, OpenGates> {
        ready(Ok(lock(&self.state).open_gates_of_all(limit)))
    }
}

impl Probe for MemoryJournal {
    fn probe(&self, _now: At) -> Reply<'_, ()> {
        ready(Ok(()))
    }
}
