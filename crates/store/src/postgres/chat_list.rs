//! The list of chats, in PostgreSQL.

use tokio_postgres::Row;
use turn::gate::Gate;
use turn::index::{self, Change};
use turn::{ChatId, Event, GateId, Principal, title};

use super::flush::{ALL, CHANNEL};
use super::read::{all, column, text};
use super::session::{Parameters, Session};
use crate::chat_list::{
    ApprovalIdPage, ChatPage, ChatPlace, ChatQuery, LabelChange, ListedChat, TitleChange,
};
use crate::chat_list::{ended, questions, status};
use crate::error::StoreError;
use crate::journal::GatePlace;
use crate::json::decode;
use crate::number::{from_at, from_seq, to_at, to_count};

const LIST: &str = "SELECT chat.id, chat.owner, coalesce(label.title, chat.title),
      coalesce(label.archived, false), chat.opened, chat.updated,
      coalesce(chat.active, chat.opened),
      CASE WHEN chat.turn IS NOT NULL THEN chat.running END, chat.ended,
      (SELECT count(*) FROM gate WHERE gate.chat = chat.id AND gate.decision IS NULL)
    FROM chat LEFT JOIN label ON label.chat = chat.id
    WHERE chat.owner = $1
      AND coalesce(chat.active, chat.opened) <= $2
      AND (coalesce(chat.active, chat.opened), chat.id) < ($2, $3)
      AND ($4::boolean IS NULL OR coalesce(label.archived, false) = $4)
    ORDER BY coalesce(chat.active, chat.opened) DESC, chat.id DESC LIMIT $5";

const LISTED: &str = "SELECT chat.id, chat.owner, coalesce(label.title, chat.title),
      coalesce(label.archived, false), chat.opened, chat.updated,
      coalesce(chat.active, chat.opened),
      CASE WHEN chat.turn IS NOT NULL THEN chat.running END, chat.ended,
      (SELECT count(*) FROM gate WHERE gate.chat = chat.id AND gate.decision IS NULL)
    FROM chat LEFT JOIN label ON label.chat = chat.id
    WHERE chat.id = ANY ($1)";

fn listed_chat(row: &Row) -> Result<ListedChat, StoreError> {
    let open_gates: i64 = column(row, 9)?;
    Ok(ListedChat {
        id: text(row, 0)?.into(),
        owner: text(row, 1)?.into(),
        title: column(row, 2)?,
        is_archived: column(row, 3)?,
        opened: to_at(column(row, 4)?),
        updated: to_at(column(row, 5)?),
        active: to_at(column(row, 6)?),
        status: status(column(row, 7)?, column(row, 8)?),
        open_gates: usize::try_from(open_gates).unwrap_or(usize::MAX),
    })
}

/// A part of an owner's list, newest first.
pub(super) async fn chats(
    session: &Session,
    owner: &Principal,
    query: &ChatQuery,
) -> Result<ChatPage, StoreError> {
    let (active, id) = match &query.after {
        Some(ChatPlace { active, chat }) => (from_at(*active), chat.as_str()),
        None => (i64::MAX, ""),
    };
    let limit = i64::try_from(query.rows()).unwrap_or(i64::MAX);
    let parameters: Parameters<'_> = &[&owner.as_str(), &active, &id, &query.is_archived, &limit];
    let rows = all(session, LIST, parameters, listed_chat).await?;
    Ok(ChatPage::of(rows, query))
}

/// Ids that the database can hold.
fn ids(chats: &[ChatId]) -> Vec<&str> {
    let ids = chats.iter().map(ChatId::as_str);
    ids.filter(|id| !id.contains('\0')).collect()
}

/// Those of the chats that exist.
pub(super) async fn listed(
    session: &Session,
    chats: &[ChatId],
) -> Result<Vec<ListedChat>, StoreError> {
    all(session, LISTED, &[&ids(chats)], listed_chat).await
}

/// Those of the chats that were deleted for good.
pub(super) async fn deleted(
    session: &Session,
    chats: &[ChatId],
) -> Result<Vec<(ChatId, Principal)>, StoreError> {
    let sql = "SELECT chat, owner FROM tombstone WHERE chat = ANY ($1)";
    all(session, sql, &[&ids(chats)], |row| {
        Ok((text(row, 0)?.into(), text(row, 1)?.into()))
    })
    .await
}

/// The approvals that wait in these chats.
pub(super) async fn open_approvals(
    session: &Session,
    chats: &[ChatId],
) -> Result<Vec<(ChatId, GateId)>, StoreError> {
    let sql = "SELECT chat, gate FROM gate WHERE chat = ANY ($1) AND decision IS NULL";
    let gates = all(session, sql, &[&ids(chats)], |row| {
        let gate: Gate = decode("a gate", text(row, 1)?)?;
        Ok((text(row, 0)?.into(), gate))
    })
    .await?;
    Ok(questions(gates))
}

