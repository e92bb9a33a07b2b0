//! Finding chats, and forgetting them.

use serde_json::json;
use turn::{At, ChatId};

use super::sample::{
    append, called, chat_opened, entry, gate, gate_opened, open_chat, said, turn_opened,
};
use crate::{Appended, Bounds, Stores};

/// How a server finds out that another wrote to chats which it holds.
pub async fn journals_that_others_appended_to_are_outdated(stores: Stores) {
    let journal = &*stores.journal;
    let [a, b, gone] = ["a", "b", "gone"].map(ChatId::from);
    for chat in [&a, &b, &gone] {
        open_chat(journal, chat, "ann").await;
    }
    let seen = [(a.clone(), 1), (b.clone(), 1), (gone.clone(), 1)];
    assert_eq!(journal.outdated(&[]).await, Ok(Vec::new()));
    assert_eq!(journal.outdated(&seen).await, Ok(Vec::new()));

    append(journal, &b, 1, entry(2, "bob", json!([said("hello")]))).await;
    assert_eq!(journal.outdated(&seen).await, Ok(vec![b.clone()]));
    assert_eq!(journal.delete(&gone).await, Ok(true));
    let mut outdated = journal.outdated(&seen).await.expect("the store works");
    outdated.sort();
    assert_eq!(outdated, [b.clone(), gone.clone()]);
    let seen = [(a, 1), (b, 2), (gone, 0)];
    assert_eq!(journal.outdated(&seen).await, Ok(Vec::new()));
}

/// Nothing is left of a deleted chat, and everything of the others.
pub async fn a_deleted_chat_is_forgotten_wholly(stores: Stores) {
    let journal = &*stores.journal;
    let (gone, kept) = (ChatId::from("gone"), ChatId::from("kept"));
    for chat in [&gone, &kept] {
        let id = chat.as_str();
        let asked = gate(&format!("g-{id}"), &format!("c-{id}"), Some(99));
        let events = json!([
            chat_opened("ann"),
            turn_opened(id),
            called(id, &format!("c-{id}")),
            gate_opened(id, &asked),
        ]);
        append(journal, chat, 0, entry(1, "ann", events)).await;
    }
    assert_eq!(journal.delete(&gone).await, Ok(true));
    assert_eq!(journal.delete(&gone).await, Ok(false));

    assert_eq!(journal.read(&gone, 0).await, Ok(Vec::new()));
    assert_eq!(journal.owner(&gone).await, Ok(None));
    assert_eq!(journal.gate(&"g-gone".into()).await, Ok(None));
    assert_eq!(journal.call(&"c-gone".into()).await, Ok(None));
    let open = journal.open_gates(&"ann".into(), None, 9).await;
    assert_eq!(open.map(|open| open.gates.len()), Ok(1));
    let overdue = journal.overdue_gates(At(99), 9).await;
    assert_eq!(overdue, Ok(vec![(kept.clone(), "g-kept".into())]));
    assert_eq!(journal.read(&kept, 0).await.map(|all| all.len()), Ok(1));

    // A server with the old chat conflicts, and another may have the id.
    let late = journal.append(&gone, 1, entry(2, "ann", json!([]))).await;
    assert_eq!(late, Ok(Appended::Conflict { seq: 0 }));
    open_chat(journal, &gone, "bob").await;
    assert_eq!(journal.owner(&gone).await, Ok(Some("bob".into())));
}

/// A journal that opens its chat twice does not change hands.
pub async fn an_owner_stays_the_owner(stores: Stores) {
    let journal = &*stores.journal;
    let chat = ChatId::from("c");
    let twice = json!([chat_opened("ann"), chat_opened("eve")]);
    append(journal, &chat, 0, entry(1, "ann", twice)).await;
    let again = json!([chat_opened("eve")]);
    append(journal, &chat, 1, entry(2, "eve", again)).await;
    assert_eq!(journal.owner(&chat).await, Ok(Some("ann".into())));
}

/// An id that no store can hold is as unknown as any other.
pub async fn what_was_never_stored_is_not_found(stores: Stores) {
    let journal = &*stores.journal;
    for id in ["nowhere", "a\u{0}b"] {
        let (chat, owner) = (ChatId::from(id), id.into());
        assert_eq!(journal.read(&chat, 0).await, Ok(Vec::new()));
        assert_eq!(journal.owner(&chat).await, Ok(None));
        let open = journal.open_gates(&owner, None, 9).await;
        assert_eq!(open.map(|open| open.gates), Ok(Vec::new()));
        let bounds = Bounds {
            entries: 9,
            bytes: 9,
        };
        let page = journal.read_page(&chat, 0, bounds).await;
        assert_eq!(page.map(|page| page.entries), Ok(Vec::new()));
        assert_eq!(journal.gate(&id.into()).await, Ok(None));
        assert_eq!(journal.call(&id.into()).await, Ok(None));
        assert_eq!(journal.lease(&chat).await, Ok(None));
        assert_eq!(journal.delete(&chat).await, Ok(false));
    }
}
