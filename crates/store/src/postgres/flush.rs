//! A group of appends, or a deletion, as one transaction: two trips to the database, however many
//! appends there are.
//!
//! First the chats are locked and looked at, then everything is written and committed at once. The
//! lock on a chat's row is what makes two servers take turns; the key of `entry` is the fence behind
//! it.

use std::collections::HashMap;
use std::pin::Pin;
use std::time::Duration;

use futures_util::future::{FutureExt, join_all};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, Error, Statement};
use turn::{At, ChatId};

use super::append::{Answer, Append, Batch, Chats, Closings, Known, Place, work_out};
use super::failure::{is_unavailable, silent};
use super::read::{column, text};
use super::session::{Parameters, Session};
use crate::error::StoreError;
use crate::number::{from_at, to_count};

/// The channel of notifications that journals grew.
pub(super) const CHANNEL: &str = "adk_stream";

/// The notification to check every journal that is followed.
pub(super) const ALL: &str = "*";

/// A notification holds less than 8000 bytes.
const PAYLOAD: usize = 7_900;

/// Why a transaction was not committed, or may not have been.
#[derive(Debug)]
pub(super) enum Failure {
    /// Nothing was written, and the connection is gone.
    Lost(StoreError),
    /// Nothing was written, since another server was faster: try again.
    Raced,
    /// Nothing was written, and nothing would be.
    Refused(StoreError),
    /// The connection was lost during the commit, and the outcome is unknown.
    Unknown(StoreError),
}

const LOCK: &str = "SELECT id, owner, seq FROM chat WHERE id = ANY ($1)
    ORDER BY id FOR NO KEY UPDATE";

// After the lock: a server that deleted a chat meanwhile has left its tombstone by then.
const BURIED: &str = "SELECT chat FROM tombstone WHERE chat = ANY ($1)";

const OPEN: &str =
    "INSERT INTO chat (id, owner, opened, updated, seq, turn, running, active, ended,
      title)
    SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[],
      $6::text[], $7::boolean[], $8::bigint[], $9::text[], $10::text[]) AS new (id)
    ORDER BY new.id";

// The time of the last turn is in an index, which is left alone where it stays the same.
const GROW: &str = "UPDATE chat SET updated = new.updated, seq = new.seq, turn = new.turn,
      running = new.running, active = coalesce(new.active, chat.active),
      ended = coalesce(new.ended, chat.ended), title = coalesce(chat.title, new.title)
    FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::boolean[], $6::bigint[],
        $7::text[], $8::text[])
      AS new (id, updated, seq, turn, running, active, ended, title)
    WHERE chat.id = new.id";

const ENTER: &str = "INSERT INTO entry (chat, seq, turn, kind, actor, events, at, epoch)
    SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::text[],
      $7::bigint[], $8::bigint[])";

// An id that this chat already has is said twice; one that another chat has breaks the key.
const CALL: &str = "INSERT INTO call (id, chat, call)
    SELECT new.id, new.chat, new.call
    FROM unnest($1::text[], $2::text[], $3::text[]) AS new (id, chat, call)
    WHERE NOT EXISTS (SELECT FROM call WHERE call.id = new.id AND call.chat = new.chat)";

const GATE: &str = "INSERT INTO gate (id, chat, turn, owner, call, gate, asked, expires)
    SELECT new.id, new.chat, new.turn, new.owner, new.call, new.gate, new.asked, new.expires
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[],
        $7::bigint[], $8::bigint[])
      WITH ORDINALITY AS new (id, chat, turn, owner, call, gate, asked, expires, place)
    WHERE NOT EXISTS (SELECT FROM gate WHERE gate.id = new.id AND gate.chat = new.chat)
    ORDER BY new.place";

// The first answer wins.
const CLOSE: &str =
    "UPDATE gate SET decision = new.decision, closed_by = new.by, closed_at = new.at
    FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bigint[])
      AS new (id, chat, decision, by, at)
    WHERE gate.id = new.id AND gate.chat = new.chat AND gate.decision IS NULL";

const NOTIFY: &str = "SELECT pg_notify($1, $2)";

const TAKEN: &str = "SELECT id FROM call WHERE id = ANY ($1) AND chat <> $3
    UNION ALL SELECT id FROM gate WHERE id = ANY ($2) AND chat <> $3 LIMIT 1";

const LOCK_TO_FORGET: &str = "SELECT FROM chat WHERE id = $1 FOR UPDATE";

