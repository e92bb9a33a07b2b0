//! The list of chats, in SQLite.

use rusqlite::{Connection, Row, params};
use turn::gate::Gate;
use turn::index::{self, Change};
use turn::{At, ChatId, Event, GateId, Principal, title};

use super::append::delete;
use super::read::{all, owner, text};
use super::write_connection::WriteConnection;
use super::writer::{Notification, Written};
use crate::chat_list::{
    ApprovalIdPage, ChatPage, ChatPlace, ChatQuery, LabelChange, ListedChat, TitleChange,
};
use crate::chat_list::{ended, questions, status};
use crate::error::StoreError;
use crate::journal::GatePlace;
use crate::json::{decode, encode};
use crate::number::{from_at, from_seq, to_at, to_count};

/// The columns of a listed chat.
const COLUMNS: &str = "chat.id, chat.owner, coalesce(label.title, chat.title),
    coalesce(label.archived, 0), chat.opened, chat.updated, coalesce(chat.active, chat.opened),
    CASE WHEN chat.turn IS NOT NULL THEN chat.running END, chat.ended,
    (SELECT count(*) FROM gate WHERE gate.chat = chat.id AND gate.decision IS NULL)
    FROM chat LEFT JOIN label ON label.chat = chat.id";

fn listed_chat(row: &Row<'_>) -> Result<ListedChat, StoreError> {
    let ended: Option<String> = row.get(8)?;
    Ok(ListedChat {
        id: text(row, 0)?.into(),
        owner: text(row, 1)?.into(),
        title: row.get(2)?,
        is_archived: row.get(3)?,
        opened: to_at(row.get(4)?),
        updated: to_at(row.get(5)?),
        active: to_at(row.get(6)?),
        status: status(row.get(7)?, ended.as_deref()),
        open_gates: row.get::<_, u32>(9)? as usize,
    })
}

/// A part of an owner's list, newest first.
pub(super) fn chats(
    connection: &Connection,
    owner: &Principal,
    query: &ChatQuery,
) -> Result<ChatPage, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} WHERE chat.owner = ?1
           AND coalesce(chat.active, chat.opened) <= ?2
           AND (coalesce(chat.active, chat.opened), chat.id) < (?2, ?3)
           AND (?4 IS NULL OR coalesce(label.archived, 0) = ?4)
         ORDER BY coalesce(chat.active, chat.opened) DESC, chat.id DESC LIMIT ?5"
    );
    let (active, id) = match &query.after {
        Some(ChatPlace { active, chat }) => (from_at(*active), chat.as_str()),
        None => (i64::MAX, ""),
    };
    let limit = i64::try_from(query.rows()).unwrap_or(i64::MAX);
    let parameters = params![owner.as_str(), active, id, query.is_archived, limit];
    let rows = all(connection, &sql, parameters, listed_chat)?;
    Ok(ChatPage::of(rows, query))
}

/// Those of the chats that exist.
pub(super) fn listed(
    connection: &Connection,
    chats: &[ChatId],
) -> Result<Vec<ListedChat>, StoreError> {
    let sql = format!("SELECT {COLUMNS} WHERE chat.id IN (SELECT value FROM json_each(?1))");
    all(
        connection,
        &sql,
        [encode("ids of chats", &chats)?],
        listed_chat,
    )
}

/// Those of the chats that were deleted for good.
pub(super) fn deleted(
    connection: &Connection,
    chats: &[ChatId],
) -> Result<Vec<(ChatId, Principal)>, StoreError> {
    let sql = "SELECT chat, owner FROM tombstone WHERE chat IN (SELECT value FROM json_each(?1))";
    all(connection, sql, [encode("ids of chats", &chats)?], |row| {
        Ok((text(row, 0)?.into(), text(row, 1)?.into()))
    })
}

/// The approvals that wait in these chats.
pub(super) fn open_approvals(
    connection: &Connection,
    chats: &[ChatId],
) -> Result<Vec<(ChatId, GateId)>, StoreError> {
    let sql = "SELECT chat, gate FROM gate WHERE chat IN (SELECT value FROM json_each(?1))
                 AND decision IS NULL";
    let gates = all(connection, sql, [encode("ids of chats", &chats)?], |row| {
        let gate: Gate = decode("a gate", &text(row, 1)?)?;
        Ok((text(row, 0)?.into(), gate))
    })?;
    Ok(questions(gates))
}

const APPROVAL_IDS: &str = "SELECT chat, gate, asked, position FROM gate
    WHERE owner = ?1 AND decision IS NULL
      AND asked >= ?2 AND (asked, position) > (?2, ?3)
    ORDER BY asked, position LIMIT ?4";