/// The approvals that wait in the chats of an owner, by their ids.
pub(super) async fn approval_ids(
    session: &Session,
    owner: &Principal,
    after: Option<GatePlace>,
    limit: usize,
) -> Result<ApprovalIdPage, StoreError> {
    let sql = "SELECT chat, gate, asked, position FROM gate
               WHERE owner = $1 AND decision IS NULL
                 AND asked >= $2 AND (asked, position) > ($2, $3)
               ORDER BY asked, position LIMIT $4";
    let after = after.unwrap_or(GatePlace::START);
    let rows = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
    let (asked, position) = (from_at(after.asked), from_seq(after.position));
    let parameters: Parameters<'_> = &[&owner.as_str(), &asked, &position, &rows];
    let rows = all(session, sql, parameters, |row| {
        let place = GatePlace {
            asked: to_at(column(row, 2)?),
            position: to_count(column(row, 3)?),
        };
        let gate: Gate = decode("a gate", text(row, 1)?)?;
        let is_asked = gate.is_question();
        Ok((place, is_asked.then_some((text(row, 0)?.into(), gate.id))))
    })
    .await?;
    Ok(ApprovalIdPage::of(rows, limit))
}

/// Changes the label of a chat. Done twice, it is done once.
pub(super) async fn relabel(
    session: &Session,
    owner: &Principal,
    chat: &ChatId,
    change: &LabelChange,
) -> Result<Option<ListedChat>, StoreError> {
    let (keeps, title) = match &change.title {
        TitleChange::Keep => (true, None),
        TitleChange::FromMessage => (false, None),
        TitleChange::Set(title) => (false, Some(title.as_str())),
    };
    let is_storable = |text: &str| !text.contains('\0');
    if !is_storable(chat.as_str()) || !is_storable(owner.as_str()) {
        return Ok(None);
    }
    let sql = "INSERT INTO label (chat, title, archived)
               SELECT id, $4::text, coalesce($5::boolean, false) FROM chat
               WHERE id = $1 AND owner = $2
               ON CONFLICT (chat) DO UPDATE SET
                 title = CASE WHEN $3::boolean THEN label.title ELSE $4::text END,
                 archived = coalesce($5::boolean, label.archived)";
    let parameters: Parameters<'_> = &[
        &chat.as_str(),
        &owner.as_str(),
        &keeps,
        &title,
        &change.is_archived,
    ];
    if session.execute(sql, parameters).await? == 0 {
        return Ok(None);
    }
    let names = serde_json::to_string(&[chat]).unwrap_or_else(|_| ALL.to_owned());
    let notify = "SELECT pg_notify($1, $2)";
    session.execute(notify, &[&CHANNEL, &names]).await?;
    let mut listed = listed(session, std::slice::from_ref(chat)).await?;
    Ok(listed.pop())
}

/// Notes what the entries of every chat mean for the list.
pub(super) async fn rebuild(session: &Session) -> Result<(), StoreError> {
    let client = session.client();
    let read = "DECLARE entries NO SCROLL CURSOR FOR SELECT chat, at, events FROM entry
                WHERE kind LIKE '%turn-opened%' OR kind LIKE '%turn-ended%' ORDER BY chat, seq";
    client.batch_execute(read).await?;
    loop {
        let rows = client.query("FETCH 1000 FROM entries", &[]).await?;
        if rows.is_empty() {
            break;
        }
        for row in &rows {
            let chat = text(row, 0)?;
            let at: i64 = column(row, 1)?;
            let events: Vec<Event> = decode(&format!("an entry of chat {chat}"), text(row, 2)?)?;
            for change in index::changes(&events) {
                note(session, chat, at, &change).await?;
            }
        }
    }
    Ok(client.batch_execute("CLOSE entries").await?)
}

async fn note(
    session: &Session,
    chat: &str,
    at: i64,
    change: &Change<'_>,
) -> Result<(), StoreError> {
    match change {
        Change::TurnOpened { message } => {
            let title = message.and_then(title::of_message);
            let sql = "UPDATE chat SET active = $2, title = coalesce(title, $3) WHERE id = $1";
            session.execute(sql, &[&chat, &at, &title]).await?;
        }
        Change::TurnEnded { status } => {
            let sql = "UPDATE chat SET ended = $2 WHERE id = $1";
            session.execute(sql, &[&chat, &ended(*status)]).await?;
        }
        _ => {}
    }
    Ok(())
}
