//! Chats of pages that name none, as the pages of the legacy bridge do, and how such a page begins a new one.
//!
//! A page is known by the first message of the history that it sends. Its chat is put away when its sessions
//! are cleared; the next message then goes to another chat, whose id is the first one's with a number.

use std::ops::Range;

use axum::extract::State;
use axum::response::Response;
use engine::{Engine, EngineError};
use serde_json::json;
use store::{ChatQuery, LabelChange, TitleChange};
use turn::{ChatId, Principal, Status};
use wire::Message;

use crate::api::{Api, fresh};
use crate::caller::Caller;
use crate::problem::Problem;
use crate::random_id::random_id;
use crate::replies::ClearedSessions;

/// What the ids of these chats begin with.
const PREFIX: &str = "legacy_";

/// How many chats are looked up at first. Most pages have had few.
const BATCH: usize = 16;

/// How many times as many are looked up next.
const GROWTH: usize = 4;

/// How many chats one page may have had.
const MOST: usize = 4_096;

/// How many chats are read and cleared before others have their turn.
const PAGE: usize = 50;

/// The chat of a page, by the first message of the history that it sends every time. Another page of the
/// same person has another, and nobody else's is the same.
pub(crate) fn of_page(principal: &Principal, messages: &[Message]) -> Option<String> {
    let first = messages.first()?.id.as_deref()?;
    let hash = turn::digest::hash(&json!([principal, first]));
    Some(format!("{PREFIX}{}", &hash[..32]))
}

/// The chat of a page by whose messages nothing is known.
pub(crate) fn of_nobody() -> String {
    random_id(PREFIX)
}

/// Whether a chat is one of these: the client has not named it.
pub(crate) fn is_legacy(chat: &ChatId) -> bool {
    chat.as_str().starts_with(PREFIX)
}

/// The chat that a page has now, by one that it has had: its first, or the one after those that were
/// archived or deleted.
pub(crate) async fn current(engine: &Engine, known: &str) -> Result<ChatId, EngineError> {
    let first = first(known);
    let id = |n: usize| match n {
        0 => ChatId::from(first),
        n => ChatId::from(format!("{first}_{}", n + 1).as_str()),
    };
    for batch in batches() {
        let ids: Vec<ChatId> = batch.map(id).collect();
        let listed = engine.listed_chats(&ids).await?;
        let deleted = engine.deleted_chats(&ids).await?;
        let is_gone = |id: &ChatId| {
            let mut listed = listed.iter();
            listed.any(|chat| chat.id == *id && chat.is_archived)
                || deleted.iter().any(|(chat, _)| chat == id)
        };
        if let Some(current) = ids.into_iter().find(|id| !is_gone(id)) {
            return Ok(current);
        }
    }
    Ok(ChatId::from(of_nobody().as_str()))
}

/// The chats that are looked up, few batches for however many there are.
fn batches() -> impl Iterator<Item = Range<usize>> {
    let next = |batch: &Range<usize>| {
        let end = (batch.end + batch.len() * GROWTH).min(MOST);
        (batch.end < MOST).then_some(batch.end..end)
    };
    std::iter::successors(Some(0..BATCH), next)
}

/// The first chat of a page, by one that it has had.
fn first(known: &str) -> &str {
    let after_prefix = known.get(PREFIX.len()..).unwrap_or_default();
    match after_prefix.find('_') {
        Some(end) => &known[..PREFIX.len() + end],
        None => known,
    }
}

/// Has every page of the principal begin a new chat. The old ones are stopped and archived; their journals
/// stay.
#[cfg_attr(feature = "cli", utoipa::path(
    post, path = "/clear-sessions", tag = "Chats", operation_id = "clearSessions",
    responses(
        (status = 200, description = "How many chats were stopped and archived.", body = ClearedSessions),
    )
))]
pub(crate) async fn clear_sessions(
    State(api): State<Api>,
    Caller(principal): Caller,
) -> Result<Response, Problem> {
    let engine = &api.engine;
    // Several at once would all do the same.
    let _alone = api.reads.clearing(&principal).await?;
    let mut query = ChatQuery {
        after: None,
        is_archived: Some(false),
        search: None,
        limit: PAGE,
    };
    let change = LabelChange {
        title: TitleChange::Keep,
        is_archived: Some(true),
    };
    let mut cleared = 0;
    loop {
        let _turn = api.reads.turn(&principal).await?;
        let page = engine.chats_page(&principal, &query).await?;
        for chat in page.chats.iter().filter(|chat| is_legacy(&chat.id)) {
            if matches!(chat.status, Status::Running | Status::Parked) {
                engine.stop(&principal, &chat.id).await?;
            }
            engine.relabel(&principal, &chat.id, &change).await?;
            cleared += 1;
        }
        match page.next {
            Some(next) => query.after = Some(next),
            None => break,
        }
    }
    Ok(fresh(ClearedSessions {
        status: "success",
        cleared,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chats_of_a_page_are_looked_up_in_few_batches() {
        let batches: Vec<_> = batches().collect();
        assert!(batches.len() <= 6, "{batches:?}");
        let all: Vec<usize> = batches.into_iter().flatten().collect();
        assert_eq!(all, (0..MOST).collect::<Vec<_>>());
    }

    #[test]
    fn first_chat_of_a_page_is_known_by_each_of_its_chats() {
        assert_eq!(first("legacy_0a1b"), "legacy_0a1b");
        assert_eq!(first("legacy_0a1b_2"), "legacy_0a1b");
        assert_eq!(first("legacy_0a1b_17"), "legacy_0a1b");
        assert!(!of_nobody()[PREFIX.len()..].contains('_'));
    }
}
