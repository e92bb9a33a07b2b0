//! Leases. They are hints, and so not worth waiting for the disk.

use std::time::Duration;

use turn::ChatId;

use super::read::{all, column, text};
use super::session::{Parameters, Session};
use crate::error::StoreError;
use crate::lease::{Holder, Lease, MAX_ADDRESSES};
use crate::number::{from_seq, to_count, to_deadline};

/// Takes or renews leases in one statement, and returns those that the owner does not get.
pub(super) async fn hold(
    session: &Session,
    holder: &Holder,
    chats: &[(ChatId, u64)],
    lease: Duration,
) -> Result<Vec<ChatId>, StoreError> {
    let ids: Vec<_> = chats.iter().map(|(chat, _)| chat.as_str()).collect();
    let epochs: Vec<_> = chats.iter().map(|(_, epoch)| from_seq(*epoch)).collect();
    // In the order of ids, so that two servers which renew the same never wait for each other.
    // The chats are locked, or one that is being deleted would make the whole statement fail.
    // The database's clock says when they expire: those of the servers may be wrong.
    let take = "INSERT INTO lease (chat, epoch, owner, address, expires)
                SELECT chat.id, given.epoch, $3, $4,
                  (extract(epoch FROM clock_timestamp()) * 1000)::bigint + $5 FROM (
                  SELECT id, max(epoch) AS epoch FROM unnest($1::text[], $2::bigint[])
                    AS given (id, epoch) GROUP BY id
                ) AS given JOIN chat ON chat.id = given.id
                ORDER BY chat.id FOR KEY SHARE OF chat
                ON CONFLICT (chat) DO UPDATE SET epoch = excluded.epoch, owner = excluded.owner,
                  address = excluded.address, expires = excluded.expires
                WHERE lease.epoch < excluded.epoch OR (lease.epoch = excluded.epoch
                  AND (lease.owner = excluded.owner
                    OR lease.expires <= excluded.expires - $5))";
    let ours = "SELECT DISTINCT id FROM unnest($1::text[]) AS given (id)
                WHERE NOT EXISTS (SELECT FROM lease WHERE chat = id AND owner = $2)";
    let (owner, address) = (&holder.owner, &holder.address);
    let lease = milliseconds(lease);
    let (take, ours) = (session.prepare(take).await?, session.prepare(ours).await?);
    let client = session.client();
    let taking: Parameters<'_> = &[&ids, &epochs, owner, address, &lease];
    let asking: Parameters<'_> = &[&ids, owner];
    // All at once: none of them needs the answer of the one before.
    let (begun, taken, refused, ended) = tokio::join!(
        client.batch_execute("BEGIN; SET LOCAL synchronous_commit TO off"),
        client.execute(&take, taking),
        client.query(&ours, asking),
        client.batch_execute("COMMIT"),
    );
    begun?;
    taken?;
    let refused = refused?;
    ended?;
    refused.iter().map(|row| Ok(text(row, 0)?.into())).collect()
}

/// The lease of a chat.
pub(super) async fn lease(session: &Session, chat: &ChatId) -> Result<Option<Lease>, StoreError> {
    let sql = "SELECT epoch, owner, address, expires FROM lease WHERE chat = $1";
    let mut leases = all(session, sql, &[&chat.as_str()], |row| {
        Ok(Lease {
            chat: chat.clone(),
            epoch: to_count(column(row, 0)?),
            holder: Holder {
                owner: text(row, 1)?.to_owned(),
                address: text(row, 2)?.to_owned(),
            },
            expires: to_deadline(column(row, 3)?),
        })
    })
    .await?;
    Ok(leases.pop())
}

/// Gives leases back.
pub(super) async fn release(
    session: &Session,
    owner: &str,
    chats: &[ChatId],
) -> Result<(), StoreError> {
    let ids: Vec<_> = chats.iter().map(ChatId::as_str).collect();
    let sql = "DELETE FROM lease WHERE chat = ANY ($1) AND owner = $2";
    session.execute(sql, &[&ids, &owner]).await?;
    Ok(())
}

