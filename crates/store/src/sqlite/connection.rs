//! Opening a file, so that it is ours, durable, and of the newest schema; or saying why not.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, MAIN_DB, OpenFlags};

use super::failure::while_opening;
use super::{files, schema};
use crate::error::StoreError;

/// How long a statement waits for another process before it fails.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// How large the write-ahead log may stay once its content is in the database, in bytes.
const LOG_LIMIT: i64 = 64 * 1024 * 1024;

/// After how many pages the log is checkpointed. The pages that every append
/// changes are in the log many times, and are copied once: four times SQLite's own number.
const LOG_PAGES: i64 = 4_000;

/// Opens the connection that writes. Creates the file where there is none, and migrates it.
pub(super) fn open_writer(path: &Path) -> Result<Connection, StoreError> {
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    if folder.is_some_and(|folder| !folder.is_dir()) {
        let path = path.to_path_buf();
        return Err(StoreError::FolderMissing { path });
    }
    files::create_private(path);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection =
        Connection::open_with_flags(path, flags).map_err(|error| while_opening(error, path))?;
    prepare(&mut connection, path)?;
    Ok(connection)
}

/// Opens a connection that only reads a file which a writer has open.
pub(super) fn open_reader(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags);
    let connection = connection.map_err(|error| while_opening(error, path))?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    keep_plans(&connection)?;
    Ok(connection)
}

/// Keeps the plan of a statement whatever is bound to it. By default SQLite lets values decide it, and
/// so the statement that finds a journal's end was prepared again each time that the cache of
/// statements gave it out: a quarter of what an append cost.
fn keep_plans(connection: &Connection) -> rusqlite::Result<()> {
    let guarantee = DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG;
    connection.set_db_config(guarantee, true).map(drop)
}

fn prepare(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let failed = |error| while_opening(error, path);
    connection.busy_timeout(BUSY_TIMEOUT).map_err(failed)?;
    keep_plans(connection).map_err(failed)?;
    // SQLite opens a file that it may not write to all the same, and fails at the first append.
    if connection.is_readonly(MAIN_DB).map_err(failed)? {
        let path = path.to_path_buf();
        return Err(StoreError::ReadOnly { path });
    }
    // Before anything is written, or another program's file would be changed.
    schema::version(connection, path)?;

    if log_ahead(connection).map_err(failed)? != "wal" {
        return Err(StoreError::Unopenable {
            path: path.to_path_buf(),
            problem: "there can be no write-ahead log".to_owned(),
        });
    }
    let set = |name, value| connection.pragma_update(None, name, value).map_err(failed);
    // Every commit is on the disk before it is acknowledged; NORMAL would sync at checkpoints only.
    set("synchronous", 2_i64)?;
    set("foreign_keys", 1)?;
    // The content of a deleted chat does not stay in free pages.
    set("secure_delete", 1)?;
    set("journal_size_limit", LOG_LIMIT)?;
    set("wal_autocheckpoint", LOG_PAGES)?;
    schema::migrate(connection, path)
}

