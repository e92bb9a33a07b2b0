//! One connection, and the statements that it has prepared.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio_postgres::types::ToSql;
use tokio_postgres::{AsyncMessage, Client, Notification, Row, Statement};

use super::failure::{silent, while_opening};
use super::tls::Tls;
use super::url::PostgresUrl;
use crate::error::StoreError;

/// The schema that our tables are in, so that they can share a database with others.
pub(super) const SCHEMA: &str = "adk_stream";

/// Parameters of a statement.
pub(super) type Parameters<'a> = &'a [&'a (dyn ToSql + Sync)];

/// Where to connect to, ready to be used.
#[derive(Clone)]
pub(super) struct Address {
    pub(super) url: Arc<PostgresUrl>,
    tls: Tls,
}

/// One connection. Dropping it closes it, once what was sent is answered.
pub struct Session {
    client: Client,
    statements: Mutex<HashMap<&'static str, Statement>>,
    connection: JoinHandle<()>,
}

impl Address {
    pub(super) fn new(url: PostgresUrl) -> Result<Self, StoreError> {
        let tls = Tls::new(&url)?;
        let url = Arc::new(url);
        Ok(Self { url, tls })
    }

    /// Opens a connection.
    pub(super) async fn connect(&self) -> Result<Session, StoreError> {
        self.connect_hearing(|_| {}).await
    }

    /// Opens a connection, and hands on what the server says unasked.
    pub(super) async fn connect_hearing(
        &self,
        hear: impl Fn(Notification) + Send + 'static,
    ) -> Result<Session, StoreError> {
        // The driver's own timeout ends with the socket; a server that hangs has one, and is silent.
        let time_limit = self.url.time_limit;
        let connecting = tokio::time::timeout(time_limit, self.start(hear));
        connecting.await.unwrap_or_else(|_| Err(silent()))
    }

    async fn start(
        &self,
        hear: impl Fn(Notification) + Send + 'static,
    ) -> Result<Session, StoreError> {
        let failed = |error| while_opening(error, &self.url);
        let connecting = self.url.config.connect(self.tls.clone());
        let (client, mut connection) = connecting.await.map_err(failed)?;
        let connection = tokio::spawn(async move {
            let mut messages = std::pin::pin!(futures_util::stream::poll_fn(move |context| {
                connection.poll_message(context)
            }));
            // It ends with the connection, and then whoever waits for an answer gets an error.
            while let Some(Ok(message)) = futures_util::StreamExt::next(&mut messages).await {
                if let AsyncMessage::Notification(notification) = message {
                    hear(notification);
                }
            }
        });
        let session = Session {
            client,
            statements: Mutex::default(),
            connection,
        };
        let set_up = set_up(self.url.time_limit);
        session
            .client
            .batch_execute(&set_up)
            .await
            .map_err(failed)?;
        Ok(session)
    }
}

/// What every connection is told first.
fn set_up(time_limit: Duration) -> String {
    let time_limit = time_limit.as_millis().max(1);
    let longest = 2 * time_limit;
    format!(
        // Where our tables are, and nothing else: no other program's function gets in between.
        "SET search_path TO {SCHEMA}, pg_temp;
         SET client_min_messages TO warning;
         -- Whoever is frozen in the middle of a transaction loses it, and with it its locks; whoever
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
    /// The driver's own client.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Whether it is known to be of no more use.
    pub(super) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Closes it at once, whatever it waits for.
    pub(super) fn cut(&self) {
        self.connection.abort();
    }

    /// A statement, prepared once in a connection.
    pub(super) async fn prepare(
        &self,
        sql: &'static str,
    ) -> Result<Statement, tokio_postgres::Error> {
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
    ) -> Result<Vec<Row>, tokio_postgres::Error> {
        let statement = self.prepare(sql).await?;
        self.client.query(&statement, parameters).await
    }

    pub(super) async fn execute(
        &self,
        sql: &'static str,
        parameters: Parameters<'_>,
    ) -> Result<u64, tokio_postgres::Error> {
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
