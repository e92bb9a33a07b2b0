//! The schema, and how an older file gets there.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::chat_list;
use super::failure::while_opening;
use super::index;
use crate::error::StoreError;
use crate::inspection::Schema;

/// Marks a database as ours: "adks".
const APPLICATION_ID: i64 = 0x6164_6b73;

/// One step from a version of the schema to the next.
struct Migration {
    sql: &'static str,
    /// What has to be made again from the journal.
    rebuild: Rebuild,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Rebuild {
    Nothing,
    OpenTurns,
    ChatList,
    Indexes,
}

/// In order: a file of version N has had the first N. Never change one, add one.
const MIGRATIONS: [Migration; 9] = [
    Migration {
        sql: include_str!("schema/0001_journal.sql"),
        rebuild: Rebuild::Nothing,
    },
    Migration {
        sql: include_str!("schema/0002_index.sql"),
        rebuild: Rebuild::Indexes,
    },
    Migration {
        sql: include_str!("schema/0003_ledger.sql"),
        rebuild: Rebuild::Nothing,
    },
    Migration {
        sql: include_str!("schema/0004_lease.sql"),
        rebuild: Rebuild::Indexes,
    },
    Migration {
        sql: include_str!("schema/0005_unused.sql"),
        rebuild: Rebuild::Nothing,
    },
    Migration {
        sql: include_str!("schema/0006_limits.sql"),
        rebuild: Rebuild::Nothing,
    },
    Migration {
        sql: include_str!("schema/0007_open_turn.sql"),
        rebuild: Rebuild::OpenTurns,
    },
    Migration {
        sql: include_str!("schema/0008_chat_list.sql"),
        rebuild: Rebuild::ChatList,
    },
    Migration {
        sql: include_str!("schema/0009_one_index_less.sql"),
        rebuild: Rebuild::Nothing,
    },
];

/// How many migrations the file has had; an error if it is not ours or newer than we are.
pub(super) fn version(connection: &Connection, path: &Path) -> Result<usize, StoreError> {
    // In one statement, and so of one moment: another process may be migrating.
    let sql = "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
               FROM pragma_application_id, pragma_user_version";
    let (application, version, tables): (i64, i64, i64) = connection
        .query_row(sql, (), |row| row.try_into())
        .map_err(|error| while_opening(error, path))?;
    let is_new = tables == 0 && application == 0 && version == 0;
    if application != APPLICATION_ID && !is_new {
        let path = path.to_path_buf();
        return Err(StoreError::Foreign { path });
    }
    let known = MIGRATIONS.len();
    match usize::try_from(version) {
        Ok(version) if version <= known => Ok(version),
        _ => Err(StoreError::TooNew {
            place: path.display().to_string(),
            found: u32::try_from(version).unwrap_or(u32::MAX),
            known: u32::try_from(known).unwrap_or(u32::MAX),
        }),
    }
}

/// How far the schema of a file is.
pub(super) fn state(connection: &Connection, path: &Path) -> Result<Schema, StoreError> {
    Ok(Schema::of(version(connection, path)?, MIGRATIONS.len()))
}

/// Migrates the file to the newest schema, wholly or not at all.
pub(super) fn migrate(connection: &mut Connection, path: &Path) -> Result<(), StoreError> {
    if version(connection, path)? == MIGRATIONS.len() {
        return Ok(());
    }
    migrate_to(connection, path, MIGRATIONS.len())
}

fn migrate_to(connection: &mut Connection, path: &Path, target: usize) -> Result<(), StoreError> {
    let failed = |error| while_opening(error, path);
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(failed)?;
    // Asked again under the lock: another process may have migrated meanwhile.
    let current = version(&transaction, path)?;
    let steps = MIGRATIONS.get(current..target).unwrap_or_default();
    for step in steps {
        transaction.execute_batch(step.sql).map_err(failed)?;
    }
    let needs = |what| steps.iter().any(|step| step.rebuild == what);
    if needs(Rebuild::Indexes) {
        index::rebuild(&transaction)?;
    } else {
        if needs(Rebuild::OpenTurns) {
            index::renew_open_turns(&transaction)?;
        }
        if needs(Rebuild::ChatList) {
            chat_list::rebuild(&transaction)?;
        }
    }
    if !steps.is_empty() {
        let set = |name, value| transaction.pragma_update(None, name, value).map_err(failed);
        set("application_id", APPLICATION_ID)?;
        set("user_version", i64::try_from(target).unwrap_or(i64::MAX))?;
    }
    transaction.commit().map_err(failed)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use tempfile::TempDir;
    use turn::{At, ChatId, GateId, Status};

    use super::super::{connection, lease, read};
    use super::*;
    use crate::chat_list::ChatQuery;

    /// What a program of each version would have written into a file of that version, as it was: do
    /// not change one. Each is run after those before it.
    const WRITTEN: [&str; MIGRATIONS.len()] = [
        r#"
        INSERT INTO entry (chat, seq, turn, kind, actor, events, at) VALUES
          ('c', 1, 't', 'chat-opened,turn-opened', 'ann', '[
            {"event": "chat-opened", "owner": "ann"},
            {"event": "turn-opened", "turn": "t", "messageId": "m", "cause": {
              "cause": "message", "message": {"id": "u", "role": "user", "parts": []}}}
          ]', 5),
          ('c', 2, 't', 'call-nested,gate-opened', 'ann', '[
            {"event": "call-nested", "turn": "t", "call":
              {"id": "x", "tool": "pay", "input": {}, "place": "server"}},
            {"event": "gate-opened", "turn": "t", "gate":
              {"id": "g", "call": "x", "kind": {"kind": "client-call"}, "expires": 9}},
            {"event": "gate-opened", "turn": "t", "gate":
              {"id": "h", "call": "x", "kind": {"kind": "client-call"}}}
          ]', 6),
          ('c', 3, 't', 'gate-closed', 'bob', '[
            {"event": "gate-closed", "turn": "t", "gate": "h", "decision": "timed-out"}
          ]', 7);
        "#,
        r#"
        INSERT INTO chat (id, owner, opened, updated, turn) VALUES ('c', 'ann', 5, 7, 't');
        INSERT INTO call (id, chat, call) VALUES
          ('x', 'c', '{"id": "x", "tool": "pay", "input": {}, "place": "server"}');
        INSERT INTO gate
          (id, chat, turn, owner, call, gate, asked, expires, decision, closed_by, closed_at)
        VALUES
          ('g', 'c', 't', 'ann', 'x',
            '{"id": "g", "call": "x", "kind": {"kind": "client-call"}, "expires": 9}',
            6, 9, NULL, NULL, NULL),
          ('h', 'c', 't', 'ann', 'x', '{"id": "h", "call": "x", "kind": {"kind": "client-call"}}',
            6, NULL, '{"decision": "timed-out"}', 'bob', 7);
        "#,
        r#"
        CREATE TABLE wallet (
          principal TEXT    NOT NULL PRIMARY KEY,
          balance   INTEGER NOT NULL CHECK (balance >= 0)  -- cents
        ) STRICT;

        CREATE TABLE payment (
          position       INTEGER PRIMARY KEY,
          principal      TEXT    NOT NULL REFERENCES wallet (principal),
          transaction_id TEXT    NOT NULL,
          call           TEXT    NOT NULL,
          recipient      TEXT    NOT NULL,
          cents          INTEGER NOT NULL,
          description    TEXT    NOT NULL,
          at             INTEGER NOT NULL,
          paid           INTEGER NOT NULL,    -- 1, or 0 if it was refused: asked again, it is refused again
          balance        INTEGER NOT NULL,    -- cents, after it
          UNIQUE (principal, transaction_id)
        ) STRICT;
        INSERT INTO wallet (principal, balance) VALUES ('ann', 99000);
        INSERT INTO payment
          (principal, transaction_id, call, recipient, cents, description, at, paid, balance)
        VALUES ('ann', 'tx', 'x', 'Hanako', 1000, 'rent', 8, 1, 99000);
        "#,
        r#"
        UPDATE chat SET running = 1, standing = '{
          "turn": "t", "calls": [{"id": "x"}], "gates": [{"id": "g", "call": "x"}]}';
        INSERT INTO lease (chat, epoch, owner, address, expires)
        VALUES ('c', 2, 'server-1', 'http://10.0.0.1:8080', 10);
        "#,
        "",
        r#"
        INSERT INTO nonce (id, expires) VALUES ('used', 90);
        INSERT INTO probe (id, at) VALUES (1, 8);
        "#,
        "",
        r#"
        UPDATE chat SET active = 5;
        INSERT INTO label (chat, title, archived) VALUES ('c', 'Rent', 1);
        INSERT INTO tombstone (chat, owner, at) VALUES ('gone', 'ann', 8);
        "#,
        "",
    ];

