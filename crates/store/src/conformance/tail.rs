//! Following a journal as it grows.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use serde_json::json;
use tokio::task::JoinSet;
use turn::{ChatId, Entry};

use super::sample::{append, append_somewhere, chat_opened, entry, open_chat, said};
use crate::{Appended, Journal, NewEntry, StoreError, Stores, Tail};

/// How many write at once.
const WRITERS: u64 = 8;
/// How often each does.
const APPENDS: u64 = 40;

async fn next(tail: &mut Tail) -> Option<Entry> {
    tail.next().await.expect("the store works")
}

/// A tail begins at its place, and continues with new entries.
pub async fn what_was_there_comes_first_and_then_what_is_appended(stores: Stores) {
    let journal = &*stores.journal;
    let chat = ChatId::from("c");
    let mut early = journal.tail(&chat, 0);
    open_chat(journal, &chat, "ann").await;
    let written = entry(2, "ann", json!([said("two")]));
    append(journal, &chat, 1, written.clone()).await;
    let mut from_start = journal.tail(&chat, 0);
    let mut from_first = journal.tail(&chat, 1);
    let mut from_later = journal.tail(&chat, 2);
    append(journal, &chat, 2, entry(3, "ann", json!([said("three")]))).await;
    for seq in 1..=3 {
        assert_eq!(next(&mut early).await.map(|entry| entry.seq), Some(seq));
        assert_eq!(
            next(&mut from_start).await.map(|entry| entry.seq),
            Some(seq)
        );
    }
    let second = next(&mut from_first).await.expect("there is a second");
    assert_eq!((second.seq, second.events), (2, written.events));
    assert_eq!(next(&mut from_first).await.map(|entry| entry.seq), Some(3));
    assert_eq!(next(&mut from_later).await.map(|entry| entry.seq), Some(3));
    // What happens to another chat is nothing to them.
    open_chat(journal, &"other".into(), "ann").await;
    append(journal, &chat, 3, entry(4, "ann", json!([]))).await;
    assert_eq!(next(&mut early).await.map(|entry| entry.seq), Some(4));
}

/// Tails that begin before, in the middle of and after a race see every entry once, in order.
pub async fn no_gap_and_no_duplicate_while_writers_race(stores: Stores) {
    let chat = ChatId::from("c");
    let last = WRITERS * APPENDS;
    let mut tails = JoinSet::new();
    let follow = |after: u64| {
        let mut tail = stores.journal.tail(&chat, after);
        async move {
            for seq in after + 1..=last {
                assert_eq!(next(&mut tail).await.map(|entry| entry.seq), Some(seq));
            }
        }
    };
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        tails.spawn(follow(writer * 5));
        let journal = Arc::clone(&stores.journal);
        let chat = chat.clone();
        writers.spawn(async move {
            let mut seen = 0;
            for _ in 0..APPENDS {
                let new = entry(writer, "ann", json!([chat_opened("ann")]));
                seen = append_somewhere(&*journal, &chat, seen, &new).await;
            }
        });
    }
    while writers.join_next().await.is_some() {
        tails.spawn(follow(0));
        tails.spawn(follow(last / 2));
    }
    tails.join_all().await;
}

/// A `next` that is dropped while it waits, or while it reads, takes nothing with it.
pub async fn a_wait_that_is_given_up_loses_nothing(stores: Stores) {
    let journal = &*stores.journal;
    let chat = ChatId::from("c");
    open_chat(journal, &chat, "ann").await;
    let mut tail = journal.tail(&chat, 0);
    for seq in 1..=20 {
        let entry = match poll_once(&mut tail) {
            Poll::Ready(entry) => entry,
            Poll::Pending => tail.next().await,
        };
        let entry = entry.expect("the store works");
        assert_eq!(entry.map(|entry| entry.seq), Some(seq));
        assert!(poll_once(&mut tail).is_pending());
        append(journal, &chat, seq, entry_of(seq)).await;
    }
}