/// The query for chats with a running turn and without a valid lease.
const ORPHANED: &str = "SELECT chat.id FROM chat LEFT JOIN lease ON lease.chat = chat.id
     WHERE chat.running AND (lease.chat IS NULL
       OR lease.expires <= (extract(epoch FROM clock_timestamp()) * 1000)::bigint)
     ORDER BY chat.updated, chat.id LIMIT $1";

/// Chats with a running turn and without a valid lease.
pub(super) async fn orphaned(session: &Session, limit: usize) -> Result<Vec<ChatId>, StoreError> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    all(session, ORPHANED, &[&limit], |row| Ok(text(row, 0)?.into())).await
}

/// The addresses of servers with a valid lease, at most a hundred.
pub(super) async fn servers(session: &Session) -> Result<Vec<String>, StoreError> {
    let sql = "SELECT DISTINCT address FROM lease
               WHERE expires > (extract(epoch FROM clock_timestamp()) * 1000)::bigint LIMIT 100";
    all(session, sql, &[], |row| column(row, 0)).await
}

/// The addresses in all leases. There may be many leases of few owners: each owner is one look into the
/// index.
pub(super) async fn addresses(session: &Session) -> Result<Vec<String>, StoreError> {
    let sql = "WITH RECURSIVE holder AS (
                 (SELECT owner, address FROM lease ORDER BY owner LIMIT 1)
                 UNION ALL
                 SELECT next.owner, next.address FROM holder, LATERAL (
                   SELECT owner, address FROM lease WHERE lease.owner > holder.owner
                   ORDER BY owner LIMIT 1
                 ) AS next
               ) SELECT address FROM holder LIMIT 1000";
    let mut addresses: Vec<String> = all(session, sql, &[], |row| column(row, 0)).await?;
    addresses.sort_unstable();
    addresses.dedup();
    addresses.truncate(MAX_ADDRESSES);
    Ok(addresses)
}

/// A span of time, for a sum in SQL: a longer one than a century is one.
fn milliseconds(span: Duration) -> i64 {
    const CENTURY: i64 = 100 * 366 * 24 * 3600 * 1000;
    i64::try_from(span.as_millis()).map_or(CENTURY, |span| span.min(CENTURY))
}

#[cfg(test)]
mod tests {
    use super::super::address::Address;
    use super::super::schema;
    use super::*;

    #[tokio::test]
    async fn a_hundred_thousand_parked_chats_are_not_looked_at() {
        let url = testkit::postgres::database().parse().unwrap();
        let address = Address::new(url).unwrap();
        let session = address.connect().await.unwrap();
        schema::migrate(&session, &address).await.unwrap();
        let chats = "INSERT INTO chat (id, owner, opened, updated, seq, turn, running)
            SELECT 'parked-' || n, 'ann', n, n, 1, 't', false
            FROM generate_series(1, 100000) AS n;
            INSERT INTO chat (id, owner, opened, updated, seq, turn, running)
            VALUES ('b', 'ann', 1, 7, 1, 't', true), ('a', 'ann', 1, 8, 1, 't', true);
            ANALYZE chat;
            -- The planner settings of our connections are not what is tested.
            RESET enable_seqscan";
        session.client().batch_execute(chats).await.unwrap();
        let found = orphaned(&session, 10).await;
        assert_eq!(found, Ok(vec!["b".into(), "a".into()]));

        let explain = format!("EXPLAIN {ORPHANED}");
        let explain = explain.replace("$1", "10");
        let plan = session.client().query(&explain, &[]).await.unwrap();
        let plan: Vec<_> = plan.iter().map(|row| text(row, 0).unwrap()).collect();
        let plan = plan.join("\n");
        assert!(plan.contains("Scan using chat_running on chat"), "{plan}");
        assert!(!plan.contains("Seq Scan on chat"), "{plan}");
    }
}
