//! Leases, and turns without one.

use std::slice::from_ref;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::task::JoinSet;
use turn::ChatId;

use super::sample::{
    append, called, chat_opened, entry, gate, gate_closed, gate_opened, open_chat, said, settled,
    started, turn_ended, turn_opened,
};
use crate::{Holder, Journal, Stores};

fn holder(owner: &str) -> Holder {
    Holder {
        owner: owner.into(),
        address: format!("http://{owner}.example:8080"),
    }
}

/// Longer than any check takes.
const LONG: Duration = Duration::from_secs(3600);

/// A lease of no time has expired at once, so that no check has to wait for it.
const OVER: Duration = Duration::ZERO;

/// The owner and the epoch of a lease, and whether it has expired by the store's clock.
async fn held(journal: &dyn Journal, chat: &ChatId) -> Option<(Holder, u64, bool)> {
    let lease = journal.lease(chat).await.expect("the store works")?;
    assert_eq!(lease.chat, *chat);
    let is_over = lease.expires <= journal.time().await.expect("the store works");
    Some((lease.holder, lease.epoch, is_over))
}

/// Acquires one lease, and returns whether it was granted.
async fn hold(
    journal: &dyn Journal,
    owner: &str,
    chat: &ChatId,
    epoch: u64,
    lease: Duration,
) -> bool {
    let (owner, chats) = (holder(owner), [(chat.clone(), epoch)]);
    let refused = journal.hold(&owner, &chats, lease).await;
    let refused = refused.expect("the store works");
    assert!(refused.is_empty() || refused == [chat.clone()]);
    refused.is_empty()
}

async fn orphaned(journal: &dyn Journal) -> Vec<String> {
    let found = journal.orphaned(100).await;
    let found = found.expect("the store works").into_iter();
    found.map(|chat| chat.to_string()).collect()
}

/// A new chat whose first entry has these events behind its opening.
async fn chat_with(journal: &dyn Journal, id: &str, at: u64, events: Value) -> ChatId {
    let chat = ChatId::from(id);
    let mut all = vec![chat_opened("ann")];
    all.extend(events.as_array().cloned().unwrap_or_default());
    append(journal, &chat, 0, entry(at, "ann", all.into())).await;
    chat
}

/// A lease has an owner, an address and an expiry; no other owner can release it.
pub async fn a_lease_is_found_until_it_is_given_back(stores: Stores) {
    let journal = &*stores.journal;
    let chat = ChatId::from("c");
    open_chat(journal, &chat, "ann").await;
    assert_eq!(journal.lease(&chat).await, Ok(None));
    assert!(hold(journal, "one", &chat, 3, LONG).await);
    let ones = |is_over| Some((holder("one"), 3, is_over));
    assert_eq!(held(journal, &chat).await, ones(false));
    // Expired, it still has its owner's address.
    assert!(hold(journal, "one", &chat, 3, OVER).await);
    assert_eq!(journal.release("two", from_ref(&chat)).await, Ok(()));
    assert_eq!(held(journal, &chat).await, ones(true));
    assert_eq!(journal.release("one", from_ref(&chat)).await, Ok(()));
    assert_eq!(journal.lease(&chat).await, Ok(None));
    // A chat that is forgotten has none, nor has the next under its id.
    assert!(hold(journal, "one", &chat, u64::MAX >> 1, Duration::MAX).await);
    let ones = Some((holder("one"), u64::MAX >> 1, false));
    assert_eq!(held(journal, &chat).await, ones);
    assert_eq!(journal.delete(&chat).await, Ok(true));
    open_chat(journal, &chat, "bob").await;
    assert_eq!(journal.lease(&chat).await, Ok(None));
}

/// Where servers are, or were, each once.
pub async fn addresses_of_owners_are_found_also_when_their_leases_are_over(stores: Stores) {
    let journal = &*stores.journal;
    let found = async || {
        let mut found = journal.addresses().await.expect("the store works");
        found.sort();
        found
    };
    assert!(found().await.is_empty());
    let leases = [("a", "one"), ("b", "one"), ("c", "two"), ("d", "three")];
    for (chat, owner) in leases {
        let (chat, lease) = (ChatId::from(chat), if owner == "two" { OVER } else { LONG });
        open_chat(journal, &chat, "ann").await;
        assert!(hold(journal, owner, &chat, 1, lease).await);
    }
    let all = ["one", "three", "two"].map(|owner| holder(owner).address);
    assert_eq!(found().await, all);
    assert_eq!(journal.release("three", &["d".into()]).await, Ok(()));
    assert_eq!(journal.release("one", &["a".into()]).await, Ok(()));
    assert_eq!(
        found().await,
        ["one", "two"].map(|owner| holder(owner).address)
    );
}