/// Switches the write-ahead log on, and returns which kind of log there is now.
///
/// Where several processes open a new file at once, SQLite fails here without waiting its timeout:
/// each holds what another needs, and one has to try again.
fn log_ahead(connection: &Connection) -> rusqlite::Result<String> {
    let deadline = Instant::now() + BUSY_TIMEOUT;
    loop {
        let log = connection
            .pragma_update_and_check(None, "journal_mode", "wal", |row| row.get::<_, String>(0));
        match log {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                    && Instant::now() < deadline =>
            {
                std::thread::sleep(Duration::from_millis(5));
            }
            log => return log,
        }
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;
    use tempfile::TempDir;

    use super::*;

    fn pragma(connection: &Connection, name: &str) -> String {
        let value = connection.pragma_query_value(None, name, |row| {
            let value: rusqlite::types::Value = row.get(0)?;
            Ok(match value {
                rusqlite::types::Value::Integer(value) => value.to_string(),
                rusqlite::types::Value::Text(value) => value,
                other => format!("{other:?}"),
            })
        });
        value.unwrap()
    }

    #[test]
    fn commits_are_synced_and_logged_ahead() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("chats.db");
        let connection = open_writer(&path).unwrap();
        assert_eq!(pragma(&connection, "journal_mode"), "wal");
        assert_eq!(pragma(&connection, "synchronous"), "2");
        assert_eq!(pragma(&connection, "foreign_keys"), "1");
        assert_eq!(pragma(&connection, "secure_delete"), "1");
        assert_eq!(pragma(&connection, "busy_timeout"), "5000");
        let reader = open_reader(&path).unwrap();
        assert_eq!(pragma(&reader, "journal_mode"), "wal");
        assert!(reader.execute("DELETE FROM entry", ()).is_err());
    }

    #[test]
    fn statements_are_not_prepared_again_for_every_chat() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("chats.db");
        let writer = open_writer(&path).unwrap();
        for connection in [writer, open_reader(&path).unwrap()] {
            for chat in ["a", "b", "c"] {
                let sql = "SELECT max(seq) FROM entry WHERE chat = ?1";
                let mut statement = connection.prepare_cached(sql).unwrap();
                let last: Option<i64> = statement.query_row([chat], |row| row.get(0)).unwrap();
                assert_eq!(last, None);
                assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
            }
        }
    }

    #[test]
    fn a_file_that_is_no_database_is_refused_and_left_alone() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("letter.txt");
        let letter = "Dear Ann, ".repeat(1000);
        std::fs::write(&path, &letter).unwrap();
        let refused = open_writer(&path).unwrap_err();
        assert_eq!(refused, StoreError::NotADatabase { path: path.clone() });
        assert_eq!(std::fs::read_to_string(&path).unwrap(), letter);
    }

    #[test]
    fn an_empty_file_is_a_new_store() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("chats.db");
        std::fs::write(&path, "").unwrap();
        assert!(open_writer(&path).is_ok());
    }

    #[test]
    fn a_database_of_another_program_is_refused_and_left_alone() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("other.db");
        let other = Connection::open(&path).unwrap();
        other
            .execute_batch("CREATE TABLE entry (chat, seq)")
            .unwrap();
        let refused = open_writer(&path).unwrap_err();
        assert_eq!(refused, StoreError::Foreign { path: path.clone() });
        assert_eq!(pragma(&other, "journal_mode"), "delete");
        assert_eq!(pragma(&other, "user_version"), "0");
    }

    #[test]
    fn a_missing_folder_is_named_and_not_made() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("no/chats.db");
        let refused = open_writer(&path).unwrap_err();
        assert_eq!(refused, StoreError::FolderMissing { path });
        assert!(!folder.path().join("no").exists());
    }

    #[test]
    fn a_folder_is_not_a_store_and_the_system_says_so() {
        let folder = TempDir::new().unwrap();
        let refused = open_writer(folder.path()).unwrap_err();
        let StoreError::Unopenable { path, problem } = refused else {
            panic!("{refused:?}");
        };
        assert_eq!(path, folder.path());
        assert!(problem.contains("directory"), "{problem}");
    }

    #[test]
    fn a_name_that_sqlite_gives_a_meaning_is_not_a_store() {
        let refused = open_writer(Path::new(":memory:")).unwrap_err();
        assert!(
            matches!(refused, StoreError::Unopenable { .. }),
            "{refused:?}"
        );
    }

    /// Permissions do not stop root, who may well run the tests; SQLite's own flag stops every user.
    #[test]
    fn a_file_that_may_not_be_written_to_is_refused() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("chats.db");
        drop(open_writer(&path).unwrap());
        let mut connection =
            Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
        let refused = prepare(&mut connection, &path).unwrap_err();
        assert_eq!(refused, StoreError::ReadOnly { path });
    }
}
