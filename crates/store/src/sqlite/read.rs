//! Everything that is read, on a connection that is given.

use rusqlite::{Connection, OptionalExtension, Row, params};
use turn::{At, CallId, ChatId, Entry, GateId, OpenTurn, Principal};

use super::write_connection::Head;
use crate::error::StoreError;
use crate::journal::{Bounds, Closed, EntryPage, GatePage, GatePlace, GateRecord, OpenGate};
use crate::json::decode;
use crate::number::{from_at, from_deadline, from_seq, to_at, to_count};

/// The entries after a place, in order, at most this many.
pub(super) fn entries(
    connection: &Connection,
    chat: &ChatId,
    after: u64,
    limit: Option<u32>,
) -> Result<Vec<Entry>, StoreError> {
    let sql = "SELECT seq, at, actor, events FROM entry
               WHERE chat = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
    let limit = limit.map_or(-1, i64::from);
    let parameters = params![chat.as_str(), from_seq(after), limit];
    all(connection, sql, parameters, |row| {
        entry(chat, row).map(|(entry, _)| entry)
    })
}

/// The first entries after a place that fit into a page. No more of them are read.
pub(super) fn page(
    connection: &Connection,
    chat: &ChatId,
    after: u64,
    bounds: Bounds,
) -> Result<EntryPage, StoreError> {
    let sql = "SELECT seq, at, actor, events FROM entry
               WHERE chat = ?1 AND seq > ?2 ORDER BY seq";
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params![chat.as_str(), from_seq(after)])?;
    let rows = std::iter::from_fn(|| match rows.next() {
        Ok(row) => row.map(|row| entry(chat, row)),
        Err(error) => Some(Err(error.into())),
    });
    EntryPage::of(rows, bounds)
}

/// An entry, and the bytes of its events.
fn entry(chat: &ChatId, row: &Row<'_>) -> Result<(Entry, usize), StoreError> {
    let seq = to_count(row.get(0)?);
    let events = text(row, 3)?;
    let entry = Entry {
        seq,
        at: to_at(row.get(1)?),
        actor: text(row, 2)?.into(),
        events: decode(&format!("entry {seq} of chat {chat}"), &events)?,
    };
    Ok((entry, events.len()))
}

/// The place of the last entry, 0 for none.
pub(super) fn last_seq(connection: &Connection, chat: &ChatId) -> Result<u64, StoreError> {
    let sql = "SELECT max(seq) FROM entry WHERE chat = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let last: Option<i64> = statement.query_row([chat.as_str()], |row| row.get(0))?;
    Ok(last.map_or(0, to_count))
}

/// An open turn, from the columns that say so.
fn open_turn(turn: Option<String>, is_running: bool) -> Option<OpenTurn> {
    let id = turn?.into();
    Some(OpenTurn { id, is_running })
}

/// The state of a chat, if it is there. A chat is in the index as soon as it has an entry.
pub(super) fn head(connection: &Connection, chat: &ChatId) -> Result<Option<Head>, StoreError> {
    let sql = "SELECT (SELECT max(seq) FROM entry WHERE chat = ?1), owner, turn, running
               FROM chat WHERE id = ?1";
    let heads = all(connection, sql, [chat.as_str()], |row| {
        Ok(Head {
            seq: row.get::<_, Option<_>>(0)?.map_or(0, to_count),
            owner: text(row, 1)?,
            open: open_turn(row.get(2)?, row.get(3)?),
        })
    });
    Ok(heads?.pop())
}

/// What finds the gates that wait in the chats of an owner. CROSS, so that gates are what is walked,
/// in the order of their index, and no further than the page goes.
const OPEN_GATES: &str =
    "SELECT gate.chat, gate.turn, gate.gate, call.call, gate.asked, gate.position
    FROM gate CROSS JOIN call ON call.id = gate.call
    WHERE gate.owner = ?1 AND gate.decision IS NULL
      AND gate.asked >= ?2 AND (gate.asked, gate.position) > (?2, ?3)
    ORDER BY gate.asked, gate.position LIMIT ?4";

/// The gates that wait in the chats of an owner, oldest first.
pub(super) fn open_gates(
    connection: &Connection,
    owner: &Principal,
    after: Option<GatePlace>,
    limit: usize,
) -> Result<GatePage, StoreError> {
    let after = after.unwrap_or(GatePlace::START);
    let rows = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
    let (asked, position) = (from_at(after.asked), from_seq(after.position));
    let parameters = params![owner.as_str(), asked, position, rows];
    let rows = all(connection, OPEN_GATES, parameters, |row| {
        let asked = to_at(row.get(4)?);
        let gate = OpenGate {
            chat: text(row, 0)?.into(),
            turn: text(row, 1)?.into(),
            gate: decode("a gate", &text(row, 2)?)?,
            call: decode("a call", &text(row, 3)?)?,
            asked,
        };
        let position = to_count(row.get(5)?);
        Ok((GatePlace { asked, position }, gate))
    })?;
    Ok(GatePage::of(rows, limit))
}