/// The later claim has the higher epoch, and no clock changes that.
pub async fn a_lease_goes_to_the_higher_epoch(stores: Stores) {
    let journal = &*stores.journal;
    let chat = ChatId::from("c");
    open_chat(journal, &chat, "ann").await;
    assert!(hold(journal, "one", &chat, 1, LONG).await);
    assert!(hold(journal, "two", &chat, 2, LONG).await);
    assert!(!hold(journal, "one", &chat, 1, LONG).await);
    // Not even when it has expired: its owner lost the chat, and does not know it yet.
    assert!(hold(journal, "two", &chat, 2, OVER).await);
    assert!(!hold(journal, "one", &chat, 1, LONG).await);
    assert_eq!(held(journal, &chat).await, Some((holder("two"), 2, true)));
    let (owner, twice) = (holder("one"), [(chat.clone(), 4), (chat.clone(), 3)]);
    let refused = journal.hold(&owner, &twice, LONG).await;
    assert_eq!(refused, Ok(Vec::new()));
    assert_eq!(held(journal, &chat).await, Some((holder("one"), 4, false)));
}

/// Under one epoch a lease is renewed by its owner, and free once it has expired.
pub async fn a_lease_stays_with_its_owner_until_it_expires(stores: Stores) {
    let journal = &*stores.journal;
    let chat = ChatId::from("c");
    open_chat(journal, &chat, "ann").await;
    assert!(hold(journal, "one", &chat, 1, LONG).await);
    assert!(!hold(journal, "two", &chat, 1, LONG).await);
    assert!(hold(journal, "one", &chat, 1, 2 * LONG).await);
    assert!(!hold(journal, "two", &chat, 1, LONG).await);
    assert!(hold(journal, "one", &chat, 1, OVER).await);
    assert!(hold(journal, "two", &chat, 1, LONG).await);
    assert!(!hold(journal, "one", &chat, 1, LONG).await);
    assert_eq!(held(journal, &chat).await, Some((holder("two"), 1, false)));
}

/// One write for all leases of an owner; those that went to another are named.
pub async fn many_leases_are_held_at_once(stores: Stores) {
    let journal = &*stores.journal;
    let mut chats = Vec::new();
    for n in 0..300 {
        let chat = ChatId::from(format!("c{n}"));
        open_chat(journal, &chat, "ann").await;
        chats.push((chat, 1));
    }
    let taken = chats[7].0.clone();
    assert!(hold(journal, "two", &taken, 2, LONG).await);
    let one = holder("one");
    for lease in [OVER, LONG] {
        let refused = journal.hold(&one, &chats, lease).await;
        assert_eq!(refused, Ok(vec![taken.clone()]));
    }
    let last = held(journal, &chats[299].0).await;
    assert_eq!(last, Some((one.clone(), 1, false)));
    let none = journal.hold(&one, &[], LONG).await;
    assert_eq!(none, Ok(Vec::new()));

    let some: Vec<_> = chats[..8].iter().map(|(chat, _)| chat.clone()).collect();
    assert_eq!(journal.release("one", &some).await, Ok(()));
    assert_eq!(journal.lease(&chats[6].0).await, Ok(None));
    assert!(journal.lease(&chats[8].0).await.is_ok_and(|l| l.is_some()));
    let all: Vec<_> = chats.iter().map(|(chat, _)| chat.clone()).collect();
    assert_eq!(journal.release("one", &all).await, Ok(()));
    for (chat, _) in &chats {
        let is_held = journal.lease(chat).await.expect("the store works");
        assert_eq!(is_held.is_some(), *chat == taken);
    }
}

/// A lease on nothing would be a lease on whatever comes under that id.
pub async fn a_chat_that_is_not_there_has_no_lease(stores: Stores) {
    let journal = &*stores.journal;
    let chat = ChatId::from("c");
    assert!(!hold(journal, "one", &chat, 1, LONG).await);
    assert_eq!(journal.lease(&chat).await, Ok(None));
}

/// What to take over: running turns without an owner, the longest untouched first.
pub async fn a_running_turn_without_a_lease_is_found(stores: Stores) {
    let journal = &*stores.journal;
    assert_eq!(orphaned(journal).await, [""; 0]);
    let b = chat_with(journal, "b", 5, json!([turn_opened("tb")])).await;
    let a = chat_with(journal, "a", 5, json!([turn_opened("ta")])).await;
    chat_with(journal, "c", 4, json!([turn_opened("tc")])).await;
    chat_with(journal, "quiet", 3, json!([])).await;
    let over = json!([turn_opened("t"), turn_ended("t")]);
    chat_with(journal, "over", 2, over).await;
    assert_eq!(orphaned(journal).await, ["c", "a", "b"]);
    let first = journal.orphaned(1).await;
    assert_eq!(first, Ok(vec!["c".into()]));
    assert_eq!(journal.orphaned(0).await, Ok(Vec::new()));

    assert!(hold(journal, "one", &a, 1, LONG).await);
    assert!(hold(journal, "two", &b, 1, Duration::MAX).await);
    assert_eq!(orphaned(journal).await, ["c"]);
    assert!(hold(journal, "one", &a, 1, OVER).await);
    assert_eq!(orphaned(journal).await, ["c", "a"]);
    assert_eq!(journal.release("two", from_ref(&b)).await, Ok(()));
    append(journal, &"c".into(), 1, entry(6, "ann", json!([said("x")]))).await;
    assert_eq!(orphaned(journal).await, ["a", "b", "c"]);
    append(journal, &b, 1, entry(7, "ann", json!([turn_ended("tb")]))).await;
    assert_eq!(orphaned(journal).await, ["a", "c"]);
}

