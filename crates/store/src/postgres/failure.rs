//! PostgreSQL's errors as [`StoreError`].

use std::error::Error as _;

use tokio_postgres::error::SqlState;
use tokio_postgres::{Config, Error};

use super::url::place;
use crate::error::StoreError;

impl From<Error> for StoreError {
    fn from(error: Error) -> Self {
        let problem = words(&error);
        let Some(code) = error.code() else {
            // It never came to an answer: a socket, a handshake, a connection that was closed.
            return StoreError::Unavailable { problem };
        };
        if is_away(code) {
            return StoreError::Unavailable { problem };
        }
        match *code {
            SqlState::DISK_FULL => StoreError::Full,
            SqlState::QUERY_CANCELED
            | SqlState::LOCK_NOT_AVAILABLE
            | SqlState::T_R_DEADLOCK_DETECTED
            | SqlState::T_R_SERIALIZATION_FAILURE => StoreError::Busy,
            _ => StoreError::Database { problem },
        }
    }
}

/// Whether the database, as opposed to what it was asked, is the reason; and another connection
/// might do better.
fn is_away(code: &SqlState) -> bool {
    let class = &code.code()[..2];
    // Connection exceptions; operators who shut down; and a standby, which a failover changes.
    class == "08"
        || *code == SqlState::ADMIN_SHUTDOWN
        || *code == SqlState::CRASH_SHUTDOWN
        || *code == SqlState::CANNOT_CONNECT_NOW
        || *code == SqlState::TOO_MANY_CONNECTIONS
        || *code == SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT
        || *code == SqlState::READ_ONLY_SQL_TRANSACTION
}

/// An error of the first connection, where the URL or the rights may be what is wrong.
pub(super) fn while_opening(error: Error, config: &Config) -> StoreError {
    let place = place(config);
    let problem = words(&error);
    match error.code() {
        Some(
            &SqlState::INVALID_PASSWORD
            | &SqlState::INVALID_AUTHORIZATION_SPECIFICATION
            | &SqlState::INSUFFICIENT_PRIVILEGE,
        ) => StoreError::Denied { place, problem },
        Some(&SqlState::INVALID_CATALOG_NAME) => StoreError::DatabaseMissing { place },
        _ => match error.into() {
            StoreError::Unavailable { problem } => StoreError::Unavailable {
                problem: format!("{place}: {problem}"),
            },
            error => error,
        },
    }
}

/// The error and its causes, as one line. A server's message holds no password.
pub(super) fn words(error: &Error) -> String {
    if let Some(error) = error.as_db_error() {
        return error.message().to_owned();
    }
    let mut words = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_words = cause.to_string();
        if !words.ends_with(&cause_words) {
            words = format!("{words}: {cause_words}");
        }
        source = cause.source();
    }
    words
}

/// The database did not answer in time.
pub(super) fn silent() -> StoreError {
    StoreError::Unavailable {
        problem: "it does not answer".to_owned(),
    }
}

/// The server follows another, and takes no writes.
pub(super) fn standby(config: &Config) -> StoreError {
    StoreError::Unavailable {
        problem: format!("{}: it is a standby", place(config)),
    }
}

/// Whether an error is about the database being away.
pub(super) fn is_unavailable(error: &StoreError) -> bool {
    matches!(error, StoreError::Unavailable { .. })
}