    /// A file as a program with this many migrations would have left it.
    fn file_of(version: usize) -> (PathBuf, TempDir) {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("chats.db");
        let connection = Connection::open(&path).unwrap();
        let set = |name, value| connection.pragma_update(None, name, value).unwrap();
        set("application_id", APPLICATION_ID);
        for (migration, written) in MIGRATIONS.iter().zip(WRITTEN).take(version) {
            connection.execute_batch(migration.sql).unwrap();
            connection.execute_batch(written).unwrap();
        }
        set("user_version", i64::try_from(version).unwrap());
        (path, folder)
    }

    #[test]
    fn a_file_of_every_version_becomes_one_of_the_newest() {
        for from in 1..=MIGRATIONS.len() {
            let (path, _folder) = file_of(from);
            let connection = connection::open_writer(&path).unwrap();
            assert_eq!(version(&connection, &path), Ok(MIGRATIONS.len()));

            let chat = ChatId::from("c");
            let entries = read::entries(&connection, &chat, 0, None).unwrap();
            assert_eq!(entries.len(), 3, "from {from}");
            let owner = read::owner(&connection, &chat).unwrap();
            assert_eq!(owner, Some("ann".into()));
            let call = read::call(&connection, &"x".into()).unwrap();
            assert_eq!(call, Some(chat.clone()));
            let open = read::open_gates(&connection, &"ann".into(), None, 9);
            let open = open.unwrap().gates;
            assert_eq!((open.len(), &open[0].gate.id), (1, &GateId::from("g")));
            let overdue = read::overdue_gates(&connection, At(9), 9).unwrap();
            assert_eq!(overdue, [(chat, "g".into())]);
            let closed = read::gate(&connection, &"h".into()).unwrap().unwrap();
            let closed = closed.closed.unwrap();
            assert_eq!((closed.by, closed.at), ("bob".into(), At(7)));
            // The call is of no step, so the model is due.
            let running = lease::orphaned(&connection, At(10), 9);
            assert_eq!(running, Ok(vec!["c".into()]), "from {from}");
            let held = lease::lease(&connection, &"c".into()).unwrap();
            assert_eq!(held.map(|lease| lease.epoch), (from > 3).then_some(2));
            let query = ChatQuery {
                limit: 9,
                ..ChatQuery::default()
            };
            let list = chat_list::chats(&connection, &"ann".into(), &query);
            let list = list.unwrap().chats;
            assert_eq!(
                (list.len(), list[0].active, list[0].open_gates),
                (1, At(5), 1)
            );
            assert_eq!(list[0].status, Status::Running);
            assert_eq!(list[0].is_archived, from > 7);
            // The demo's tables stay as they are.
            let sql = "SELECT count(*) FROM sqlite_schema WHERE name IN ('wallet', 'payment')";
            let tables: i64 = connection.query_row(sql, (), |row| row.get(0)).unwrap();
            assert_eq!(tables, if from < 3 { 0 } else { 2 });
        }
    }

