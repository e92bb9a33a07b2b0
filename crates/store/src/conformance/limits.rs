//! What limits rest on.

use std::time::Duration;

use serde_json::json;
use turn::gate::GateKind;
use turn::{At, ChatId};

use super::sample::{
    append, called, chat_opened, entry, gate, gate_closed, gate_opened, turn_ended, turn_opened,
};
use crate::{Stores, Usage};

/// Turns that have not ended and gates that wait are counted for their owner, and no further than
/// they are needed.
pub async fn open_turns_and_gates_are_counted(stores: Stores) {
    let journal = &*stores.journal;
    let chats = [("a", "ann"), ("b", "ann"), ("c", "ann"), ("d", "bob")];
    for (chat, owner) in chats {
        let asks = |number| gate_opened("t", &gate(&format!("{chat}{number}"), chat, None));
        let events = json!([
            chat_opened(owner),
            turn_opened("t"),
            called("t", chat),
            asks(1),
            asks(2),
        ]);
        append(journal, &chat.into(), 0, entry(1, owner, events)).await;
    }
    let usage = async |owner: &str, chat: &str, limit| {
        let (owner, chat) = (owner.into(), ChatId::from(chat));
        let usage = journal.usage(&owner, &chat, limit);
        let Usage {
            open_chats,
            open_gates,
            is_open,
        } = usage.await.expect("the store works");
        (open_chats, open_gates, is_open)
    };
    assert_eq!(usage("ann", "a", 99).await, (3, 6, true));
    assert_eq!(usage("ann", "a", 4).await, (3, 4, true));
    assert_eq!(usage("bob", "a", 99).await, (1, 2, false));
    assert_eq!(usage("eve", "new", 99).await, (0, 0, false));
    let closed = json!([
        gate_closed("t", &"a1".into(), true),
        gate_closed("t", &"a2".into(), true),
    ]);
    append(journal, &"a".into(), 1, entry(2, "ann", closed)).await;
    assert_eq!(usage("ann", "a", 99).await, (3, 4, true));
    append(
        journal,
        &"a".into(),
        2,
        entry(3, "ann", json!([turn_ended("t")])),
    )
    .await;
    assert_eq!(usage("ann", "a", 99).await, (2, 4, false));
    assert_eq!(journal.delete(&"b".into()).await, Ok(true));
    assert_eq!(usage("ann", "b", 99).await, (1, 2, false));
}

/// Gates that wait are counted for all owners, by who has to act, and no further than a limit.
pub async fn open_gates_of_all_are_counted_by_kind(stores: Stores) {
    let journal = &*stores.journal;
    let open = async |limit| {
        let open = stores.backlog.open_gates_of_all(limit).await;
        let open = open.expect("the store works");
        let people = (open.approvals, open.questions);
        (people, open.client_calls, open.oldest)
    };
    assert_eq!(open(99).await, ((0, 0), 0, None));
    for (at, chat, owner) in [(5, "a", "ann"), (7, "b", "bob")] {
        let mut page = gate(&format!("{chat}2"), chat, Some(9));
        page.kind = GateKind::ClientCall;
        let events = json!([
            chat_opened(owner),
            turn_opened("t"),
            called("t", chat),
            gate_opened("t", &gate(&format!("{chat}1"), chat, None)),
            gate_opened("t", &page),
        ]);
        append(journal, &chat.into(), 0, entry(at, owner, events)).await;
    }
    assert_eq!(open(99).await, ((2, 0), 2, Some(At(5))));
    let ((approvals, _), client_calls, _) = open(3).await;
    assert_eq!(approvals + client_calls, 3);
    let mut data = gate("q1", "q", None);
    let kind = json!({"kind": "question", "question": "Who?", "schema": {"type": "object"}});
    data.kind = serde_json::from_value(kind).expect("it is a kind");
    let events = json!([
        chat_opened("ann"),
        turn_opened("t"),
        called("t", "q"),
        gate_opened("t", &data),
    ]);
    append(journal, &"q".into(), 0, entry(9, "ann", events)).await;
    assert_eq!(open(99).await, ((2, 1), 2, Some(At(5))));
    assert_eq!(journal.delete(&"q".into()).await, Ok(true));
    let closed = json!([gate_closed("t", &"a1".into(), true)]);
    append(journal, &"a".into(), 1, entry(8, "ann", closed)).await;
    assert_eq!(open(99).await, ((1, 0), 2, Some(At(5))));
    assert_eq!(journal.delete(&"a".into()).await, Ok(true));
    assert_eq!(open(99).await, ((1, 0), 1, Some(At(7))));
}

/// Of all who use a nonce at once one does, until it expires.
pub async fn a_nonce_is_used_once(stores: Stores) {
    let nonces = &*stores.nonces;
    let began = stores.journal.time().await.expect("the store works");
    let at = |second| began + Duration::from_secs(second);
    let all = (0..8).map(|_| nonces.spend("n", at(0), at(60)));
    let spent = futures_util::future::join_all(all).await;
    let spent = spent
        .into_iter()
        .map(|spent| spent.expect("the store works"));
    assert_eq!(spent.filter(|is_new| *is_new).count(), 1);
    assert_eq!(nonces.spend("other", at(1), at(61)).await, Ok(true));
    assert_eq!(nonces.spend("n", at(59), at(119)).await, Ok(false));
    // It may have been used before, and forgotten.
    assert_eq!(nonces.spend("late", at(0), began).await, Ok(false));
}

/// A store that works takes a write, as often as one is tried.
pub async fn a_store_that_works_says_so(stores: Stores) {
    for now in [1, 2, 1] {
        assert_eq!(stores.probe.probe(At(now)).await, Ok(()));
    }
}