/// Where a gate is, and its outcome.
pub(super) fn gate(connection: &Connection, id: &GateId) -> Result<Option<GateRecord>, StoreError> {
    let sql = "SELECT chat, turn, owner, gate, asked, decision, closed_by, closed_at
               FROM gate WHERE id = ?1";
    let records = all(connection, sql, [id.as_str()], |row| {
        let decision: Option<String> = row.get(5)?;
        let closed = match decision {
            None => None,
            Some(decision) => Some(Closed {
                decision: decode("a decision", &decision)?,
                by: text(row, 6)?.into(),
                at: to_at(row.get(7)?),
            }),
        };
        Ok(GateRecord {
            chat: text(row, 0)?.into(),
            turn: text(row, 1)?.into(),
            owner: text(row, 2)?.into(),
            gate: decode("a gate", &text(row, 3)?)?,
            asked: to_at(row.get(4)?),
            closed,
        })
    });
    Ok(records?.pop())
}

/// The chat that a call is in.
pub(super) fn call(connection: &Connection, id: &CallId) -> Result<Option<ChatId>, StoreError> {
    let sql = "SELECT chat FROM call WHERE id = ?1";
    let chat: Option<String> = first(connection, sql, id.as_str())?;
    Ok(chat.map(ChatId::from))
}

/// The query for open gates whose time is up. "Never" is stored as a number
/// below zero.
const OVERDUE: &str = "SELECT chat, id FROM gate
    WHERE decision IS NULL AND expires IS NOT NULL AND expires BETWEEN 0 AND ?1
    ORDER BY expires LIMIT ?2";

/// Open gates whose time is up, the longest overdue first.
pub(super) fn overdue_gates(
    connection: &Connection,
    by: At,
    limit: usize,
) -> Result<Vec<(ChatId, GateId)>, StoreError> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let parameters = params![from_deadline(by), limit];
    all(connection, OVERDUE, parameters, |row| {
        Ok((text(row, 0)?.into(), text(row, 1)?.into()))
    })
}

/// Those of the chats whose journals are not where they were seen last.
pub(super) fn outdated(
    connection: &Connection,
    seen: &[(ChatId, u64)],
) -> Result<Vec<ChatId>, StoreError> {
    let mut outdated = Vec::new();
    for (chat, seq) in seen {
        if last_seq(connection, chat)? != *seq {
            outdated.push(chat.clone());
        }
    }
    Ok(outdated)
}

/// Whose chat it is.
pub(super) fn owner(
    connection: &Connection,
    chat: &ChatId,
) -> Result<Option<Principal>, StoreError> {
    let sql = "SELECT owner FROM chat WHERE id = ?1";
    let owner: Option<String> = first(connection, sql, chat.as_str())?;
    Ok(owner.map(Principal::from))
}

/// All rows of a query.
pub(super) fn all<T>(
    connection: &Connection,
    sql: &str,
    parameters: impl rusqlite::Params,
    read: impl Fn(&Row<'_>) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(parameters)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(read(row)?);
    }
    Ok(found)
}

/// The first column of the row with this id, if there is one.
fn first(connection: &Connection, sql: &str, id: &str) -> Result<Option<String>, StoreError> {
    let mut statement = connection.prepare_cached(sql)?;
    let found = statement.query_row([id], |row| row.get(0));
    Ok(found.optional()?)
}

/// A column of text.
pub(super) fn text(row: &Row<'_>, column: usize) -> Result<String, StoreError> {
    Ok(row.get(column)?)
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::super::connection::open_writer;
    use super::*;

    #[test]
    fn a_page_of_open_gates_is_one_range_and_is_not_sorted() {
        let folder = TempDir::new().unwrap();
        let connection = open_writer(&folder.path().join("chats.db")).unwrap();
        let plan = all(
            &connection,
            &format!("EXPLAIN QUERY PLAN {OPEN_GATES}"),
            params!["ann", 5, 1, 10],
            |row| text(row, 3),
        );
        let plan = plan.unwrap().join("\n");
        let range = "gate USING INDEX gate_open (owner=? AND asked>?";
        assert!(plan.contains(range) && !plan.contains("TEMP"), "{plan}");
    }

    #[test]
    fn gates_that_have_time_are_not_looked_at() {
        let folder = TempDir::new().unwrap();
        let connection = open_writer(&folder.path().join("chats.db")).unwrap();
        let plan = all(
            &connection,
            &format!("EXPLAIN QUERY PLAN {OVERDUE}"),
            params![9, 10],
            |row| text(row, 3),
        );
        let plan = plan.unwrap().join("\n");
        let range = "gate USING INDEX gate_expiring (expires>? AND expires<?)";
        assert!(plan.contains(range) && !plan.contains("TEMP"), "{plan}");
    }
}
