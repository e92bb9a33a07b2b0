//! The files of a database, and whether they are still the ones that were opened.
//!
//! A file that was deleted or replaced can be written to for as long as it is open, and all that is
//! written is lost when it is closed. SQLite does not report it, so an acknowledged answer would be
//! lost.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, FileControl, MAIN_DB};

use crate::error::StoreError;

/// What SQLite puts behind the name of a database for the log and for the memory that processes
/// share. Both live as long as a connection does.
const BESIDE: [&str; 2] = ["-wal", "-shm"];

/// The files of a database, as they were opened. A connection of somebody else's to the same file looks
/// after it with them: before it writes, and after, before it says that it has.
#[derive(Debug, Clone)]
pub struct Files {
    database: File,
    beside: [File; 2],
}

/// A file, and which one it was when it was first seen.
#[derive(Debug, Clone)]
struct File {
    path: PathBuf,
    identity: Option<Identity>,
}

/// Which file it is, whatever its name is now. No other has the same while it is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
}

impl Files {
    /// The files of a connection that has just been opened.
    pub fn of(connection: &Connection, path: &Path) -> Result<Self, StoreError> {
        let beside = BESIDE.map(|ending| {
            let mut path = path.as_os_str().to_owned();
            path.push(ending);
            File::at(path.into())
        });
        let files = Self {
            database: File::at(path.to_path_buf()),
            beside,
        };
        // Between its opening and this check the file may have been replaced.
        let mut has_moved = 0;
        connection.file_control(Some(MAIN_DB), FileControl::HasMoved(&mut has_moved))?;
        match has_moved {
            0 => Ok(files),
            _ => Err(files.moved()),
        }
    }

    /// Fails if one of the files is not where it was opened, or another one is.
    pub fn check(&mut self) -> Result<(), StoreError> {
        let mut is_there = self.database.is_there();
        for file in &mut self.beside {
            is_there &= file.is_there();
        }
        match is_there {
            true => Ok(()),
            false => Err(self.moved()),
        }
    }

    /// Fails if the database is not where it was opened.
    pub(super) fn check_database(&self) -> Result<(), StoreError> {
        match self.database.clone().is_there() {
            true => Ok(()),
            false => Err(self.moved()),
        }
    }

    fn moved(&self) -> StoreError {
        StoreError::Moved {
            path: self.database.path.clone(),
        }
    }
}

impl File {
    fn at(path: PathBuf) -> Self {
        Self {
            identity: identity(&path),
            path,
        }
    }

    /// Whether it is there, or never was.
    fn is_there(&mut self) -> bool {
        let found = identity(&self.path);
        match self.identity {
            None => {
                self.identity = found;
                true
            }
            known => known == found,
        }
    }
}

fn identity(path: &Path) -> Option<Identity> {
    identity_of(&std::fs::metadata(path).ok()?)
}

#[cfg(unix)]
#[expect(
    clippy::unnecessary_wraps,
    reason = "not every system can identify files"
)]
fn identity_of(file: &Metadata) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    Some(Identity {
        device: file.dev(),
        inode: file.ino(),
    })
}

/// Elsewhere a file that is open can't be deleted or replaced.
#[cfg(not(unix))]
fn identity_of(_: &Metadata) -> Option<Identity> {
    None
}

/// Makes a file that only its owner may read, if there is none. SQLite gives the files beside it the
/// same rights. What goes wrong is for SQLite to say, which tries the same again.
#[cfg(unix)]
pub(super) fn create_private(path: &Path) {
    use std::os::unix::fs::OpenOptionsExt;
    // A name that means something else to SQLite.
    if path.as_os_str() == ":memory:" {
        return;
    }
    let mut options = std::fs::OpenOptions::new();
    let _ = options.write(true).create_new(true).mode(0o600).open(path);
}

#[cfg(not(unix))]
pub(super) fn create_private(_: &Path) {}

/// What an operator should know of who may read the files.
#[cfg(unix)]
pub(super) fn warnings(path: &Path) -> Vec<String> {
    use std::os::unix::fs::PermissionsExt;
    let Ok(file) = std::fs::metadata(path) else {
        return Vec::new();
    };
    let mode = file.permissions().mode() & 0o777;
    match mode & 0o077 {
        0 => Vec::new(),
        _ => vec![format!(
            "{} may be read or written by others on this machine (mode {mode:03o}); chmod 600 it and the files beside it",
            path.display()
        )],
    }
}

#[cfg(not(unix))]
pub(super) fn warnings(_: &Path) -> Vec<String> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use tempfile::TempDir;
    use turn::At;

    use super::super::SqliteStore;
    use super::*;
    use crate::nonce::Nonces;
    use crate::probe::Probe;

    async fn open() -> (SqliteStore, PathBuf, TempDir) {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("chats.db");
        let store = SqliteStore::open(path.clone()).await.unwrap();
        assert_eq!(store.probe(At(1)).await, Ok(()));
        (store, path, folder)
    }

    fn beside(path: &Path, ending: &str) -> PathBuf {
        let mut path = path.as_os_str().to_owned();
        path.push(ending);
        path.into()
    }

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[tokio::test]
    async fn nothing_is_written_to_a_file_that_is_gone() {
        for ending in ["", "-wal", "-shm"] {
            let (store, path, _folder) = open().await;
            std::fs::remove_file(beside(&path, ending)).unwrap();
            let moved = StoreError::Moved { path: path.clone() };
            // Noticed with what is written, and then before anything is.
            for nonce in ["a", "b"] {
                let spent = store.spend(nonce, At(2), At(9)).await;
                assert_eq!(spent, Err(moved.clone()), "{ending}");
            }
            assert_eq!(store.probe(At(3)).await, Err(moved), "{ending}");
        }
    }

    #[tokio::test]
    async fn nothing_is_written_to_a_file_that_was_replaced() {
        let (store, path, folder) = open().await;
        let copy = folder.path().join("copy.db");
        std::fs::copy(&path, &copy).unwrap();
        std::fs::rename(&copy, &path).unwrap();
        let moved = Err(StoreError::Moved { path: path.clone() });
        assert_eq!(store.probe(At(2)).await, moved);
    }

    #[tokio::test]
    async fn a_file_that_comes_back_is_written_to_again() {
        let (store, path, folder) = open().await;
        let away = folder.path().join("away.db");
        std::fs::rename(&path, &away).unwrap();
        assert!(store.probe(At(2)).await.is_err());
        std::fs::rename(&away, &path).unwrap();
        assert_eq!(store.probe(At(3)).await, Ok(()));
    }

    #[tokio::test]
    async fn files_are_their_owners_alone() {
        let (store, path, _folder) = open().await;
        for ending in ["", "-wal", "-shm"] {
            assert_eq!(mode(&beside(&path, ending)), 0o600, "{ending}");
        }
        assert_eq!(warnings(&path), Vec::<String>::new());
        drop(store);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        let stores = crate::open(crate::Location::Sqlite(path)).await.unwrap();
        assert!(
            stores.warnings[0].contains("mode 640"),
            "{:?}",
            stores.warnings
        );
    }
}
