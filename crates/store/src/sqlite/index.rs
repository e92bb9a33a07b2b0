//! The indexes in SQLite: written with each append, and made again from the journal.

use rusqlite::{Connection, params};
use turn::index::{self, Change};
use turn::{Actor, At, Chat, ChatId, Event, OpenTurn};

use super::chat_list::Listing;
use super::read;
use super::write_connection::Head;
use crate::error::StoreError;
use crate::json::encode;
use crate::number::from_at;

/// What an entry adds to the indexes.
pub(super) struct Source<'a> {
    pub(super) chat: &'a ChatId,
    pub(super) seq: u64,
    pub(super) at: At,
    pub(super) actor: &'a Actor,
    pub(super) events: &'a [Event],
    pub(super) open: Option<&'a OpenTurn>,
}

/// Writes what an entry changes in a chat with this state, if it exists, and returns its new state.
pub(super) fn apply(
    connection: &Connection,
    source: &Source<'_>,
    before: Option<Head>,
) -> Result<Head, StoreError> {
    let chat = source.chat.as_str();
    let at = from_at(source.at);
    // All that changes in the chat's row is one statement, since each writes to the indexes of the table.
    let listing = Listing::of(source.events, source.at);
    let head = match before {
        Some(before) => go_on(connection, source, before, &listing)?,
        None => open_chat(connection, source, &listing)?,
    };
    for change in index::changes(source.events) {
        match change {
            Change::ChatOpened { .. } | Change::TurnOpened { .. } | Change::TurnEnded { .. } => {}
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
                let by = source.actor.to_string();
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
        let (mut folded, mut head) = (Chat::default(), None);
        for entry in read::entries(connection, &chat, 0, None)? {
            folded.append(&entry);
            let open = folded.open_turn();
            let source = Source {
                chat: &chat,
                seq: entry.seq,
                at: entry.at,
                actor: &entry.actor,
                events: &entry.events,
                open: open.as_ref(),
            };
            head = Some(apply(connection, &source, head)?);
        }
    }
    Ok(())
}

/// Notes again which turn of each chat is open.
pub(super) fn renew_open_turns(connection: &Connection) -> Result<(), StoreError> {
    let mut chats = connection.prepare("SELECT id FROM chat")?;
    let chats = chats.query_map((), |row| row.get::<_, String>(0))?;
    for chat in chats {
        let chat = ChatId::from(chat?);
        let folded = Chat::replay(&read::entries(connection, &chat, 0, None)?);
        let open = folded.open_turn();
        let (turn, running) = columns(open.as_ref());
        let sql = "UPDATE chat SET turn = ?2, running = ?3 WHERE id = ?1";
        connection.execute(sql, params![chat.as_str(), turn, running])?;
    }
    Ok(())
}

/// An open turn as the table has it.
fn columns(open: Option<&OpenTurn>) -> (Option<&str>, bool) {
    let is_running = open.is_some_and(|open| open.is_running);
    (open.map(|open| open.id.as_str()), is_running)
}

/// Notes the state of a chat that was there before.
fn go_on(
    connection: &Connection,
    source: &Source<'_>,
    mut head: Head,
    listing: &Listing,
) -> Result<Head, StoreError> {
    head.seq = source.seq;
    let (chat, at) = (source.chat.as_str(), from_at(source.at));
    let is_open_the_same = head.open.as_ref() == source.open;
    if is_open_the_same && listing.is_empty() {
        // No index knows of the time, so that most appends write to none.
        let sql = "UPDATE chat SET updated = ?2 WHERE id = ?1";
        connection.prepare_cached(sql)?.execute(params![chat, at])?;
        return Ok(head);
    }
    let (turn, running) = columns(source.open);
    let ended = listing.ended;
    if listing.active.is_none() {
        // The list is in the order in which turns were opened: its index stays as it is.
        let sql = "UPDATE chat SET updated = ?2, turn = ?3, running = ?4,
                       ended = coalesce(?5, ended) WHERE id = ?1";
        let mut statement = connection.prepare_cached(sql)?;
        statement.execute(params![chat, at, turn, running, ended])?;
    } else {
        let sql = "UPDATE chat SET updated = ?2, turn = ?3, running = ?4,
                       ended = coalesce(?5, ended), active = ?6, title = coalesce(title, ?7)
                   WHERE id = ?1";
        let (active, title) = (listing.active.map(from_at), &listing.title);
        let mut statement = connection.prepare_cached(sql)?;
        statement.execute(params![chat, at, turn, running, ended, active, title])?;
    }
    if !is_open_the_same {
        head.open = source.open.cloned();
    }
    Ok(head)
}

fn open_chat(
    connection: &Connection,
    source: &Source<'_>,
    listing: &Listing,
) -> Result<Head, StoreError> {
    let Some(owner) = index::owner(source.events) else {
        let chat = source.chat.clone();
        return Err(StoreError::OwnerMissing { chat });
    };
    // None is opened under the id of a chat that was deleted for good. Asked for itself, since SQLite
    // keeps the pages that an INSERT from a SELECT changes, to be able to undo it.
    let sql = "SELECT 1 FROM tombstone WHERE chat = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    if statement.exists([source.chat.as_str()])? {
        let chat = source.chat.clone();
        return Err(StoreError::ChatDeleted { chat });
    }
    let sql = "INSERT INTO chat (id, owner, opened, updated, turn, running, active, ended, title)
               VALUES (?1, ?2, ?3, ?3, ?4, ?5, ?6, ?7, ?8)";
    let (turn, running) = columns(source.open);
    let mut statement = connection.prepare_cached(sql)?;
    statement.execute(params![
        source.chat.as_str(),
        owner.as_str(),
        from_at(source.at),
        turn,
        running,
        listing.active.map(from_at),
        listing.ended,
        listing.title,
    ])?;
    Ok(Head {
        seq: source.seq,
        owner: owner.as_str().to_owned(),
        open: source.open.cloned(),
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
