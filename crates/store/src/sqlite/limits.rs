//! What limits rest on: how much an owner has open, what was used once, and whether the file takes
//! a write.

use rusqlite::{Connection, params};
use turn::gate::Gate;
use turn::{At, ChatId, Principal};

use super::read::{all, text};
use super::writer::{Notification, Written};
use crate::backlog::OpenGates;
use crate::error::StoreError;
use crate::journal::Usage;
use crate::json::decode;
use crate::number::{from_deadline, to_at};

/// What counts an owner's open turns and gates, no further than a limit.
const USAGE: &str = "SELECT
    (SELECT count(*) FROM (SELECT 1 FROM chat WHERE owner = ?1 AND turn IS NOT NULL LIMIT ?3)),
    (SELECT count(*) FROM (SELECT 1 FROM gate WHERE owner = ?1 AND decision IS NULL LIMIT ?3)),
    EXISTS (SELECT 1 FROM chat WHERE id = ?2 AND owner = ?1 AND turn IS NOT NULL)";

/// How much room a file has that is not full, in bytes: more than most entries need.
const ROOM: i64 = 16 * 1024;

/// How much an owner has open, counted no further than a limit.
pub(super) fn usage(
    connection: &Connection,
    owner: &Principal,
    chat: &ChatId,
    limit: usize,
) -> Result<Usage, StoreError> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut statement = connection.prepare_cached(USAGE)?;
    let parameters = params![owner.as_str(), chat.as_str(), limit];
    let usage = statement.query_row(parameters, |row| {
        Ok(Usage {
            open_chats: row.get::<_, u32>(0)? as usize,
            open_gates: row.get::<_, u32>(1)? as usize,
            is_open: row.get(2)?,
        })
    });
    Ok(usage?)
}

/// The open gates of all owners, counted no further than a limit.
pub(super) fn open_gates(connection: &Connection, limit: usize) -> Result<OpenGates, StoreError> {
    let sql = "SELECT gate, asked FROM gate WHERE decision IS NULL LIMIT ?1";
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let gates = all(connection, sql, [limit], |row| {
        Ok((
            decode::<Gate>("a gate", &text(row, 0)?)?,
            to_at(row.get(1)?),
        ))
    })?;
    Ok(OpenGates::of(gates))
}

/// Uses a nonce, and returns whether it was unused and has not expired.
pub(super) fn spend(
    connection: &Connection,
    nonce: &str,
    now: At,
    expires: At,
) -> Result<Written<bool>, StoreError> {
    let forget = "DELETE FROM nonce WHERE expires <= ?1";
    connection
        .prepare_cached(forget)?
        .execute([from_deadline(now)])?;
    let spend = "INSERT INTO nonce (id, expires) SELECT ?1, ?2 WHERE ?2 > ?3
                 ON CONFLICT DO NOTHING";
    let mut spend = connection.prepare_cached(spend)?;
    let parameters = params![nonce, from_deadline(expires), from_deadline(now)];
    let is_new = spend.execute(parameters)? > 0;
    Ok(Written {
        value: is_new,
        notification: Notification::Nothing,
    })
}

/// Writes the time of this look.
pub(super) fn probe(connection: &Connection, now: At) -> Result<Written<()>, StoreError> {
    let fill = "INSERT INTO probe (id, at, room) VALUES (1, ?1, zeroblob(?2))
                ON CONFLICT (id) DO UPDATE SET at = excluded.at, room = excluded.room";
    let mut fill = connection.prepare_cached(fill)?;
    fill.execute(params![from_deadline(now), ROOM])?;
    let empty = "UPDATE probe SET room = NULL WHERE id = 1";
    connection.prepare_cached(empty)?.execute(())?;
    Ok(Written {
        value: (),
        notification: Notification::Nothing,
    })
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::super::SqliteStore;
    use super::super::connection::open_writer;
    use super::super::read::{all, text};
    use super::super::write_connection::WriteConnection;
    use super::*;
    use crate::probe::Probe;

    #[tokio::test]
    async fn a_file_without_room_is_said_to_be_full() {
        let folder = TempDir::new().unwrap();
        let store = SqliteStore::open(folder.path().join("chats.db")).await;
        let store = store.unwrap();
        // No free pages, and no more to come.
        let fill = |connection: &mut WriteConnection| {
            let pages: i64 = connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
            connection.pragma_update(None, "max_page_count", pages)?;
            Ok(Written {
                value: (),
                notification: Notification::Nothing,
            })
        };
        assert_eq!(store.writer.write(fill).await, Ok(()));
        assert_eq!(store.probe(At(1)).await, Err(StoreError::Full));
    }

    #[tokio::test]
    async fn a_file_that_is_no_database_any_more_is_said_to_be_corrupt() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("chats.db");
        // Closed once, so that the file itself has all, and not its log.
        drop(SqliteStore::open(path.clone()).await.unwrap());
        let store = SqliteStore::open(path.clone()).await.unwrap();
        let mut file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
        std::io::Write::write_all(&mut file, &[7; 4096]).unwrap();
        let refused = store.probe(At(1)).await;
        assert!(
            matches!(refused, Err(StoreError::Corrupt { .. })),
            "{refused:?}"
        );
    }

    #[test]
    fn what_is_open_is_counted_in_indexes_that_hold_nothing_else() {
        let folder = TempDir::new().unwrap();
        let connection = open_writer(&folder.path().join("chats.db")).unwrap();
        let plan = all(
            &connection,
            &format!("EXPLAIN QUERY PLAN {USAGE}"),
            params!["ann", "c", 10],
            |row| text(row, 3),
        );
        let plan = plan.unwrap().join("\n");
        for index in ["INDEX chat_open (owner=?)", "INDEX gate_open (owner=?)"] {
            assert!(plan.contains(index), "{plan}");
        }
    }
}