    #[test]
    fn an_index_made_again_is_the_index_that_was() {
        let (path, _folder) = file_of(MIGRATIONS.len());
        let connection = connection::open_writer(&path).unwrap();
        let look = || {
            let id = GateId::from("h");
            (
                read::open_gates(&connection, &"ann".into(), None, 9).unwrap(),
                read::gate(&connection, &id).unwrap(),
                lease::orphaned(&connection, At(10), 9).unwrap(),
            )
        };
        let before = look();
        index::rebuild(&connection).unwrap();
        assert_eq!(look(), before);
    }

    #[test]
    fn a_newer_file_is_refused_and_left_alone() {
        let (path, _folder) = file_of(MIGRATIONS.len());
        let newer = Connection::open(&path).unwrap();
        newer.pragma_update(None, "user_version", 99).unwrap();
        let refused = connection::open_writer(&path).unwrap_err();
        let (found, known) = (99, 9);
        let place = path.display().to_string();
        let expected = StoreError::TooNew {
            place,
            found,
            known,
        };
        assert_eq!(refused, expected);
        assert_eq!(read::last_seq(&newer, &"c".into()), Ok(3));
    }

    #[test]
    fn a_migration_that_fails_leaves_the_file_as_it_was() {
        let (path, _folder) = file_of(1);
        let connection = Connection::open(&path).unwrap();
        let torn = "UPDATE entry SET events = '[' WHERE seq = 2";
        connection.execute_batch(torn).unwrap();
        let refused = connection::open_writer(&path).unwrap_err();
        assert!(
            matches!(&refused, StoreError::Malformed { what, .. } if what == "entry 2 of chat c"),
            "{refused:?}"
        );
        assert_eq!(version(&connection, &path), Ok(1));
        assert!(connection.prepare("SELECT id FROM gate").is_err());
    }

    #[test]
    fn many_may_open_a_new_file_at_once() {
        for _ in 0..10 {
            let folder = TempDir::new().unwrap();
            let path = folder.path().join("chats.db");
            std::thread::scope(|scope| {
                for _ in 0..8 {
                    scope.spawn(|| connection::open_writer(&path).map(drop).unwrap());
                }
            });
        }
    }
}
