//! Why a store could not do what it was asked, as an operator reads it.

use std::fmt;
use std::path::PathBuf;

use turn::ChatId;

/// Why a store could not do what it was asked.
///
/// It can be cloned, since one failed commit is the answer to everybody who waited for it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreError {
    /// The folder that the file should be in is not there.
    FolderMissing {
        /// The file.
        path: PathBuf,
    },
    /// The file is no database.
    NotADatabase {
        /// The file.
        path: PathBuf,
    },
    /// The file is a database of another program.
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file can't be written to.
    ReadOnly {
        /// The file.
        path: PathBuf,
    },
    /// A newer version of this program has written what is there.
    TooNew {
        /// The file, or the database.
        place: String,
        /// The version of its schema.
        found: u32,
        /// The newest version that this program knows.
        known: u32,
    },
    /// The file can't be opened, for a reason of the system's own.
    Unopenable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        problem: String,
    },
    /// The URL of a database is none.
    BadUrl {
        /// What is wrong with it. Never holds a password.
        problem: String,
    },
    /// The database does not let this user in, or not do what is needed.
    Denied {
        /// The database.
        place: String,
        /// What it said.
        problem: String,
    },
    /// There is no such database.
    DatabaseMissing {
        /// The database.
        place: String,
    },
    /// The database is away: it can't be reached, is starting or stopping, or does not answer. What
    /// was asked for may be tried again later.
    Unavailable {
        /// What is known of it.
        problem: String,
    },
    /// There is no room left on the disk.
    Full,
    /// The system does not let the file be written to, though there is one and it is open.
    Unwritable {
        /// What is known of it.
        problem: &'static str,
    },
    /// The file was deleted, moved or replaced while it was open: what would be written to it would
    /// be lost.
    Moved {
        /// Where it was.
        path: PathBuf,
    },
    /// What is in the file is no database any more.
    Corrupt {
        /// What the database said.
        problem: String,
    },
    /// Another process has held the database for too long.
    Busy,
    /// The first entry of a journal does not name the owner of the chat.
    OwnerMissing {
        /// The chat.
        chat: ChatId,
    },
    /// The chat was deleted for good, and can't be opened again.
    ChatDeleted {
        /// The chat.
        chat: ChatId,
    },
    /// An id that has to be unique is in use in another chat.
    Taken {
        /// The id of a gate or a call.
        id: String,
    },
    /// What is stored can't be read, or what should be stored can't be written.
    Malformed {
        /// What it is.
        what: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The store has been closed, or what writes for it has crashed.
    Closed,
    /// The database failed in another way.
    Database {
        /// What it said.
        problem: String,
    },
}

impl StoreError {
    /// Whether the same may succeed later: the store is away or busy, or has no room.
    pub fn is_temporary(&self) -> bool {
        matches!(
            self,
            Self::Unavailable { .. }
                | Self::Full
                | Self::Unwritable { .. }
                | Self::Moved { .. }
                | Self::Busy
        )
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::FolderMissing { path } => {
                write!(f, "the folder of {} does not exist", path.display())
            }
            StoreError::NotADatabase { path } => {
                write!(f, "{} is not a SQLite database", path.display())
            }
            StoreError::Foreign { path } => {
                write!(f, "{} is a database of another program", path.display())
            }
            StoreError::ReadOnly { path } => {
                write!(f, "{} can't be written to", path.display())
            }
            StoreError::TooNew {
                place,
                found,
                known,
            } => write!(
                f,
                "{place} has a schema of version {found}, newer than {known}, the newest that this program knows"
            ),
            StoreError::Unopenable { path, problem } => {
                write!(f, "can't open {}: {problem}", path.display())
            }
            StoreError::BadUrl { problem } => write!(f, "not a URL of a database: {problem}"),
            StoreError::Denied { place, problem } => {
                write!(f, "access to the database {place} was denied: {problem}")
            }
            StoreError::DatabaseMissing { place } => {
                write!(f, "there is no database {place}")
            }
            StoreError::Unavailable { problem } => {
                write!(f, "the database is away: {problem}")
            }
            StoreError::Full => write!(f, "the disk is full"),
            StoreError::Unwritable { problem } => {
                write!(f, "the file can't be written to: {problem}")
            }
            StoreError::Moved { path } => write!(
                f,
                "{} was deleted, moved or replaced while it was open; nothing is stored until it is back, or the server is started again",
                path.display()
            ),
            StoreError::Corrupt { problem } => write!(f, "the database is corrupt: {problem}"),
            StoreError::Busy => write!(f, "another process has locked the database for too long"),
            StoreError::OwnerMissing { chat } => {
                write!(f, "the first entry of chat {chat} does not open it")
            }
            StoreError::ChatDeleted { chat } => write!(f, "chat {chat} was deleted"),
            StoreError::Taken { id } => write!(f, "the id {id} is in use in another chat"),
            StoreError::Malformed { what, problem } => write!(f, "{what}: {problem}"),
            StoreError::Closed => write!(f, "the store is closed"),
            StoreError::Database { problem } => write!(f, "the database failed: {problem}"),
        }
    }
}

impl std::error::Error for StoreError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_what_to_look_at() {
        let error = StoreError::TooNew {
            place: "chats.db".into(),
            found: 9,
            known: 3,
        };
        assert_eq!(
            error.to_string(),
            "chats.db has a schema of version 9, newer than 3, the newest that this program knows"
        );
        let chat = ChatId::from("c1");
        assert_eq!(
            StoreError::OwnerMissing { chat }.to_string(),
            "the first entry of chat c1 does not open it"
        );
    }
}
