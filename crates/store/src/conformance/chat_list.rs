//! The list of chats: what it shows, what its owner changes, and that what is deleted stays deleted.

use std::time::Duration;

use serde_json::{Value, json};
use turn::{At, ChatId, Status};

use super::sample::{
    append, called, chat_opened, entry, gate, gate_closed, gate_opened, open_chat, turn_ended,
    turn_opened,
};
use crate::{
    Appended, ChatChange, ChatPage, ChatQuery, Journal, LabelChange, StoreError, Stores,
    TitleChange,
};

fn asked(turn: &str, text: &str) -> Value {
    let mut opened = turn_opened(turn);
    opened["cause"]["message"]["parts"] = json!([{"type": "text", "text": text}]);
    opened
}

async fn page(journal: &dyn Journal, owner: &str, query: ChatQuery) -> ChatPage {
    let page = journal.chats(&owner.into(), &query).await;
    page.expect("the store works")
}

fn first(limit: usize) -> ChatQuery {
    ChatQuery {
        limit,
        ..ChatQuery::default()
    }
}

fn titles(page: &ChatPage) -> Vec<&str> {
    let titles = page.chats.iter().map(|chat| chat.title.as_deref());
    titles.map(|title| title.unwrap_or("-")).collect()
}

/// Title, times, status and open gates follow the entries.
pub async fn a_list_shows_how_each_chat_is(stores: Stores) {
    let journal = &*stores.journal;
    let chat = ChatId::from("c");
    let opened = json!([chat_opened("ann"), asked("t", " Pay\u{0}\n Hanako ")]);
    append(journal, &chat, 0, entry(5, "ann", opened)).await;
    let shown = || async {
        let mut chats = page(journal, "ann", first(9)).await.chats;
        assert_eq!(chats.len(), 1);
        let shown = chats.remove(0);
        let ids = [chat.clone(), "none".into()];
        assert_eq!(journal.listed(&ids).await, Ok(vec![shown.clone()]));
        shown
    };
    let row = shown().await;
    assert_eq!((&row.id, row.owner.as_str()), (&chat, "ann"));
    assert_eq!(row.title.as_deref(), Some("Pay Hanako"));
    assert_eq!((row.opened, row.updated, row.active), (At(5), At(5), At(5)));
    assert_eq!((row.status, row.open_gates), (Status::Running, 0));
    assert!(!row.is_archived);

    let wait = gate("g", "x", None);
    let events = json!([called("t", "x"), gate_opened("t", &wait)]);
    append(journal, &chat, 1, entry(6, "ann", events)).await;
    let row = shown().await;
    assert_eq!((row.status, row.open_gates), (Status::Parked, 1));
    assert_eq!((row.updated, row.active), (At(6), At(5)));
    let waiting = journal.open_approvals(&[chat.clone(), "none".into()]).await;
    assert_eq!(waiting, Ok(vec![(chat.clone(), "g".into())]));

    let mut failed = turn_ended("t");
    failed["end"] = "failed".into();
    failed["code"] = "agent_error".into();
    failed["message"] = "It failed.".into();
    let events = json!([gate_closed("t", &wait.id, false), failed]);
    append(journal, &chat, 2, entry(7, "ann", events)).await;
    let row = shown().await;
    assert_eq!((row.status, row.open_gates), (Status::Failed, 0));
    let waiting = journal.open_approvals(std::slice::from_ref(&chat)).await;
    assert_eq!(waiting, Ok(Vec::new()));
    let ids = journal.approval_ids(&"ann".into(), None, 9).await;
    assert_eq!(ids.map(|page| page.ids), Ok(Vec::new()));

    append(
        journal,
        &chat,
        3,
        entry(8, "ann", json!([asked("t2", "More")])),
    )
    .await;
    let row = shown().await;
    assert_eq!((row.status, row.active), (Status::Running, At(8)));
    assert_eq!(row.title.as_deref(), Some("Pay Hanako"));
    let mut stopped = turn_ended("t2");
    stopped["end"] = "stopped".into();
    append(journal, &chat, 4, entry(9, "ann", json!([stopped]))).await;
    assert_eq!(shown().await.status, Status::Stopped);
}

