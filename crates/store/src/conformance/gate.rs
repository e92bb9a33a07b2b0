//! Finding gates and calls.

use serde_json::json;
use turn::gate::Decision;
use turn::{At, ChatId, GateId};

use super::sample::{
    append, call, called, chat_opened, entry, gate, gate_closed, gate_opened, open_chat,
};
use crate::{Closed, GatePage, GateRecord, Journal, OpenGate, StoreError, Stores};

async fn open_ids(journal: &dyn Journal, owner: &str) -> Vec<String> {
    let open = journal.open_gates(&owner.into(), None, 99).await;
    let open = open.expect("the store works").gates.into_iter();
    open.map(|open| open.gate.id.to_string()).collect()
}

/// A gate is listed with all that an approver wants to know, from its opening to its closing.
pub async fn open_gates_appear_and_vanish(stores: Stores) {
    let journal = &*stores.journal;
    let chat = ChatId::from("c");
    open_chat(journal, &chat, "ann").await;
    assert_eq!(open_ids(journal, "ann").await, [""; 0]);

    let approval = gate("approval", "x", Some(99));
    let page = serde_json::from_value(json!({
        "id": "page", "call": "nested", "kind": {"kind": "client-call"},
    }));
    let page = page.expect("a sample is a gate");
    // The gate before its call: within an entry, either may come first.
    let asked = json!([gate_opened("t", &approval), called("t", "x")]);
    append(journal, &chat, 1, entry(5, "agent", asked)).await;
    let nested = json!({"event": "call-nested", "turn": "t", "call": call("nested")});
    let asked = json!([nested, gate_opened("t", &page)]);
    append(journal, &chat, 2, entry(6, "agent", asked)).await;
    // No reader could know the question of this one.
    let stray = gate("stray", "nowhere", None);
    let asked = json!([gate_opened("t", &stray)]);
    append(journal, &chat, 3, entry(7, "agent", asked)).await;

    let open = |gate, call, asked| OpenGate {
        chat: chat.clone(),
        turn: "t".into(),
        gate,
        call,
        asked: At(asked),
    };
    let expected = [
        open(approval.clone(), call("x"), 5),
        open(page, call("nested"), 6),
    ];
    let listed = journal.open_gates(&"ann".into(), None, 99).await;
    let (gates, next) = (expected.to_vec(), None);
    assert_eq!(listed, Ok(GatePage { gates, next }));

    let output = json!({
        "event": "gate-closed", "turn": "t", "gate": "page", "decision": "output", "output": 1,
    });
    append(journal, &chat, 4, entry(8, "ann", json!([output]))).await;
    assert_eq!(open_ids(journal, "ann").await, ["approval"]);
    // Opened and closed in one entry, a gate was never open to anybody.
    let brief = gate("brief", "x", None);
    let events = json!([
        gate_closed("t", &approval.id, true),
        gate_opened("t", &brief),
        gate_closed("t", &brief.id, true),
    ]);
    append(journal, &chat, 5, entry(9, "ann", events)).await;
    assert_eq!(open_ids(journal, "ann").await, [""; 0]);
}

/// An owner sees the gates of all their chats and of no other, by the time they were asked.
pub async fn open_gates_are_the_owners_alone_and_come_oldest_first(stores: Stores) {
    let journal = &*stores.journal;
    let chats = [("a", "ann", 30), ("b", "bob", 20), ("c", "ann", 10)];
    for (chat, owner, at) in chats {
        let asks = |name: &str| {
            let gate = gate(&format!("{chat}-{name}"), chat, None);
            gate_opened("t", &gate)
        };
        // Two of one moment stay in the order in which they were asked.
        let events = json!([chat_opened(owner), called("t", chat), asks("z"), asks("y")]);
        append(journal, &chat.into(), 0, entry(at, owner, events)).await;
    }
    assert_eq!(open_ids(journal, "ann").await, ["c-z", "c-y", "a-z", "a-y"]);
    assert_eq!(open_ids(journal, "bob").await, ["b-z", "b-y"]);
    assert_eq!(open_ids(journal, "eve").await, [""; 0]);
}

