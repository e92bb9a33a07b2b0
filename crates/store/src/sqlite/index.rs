//! The indexes in SQLite: written with each append, and made again from the journal.

use rusqlite::{Connection, OptionalExtension, params};
use turn::{At, ChatId, Event, Principal, TurnId};

use super::read;
use crate::error::StoreError;
use crate::index::{self, Change, Standing};
use crate::json::{decode, encode};
use crate::number::from_at;

/// What an entry brings to the indexes.
pub(super) struct Source<'a> {
    pub(super) chat: &'a ChatId,
    pub(super) at: At,
    pub(super) actor: &'a Principal,
    pub(super) events: &'a [Event],
}

/// Writes down what an entry changes. The chat is in the index already, or this is its first entry.
pub(super) fn apply(connection: &Connection, source: &Source<'_>) -> Result<(), StoreError> {
    let chat = source.chat.as_str();
    let at = from_at(source.at);
    let sql = "SELECT owner, standing FROM chat WHERE id = ?1";
    let known = connection
        .prepare_cached(sql)?
        .query_row([chat], |row| <(String, String)>::try_from(row))
        .optional()?;
    let owner = match known {
        Some((owner, standing)) => {
            let before: Standing = decode("how a chat stands", &standing)?;
            go_on(connection, source, &before)?;
            owner
        }
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
                    owner,
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
    Ok(())
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
        for entry in read::entries(connection, &chat, 0, None)? {
            let source = Source {
                chat: &chat,
                at: entry.at,
                actor: &entry.actor,
                events: &entry.events,
            };
            apply(connection, &source)?;
        }
    }
    Ok(())
}

/// Notes how a chat stands that was there before.
fn go_on(
    connection: &Connection,
    source: &Source<'_>,
    before: &Standing,
) -> Result<(), StoreError> {
    let mut standing = before.clone();
    standing.apply(source.events);
    let (chat, at) = (source.chat.as_str(), from_at(source.at));
    let json = encode("how a chat stands", &standing)?;
    let (turn, running) = (standing.turn(), standing.is_running());
    if (turn, running) == (before.turn(), before.is_running()) {
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
    Ok(())
}

fn open_chat(connection: &Connection, source: &Source<'_>) -> Result<String, StoreError> {
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
    Ok(owner.as_str().to_owned())
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