fn poll_once(tail: &mut Tail) -> Poll<Result<Option<Entry>, StoreError>> {
    pin!(tail.next()).poll(&mut Context::from_waker(Waker::noop()))
}

fn entry_of(seq: u64) -> NewEntry {
    entry(seq, "ann", json!([said("more")]))
}

/// When a chat is deleted its tails end, and stay ended; a tail of the next chat begins again.
pub async fn a_deleted_chat_ends_its_tails(stores: Stores) {
    let journal = &*stores.journal;
    let chat = ChatId::from("c");
    // There is nothing to delete yet, so this tail still waits.
    let mut early = journal.tail(&chat, 0);
    assert_eq!(journal.delete(&chat).await, Ok(false));
    open_chat(journal, &chat, "ann").await;
    assert_eq!(next(&mut early).await.map(|entry| entry.seq), Some(1));

    let mut other = journal.tail(&"other".into(), 0);
    assert_eq!(journal.delete(&chat).await, Ok(true));
    assert_eq!(next(&mut early).await, None);
    open_chat(journal, &chat, "bob").await;
    append(journal, &chat, 1, entry_of(2)).await;
    assert_eq!(next(&mut early).await, None);
    let mut late = journal.tail(&chat, 0);
    let first = next(&mut late).await.expect("there is a first");
    assert_eq!(first.actor, "bob".into());
    open_chat(journal, &"other".into(), "ann").await;
    assert_eq!(next(&mut other).await.map(|entry| entry.seq), Some(1));
}

/// However a deletion and the next chat under the id race with a tail, it shows the old one alone.
pub async fn a_tail_never_shows_a_later_chat_under_the_same_id(stores: Stores) {
    let chat = ChatId::from("c");
    for _ in 0..30 {
        open_chat(&*stores.journal, &chat, "old").await;
        let mut tail = stores.journal.tail(&chat, 0);
        let follower = tokio::spawn(async move {
            while let Some(entry) = next(&mut tail).await {
                assert_eq!(entry.actor, "old".into());
            }
        });
        let journal = Arc::clone(&stores.journal);
        let deleted = {
            let chat = chat.clone();
            tokio::spawn(async move { journal.delete(&chat).await })
        };
        // Not waiting for the deletion, so that the two may share a commit.
        let mut seen = 0;
        while seen < 3 {
            let new = entry(1, "new", json!([chat_opened("new")]));
            seen = grow(&*stores.journal, &chat, seen, new).await;
        }
        assert_eq!(deleted.await.expect("it ends"), Ok(true));
        follower.await.expect("the tail shows the old chat alone");
        assert_eq!(stores.journal.delete(&chat).await, Ok(true));
    }
}

/// Appends behind a place, or returns to begin again as long as the old chat is still there.
async fn grow(journal: &dyn Journal, chat: &ChatId, seen: u64, new: NewEntry) -> u64 {
    match journal.append(chat, seen, new).await {
        Ok(Appended::Ok { seq }) => seq,
        Ok(Appended::Conflict { .. }) => 0,
        Err(error) => panic!("{error}"),
    }
}

/// A store that is gone leaves its tails with what was there, and then ends them.
pub async fn a_closed_store_ends_its_tails(stores: Stores) {
    let chat = ChatId::from("c");
    open_chat(&*stores.journal, &chat, "ann").await;
    let mut tail = stores.journal.tail(&chat, 0);
    let mut waiting = stores.journal.tail(&"never".into(), 0);
    let waiting = tokio::spawn(async move { next(&mut waiting).await });
    append(&*stores.journal, &chat, 1, entry_of(2)).await;
    drop(stores);
    assert_eq!(next(&mut tail).await.map(|entry| entry.seq), Some(1));
    assert_eq!(next(&mut tail).await.map(|entry| entry.seq), Some(2));
    assert_eq!(next(&mut tail).await, None);
    assert_eq!(waiting.await.expect("it ends"), None);
}