const BURY: &str = "INSERT INTO tombstone (chat, owner, at)
    SELECT id, owner, $2 FROM chat WHERE id = $1 ON CONFLICT DO NOTHING";

/// Deletes in this order, so that what another server appends meanwhile is waited for and seen.
const FORGET: [&str; 2] = [
    "DELETE FROM entry WHERE chat = $1",
    // Its gates, calls, lease and label go with it, by their foreign keys.
    "DELETE FROM chat WHERE id = $1",
];

/// A statement on its way.
type Sent<'a> = Pin<Box<dyn Future<Output = Result<u64, Error>> + Send + 'a>>;

/// The connection that writes, with its statements.
pub(super) struct Flusher {
    session: Session,
    /// The longest that an answer is waited for.
    time_limit: Duration,
}

impl Flusher {
    /// Prepares a connection, so that nothing need be prepared in the middle of a transaction.
    pub(super) async fn new(session: Session, time_limit: Duration) -> Result<Self, StoreError> {
        let first = [
            LOCK,
            BURIED,
            OPEN,
            GROW,
            ENTER,
            CALL,
            GATE,
            CLOSE,
            NOTIFY,
            LOCK_TO_FORGET,
            BURY,
        ];
        let all = first.into_iter().chain(FORGET);
        for prepared in join_all(all.map(|sql| session.prepare(sql))).await {
            prepared?;
        }
        Ok(Self {
            session,
            time_limit,
        })
    }

    /// The number of the sender of a notification.
    pub(super) async fn process_id(&self) -> Result<i32, StoreError> {
        let sql = "SELECT pg_backend_pid()";
        let row = self.session.client().query_one(sql, &[]).await?;
        column(&row, 0)
    }

    pub(super) fn is_closed(&self) -> bool {
        self.session.is_closed()
    }

    pub(super) fn cut(&self) {
        self.session.cut();
    }

    /// Appends, all in one transaction; if it fails, none.
    pub(super) async fn append(&self, appends: &[&Append]) -> Result<Vec<Answer>, Failure> {
        let looking = self.session.within(self.time_limit, self.lock(appends));
        let known = looking
            .await
            .unwrap_or_else(|error| Err(Failure::Lost(error)))?;
        let (answers, batch) = work_out(appends, known);
        let writing = self.session.within(self.time_limit, self.write(&batch));
        let written = writing.await;
        let written = written.unwrap_or_else(|error| Err(Failure::Unknown(error)));
        match written {
            Err(Failure::Refused(error)) if appends.len() == 1 => {
                Err(Failure::Refused(self.explain(appends[0], error).await))
            }
            Err(failure) => Err(failure),
            Ok(()) => {
                self.notify(batch.entries.chat);
                Ok(answers)
            }
        }
    }

