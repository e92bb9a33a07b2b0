//! Appending, and reading what was appended.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::json;
use tokio::task::JoinSet;
use turn::{At, ChatId, Entry, Principal};

use super::sample::{
    append, append_somewhere, called, chat_opened, entry, gate, gate_opened, open_chat, said,
    turn_opened,
};
use crate::{Appended, Bounds, StoreError, Stores};

/// How many write at once.
const WRITERS: u64 = 64;

/// Entries come back as they were, in the order of their places.
pub async fn entries_come_back_in_order(stores: Stores) {
    let journal = &*stores.journal;
    let chat = ChatId::from("c");
    assert_eq!(journal.read(&chat, 0).await, Ok(Vec::new()));

    let opened = json!([chat_opened("ann"), turn_opened("t")]);
    // A clock may be set back: the order is that of the places, not of the times.
    let written = [
        entry(30, "ann", opened),
        entry(20, "bob", json!([said("one"), said("two")])),
        entry(10, "ann", json!([])),
    ];
    let mut expected = Vec::new();
    for (seen, new) in (0..).zip(written) {
        assert_eq!(append(journal, &chat, seen, new.clone()).await, seen + 1);
        expected.push(Entry {
            seq: seen + 1,
            at: new.at,
            actor: new.actor,
            events: new.events,
        });
    }
    for after in 0..=3 {
        let read = journal.read(&chat, after as u64).await;
        assert_eq!(read.as_deref(), Ok(&expected[after..]));
    }
    assert_eq!(journal.read(&chat, 4).await, Ok(Vec::new()));
    assert_eq!(journal.read(&chat, u64::MAX).await, Ok(Vec::new()));
}

/// A page ends where its entries or its bytes would be too many, and holds one entry at least.
pub async fn a_journal_is_read_page_by_page(stores: Stores) {
    let journal = &*stores.journal;
    let chat = ChatId::from("c");
    open_chat(journal, &chat, "ann").await;
    let long = "long ".repeat(2_000);
    for (seen, words) in (1..).zip(["one", "two", &long, "four", "five"]) {
        append(
            journal,
            &chat,
            seen,
            entry(seen, "ann", json!([said(words)])),
        )
        .await;
    }
    let all = journal.read(&chat, 0).await.expect("the store works");
    let read = async |after, entries, bytes| {
        let bounds = Bounds { entries, bytes };
        let page = journal.read_page(&chat, after, bounds).await;
        let page = page.expect("the store works");
        let places = page.entries.iter().map(|entry| entry.seq);
        assert!(page.entries.iter().all(|entry| all.contains(entry)));
        (places.collect::<Vec<_>>(), page.next)
    };
    const MUCH: usize = 1 << 20;
    assert_eq!(read(0, 99, MUCH).await, (vec![1, 2, 3, 4, 5, 6], None));
    assert_eq!(read(0, 6, MUCH).await, (vec![1, 2, 3, 4, 5, 6], None));
    assert_eq!(read(0, 4, MUCH).await, (vec![1, 2, 3, 4], Some(4)));
    assert_eq!(read(4, 4, MUCH).await, (vec![5, 6], None));
    // The fourth entry alone has more than this many bytes.
    assert_eq!(read(0, 99, 5_000).await, (vec![1, 2, 3], Some(3)));
    assert_eq!(read(3, 99, 5_000).await, (vec![4], Some(4)));
    assert_eq!(read(4, 99, 5_000).await, (vec![5, 6], None));
    assert_eq!(read(0, 99, 0).await, (vec![1], Some(1)));
    assert_eq!(read(5, 0, 0).await, (vec![6], None));
    assert_eq!(read(6, 99, MUCH).await, (vec![], None));
}

/// An appender that has not seen the last entry gets its place, and appends nothing.
pub async fn an_append_behind_a_stale_place_conflicts(stores: Stores) {
    let journal = &*stores.journal;
    let chat = ChatId::from("c");
    open_chat(journal, &chat, "ann").await;
    append(journal, &chat, 1, entry(2, "ann", json!([said("one")]))).await;
    for stale in [0, 1] {
        let late = entry(3, "ann", json!([chat_opened("eve"), called("t", "late")]));
        let conflict = journal.append(&chat, stale, late).await;
        assert_eq!(conflict, Ok(Appended::Conflict { seq: 2 }));
    }
    assert_eq!(journal.read(&chat, 0).await.map(|all| all.len()), Ok(2));
    assert_eq!(journal.call(&"late".into()).await, Ok(None));
    assert_eq!(journal.owner(&chat).await, Ok(Some("ann".into())));
}

