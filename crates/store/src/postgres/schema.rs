//! The schema, and how an older one gets there, though several servers start at once.

use turn::{Chat, ChatId};

use super::address::Address;
use super::chat_list;
use super::failure::{silent, while_opening};
use super::read;
use super::session::{Parameters, SCHEMA, Session};
use crate::error::StoreError;
use crate::inspection::Schema;

/// In order: a database of version N has had the first N. Never change one, add one.
///
/// Servers of the version before continue while a new one migrates, so a migration adds, and takes away
/// only what the version before did not use any more.
const MIGRATIONS: [&str; 6] = [
    include_str!("schema/0001_journal.sql"),
    include_str!("schema/0002_unused.sql"),
    include_str!("schema/0003_limits.sql"),
    include_str!("schema/0004_open_turn.sql"),
    include_str!("schema/0005_chat_list.sql"),
    include_str!("schema/0006_one_index_less.sql"),
];

/// Before this one, which turn of a chat is open was worked out otherwise.
const OPEN_TURNS: usize = 4;

/// Before this one, there was no list of chats.
const CHAT_LIST: usize = 5;

/// The lock for migrations: "adks".
const LOCK: i64 = 0x6164_6b73;

/// A migration takes as long as it takes.
const BEGIN: &str = "BEGIN; SET LOCAL statement_timeout TO 0";

/// Brings the database to the newest schema, wholly or not at all.
pub(super) async fn migrate(session: &Session, address: &Address) -> Result<(), StoreError> {
    // Most starts find everything there, and need no right to create anything.
    let looking = async {
        require_unicode(session, address).await?;
        version(session, address).await
    };
    let looking = tokio::time::timeout(address.url.time_limit * 2, looking).await;
    if looking.unwrap_or_else(|_| Err(silent()))? == MIGRATIONS.len() {
        return Ok(());
    }
    let failed = |error| while_opening(error, &address.url.config);
    session
        .client()
        .batch_execute(BEGIN)
        .await
        .map_err(failed)?;
    let migrated = migrate_locked(session, address).await;
    let end = if migrated.is_ok() {
        "COMMIT"
    } else {
        "ROLLBACK"
    };
    let ended = session.client().batch_execute(end).await;
    migrated?;
    ended.map_err(failed)
}

/// How far the schema of a database is.
pub(super) async fn state(session: &Session, address: &Address) -> Result<Schema, StoreError> {
    require_unicode(session, address).await?;
    Ok(Schema::of(
        version(session, address).await?,
        MIGRATIONS.len(),
    ))
}

async fn migrate_locked(session: &Session, address: &Address) -> Result<(), StoreError> {
    let failed = |error| while_opening(error, &address.url.config);
    let client = session.client();
    let lock = format!("SELECT pg_advisory_xact_lock({LOCK})");
    client.batch_execute(&lock).await.map_err(failed)?;
    // Asked again under the lock: another server may have migrated meanwhile.
    let current = version(session, address).await?;
    if !exists(session, address).await? {
        let create = format!("CREATE SCHEMA {SCHEMA}");
        client.batch_execute(&create).await.map_err(failed)?;
    }
    if current == 0 {
        // Named by its schema: what is not there yet is looked for there, and nowhere else.
        let create = format!(
            "CREATE TABLE {SCHEMA}.version (number INTEGER NOT NULL);
             INSERT INTO {SCHEMA}.version VALUES (0)"
        );
        client.batch_execute(&create).await.map_err(failed)?;
    }
    for step in MIGRATIONS.iter().skip(current) {
        client.batch_execute(step).await.map_err(failed)?;
    }
    if (1..OPEN_TURNS).contains(&current) {
        renew_open_turns(session).await?;
    }
    if (1..CHAT_LIST).contains(&current) {
        chat_list::rebuild(session).await?;
    }
    let set = format!("UPDATE {SCHEMA}.version SET number = {}", MIGRATIONS.len());
    client.batch_execute(&set).await.map_err(failed)
}

/// Writes the status of turns that have not ended again.
async fn renew_open_turns(session: &Session) -> Result<(), StoreError> {
    let client = session.client();
    let chats = client
        .query("SELECT id FROM chat WHERE turn IS NOT NULL", &[])
        .await?;
    for row in &chats {
        let chat = ChatId::from(row.get::<_, &str>(0));
        let folded = Chat::replay(&read::entries(session, &chat, 0).await?);
        let open = folded.open_turn();
        let turn = open.as_ref().map(|open| open.id.as_str());
        let is_running = open.as_ref().is_some_and(|open| open.is_running);
        let sql = "UPDATE chat SET turn = $2, running = $3 WHERE id = $1";
        let parameters: Parameters<'_> = &[&chat.as_str(), &turn, &is_running];
        client.execute(sql, parameters).await?;
    }
    Ok(())
}

/// Any other encoding would fail at the first character that it does not have.
async fn require_unicode(session: &Session, address: &Address) -> Result<(), StoreError> {
    let row = session
        .client()
        .query_one("SHOW server_encoding", &[])
        .await;
    let row = row.map_err(|error| while_opening(error, &address.url.config))?;
    match row.get::<_, &str>(0) {
        "UTF8" => Ok(()),
        encoding => Err(StoreError::Database {
            problem: format!(
                "{} is encoded in {encoding}, and has to be in UTF8",
                address.url.place()
            ),
        }),
    }
}

async fn exists(session: &Session, address: &Address) -> Result<bool, StoreError> {
    let sql = "SELECT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1)";
    let found = session.client().query_one(sql, &[&SCHEMA]).await;
    let found = found.map_err(|error| while_opening(error, &address.url.config))?;
    Ok(found.get(0))
}

/// How many migrations the database has had; an error if it is newer than we are.
async fn version(session: &Session, address: &Address) -> Result<usize, StoreError> {
    let failed = |error| while_opening(error, &address.url.config);
    // Not by `to_regclass`: it may answer from before the lock was given, where nothing was there.
    let table = "SELECT EXISTS (SELECT FROM pg_catalog.pg_tables
                   WHERE schemaname = $1 AND tablename = 'version')";
    let found = session.client().query_one(table, &[&SCHEMA]).await;
    if !found.map_err(failed)?.get::<_, bool>(0) {
        return Ok(0);
    }
    let sql = format!("SELECT number FROM {SCHEMA}.version");
    let row = session.client().query_one(&sql, &[]).await;
    let number: i32 = row.map_err(failed)?.get(0);
    let known = MIGRATIONS.len();
    match usize::try_from(number) {
        Ok(version) if version <= known => Ok(version),
        _ => Err(StoreError::TooNew {
            place: address.url.place(),
            found: u32::try_from(number).unwrap_or(u32::MAX),
            known: u32::try_from(known).unwrap_or(u32::MAX),
        }),
    }
}