    /// Begins, and locks the chats in the order of their ids, so that no two servers each hold what
    /// the other needs.
    async fn lock(&self, appends: &[&Append]) -> Result<Known, Failure> {
        let mut ids: Vec<_> = appends.iter().map(|append| append.chat.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        let client = self.session.client();
        let lock = self.statement(LOCK).await?;
        let opening = appends.iter().filter(|append| append.opens());
        let opening: Vec<_> = opening.map(|append| append.chat.as_str()).collect();
        let buried = self.statement(BURIED).await?;
        let (parameters, names): (Parameters<'_>, Parameters<'_>) = (&[&ids], &[&opening]);
        let looking = async {
            match opening.is_empty() {
                true => Ok(Vec::new()),
                false => client.query(&buried, names).await,
            }
        };
        let (begun, rows, buried) = tokio::join!(
            client.batch_execute("BEGIN"),
            client.query(&lock, parameters),
            looking,
        );
        let found = begun.and(rows).and_then(|rows| Ok((rows, buried?)));
        let (rows, buried) = match found {
            Ok(found) => found,
            Err(error) => return Err(self.roll_back(error.into()).await),
        };
        let mut places = HashMap::new();
        for row in &rows {
            let place = || {
                let seq = to_count(column(row, 2)?);
                let owner = text(row, 1)?.to_owned();
                let open = None;
                let place = Place { owner, seq, open };
                Ok((text(row, 0)?.to_owned(), place))
            };
            match place() {
                Ok((id, place)) => drop(places.insert(id, place)),
                Err(error) => return Err(self.roll_back(error).await),
            }
        }
        let deleted: Result<_, _> = buried
            .iter()
            .map(|row| Ok(text(row, 0)?.to_owned()))
            .collect();
        match deleted {
            Ok(deleted) => Ok(Known { places, deleted }),
            Err(error) => Err(self.roll_back(error).await),
        }
    }

    /// Ends a transaction in which nothing was written, and returns the outcome.
    async fn roll_back(&self, error: StoreError) -> Failure {
        let rolled_back = self.session.client().batch_execute("ROLLBACK").await;
        match error {
            error if is_unavailable(&error) || rolled_back.is_err() => Failure::Lost(error),
            error => Failure::Refused(error),
        }
    }

    async fn statement(&self, sql: &'static str) -> Result<Statement, Failure> {
        let prepared = self.session.prepare(sql).await;
        prepared.map_err(|error| Failure::Lost(error.into()))
    }

    /// Writes and commits: all that there is, sent at once.
    async fn write(&self, batch: &Batch<'_>) -> Result<(), Failure> {
        let client = self.session.client();
        let mut sent: Vec<Sent<'_>> = Vec::new();
        let Batch {
            opened,
            grown,
            entries,
            calls,
            gates,
            closed_before,
            closed_after,
        } = batch;
        if !opened.id.is_empty() {
            sent.push(open(client, self.statement(OPEN).await?, opened));
        }
        if !grown.id.is_empty() {
            sent.push(grow(client, self.statement(GROW).await?, grown));
        }
        if !entries.chat.is_empty() {
            let statement = self.statement(ENTER).await?;
            sent.push(Box::pin(async move {
                let parameters: Parameters<'_> = &[
                    &entries.chat,
                    &entries.seq,
                    &entries.turn,
                    &entries.kind,
                    &entries.actor,
                    &entries.events,
                    &entries.at,
                    &entries.epoch,
                ];
                client.execute(&statement, parameters).await
            }));
        }
        if !calls.id.is_empty() {
            let statement = self.statement(CALL).await?;
            sent.push(Box::pin(async move {
                let parameters: Parameters<'_> = &[&calls.id, &calls.chat, &calls.call];
                client.execute(&statement, parameters).await
            }));
        }
        if !closed_before.id.is_empty() {
            sent.push(close(client, self.statement(CLOSE).await?, closed_before));
        }
        if !gates.id.is_empty() {
            let statement = self.statement(GATE).await?;
            sent.push(Box::pin(async move {
                let parameters: Parameters<'_> = &[
                    &gates.id,
                    &gates.chat,
                    &gates.turn,
                    &gates.owner,
                    &gates.call,
                    &gates.gate,
                    &gates.asked,
                    &gates.expires,
                ];
                client.execute(&statement, parameters).await
            }));
        }
        if !closed_after.id.is_empty() {
            sent.push(close(client, self.statement(CLOSE).await?, closed_after));
        }
        self.commit(sent).await.map(drop)
    }

    /// Sends statements and the commit behind them, and returns how many rows each changed.
    ///
    /// If a statement fails, PostgreSQL does not commit what is sent behind it.
    async fn commit(&self, mut sent: Vec<Sent<'_>>) -> Result<Vec<u64>, Failure> {
        let client = self.session.client();
        sent.push(Box::pin(async move {
            client.batch_execute("COMMIT").await.map(|()| 0)
        }));
        // Polled in order, and so sent in order.
        let mut answers = join_all(sent).await;
        let committed = answers.pop();
        let statements: Result<Vec<_>, _> = answers.into_iter().collect();
        match (statements, committed) {
            (Ok(changed), Some(Ok(_))) => Ok(changed),
            (Err(error), _) if error.as_db_error().is_some() => Err(self.rolled_back(error)),
            // Everything was sent, and its outcome is unknown.
            (Err(error), _) | (_, Some(Err(error))) => Err(Failure::Unknown(error.into())),
            (Ok(_), None) => Err(Failure::Unknown(silent())),
        }
    }

    /// What a statement that failed comes to. The transaction is over, and nothing of it is left.
    fn rolled_back(&self, error: Error) -> Failure {
        let database = error.as_db_error();
        let key = database.and_then(|error| error.constraint());
        // A chat was opened, or a journal grew, since they were looked at.
        let is_race = error.code() == Some(&SqlState::UNIQUE_VIOLATION)
            && matches!(key, Some("chat_pkey" | "entry_pkey"))
            || error.code() == Some(&SqlState::T_R_DEADLOCK_DETECTED);
        match error.into() {
            error if is_unavailable(&error) => Failure::Lost(error),
            _ if is_race => Failure::Raced,
            error => Failure::Refused(error),
        }
    }

    /// Why one append was refused: most likely an id that another chat has.
    async fn explain(&self, append: &Append, error: StoreError) -> StoreError {
        let (calls, gates) = append.unique_ids();
        let parameters: Parameters<'_> = &[&calls, &gates, &append.chat.as_str()];
        let holders = self.session.query(TAKEN, parameters);
        let holders = tokio::time::timeout(self.time_limit, holders).await;
        let taken = holders.ok().and_then(Result::ok).and_then(|rows| {
            let id = text(rows.first()?, 0).ok()?.to_owned();
            Some(StoreError::Taken { id })
        });
        taken.unwrap_or(error)
    }

    /// Forgets a chat, and returns whether there was one. With a time, it leaves a tombstone.
    pub(super) async fn delete(
        &self,
        chat: &ChatId,
        tombstone: Option<At>,
    ) -> Result<bool, Failure> {
        if chat.as_str().contains('\0') {
            return Ok(false);
        }
        let deleting = self
            .session
            .within(self.time_limit, self.forget(chat, tombstone))
            .await;
        let was_there = deleting.unwrap_or_else(|error| Err(Failure::Unknown(error)))?;
        if was_there {
            self.notify(vec![chat.as_str()]);
        }
        Ok(was_there)
    }

    async fn forget(&self, chat: &ChatId, tombstone: Option<At>) -> Result<bool, Failure> {
        let client = self.session.client();
        let id = chat.as_str();
        let lock = self.statement(LOCK_TO_FORGET).await?;
        let mut sent: Vec<Sent<'_>> = vec![
            Box::pin(async move { client.batch_execute("BEGIN").await.map(|()| 0) }),
            Box::pin(async move { client.execute(&lock, &[&id]).await }),
        ];
        if let Some(at) = tombstone {
            let bury = self.statement(BURY).await?;
            sent.push(Box::pin(async move {
                let parameters: Parameters<'_> = &[&id, &from_at(at)];
                client.execute(&bury, parameters).await
            }));
        }
        for sql in FORGET {
            let statement = self.statement(sql).await?;
            sent.push(Box::pin(
                async move { client.execute(&statement, &[&id]).await },
            ));
        }
        let changed = self.commit(sent).await?;
        Ok(changed.last().is_some_and(|chats| *chats > 0))
    }

    /// Notifies other servers which journals changed. A hint: it follows the commit, where it delays
    /// nothing, and nothing waits for it.
    fn notify(&self, mut chats: Vec<&str>) {
        chats.sort_unstable();
        chats.dedup();
        let Some(Ok(statement)) = self.session.prepare(NOTIFY).now_or_never() else {
            return;
        };
        let payload = serde_json::to_string(&chats).ok();
        let payload = payload.filter(|text| text.len() <= PAYLOAD);
        let payload = payload.unwrap_or_else(|| ALL.to_owned());
        if !chats.is_empty() {
            let client = self.session.client();
            // Once polled it is on its way.
            let parameters: Parameters<'_> = &[&CHANNEL, &payload];
            let _ = client.execute(&statement, parameters).now_or_never();
        }
    }
}

fn open<'a>(client: &'a Client, statement: Statement, chats: &'a Chats<'_>) -> Sent<'a> {
    Box::pin(async move {
        let parameters: Parameters<'_> = &[
            &chats.id,
            &chats.owner,
            &chats.opened,
            &chats.updated,
            &chats.seq,
            &chats.turn,
            &chats.running,
            &chats.active,
            &chats.ended,
            &chats.title,
        ];
        client.execute(&statement, parameters).await
    })
}

fn grow<'a>(client: &'a Client, statement: Statement, chats: &'a Chats<'_>) -> Sent<'a> {
    Box::pin(async move {
        let parameters: Parameters<'_> = &[
            &chats.id,
            &chats.updated,
            &chats.seq,
            &chats.turn,
            &chats.running,
            &chats.active,
            &chats.ended,
            &chats.title,
        ];
        client.execute(&statement, parameters).await
    })
}

fn close<'a>(client: &'a Client, statement: Statement, gates: &'a Closings<'_>) -> Sent<'a> {
    Box::pin(async move {
        let parameters: Parameters<'_> = &[
            &gates.id,
            &gates.chat,
            &gates.decision,
            &gates.by,
            &gates.at,
        ];
        client.execute(&statement, parameters).await
    })
}