/// An appender that has seen more than there is conflicts too: the chat was deleted, or it is mistaken.
pub async fn an_append_behind_a_place_to_come_conflicts(stores: Stores) {
    let journal = &*stores.journal;
    let chat = ChatId::from("c");
    let new = || entry(1, "ann", json!([chat_opened("ann")]));
    for to_come in [1, 7, u64::MAX] {
        let conflict = journal.append(&chat, to_come, new()).await;
        assert_eq!(conflict, Ok(Appended::Conflict { seq: 0 }));
    }
    assert_eq!(journal.owner(&chat).await, Ok(None));
    open_chat(journal, &chat, "ann").await;
    for to_come in [2, i64::MAX as u64, u64::MAX] {
        let conflict = journal.append(&chat, to_come, new()).await;
        assert_eq!(conflict, Ok(Appended::Conflict { seq: 1 }));
    }
}

/// Of many who append behind the same place at once, exactly one does.
pub async fn of_writers_at_one_place_one_wins(stores: Stores) {
    let chat = ChatId::from("c");
    open_chat(&*stores.journal, &chat, "ann").await;
    for place in 1..=4 {
        let mut writers = JoinSet::new();
        for writer in 0..WRITERS {
            let journal = Arc::clone(&stores.journal);
            let chat = chat.clone();
            writers.spawn(async move {
                let new = entry(writer, "ann", json!([said(&format!("writer {writer}"))]));
                (writer, journal.append(&chat, place, new).await)
            });
        }
        let mut winner = None;
        for (writer, appended) in writers.join_all().await {
            match appended.expect("the store works") {
                Appended::Ok { seq } => {
                    assert_eq!(seq, place + 1);
                    assert_eq!(winner.replace(writer), None, "two won at {place}");
                }
                Appended::Conflict { seq } => assert_eq!(seq, place + 1),
            }
        }
        let read = stores.journal.read(&chat, place).await;
        let read = read.expect("the store works");
        assert_eq!(read.len(), 1);
        assert_eq!(Some(read[0].at.0), winner);
    }
}

/// Many who append to one chat, each continuing from each conflict, all get through, each once.
pub async fn every_writer_of_one_chat_gets_through(stores: Stores) {
    let chat = ChatId::from("c");
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let journal = Arc::clone(&stores.journal);
        let chat = chat.clone();
        writers.spawn(async move {
            let opened = entry(writer, "ann", json!([chat_opened("ann")]));
            append_somewhere(&*journal, &chat, 0, &opened).await
        });
    }
    let places: HashSet<_> = writers.join_all().await.into_iter().collect();
    assert_eq!(places, (1..=WRITERS).collect());
    let read = stores.journal.read(&chat, 0).await;
    let read = read.expect("the store works");
    assert!(read.iter().map(|entry| entry.seq).eq(1..=WRITERS));
    let writers: HashSet<_> = read.iter().map(|entry| entry.at.0).collect();
    assert_eq!(writers, (0..WRITERS).collect());
}

/// Many who append to a chat each never conflict, and never land in another's.
pub async fn writers_of_many_chats_do_not_meet(stores: Stores) {
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let journal = Arc::clone(&stores.journal);
        writers.spawn(async move {
            let chat = ChatId::from(format!("c{writer}"));
            let owner = format!("p{writer}");
            open_chat(&*journal, &chat, &owner).await;
            for seen in 1..8 {
                let new = entry(seen, &owner, json!([said(&owner)]));
                append(&*journal, &chat, seen, new).await;
            }
            let read = journal.read(&chat, 0).await;
            let read = read.expect("the store works");
            assert!(read.iter().map(|entry| entry.seq).eq(1..=8));
            let owner = Principal::from(owner);
            assert!(read.iter().all(|entry| entry.actor == owner.clone().into()));
        });
    }
    writers.join_all().await;
}

/// If one event of an entry is refused, the whole entry is refused, with its indexes.
pub async fn a_refused_entry_leaves_nothing_behind(stores: Stores) {
    let journal = &*stores.journal;
    let (chat, other) = (ChatId::from("c"), ChatId::from("other"));
    open_chat(journal, &chat, "ann").await;
    open_chat(journal, &other, "bob").await;
    let taken = gate("g", "x", None);
    let asked = json!([called("t", "x"), gate_opened("t", &taken)]);
    append(journal, &other, 1, entry(2, "bob", asked)).await;

    let events = json!([
        turn_opened("t2"),
        called("t2", "y"),
        gate_opened("t2", &gate("fresh", "y", Some(9))),
        gate_opened("t2", &taken),
    ]);
    let refused = journal.append(&chat, 1, entry(3, "ann", events)).await;
    assert_eq!(refused, Err(StoreError::Taken { id: "g".into() }));
    assert_eq!(journal.read(&chat, 1).await, Ok(Vec::new()));
    assert_eq!(journal.call(&"y".into()).await, Ok(None));
    assert_eq!(journal.gate(&"fresh".into()).await, Ok(None));
    assert_eq!(journal.overdue_gates(At(9), 9).await, Ok(Vec::new()));
    assert_eq!(journal.orphaned(9).await, Ok(Vec::new()));
    // And the place is free for another.
    append(journal, &chat, 1, entry(4, "ann", json!([said("ok")]))).await;
}

