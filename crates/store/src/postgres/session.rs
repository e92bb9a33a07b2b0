//! One connection, and the statements that it has prepared.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::{AbortHandle, JoinHandle};
use tokio_postgres::types::ToSql;
use tokio_postgres::{
    AsyncMessage, Client, Connection, Error, Notification, Row, SimpleQueryMessage, Statement,
};

use super::failure::silent;
use super::lineage::{KnownServers, Lineage, SessionOrigin};
use crate::error::StoreError;

/// The schema that our tables are in, so that they can share a database with others.
pub(super) const SCHEMA: &str = "adk_stream";

/// Parameters of a statement.
pub(super) type Parameters<'a> = &'a [&'a (dyn ToSql + Sync)];

/// Which history a server follows, and whether it is a standby, which has none of its own. A role
/// needs no right for it.
const LINEAGE: &str = "SELECT pg_is_in_recovery(),
    (SELECT system_identifier FROM pg_control_system()),
    CASE WHEN NOT pg_is_in_recovery()
      THEN substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) END";

/// One connection. Dropping it closes it, once what was sent is answered.
pub struct Session {
    client: Client,
    statements: Mutex<HashMap<&'static str, Statement>>,
    connection: JoinHandle<()>,
    servers: KnownServers,
    origin: SessionOrigin,
}

/// Ends a connection's task when it is dropped, unless it was emptied before.
struct CutOnDrop(Option<AbortHandle>);

impl Drop for CutOnDrop {
    fn drop(&mut self) {
        if let Some(connection) = &self.0 {
            connection.abort();
        }
    }
}

/// The first statements of every connection.
fn set_up(time_limit: Duration) -> String {
    let time_limit = time_limit.as_millis().max(1);
    let longest = 2 * time_limit;
    format!(
        // Where our tables are, and nothing else: no other program's function gets in between.
        "SET search_path TO {SCHEMA}, pg_temp;
         SET client_min_messages TO warning;
         -- A client that is frozen in a transaction loses it, and with it its locks; one that
         -- waits for those waits longer than that.
         SET idle_in_transaction_session_timeout TO {time_limit};
         SET statement_timeout TO {longest};
         -- Every query here has its index. What the planner thinks of a table that has just grown
         -- from nothing must not decide otherwise.
         SET enable_seqscan TO off;
         -- After waiting for a lock, a statement has to see what the other wrote.
         SET default_transaction_isolation TO 'read committed';
         -- An acknowledged append is durable, whatever the default of this database.
         SELECT set_config('synchronous_commit', 'on', false)
         WHERE current_setting('synchronous_commit') = 'off'"
    )
}

impl Session {
    /// A connection whose first statements are not sent yet.
    pub(super) fn new<S, T>(
        client: Client,
        mut connection: Connection<S, T>,
        notify: impl Fn(Notification) + Send + 'static,
        servers: KnownServers,
        origin: SessionOrigin,
    ) -> Self
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let connection = tokio::spawn(async move {
            let mut messages = std::pin::pin!(futures_util::stream::poll_fn(move |context| {
                connection.poll_message(context)
            }));
            // It ends with the connection, and then pending requests get an error.
            while let Some(Ok(message)) = futures_util::StreamExt::next(&mut messages).await {
                if let AsyncMessage::Notification(notification) = message {
                    notify(notification);
                }
            }
        });
        Self {
            client,
            statements: Mutex::default(),
            connection,
            servers,
            origin,
        }
    }

    /// Sends the first statements, and asks which history the server follows. Returns whether it is a
    /// standby.
    pub(super) async fn set_up(&mut self, time_limit: Duration) -> Result<bool, Error> {
        // Who stops waiting for it leaves nothing behind, though a silent server answers nothing.
        let mut guard = CutOnDrop(Some(self.connection.abort_handle()));
        let set_up = set_up(time_limit);
        let (set_up, answer) = tokio::join!(
            self.client.batch_execute(&set_up),
            self.client.simple_query(LINEAGE)
        );
        set_up?;
        // A service that is no PostgreSQL inside may refuse to tell; then nothing is compared.
        let messages = answer.unwrap_or_default();
        let row = messages.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        });
        let column = |n: usize| row.and_then(|row| row.try_get(n).ok().flatten());
        let lineage = column(1).zip(column(2)).and_then(|(system, timeline)| {
            Some(Lineage {
                system_identifier: system.parse().ok()?,
                timeline: u32::from_str_radix(timeline, 16).ok()?,
            })
        });
        self.origin.lineage = lineage;
        guard.0 = None;
        Ok(column(0) == Some("t"))
    }

    /// Which history its server follows, where that is known.
    pub(super) fn lineage(&self) -> Option<Lineage> {
        self.origin.lineage
    }

    /// Waits for an answer of this connection. It does not count, and the connection is cut, if it
    /// takes too long, or if by then the server has been replaced by another or is given up.
    pub(super) async fn until<T>(
        &self,
        time_limit: Duration,
        answer: impl Future<Output = T>,
    ) -> Result<T, StoreError> {
        let answered = tokio::select! {
            answer = answer => match self.servers.objection(self.origin) {
                None => Ok(answer),
                Some(error) => Err(error),
            },
            error = self.servers.lost(self.origin) => Err(error),
            () = tokio::time::sleep(time_limit) => Err(silent()),
        };
        if answered.is_err() {
            self.cut();
        }
        answered
    }

    /// The same for a statement, with a limit that its server keeps too: one that is silent for longer
    /// is frozen or gone, and none of its connections is waited for any more.
    pub(super) async fn within<T>(
        &self,
        statement_limit: Duration,
        answer: impl Future<Output = T>,
    ) -> Result<T, StoreError> {
        let begun = Instant::now();
        let answered = self.until(statement_limit, answer).await;
        if answered.is_err() && begun.elapsed() >= statement_limit {
            self.servers.give_up(self.origin);
        }
        answered
    }

    /// The driver's own client.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Whether it is known to be of no more use.
    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed() || self.servers.objection(self.origin).is_some()
    }

    /// Closes it at once, whatever it waits for.
    pub(super) fn cut(&self) {
        self.connection.abort();
    }

    /// A statement, prepared once in a connection.
    pub(super) async fn prepare(&self, sql: &'static str) -> Result<Statement, Error> {
        let known = self.lock().get(sql).cloned();
        if let Some(statement) = known {
            return Ok(statement);
        }
        let statement = self.client.prepare(sql).await?;
        self.lock().insert(sql, statement.clone());
        Ok(statement)
    }

    pub(super) async fn query(
        &self,
        sql: &'static str,
        parameters: Parameters<'_>,
    ) -> Result<Vec<Row>, Error> {
        let statement = self.prepare(sql).await?;
        self.client.query(&statement, parameters).await
    }

    pub(super) async fn execute(
        &self,
        sql: &'static str,
        parameters: Parameters<'_>,
    ) -> Result<u64, Error> {
        let statement = self.prepare(sql).await?;
        self.client.execute(&statement, parameters).await
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<&'static str, Statement>> {
        // A map to which something was not added is whole.
        self.statements
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
