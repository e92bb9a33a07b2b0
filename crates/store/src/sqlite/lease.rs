//! Leases, in the same file as the journals: several processes may share it.

use std::time::Duration;

use rusqlite::{Connection, params};
use turn::{At, ChatId};

use super::read::{all, text};
use super::writer::{Notification, Written};
use crate::error::StoreError;
use crate::lease::{Holder, Lease, MAX_ADDRESSES};
use crate::number::{from_deadline, from_seq, to_count, to_deadline};

/// Takes or renews leases, and returns those that the owner does not get.
pub(super) fn hold(
    connection: &Connection,
    holder: &Holder,
    chats: &[(ChatId, u64)],
    now: At,
    lease: Duration,
) -> Result<Written<Vec<ChatId>>, StoreError> {
    let take = "INSERT INTO lease (chat, epoch, owner, address, expires)
                SELECT ?1, ?2, ?3, ?4, ?5 WHERE EXISTS (SELECT 1 FROM chat WHERE id = ?1)
                ON CONFLICT (chat) DO UPDATE SET epoch = excluded.epoch, owner = excluded.owner,
                  address = excluded.address, expires = excluded.expires
                WHERE lease.epoch < excluded.epoch OR (lease.epoch = excluded.epoch
                  AND (lease.owner = excluded.owner OR lease.expires <= ?6))";
    let mut take = connection.prepare_cached(take)?;
    for (chat, epoch) in chats {
        take.execute(params![
            chat.as_str(),
            from_seq(*epoch),
            holder.owner,
            holder.address,
            from_deadline(now + lease),
            from_deadline(now),
        ])?;
    }
    let ours = "SELECT 1 FROM lease WHERE chat = ?1 AND owner = ?2";
    let mut ours = connection.prepare_cached(ours)?;
    let mut refused = Vec::new();
    for (chat, _) in chats {
        if !ours.exists([chat.as_str(), &holder.owner])? && !refused.contains(chat) {
            refused.push(chat.clone());
        }
    }
    Ok(without_notification(refused))
}

/// The lease of a chat.
pub(super) fn lease(connection: &Connection, chat: &ChatId) -> Result<Option<Lease>, StoreError> {
    let sql = "SELECT epoch, owner, address, expires FROM lease WHERE chat = ?1";
    let leases = all(connection, sql, [chat.as_str()], |row| {
        Ok(Lease {
            chat: chat.clone(),
            epoch: to_count(row.get(0)?),
            holder: Holder {
                owner: text(row, 1)?,
                address: text(row, 2)?,
            },
            expires: to_deadline(row.get(3)?),
        })
    });
    Ok(leases?.pop())
}

/// Gives leases back.
pub(super) fn release(
    connection: &Connection,
    owner: &str,
    chats: &[ChatId],
) -> Result<Written<()>, StoreError> {
    let sql = "DELETE FROM lease WHERE chat = ?1 AND owner = ?2";
    let mut statement = connection.prepare_cached(sql)?;
    for chat in chats {
        statement.execute([chat.as_str(), owner])?;
    }
    Ok(without_notification(()))
}

/// The query for chats with a running turn and without a valid lease.
const ORPHANED: &str = "SELECT chat.id FROM chat LEFT JOIN lease ON lease.chat = chat.id
    WHERE chat.running = 1 AND (lease.chat IS NULL OR lease.expires <= ?1)
    ORDER BY chat.updated, chat.id LIMIT ?2";

/// Chats with a running turn and without a valid lease.
pub(super) fn orphaned(
    connection: &Connection,
    now: At,
    limit: usize,
) -> Result<Vec<ChatId>, StoreError> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let parameters = params![from_deadline(now), limit];
    all(connection, ORPHANED, parameters, |row| {
        Ok(text(row, 0)?.into())
    })
}

/// The addresses in all leases.
pub(super) fn addresses(connection: &Connection) -> Result<Vec<String>, StoreError> {
    let sql = "SELECT DISTINCT address FROM lease LIMIT ?1";
    let limit = u32::try_from(MAX_ADDRESSES).unwrap_or(u32::MAX);
    all(connection, sql, [limit], |row| text(row, 0))
}

/// Tails are notified of entries alone.
fn without_notification<T>(value: T) -> Written<T> {
    let notification = Notification::Nothing;
    Written {
        value,
        notification,
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::super::connection::open_writer;
    use super::*;

    #[test]
    fn a_hundred_thousand_parked_chats_are_not_looked_at() {
        let folder = TempDir::new().unwrap();
        let connection = open_writer(&folder.path().join("chats.db")).unwrap();
        let parked = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n LIMIT 100000)
                      INSERT INTO chat (id, owner, opened, updated, turn, running)
                      SELECT 'parked-' || n, 'ann', n, n, 't', 0 FROM n";
        let running = "INSERT INTO chat (id, owner, opened, updated, turn, running)
                       VALUES ('b', 'ann', 1, 7, 't', 1), ('a', 'ann', 1, 8, 't', 1)";
        connection.execute_batch(parked).unwrap();
        connection.execute_batch(running).unwrap();
        connection.execute_batch("ANALYZE").unwrap();
        let found = orphaned(&connection, At(9), 10).unwrap();
        assert_eq!(found, ["b".into(), "a".into()]);

        let plan = all(
            &connection,
            &format!("EXPLAIN QUERY PLAN {ORPHANED}"),
            params![9, 10],
            |row| text(row, 3),
        );
        let plan = plan.unwrap().join("\n");
        assert!(plan.contains("chat USING INDEX chat_running"), "{plan}");
        assert!(plan.contains("SEARCH lease USING INDEX"), "{plan}");
        assert!(!plan.contains("SCAN lease"), "{plan}");
    }
}
