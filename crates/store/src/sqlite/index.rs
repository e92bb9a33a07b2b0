//! The indexes in SQLite: written with each append, and made again from the journal.

use rusqlite::{Connection, params};
use turn::{At, ChatId, Event, Principal, TurnId};

use super::pen::Head;
use super::read;
use crate::error::StoreError;
use crate::index::{self, Change, Standing};
use crate::json::encode;
use crate::number::from_at;

/// What an entry brings to the indexes.
pub(super) struct Source<'a> {
    pub(super) chat: &'a ChatId,
    pub(super) seq: u64,
    pub(super) at: At,
    pub(super) actor: &'a Principal,
    pub(super) events: &'a [Event],
}

/// Writes down what an entry changes in a chat that stood like this, if it was there: how it stands now.
pub(super) fn apply(
    connection: &Connection,
    source: &Source<'_>,
    before: Option<Head>,
) -> Result<Head, StoreError> {
    let chat = source.chat.as_str();
    let at = from_at(source.at);
    let head = match before {
        Some(before) => go_on(connection, source, before)?,
        None => open_chat(connection, source)?,
    };
    for change in index::changes(source.events) {
        match change {
            Change::ChatOpened { .. } => {}
            Change::CallMade { call } => {
                let sql = "INSERT INTO call (id, chat, call) VALUES (?1, ?2, ?3)
                           ON CONFLICT DO NOTHING";
                let json = encode("a call", call)?;
                let mut statement = connection.prepare_cached(sql)?;
                let is_new = statement.execute(params![call.id.as_str(), chat, json])? > 0;
                if !is_new {
                    refuse_taken(connection, "call", call.id.as_str(), chat)?;
                }
            }
            Change::GateOpened { turn, gate } => {
                let sql = "INSERT INTO gate (id, chat, turn, owner, call, gate, asked, expires)
                           VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING";
                let mut statement = connection.prepare_cached(sql)?;
                let is_new = statement.execute(params![
                    gate.id.as_str(),
                    chat,
                    turn.as_str(),
                    head.owner,
                    gate.call.as_str(),
                    encode("a gate", gate)?,
                    at,
                    gate.expires.map(from_at),
                ])? > 0;
                if !is_new {
                    refuse_taken(connection, "gate", gate.id.as_str(), chat)?;
                }
            }
            Change::GateClosed { gate, decision } => {
                // The first answer wins.
                let sql = "UPDATE gate SET decision = ?3, closed_by = ?4, closed_at = ?5
                           WHERE id = ?1 AND chat = ?2 AND decision IS NULL";
                let json = encode("a decision", decision)?;
                let mut statement = connection.prepare_cached(sql)?;
                let by = source.actor.as_str();
                statement.execute(params![gate.as_str(), chat, json, by, at])?;
            }
        }
    }
    Ok(head)
}

/// Makes all indexes again from the journal.
pub(super) fn rebuild(connection: &Connection) -> Result<(), StoreError> {
    for table in ["gate", "call", "chat"] {
        connection.execute(&format!("DELETE FROM {table}"), ())?;
    }
    let mut chats = connection.prepare("SELECT DISTINCT chat FROM entry")?;
    let chats = chats.query_map((), |row| row.get::<_, String>(0))?;
    for chat in chats {
        let chat = ChatId::from(chat?);
        let mut head = None;
        for entry in read::entries(connection, &chat, 0, None)? {
            let source = Source {
                chat: &chat,
                seq: entry.seq,
                at: entry.at,
                actor: &entry.actor,
                events: &entry.events,
            };
            head = Some(apply(connection, &source, head)?);
        }
    }
    Ok(())
}

/// Notes how a chat stands that was there before.
fn go_on(connection: &Connection, source: &Source<'_>, mut head: Head) -> Result<Head, StoreError> {
    let standing = &mut head.standing;
    let before = (standing.turn().cloned(), standing.is_running());
    standing.apply(source.events);
    head.seq = source.seq;
    let (chat, at) = (source.chat.as_str(), from_at(source.at));
    let json = encode("how a chat stands", standing)?;
    let (turn, running) = (standing.turn(), standing.is_running());
    if (turn, running) == (before.0.as_ref(), before.1) {
        // No index knows of these two, so that most appends write to none.
        let sql = "UPDATE chat SET updated = ?2, standing = ?3 WHERE id = ?1";
        let mut statement = connection.prepare_cached(sql)?;
        statement.execute(params![chat, at, json])?;
    } else {
        let sql = "UPDATE chat SET updated = ?2, standing = ?3, turn = ?4, running = ?5
                   WHERE id = ?1";
        let mut statement = connection.prepare_cached(sql)?;
        let turn = turn.map(TurnId::as_str);
        statement.execute(params![chat, at, json, turn, running])?;
    }
    Ok(head)
}

fn open_chat(connection: &Connection, source: &Source<'_>) -> Result<Head, StoreError> {
    let Some(owner) = index::owner(source.events) else {
        let chat = source.chat.clone();
        return Err(StoreError::OwnerMissing { chat });
    };
    let mut standing = Standing::default();
    standing.apply(source.events);
    let sql = "INSERT INTO chat (id, owner, opened, updated, standing, turn, running)
               VALUES (?1, ?2, ?3, ?3, ?4, ?5, ?6)";
    let mut statement = connection.prepare_cached(sql)?;
    statement.execute(params![
        source.chat.as_str(),
        owner.as_str(),
        from_at(source.at),
        encode("how a chat stands", &standing)?,
        standing.turn().map(TurnId::as_str),
        standing.is_running(),
    ])?;
    Ok(Head {
        seq: source.seq,
        owner: owner.as_str().to_owned(),
        standing,
    })
}

/// An id that this chat already has is said twice; one that another chat has is a mistake.
fn refuse_taken(
    connection: &Connection,
    table: &str,
    id: &str,
    chat: &str,
) -> Result<(), StoreError> {
    let sql = format!("SELECT chat FROM {table} WHERE id = ?1");
    let holder: String = connection.query_row(&sql, [id], |row| row.get(0))?;
    if holder == chat {
        return Ok(());
    }
    let id = id.to_owned();
    Err(StoreError::Taken { id })
}
