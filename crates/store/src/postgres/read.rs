//! Everything that is read, on a connection that is given.

use tokio_postgres::Row;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::FromSql;
use turn::{At, CallId, ChatId, Entry, GateId, Principal};

use super::session::{Parameters, Session};
use crate::error::StoreError;
use crate::journal::{Bounds, Closed, EntryPage, GatePage, GatePlace, GateRecord, OpenGate};
use crate::json::decode;
use crate::number::{from_at, from_deadline, from_seq, to_at, to_count};

/// How many entries a tail reads at once.
const PAGE: i64 = 256;

/// The entries after a place, in order.
pub(super) async fn entries(
    session: &Session,
    chat: &ChatId,
    after: u64,
) -> Result<Vec<Entry>, StoreError> {
    let sql = "SELECT seq, at, actor, events FROM entry
               WHERE chat = $1 AND seq > $2 ORDER BY seq";
    all(session, sql, &[&chat.as_str(), &from_seq(after)], |row| {
        entry(chat, row, 0)
    })
    .await
}

/// The first entries after a place that fit into a page.
pub(super) async fn bounded(
    session: &Session,
    chat: &ChatId,
    after: u64,
    bounds: Bounds,
) -> Result<EntryPage, StoreError> {
    // One more than fits is sent, by which it is known that there are more. Its size is looked up
    // without reading it.
    let sql = "SELECT seq, at, actor, events FROM (
                 SELECT seq, at, actor, events, row_number() OVER earlier AS number,
                   coalesce(sum(octet_length(events)) OVER earlier - octet_length(events), 0) AS before
                 FROM (SELECT seq, at, actor, events FROM entry
                       WHERE chat = $1 AND seq > $2 ORDER BY seq LIMIT $3) AS page
                 WINDOW earlier AS (ORDER BY seq)
               ) AS sized WHERE before <= $4 OR number <= 2 ORDER BY seq";
    let limit = |limit: usize| i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = limit(bounds.entries.max(1)).saturating_add(1);
    let parameters: Parameters<'_> = &[
        &chat.as_str(),
        &from_seq(after),
        &rows,
        &limit(bounds.bytes),
    ];
    let rows = self::rows(session, sql, parameters).await?;
    let entries = rows.iter().map(|row| {
        let bytes = text(row, 3)?.len();
        Ok((entry(chat, row, 0)?, bytes))
    });
    EntryPage::of(entries, bounds)
}

/// What a tail finds.
pub(super) struct Page {
    /// Which chat it is, among all that ever had this id.
    pub(super) position: i64,
    /// Its first entries after a place.
    pub(super) entries: Vec<Entry>,
}

/// The first entries after a place, if there is such a chat.
pub(super) async fn page(
    session: &Session,
    chat: &ChatId,
    after: u64,
) -> Result<Option<Page>, StoreError> {
    // In one statement, and so of one moment: the chat may be deleted, and opened again.
    let sql = "SELECT chat.position, entry.seq, entry.at, entry.actor, entry.events
               FROM chat LEFT JOIN LATERAL (
                 SELECT seq, at, actor, events FROM entry
                 WHERE entry.chat = chat.id AND seq > $2 ORDER BY seq LIMIT $3
               ) AS entry ON true
               WHERE chat.id = $1 ORDER BY entry.seq";
    let parameters: Parameters<'_> = &[&chat.as_str(), &from_seq(after), &PAGE];
    let rows = rows(session, sql, parameters).await?;
    let Some(first) = rows.first() else {
        return Ok(None);
    };
    let position = column(first, 0)?;
    let mut entries = Vec::new();
    for row in &rows {
        if column::<Option<i64>>(row, 1)?.is_some() {
            entries.push(entry(chat, row, 1)?);
        }
    }
    Ok(Some(Page { position, entries }))
}

fn entry(chat: &ChatId, row: &Row, first: usize) -> Result<Entry, StoreError> {
    let seq = to_count(column(row, first)?);
    let events = decode(
        &format!("entry {seq} of chat {chat}"),
        text(row, first + 3)?,
    )?;
    Ok(Entry {
        seq,
        at: to_at(column(row, first + 1)?),
        actor: text(row, first + 2)?.into(),
        events,
    })
}

/// The gates that wait in the chats of an owner, oldest first.
pub(super) async fn open_gates(
    session: &Session,
    owner: &Principal,
    after: Option<GatePlace>,
    limit: usize,
) -> Result<GatePage, StoreError> {
    let sql = "SELECT gate.chat, gate.turn, gate.gate, call.call, gate.asked, gate.position
               FROM gate JOIN call ON call.id = gate.call
               WHERE gate.owner = $1 AND gate.decision IS NULL
                 AND gate.asked >= $2 AND (gate.asked, gate.position) > ($2, $3)
               ORDER BY gate.asked, gate.position LIMIT $4";
    let after = after.unwrap_or(GatePlace::START);
    let rows = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
    let (asked, position) = (from_at(after.asked), from_seq(after.position));
    let parameters: Parameters<'_> = &[&owner.as_str(), &asked, &position, &rows];
    let rows = all(session, sql, parameters, |row| {
        let asked = to_at(column(row, 4)?);
        let gate = OpenGate {
            chat: text(row, 0)?.into(),
            turn: text(row, 1)?.into(),
            gate: decode("a gate", text(row, 2)?)?,
            call: decode("a call", text(row, 3)?)?,
            asked,
        };
        let position = to_count(column(row, 5)?);
        Ok((GatePlace { asked, position }, gate))
    })
    .await?;
    Ok(GatePage::of(rows, limit))
}