/// The approvals that wait in the chats of an owner, by their ids.
pub(super) fn approval_ids(
    connection: &Connection,
    owner: &Principal,
    after: Option<GatePlace>,
    limit: usize,
) -> Result<ApprovalIdPage, StoreError> {
    let after = after.unwrap_or(GatePlace::START);
    let rows = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
    let (asked, position) = (from_at(after.asked), from_seq(after.position));
    let parameters = params![owner.as_str(), asked, position, rows];
    let rows = all(connection, APPROVAL_IDS, parameters, |row| {
        let place = GatePlace {
            asked: to_at(row.get(2)?),
            position: to_count(row.get(3)?),
        };
        let gate: Gate = decode("a gate", &text(row, 1)?)?;
        let is_asked = gate.is_question();
        Ok((place, is_asked.then_some((text(row, 0)?.into(), gate.id))))
    })?;
    Ok(ApprovalIdPage::of(rows, limit))
}

/// Changes the label of a chat.
pub(super) fn relabel(
    connection: &mut WriteConnection,
    owner: &Principal,
    chat: &ChatId,
    change: &LabelChange,
) -> Result<Written<Option<ListedChat>>, StoreError> {
    if self::owner(connection, chat)?.as_ref() != Some(owner) {
        return Ok(Written {
            value: None,
            notification: Notification::Nothing,
        });
    }
    let add = "INSERT INTO label (chat) VALUES (?1) ON CONFLICT DO NOTHING";
    connection.prepare_cached(add)?.execute([chat.as_str()])?;
    let rename = |title: Option<&str>| {
        let sql = "UPDATE label SET title = ?2 WHERE chat = ?1";
        let mut statement = connection.prepare_cached(sql)?;
        statement.execute(params![chat.as_str(), title])
    };
    match &change.title {
        TitleChange::Keep => 0,
        TitleChange::FromMessage => rename(None)?,
        TitleChange::Set(title) => rename(Some(title))?,
    };
    if let Some(is_archived) = change.is_archived {
        let sql = "UPDATE label SET archived = ?2 WHERE chat = ?1";
        let mut statement = connection.prepare_cached(sql)?;
        statement.execute(params![chat.as_str(), is_archived])?;
    }
    Ok(Written {
        value: listed(connection, std::slice::from_ref(chat))?.pop(),
        notification: Notification::Relabelled(chat.clone()),
    })
}

/// Deletes a chat and leaves a tombstone.
pub(super) fn delete_for_good(
    connection: &mut WriteConnection,
    chat: &ChatId,
    at: At,
) -> Result<Written<bool>, StoreError> {
    let owner = owner(connection, chat)?;
    let written = delete(connection, chat)?;
    if let Some(owner) = owner {
        let sql = "INSERT INTO tombstone (chat, owner, at) VALUES (?1, ?2, ?3)
                   ON CONFLICT DO NOTHING";
        let mut statement = connection.prepare_cached(sql)?;
        statement.execute(params![chat.as_str(), owner.as_str(), from_at(at)])?;
    }
    Ok(written)
}

/// What an entry changes in what a list shows of its chat.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// When it opened a turn.
    pub(super) active: Option<At>,
    /// How a turn ended.
    pub(super) ended: Option<&'static str>,
    /// The title of a chat that has none.
    pub(super) title: Option<String>,
}

impl Listing {
    pub(super) fn of(events: &[Event], at: At) -> Self {
        let mut listing = Self::default();
        for change in index::changes(events) {
            match change {
                Change::TurnOpened { message } => {
                    listing.active = Some(at);
                    let title = || message.and_then(title::of_message);
                    listing.title = listing.title.or_else(title);
                }
                Change::TurnEnded { status } => listing.ended = Some(ended(status)),
                _ => {}
            }
        }
        listing
    }

    pub(super) fn is_empty(&self) -> bool {
        self.active.is_none() && self.ended.is_none()
    }
}

/// Notes again what the entries of every chat mean for the list.
pub(super) fn rebuild(connection: &Connection) -> Result<(), StoreError> {
    let sql = "SELECT chat, at, events FROM entry
               WHERE kind LIKE '%turn-opened%' OR kind LIKE '%turn-ended%' ORDER BY chat, seq";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query(())?;
    let sql = "UPDATE chat SET active = coalesce(?2, active), ended = coalesce(?3, ended),
                   title = coalesce(title, ?4) WHERE id = ?1";
    let mut note = connection.prepare(sql)?;
    while let Some(row) = rows.next()? {
        let chat = text(row, 0)?;
        let events: Vec<Event> = decode(&format!("an entry of chat {chat}"), &text(row, 2)?)?;
        let listing = Listing::of(&events, to_at(row.get(1)?));
        let active = listing.active.map(from_at);
        note.execute(params![chat, active, listing.ended, listing.title])?;
    }
    Ok(())
}
