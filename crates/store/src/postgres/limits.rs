//! What limits rest on: how much an owner has open, what was used once, and whether the database
//! takes a write.

use turn::gate::Gate;
use turn::{At, ChatId, Principal};

use super::read::{all, column, text};
use super::session::{Parameters, Session};
use crate::backlog::OpenGates;
use crate::error::StoreError;
use crate::journal::Usage;
use crate::json::decode;
use crate::number::{from_deadline, to_at};

/// How much an owner has open, counted no further than a limit.
pub(super) async fn usage(
    session: &Session,
    owner: &Principal,
    chat: &ChatId,
    limit: usize,
) -> Result<Usage, StoreError> {
    let sql = "SELECT
        (SELECT count(*) FROM (
           SELECT FROM chat WHERE owner = $1 AND turn IS NOT NULL LIMIT $3) AS open_chat),
        (SELECT count(*) FROM (
           SELECT FROM gate WHERE owner = $1 AND decision IS NULL LIMIT $3) AS open_gate),
        EXISTS (SELECT FROM chat WHERE id = $2 AND owner = $1 AND turn IS NOT NULL)";
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let parameters: Parameters<'_> = &[&owner.as_str(), &chat.as_str(), &limit];
    let count = |count: i64| usize::try_from(count).unwrap_or(usize::MAX);
    let mut usage = all(session, sql, parameters, |row| {
        Ok(Usage {
            open_chats: count(column(row, 0)?),
            open_gates: count(column(row, 1)?),
            is_open: column(row, 2)?,
        })
    })
    .await?;
    // There is no row for a name that the database can't hold, and so nothing is open under it.
    Ok(usage.pop().unwrap_or_default())
}

/// The open gates of all owners, counted no further than a limit.
pub(super) async fn open_gates(session: &Session, limit: usize) -> Result<OpenGates, StoreError> {
    let sql = "SELECT gate, asked FROM gate WHERE decision IS NULL LIMIT $1";
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let gates = all(session, sql, &[&limit], |row| {
        Ok((
            decode::<Gate>("a gate", text(row, 0)?)?,
            to_at(column(row, 1)?),
        ))
    })
    .await?;
    Ok(OpenGates::of(gates))
}

/// Uses a nonce, and returns whether it was unused and has not expired, by the database's clock.
pub(super) async fn spend(session: &Session, nonce: &str, expires: At) -> Result<bool, StoreError> {
    let forget = "DELETE FROM nonce
                  WHERE expires <= (extract(epoch FROM clock_timestamp()) * 1000)::bigint";
    session.execute(forget, &[]).await?;
    // One that was forgotten a moment ago has expired, and so is not taken again.
    let spend = "INSERT INTO nonce (id, expires) SELECT $1, $2
                 WHERE $2 > (extract(epoch FROM clock_timestamp()) * 1000)::bigint
                 ON CONFLICT DO NOTHING";
    let parameters: Parameters<'_> = &[&nonce, &from_deadline(expires)];
    Ok(session.execute(spend, parameters).await? > 0)
}

/// What time it is at the database.
pub(super) async fn clock(session: &Session) -> Result<At, StoreError> {
    let sql = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";
    let clock = all(session, sql, &[], |row| column::<i64>(row, 0)).await?;
    Ok(clock.first().copied().map(to_at).unwrap_or_default())
}

/// Writes the time of this look.
pub(super) async fn probe(session: &Session, now: At) -> Result<(), StoreError> {
    let sql = "INSERT INTO probe (id, at) VALUES (1, $1)
               ON CONFLICT (id) DO UPDATE SET at = excluded.at";
    session.execute(sql, &[&from_deadline(now)]).await?;
    Ok(())
}
