//! SQLite's errors as [`StoreError`].

use std::fs::OpenOptions;
use std::path::Path;

use rusqlite::ErrorCode;

use crate::error::StoreError;

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => StoreError::Full,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy,
            // Not full, or SQLite would say so.
            Some(ErrorCode::SystemIoFailure) => StoreError::Unwritable {
                problem: "a quota, a limit on the size of files, or a failing disk",
            },
            Some(ErrorCode::ReadOnly) => StoreError::Unwritable {
                problem: "it is read-only",
            },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreError::Corrupt {
                problem: error.to_string(),
            },
            _ => StoreError::Database {
                problem: error.to_string(),
            },
        }
    }
}

/// An error while a file is opened, where the file is what is wrong.
pub(super) fn while_opening(error: rusqlite::Error, path: &Path) -> StoreError {
    let path = path.to_path_buf();
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => StoreError::NotADatabase { path },
        Some(ErrorCode::ReadOnly) => StoreError::ReadOnly { path },
        Some(ErrorCode::DiskFull | ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            error.into()
        }
        code => StoreError::Unopenable {
            problem: (code == Some(ErrorCode::CannotOpen))
                .then(|| system_problem(&path))
                .flatten()
                .unwrap_or_else(|| error.to_string()),
            path,
        },
    }
}

/// Why the system does not let the file be opened, which SQLite does not pass on.
fn system_problem(path: &Path) -> Option<String> {
    let mut options = OpenOptions::new();
    let opened = options.read(true).write(true).create(true).open(path);
    opened.err().map(|error| error.to_string())
}