/// A journal that does not begin with whose chat it is does not begin.
pub async fn the_first_entry_says_whose_chat_it_is(stores: Stores) {
    let journal = &*stores.journal;
    let chat = ChatId::from("c");
    for events in [json!([]), json!([turn_opened("t"), chat_opened("ann")])] {
        let refused = journal.append(&chat, 0, entry(1, "ann", events)).await;
        assert_eq!(
            refused,
            Err(StoreError::OwnerMissing { chat: chat.clone() })
        );
    }
    assert_eq!(journal.read(&chat, 0).await, Ok(Vec::new()));
    assert_eq!(journal.orphaned(9).await, Ok(Vec::new()));
    open_chat(journal, &chat, "ann").await;
}

/// Text of every kind, numbers of every size, and the order of fields survive.
pub async fn every_kind_of_text_and_number_comes_back_as_it_was(stores: Stores) {
    let journal = &*stores.journal;
    let chat = ChatId::from("c");
    open_chat(journal, &chat, "ann").await;
    let text =
        "日本語 עברית 👩‍👩‍👧 e\u{301} \u{0}\u{1}\u{7f}\u{2028}\u{feff}\u{fffd} \\ \" ' \r\n\t %_;--";
    let value = json!({
        "z": text, "a": [0.1, -0.0, 1e300, 5e-324, 123456789.12345679],
        text: null, "m": {"max": u64::MAX, "min": i64::MIN, "none": null, "yes": true},
    });
    let recorded = json!({
        "event": "call-recorded", "turn": "t", "call": "c", "name": text, "value": value,
    });
    let new = entry(u64::MAX, "日本語", json!([said(text), recorded]));
    append(journal, &chat, 1, new.clone()).await;
    let read = journal.read(&chat, 1).await;
    let read = read.expect("the store works");
    assert_eq!(read[0].at, At(u64::MAX));
    assert_eq!(read[0].actor, "日本語".into());
    assert_eq!(read[0].events, new.events);
    // Equality of JSON does not see the order of fields; its text does.
    let as_text = |events| serde_json::to_string(events).expect("events are JSON");
    assert_eq!(as_text(&read[0].events), as_text(&new.events));
}

/// A mebibyte in one event.
pub async fn a_large_entry_comes_back_whole(stores: Stores) {
    let journal = &*stores.journal;
    let chat = ChatId::from("c");
    open_chat(journal, &chat, "ann").await;
    let large = entry(2, "ann", json!([said(&"é".repeat(512 * 1024))]));
    append(journal, &chat, 1, large.clone()).await;
    append(journal, &chat, 2, entry(3, "ann", json!([said("after")]))).await;
    let read = journal.read(&chat, 1).await;
    let read = read.expect("the store works");
    assert_eq!(read.len(), 2);
    assert!(read[0].events == large.events);
}

/// Ids that look alike, look like SQL or look like nothing are ids, and each is one of its own.
pub async fn ids_of_odd_characters_are_distinct(stores: Stores) {
    let journal = &*stores.journal;
    let long = "x".repeat(512);
    let ids = [
        "",
        " ",
        "  ",
        "a",
        "A",
        "a ",
        "a/b",
        "a%",
        "a_",
        "a\\",
        "'",
        "\"",
        "a\nb",
        "a\tb",
        "'; DROP TABLE entry; --",
        "?1",
        ":a",
        "null",
        "NULL",
        "0",
        "00",
        "é",
        "e\u{301}",
        "日本語",
        "🦀",
        "\u{202e}a",
        "../../a",
        &long,
    ];
    for id in ids {
        let chat = ChatId::from(id);
        let asked = gate(&format!("g{id}"), &format!("c{id}"), None);
        let events = json!([
            chat_opened(id),
            turn_opened(id),
            called(id, &format!("c{id}")),
            gate_opened(id, &asked),
        ]);
        append(journal, &chat, 0, entry(1, id, events)).await;
    }
    for id in ids {
        let (chat, owner) = (ChatId::from(id), Principal::from(id));
        let read = journal.read(&chat, 0).await;
        let read = read.expect("the store works");
        assert_eq!(
            (read.len(), &read[0].actor),
            (1, &owner.clone().into()),
            "{id:?}"
        );
        assert_eq!(journal.owner(&chat).await, Ok(Some(owner.clone())));
        let call = format!("c{id}").into();
        assert_eq!(journal.call(&call).await, Ok(Some(chat.clone())));
        let open = journal.open_gates(&owner, None, 9).await;
        let open = open.expect("the store works").gates;
        assert_eq!((open.len(), &open[0].chat), (1, &chat), "{id:?}");
        assert_eq!(open[0].gate.id, format!("g{id}").into());
    }
    let seen = ids.map(|id| (ChatId::from(id), 1));
    assert_eq!(journal.outdated(&seen).await, Ok(Vec::new()));
}