/// A parked turn costs nothing: it has not ended, and is not to be taken over.
pub async fn a_turn_that_waits_for_people_needs_nobody(stores: Stores) {
    let journal = &*stores.journal;
    let asks = |name: &str| {
        let (call, gate) = (
            format!("c-{name}"),
            gate(&format!("g-{name}"), &format!("c-{name}"), None),
        );
        (called(name, &call), gate_opened(name, &gate))
    };
    let (call, asked) = asks("parked");
    chat_with(
        journal,
        "parked",
        1,
        json!([turn_opened("parked"), call, asked]),
    )
    .await;
    // A call that was started, and asks in the middle of its work.
    let (call, asked) = asks("within");
    let within = json!([
        turn_opened("within"),
        call,
        started("within", "c-within"),
        asked
    ]);
    chat_with(journal, "within", 2, within).await;
    // One that asked a page to run something.
    let nested = json!({"id": "nested", "tool": "locate", "input": {}, "place": "client", "parent": "c-page"});
    let page = json!([
        turn_opened("page"), called("page", "c-page"), started("page", "c-page"),
        {"event": "call-nested", "turn": "page", "call": nested},
        gate_opened("page", &gate("g-page", "nested", None)),
    ]);
    chat_with(journal, "page", 3, page).await;
    assert_eq!(orphaned(journal).await, [""; 0]);

    // One call waits, and another is at work.
    let (call, asked) = asks("both");
    let both = json!([
        turn_opened("both"),
        call,
        asked,
        called("both", "busy"),
        started("both", "busy")
    ]);
    chat_with(journal, "both", 4, both).await;
    assert_eq!(orphaned(journal).await, ["both"]);
}

/// Once a gate is closed the turn continues, and needs an owner.
pub async fn an_answer_brings_a_turn_back_to_work(stores: Stores) {
    let journal = &*stores.journal;
    let (one, two) = (gate("g1", "x", None), gate("g2", "x", None));
    let asked = json!([
        turn_opened("t"),
        called("t", "x"),
        gate_opened("t", &one),
        gate_opened("t", &two),
    ]);
    let chat = chat_with(journal, "c", 1, asked).await;
    let steps = [
        (json!([gate_closed("t", &one.id, true)]), false),
        (
            json!([gate_closed("t", &two.id, true), started("t", "x")]),
            true,
        ),
        (json!([settled("t", "x")]), true),
        (
            json!([called("t", "y"), gate_opened("t", &gate("g3", "y", None))]),
            false,
        ),
        // The answer to a turn before the last changes nothing.
        (
            json!([
                turn_opened("u"),
                called("u", "z"),
                gate_opened("u", &gate("g4", "z", None))
            ]),
            false,
        ),
        (json!([gate_closed("t", &"g3".into(), true)]), false),
        (
            json!([settled("u", "z"), gate_closed("u", &"g4".into(), true)]),
            true,
        ),
        (json!([turn_ended("u")]), false),
    ];
    for (seen, (events, is_running)) in (1..).zip(steps) {
        append(journal, &chat, seen, entry(seen, "ann", events)).await;
        let found = orphaned(journal).await;
        assert_eq!(!found.is_empty(), is_running, "after entry {}", seen + 1);
    }
}

/// However many ask at once, a lease has one owner, and all others know that it is not theirs.
pub async fn of_owners_who_race_one_holds(stores: Stores) {
    let mut chats = Vec::new();
    for n in 0..20 {
        let chat = ChatId::from(format!("c{n}"));
        open_chat(&*stores.journal, &chat, "ann").await;
        chats.push((chat, 1));
    }
    let mut owners = JoinSet::new();
    for owner in 0..8 {
        let journal = Arc::clone(&stores.journal);
        let mut chats = chats.clone();
        // In orders of their own, so that they would block each other if the store did not mind.
        chats.rotate_left(owner * 2);
        owners.spawn(async move {
            let holder = holder(&owner.to_string());
            let refused = journal.hold(&holder, &chats, LONG).await;
            let refused = refused.expect("the store works");
            chats.retain(|(chat, _)| !refused.contains(chat));
            (holder, chats)
        });
    }
    let mut held = 0;
    for (holder, won) in owners.join_all().await {
        held += won.len();
        for (chat, _) in won {
            let lease = stores.journal.lease(&chat).await.expect("the store works");
            assert_eq!(lease.map(|lease| lease.holder), Some(holder.clone()));
        }
    }
    assert_eq!(held, chats.len());
}