/// Where a gate is, and its outcome.
pub(super) async fn gate(session: &Session, id: &GateId) -> Result<Option<GateRecord>, StoreError> {
    let sql = "SELECT chat, turn, owner, gate, asked, decision, closed_by, closed_at
               FROM gate WHERE id = $1";
    let mut records = all(session, sql, &[&id.as_str()], |row| {
        let closed = match column::<Option<&str>>(row, 5)? {
            None => None,
            Some(decision) => Some(Closed {
                decision: decode("a decision", decision)?,
                by: text(row, 6)?.into(),
                at: to_at(column(row, 7)?),
            }),
        };
        Ok(GateRecord {
            chat: text(row, 0)?.into(),
            turn: text(row, 1)?.into(),
            owner: text(row, 2)?.into(),
            gate: decode("a gate", text(row, 3)?)?,
            asked: to_at(column(row, 4)?),
            closed,
        })
    })
    .await?;
    Ok(records.pop())
}

/// The chat that a call is in.
pub(super) async fn call(session: &Session, id: &CallId) -> Result<Option<ChatId>, StoreError> {
    let sql = "SELECT chat FROM call WHERE id = $1";
    let mut chats = all(session, sql, &[&id.as_str()], first).await?;
    Ok(chats.pop().map(ChatId::from))
}

/// Open gates whose time is up, the longest overdue first.
pub(super) async fn overdue_gates(
    session: &Session,
    by: At,
    limit: usize,
) -> Result<Vec<(ChatId, GateId)>, StoreError> {
    // "Never" is stored as a number below zero.
    let sql = "SELECT chat, id FROM gate
               WHERE decision IS NULL AND expires IS NOT NULL AND expires BETWEEN 0 AND $1
               ORDER BY expires LIMIT $2";
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    all(session, sql, &[&from_deadline(by), &limit], |row| {
        Ok((text(row, 0)?.into(), text(row, 1)?.into()))
    })
    .await
}

/// Those of the chats whose journals are not where they were seen last.
pub(super) async fn outdated(
    session: &Session,
    seen: &[(ChatId, u64)],
) -> Result<Vec<ChatId>, StoreError> {
    let ids: Vec<_> = seen.iter().map(|(chat, _)| chat.as_str()).collect();
    let places: Vec<_> = seen.iter().map(|(_, seq)| from_seq(*seq)).collect();
    let sql = "SELECT seen.id FROM unnest($1::text[], $2::bigint[]) AS seen (id, seq)
               LEFT JOIN chat ON chat.id = seen.id
               WHERE coalesce(chat.seq, 0) <> seen.seq";
    all(session, sql, &[&ids, &places], |row| {
        Ok(text(row, 0)?.into())
    })
    .await
}

/// Whose chat it is.
pub(super) async fn owner(
    session: &Session,
    chat: &ChatId,
) -> Result<Option<Principal>, StoreError> {
    let sql = "SELECT owner FROM chat WHERE id = $1";
    let mut owners = all(session, sql, &[&chat.as_str()], first).await?;
    Ok(owners.pop().map(Principal::from))
}

/// All rows of a query.
pub(super) async fn all<T>(
    session: &Session,
    sql: &'static str,
    parameters: Parameters<'_>,
    read: impl Fn(&Row) -> Result<T, StoreError>,
) -> Result<Vec<T>, StoreError> {
    rows(session, sql, parameters)
        .await?
        .iter()
        .map(read)
        .collect()
}

async fn rows(
    session: &Session,
    sql: &'static str,
    parameters: Parameters<'_>,
) -> Result<Vec<Row>, StoreError> {
    match session.query(sql, parameters).await {
        // PostgreSQL has no text with a NUL in it, so nothing can be stored under such an id.
        Err(error) if error.code() == Some(&SqlState::CHARACTER_NOT_IN_REPERTOIRE) => {
            Ok(Vec::new())
        }
        rows => Ok(rows?),
    }
}

/// A column.
pub(super) fn column<'a, T: FromSql<'a>>(row: &'a Row, index: usize) -> Result<T, StoreError> {
    row.try_get(index).map_err(|error| StoreError::Malformed {
        what: format!("column {index} of a row"),
        problem: error.to_string(),
    })
}

/// A column of text.
pub(super) fn text(row: &Row, index: usize) -> Result<&str, StoreError> {
    column(row, index)
}

fn first(row: &Row) -> Result<String, StoreError> {
    column(row, 0)
}
