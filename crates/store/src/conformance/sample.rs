//! What the checks write: entries as a turn would.

use serde_json::{Value, json};
use turn::call::Call;
use turn::gate::Gate;
use turn::{At, Chat, ChatId, Entry, Event, GateId};

use crate::{Appended, Journal, NewEntry};

/// Events, given as the journal has them.
pub(super) fn events(events: Value) -> Vec<Event> {
    serde_json::from_value(events).expect("a sample is made of known events")
}

/// An entry of these events, by its chat's owner.
pub(super) fn entry(at: u64, actor: &str, all: Value) -> NewEntry {
    NewEntry {
        at: At(at),
        epoch: 0,
        actor: actor.into(),
        events: events(all),
        open: None,
    }
}

/// The event that opens a chat.
pub(super) fn chat_opened(owner: &str) -> Value {
    json!({"event": "chat-opened", "owner": owner})
}

/// The event that opens a turn.
pub(super) fn turn_opened(turn: &str) -> Value {
    json!({"event": "turn-opened", "turn": turn, "messageId": format!("m-{turn}"), "cause": {
        "cause": "message",
        "message": {"id": "u", "role": "user", "parts": [{"type": "text", "text": "hello"}]},
    }})
}

/// The event that ends a turn.
pub(super) fn turn_ended(turn: &str) -> Value {
    json!({"event": "turn-ended", "turn": turn, "end": "finished"})
}

/// A step in which the model said something.
pub(super) fn said(text: &str) -> Value {
    json!({"event": "step-ended", "turn": "t", "finish": "stop", "parts": [
        {"part": "text", "text": text},
    ]})
}

/// A step that ended with one call.
pub(super) fn called(turn: &str, call: &str) -> Value {
    let mut part = json!({"part": "call"});
    let call = serde_json::to_value(self::call(call)).expect("a call is JSON");
    if let (Value::Object(part), Value::Object(call)) = (&mut part, call) {
        part.extend(call);
    }
    json!({"event": "step-ended", "turn": turn, "finish": "stop", "parts": [
        {"part": "text", "text": "I'll pay."},
        part,
    ]})
}

/// The event that a call is about to run.
pub(super) fn started(turn: &str, call: &str) -> Value {
    json!({"event": "call-started", "turn": turn, "call": call})
}

/// The event that a call is over.
pub(super) fn settled(turn: &str, call: &str) -> Value {
    json!({"event": "call-settled", "turn": turn, "call": call, "outcome": "output", "output": 1})
}

/// The call of that name.
pub(super) fn call(id: &str) -> Call {
    let call = json!({
        "id": id, "tool": "process_payment", "place": "server",
        "input": {"recipient": "Hanako", "amount": 50},
    });
    serde_json::from_value(call).expect("a sample is a call")
}

/// An approval that holds a call.
pub(super) fn gate(id: &str, call: &str, expires: Option<u64>) -> Gate {
    let mut gate = json!({
        "id": id, "call": call, "kind": {"kind": "approval", "question": "Pay Hanako?"},
    });
    if let Some(expires) = expires {
        gate["expires"] = expires.into();
    }
    serde_json::from_value(gate).expect("a sample is a gate")
}

/// The event that opens a gate.
pub(super) fn gate_opened(turn: &str, gate: &Gate) -> Value {
    json!({"event": "gate-opened", "turn": turn, "gate": gate})
}

/// The event that closes a gate with yes or no.
pub(super) fn gate_closed(turn: &str, gate: &GateId, approved: bool) -> Value {
    let decision = if approved { "approved" } else { "denied" };
    json!({"event": "gate-closed", "turn": turn, "gate": gate, "decision": decision})
}

/// Appends without a conflict, and returns the place. Which turn is open then is worked
/// out as by the owner of the chat.
pub(super) async fn append(
    journal: &dyn Journal,
    chat: &ChatId,
    expected_seq: u64,
    mut entry: NewEntry,
) -> u64 {
    let mut entries = journal.read(chat, 0).await.expect("the store works");
    entries.push(Entry {
        seq: expected_seq + 1,
        at: entry.at,
        actor: entry.actor.clone(),
        events: entry.events.clone(),
    });
    entry.open = Chat::replay(&entries).open_turn();
    let appended = journal.append(chat, expected_seq, entry).await;
    match appended.expect("the store works") {
        Appended::Ok { seq } => seq,
        Appended::Conflict { seq } => panic!("{chat} is at {seq}, not at {expected_seq}"),
    }
}

/// Opens a chat at time 1.
pub(super) async fn open_chat(journal: &dyn Journal, chat: &ChatId, owner: &str) {
    let opened = entry(1, owner, json!([chat_opened(owner)]));
    assert_eq!(append(journal, chat, 0, opened).await, 1);
}

/// Appends until it succeeds, wherever the journal is by then.
pub(super) async fn append_somewhere(
    journal: &dyn Journal,
    chat: &ChatId,
    mut seen: u64,
    entry: &NewEntry,
) -> u64 {
    loop {
        let appended = journal.append(chat, seen, entry.clone()).await;
        match appended.expect("the store works") {
            Appended::Ok { seq } => return seq,
            Appended::Conflict { seq } => seen = seq,
        }
    }
}