/// A list is read page by page: nothing twice and nothing left out, though gates close meanwhile.
pub async fn open_gates_are_listed_page_by_page(stores: Stores) {
    let journal = &*stores.journal;
    let chat = ChatId::from("c");
    open_chat(journal, &chat, "ann").await;
    let name = |number: u64| format!("g{number:02}");
    // Several of one moment, so that a page may end between them.
    for (seq, numbers) in (1..).zip([0..5_u64, 5..6, 6..11]) {
        let mut events: Vec<_> = numbers
            .map(|number| gate_opened("t", &gate(&name(number), "x", None)))
            .collect();
        if seq == 1 {
            events.push(called("t", "x"));
        }
        append(journal, &chat, seq, entry(seq * 10, "ann", json!(events))).await;
    }
    let all: Vec<String> = (0..11).map(name).collect();
    for limit in [1, 2, 3, 10, 11, 12] {
        let (mut seen, mut after) = (Vec::new(), None);
        loop {
            let page = journal.open_gates(&"ann".into(), after, limit).await;
            let page = page.expect("the store works");
            let is_full = page.gates.len() == limit;
            seen.extend(page.gates.iter().map(|open| open.gate.id.to_string()));
            assert!(is_full || page.next.is_none(), "{page:?}");
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        assert_eq!(seen, all, "pages of {limit}");
    }
    // The gate at which a page ended may be closed before the next one is asked for.
    let first = journal.open_gates(&"ann".into(), None, 3).await;
    let after = first.expect("the store works").next;
    let closed = json!([gate_closed("t", &"g02".into(), true)]);
    append(journal, &chat, 4, entry(40, "ann", closed)).await;
    let page = journal.open_gates(&"ann".into(), after, 2).await;
    let ids = |page: GatePage| -> Vec<String> {
        let gates = page.gates.iter();
        gates.map(|open| open.gate.id.to_string()).collect()
    };
    assert_eq!(page.map(ids), Ok(vec![name(3), name(4)]));
    let others = journal.open_gates(&"eve".into(), after, 2).await;
    assert_eq!(others.map(ids), Ok(Vec::new()));
}

/// A gate is found by its id alone: its chat, its owner, and its outcome.
pub async fn a_gate_is_found_open_and_closed(stores: Stores) {
    let journal = &*stores.journal;
    let chat = ChatId::from("c");
    open_chat(journal, &chat, "ann").await;
    // Not only approvals of calls that are known: whatever is asked is found.
    let asked = gate("g", "x", None);
    let id = asked.id.clone();
    assert_eq!(journal.gate(&id).await, Ok(None));
    let events = json!([gate_opened("t", &asked)]);
    append(journal, &chat, 1, entry(5, "agent", events)).await;
    let mut record = GateRecord {
        chat: chat.clone(),
        turn: "t".into(),
        owner: "ann".into(),
        gate: asked,
        asked: At(5),
        closed: None,
    };
    assert_eq!(journal.gate(&id).await, Ok(Some(record.clone())));

    let decision = json!({
        "event": "gate-closed", "turn": "t", "gate": "g",
        "decision": "approved", "reason": "fine", "input": {"amount": 40},
    });
    append(journal, &chat, 2, entry(7, "bob", json!([decision]))).await;
    record.closed = Some(Closed {
        decision: Decision::Approved {
            reason: Some("fine".into()),
            input: Some(json!({"amount": 40})),
        },
        by: "bob".into(),
        at: At(7),
    });
    assert_eq!(journal.gate(&id).await, Ok(Some(record)));
    assert_eq!(journal.gate(&"h".into()).await, Ok(None));
}

/// A second answer, and an answer from another chat, change nothing in what is known of a gate.
pub async fn the_first_answer_to_a_gate_stays(stores: Stores) {
    let journal = &*stores.journal;
    let (chat, other) = (ChatId::from("c"), ChatId::from("other"));
    open_chat(journal, &chat, "ann").await;
    open_chat(journal, &other, "eve").await;
    let asked = gate("g", "x", None);
    let open = json!([called("t", "x"), gate_opened("t", &asked)]);
    append(journal, &chat, 1, entry(2, "ann", open.clone())).await;

    let yes = json!([gate_closed("t", &asked.id, true)]);
    append(journal, &other, 1, entry(3, "eve", yes.clone())).await;
    assert_eq!(open_ids(journal, "ann").await, ["g"]);

    let no = json!([gate_closed("t", &asked.id, false)]);
    append(journal, &chat, 2, entry(4, "ann", no)).await;
    let decided = journal.gate(&asked.id).await;
    append(journal, &chat, 3, entry(5, "eve", yes)).await;
    // Nor does it open again.
    append(journal, &chat, 4, entry(6, "ann", open)).await;
    assert_eq!(journal.gate(&asked.id).await, decided);
    let closed = decided.map(|record| record.and_then(|record| record.closed));
    let closed = closed.expect("the store works").expect("it is closed");
    assert_eq!(closed.decision, Decision::Denied { reason: None });
    assert_eq!((closed.by, closed.at), ("ann".into(), At(4)));
}

/// A call is found by its id alone, whether a step or a tool made it.
pub async fn calls_are_found(stores: Stores) {
    let journal = &*stores.journal;
    let (a, b) = (ChatId::from("a"), ChatId::from("b"));
    open_chat(journal, &a, "ann").await;
    open_chat(journal, &b, "ann").await;
    append(journal, &a, 1, entry(2, "ann", json!([called("t", "x")]))).await;
    let nested = json!([{"event": "call-nested", "turn": "t", "call": call("y")}]);
    append(journal, &b, 1, entry(2, "ann", nested)).await;
    let started = json!([{"event": "call-started", "turn": "t", "call": "z"}]);
    append(journal, &b, 2, entry(3, "ann", started)).await;
    assert_eq!(journal.call(&"x".into()).await, Ok(Some(a)));
    assert_eq!(journal.call(&"y".into()).await, Ok(Some(b)));
    assert_eq!(journal.call(&"z".into()).await, Ok(None));
}

/// The timers to set after a restart: open gates with a deadline, of everybody.
pub async fn gates_whose_time_is_up_are_found_longest_overdue_first(stores: Stores) {
    let journal = &*stores.journal;
    let (a, b) = (ChatId::from("a"), ChatId::from("b"));
    let asks = |id, expires| gate_opened("t", &gate(id, "x", expires));
    let never = Some(u64::MAX);
    let events = json!([
        chat_opened("ann"),
        called("t", "x"),
        asks("late", Some(30)),
        asks("never", never),
        asks("durable", None),
        asks("answered", Some(15)),
    ]);
    append(journal, &a, 0, entry(1, "ann", events)).await;
    let events = json!([chat_opened("bob"), asks("soon", Some(10))]);
    append(journal, &b, 0, entry(2, "bob", events)).await;
    let answered = json!([gate_closed("t", &"answered".into(), true)]);
    append(journal, &a, 1, entry(3, "ann", answered)).await;

    let due = [(b, GateId::from("soon")), (a, GateId::from("late"))];
    for (by, limit, expected) in [
        (9, 9, &due[..0]),
        (10, 9, &due[..1]),
        (29, 9, &due[..1]),
        (30, 9, &due[..]),
        (30, 1, &due[..1]),
        (u64::MAX, 9, &due[..]),
    ] {
        let overdue = journal.overdue_gates(At(by), limit).await;
        assert_eq!(overdue.as_deref(), Ok(expected), "by {by}");
    }
}

/// Gates and calls are found by their ids alone, so an id that another chat has is a mistake.
pub async fn an_id_of_another_chat_is_refused(stores: Stores) {
    let journal = &*stores.journal;
    let (a, b) = (ChatId::from("a"), ChatId::from("b"));
    open_chat(journal, &a, "ann").await;
    open_chat(journal, &b, "bob").await;
    let call = json!([called("t", "x")]);
    let gate = json!([gate_opened("t", &gate("g", "x", None))]);
    append(journal, &a, 1, entry(2, "ann", call.clone())).await;
    append(journal, &a, 2, entry(3, "ann", gate.clone())).await;
    let taken = |id: &str| Err(StoreError::Taken { id: id.into() });
    let refused = journal.append(&b, 1, entry(4, "bob", call.clone())).await;
    assert_eq!(refused, taken("x"));
    let refused = journal.append(&b, 1, entry(4, "bob", gate.clone())).await;
    assert_eq!(refused, taken("g"));
    // Once the other chat is forgotten the ids are free.
    assert_eq!(journal.delete(&a).await, Ok(true));
    append(journal, &b, 1, entry(5, "bob", call)).await;
    append(journal, &b, 2, entry(6, "bob", gate)).await;
    assert_eq!(open_ids(journal, "bob").await, ["g"]);
}