/// The ids of approvals are the owner's alone, and come oldest first, page by page; calls of pages are not
/// among them.
pub async fn ids_of_approvals_are_read_page_by_page(stores: Stores) {
    let journal = &*stores.journal;
    for (chat, owner) in [("a", "ann"), ("b", "bob"), ("c", "ann")] {
        let chat = ChatId::from(chat);
        open_chat(journal, &chat, owner).await;
        let ask = |name: &str| gate_opened("t", &gate(&format!("{chat}-{name}"), "x", None));
        let page = json!({
            "id": format!("{chat}-page"), "call": "x", "kind": {"kind": "client-call"},
        });
        let page = json!({"event": "gate-opened", "turn": "t", "gate": page});
        let events = json!([called("t", &format!("{chat}-x")), ask("1"), page, ask("2")]);
        append(journal, &chat, 1, entry(5, owner, events)).await;
    }
    let (mut read, mut after) = (Vec::new(), None);
    loop {
        let page = journal.approval_ids(&"ann".into(), after, 3).await;
        let page = page.expect("the store works");
        assert!(page.ids.len() <= 3);
        read.extend(page.ids);
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let ids = ["a-1", "a-2", "c-1", "c-2"];
    let expected = ids.map(|id| (ChatId::from(&id[..1]), id.into()));
    assert_eq!(read, expected);
}

/// A list is its owner's alone, and comes newest first, page by page.
pub async fn a_list_is_read_page_by_page_newest_first(stores: Stores) {
    let journal = &*stores.journal;
    for (number, at) in [(1, 10), (2, 30), (3, 20), (4, 20)] {
        let chat = ChatId::from(format!("c{number}").as_str());
        let opened = json!([
            chat_opened("ann"),
            asked(&format!("t{number}"), &format!("chat {number}"))
        ]);
        append(journal, &chat, 0, entry(at, "ann", opened)).await;
    }
    open_chat(journal, &"other".into(), "bob").await;
    let all = page(journal, "ann", first(4)).await;
    assert_eq!(titles(&all), ["chat 2", "chat 4", "chat 3", "chat 1"]);
    assert_eq!(all.next, None);
    let mut query = first(2);
    let one = page(journal, "ann", query.clone()).await;
    assert_eq!(titles(&one), ["chat 2", "chat 4"]);
    query.after = one.next;
    let two = page(journal, "ann", query).await;
    assert_eq!(titles(&two), ["chat 3", "chat 1"]);
    assert_eq!(two.next, None);
    assert_eq!(page(journal, "bob", first(4)).await.chats.len(), 1);
    assert_eq!(page(journal, "eve\u{0}", first(4)).await.chats, []);

    // A new turn brings a chat to the front.
    append(
        journal,
        &"c1".into(),
        1,
        entry(40, "ann", json!([asked("u", "again")])),
    )
    .await;
    let front = page(journal, "ann", first(1)).await;
    assert_eq!(titles(&front), ["chat 1"]);
    let mut query = first(9);
    query.search = Some("CHAT 3".to_owned());
    assert_eq!(titles(&page(journal, "ann", query).await), ["chat 3"]);
}

/// A chat is renamed and archived by its owner alone.
pub async fn an_owner_renames_and_archives_a_chat(stores: Stores) {
    let journal = &*stores.journal;
    let chat = ChatId::from("c");
    let opened = json!([chat_opened("ann"), asked("t", "hello")]);
    append(journal, &chat, 0, entry(1, "ann", opened)).await;
    let (ann, bob) = ("ann".into(), "bob".into());
    let rename = LabelChange {
        title: TitleChange::Set("Größe".to_owned()),
        is_archived: None,
    };
    assert_eq!(journal.relabel(&bob, &chat, &rename).await, Ok(None));
    assert_eq!(
        journal.relabel(&ann, &"none".into(), &rename).await,
        Ok(None)
    );
    assert_eq!(
        journal.relabel(&ann, &"a\u{0}".into(), &rename).await,
        Ok(None)
    );
    let shown = async |change: &LabelChange| {
        let shown = journal.relabel(&ann, &chat, change).await;
        let shown = shown.expect("the store works").expect("a chat of hers");
        (shown.title, shown.is_archived)
    };
    assert_eq!(shown(&rename).await, (Some("Größe".into()), false));
    let mut query = first(9);
    query.search = Some("grÖSS".to_owned());
    assert_eq!(
        titles(&page(journal, "ann", query.clone()).await),
        Vec::<&str>::new()
    );
    query.search = Some("GRÖß".to_owned());
    assert_eq!(titles(&page(journal, "ann", query).await), ["Größe"]);

    let mut archive = LabelChange {
        is_archived: Some(true),
        ..LabelChange::default()
    };
    assert_eq!(shown(&archive).await, (Some("Größe".into()), true));
    for (is_archived, found) in [(None, 1), (Some(true), 1), (Some(false), 0)] {
        let query = ChatQuery {
            is_archived,
            ..first(9)
        };
        assert_eq!(page(journal, "ann", query).await.chats.len(), found);
    }
    archive.is_archived = Some(false);
    archive.title = TitleChange::FromMessage;
    assert_eq!(shown(&archive).await, (Some("hello".into()), false));
}

/// A late append does not bring a deleted chat back.
pub async fn a_chat_that_is_deleted_for_good_stays_deleted(stores: Stores) {
    let journal = &*stores.journal;
    let [gone, kept] = ["gone", "kept"].map(ChatId::from);
    for chat in [&gone, &kept] {
        open_chat(journal, chat, "ann").await;
    }
    let rename = LabelChange {
        title: TitleChange::Set("named".to_owned()),
        is_archived: Some(true),
    };
    let named = journal.relabel(&"ann".into(), &gone, &rename).await;
    assert!(named.expect("the store works").is_some());
    assert_eq!(journal.delete_for_good(&gone, At(9)).await, Ok(true));
    assert_eq!(journal.delete_for_good(&gone, At(9)).await, Ok(false));
    assert_eq!(
        journal.delete_for_good(&"a\u{0}".into(), At(9)).await,
        Ok(false)
    );
    assert_eq!(journal.read(&gone, 0).await, Ok(Vec::new()));
    assert_eq!(journal.owner(&gone).await, Ok(None));
    assert_eq!(titles(&page(journal, "ann", first(9)).await), ["-"]);
    assert_eq!(
        journal.listed(std::slice::from_ref(&gone)).await,
        Ok(Vec::new())
    );
    let ids = [gone.clone(), kept.clone(), "none".into()];
    assert_eq!(
        journal.deleted(&ids).await,
        Ok(vec![(gone.clone(), "ann".into())])
    );

    let late = journal.append(&gone, 1, entry(10, "ann", json!([]))).await;
    assert_eq!(late, Ok(Appended::Conflict { seq: 0 }));
    for owner in ["ann", "bob"] {
        let again = entry(10, owner, json!([chat_opened(owner)]));
        let refused = journal.append(&gone, 0, again).await;
        let chat = gone.clone();
        assert_eq!(refused, Err(StoreError::ChatDeleted { chat }));
    }
    assert_eq!(journal.read(&gone, 0).await, Ok(Vec::new()));
    let more = journal.append(&kept, 1, entry(10, "ann", json!([]))).await;
    assert_eq!(more, Ok(Appended::Ok { seq: 2 }));
}

/// A reader of all changes gets every chat that grows, is relabelled or is deleted.
pub async fn changes_of_all_chats_are_followed(stores: Stores) {
    let journal = &*stores.journal;
    let mut feed = journal.changes();
    let chat = ChatId::from("c");
    let mut notified = async || {
        let change = tokio::time::timeout(Duration::from_secs(30), feed.next()).await;
        change
            .expect("a change in time")
            .expect("the store is open")
    };
    // A store may also say that any chat may have changed, and may say a thing twice.
    let mut is_notified = async || while notified().await != ChatChange::Chat("c".into()) {};
    open_chat(journal, &chat, "ann").await;
    is_notified().await;
    let archive = LabelChange {
        is_archived: Some(true),
        ..LabelChange::default()
    };
    let archived = journal.relabel(&"ann".into(), &chat, &archive).await;
    assert!(archived.expect("the store works").is_some());
    is_notified().await;
    assert_eq!(journal.delete_for_good(&chat, At(9)).await, Ok(true));
    is_notified().await;
}
