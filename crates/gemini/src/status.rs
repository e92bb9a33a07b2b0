//! Errors, in Google's form.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::record::record;
use crate::seconds::Seconds;

record! {
    /// The body of an answer that is an error.
    pub struct ErrorBody {
        /// What went wrong.
        error: Option<Status>,
    }

    /// What went wrong.
    pub struct Status {
        /// The HTTP status.
        code: Option<u64>,
        /// The message.
        message: Option<String>,
        /// The status by its name, such as `INVALID_ARGUMENT`.
        status: Option<String>,
        /// More about it.
        details: Vec<Detail>,
    }

    /// One more thing about an error. Which fields it has goes by its kind; those of kinds that
    /// no code reads are in `rest`.
    pub struct Detail {
        /// Its kind, such as `type.googleapis.com/google.rpc.RetryInfo`.
        kind = "@type": Option<String>,
        /// RetryInfo: when to try again.
        retry_delay: Option<Seconds>,
        /// ErrorInfo: the reason, such as `API_KEY_INVALID`.
        reason: Option<String>,
        /// ErrorInfo: the domain of the reason.
        domain: Option<String>,
        /// ErrorInfo: with what.
        metadata: Option<Map<String, Value>>,
    }
}

impl Status {
    /// When to try again, where Google gives it.
    pub fn retry_delay(&self) -> Option<Duration> {
        self.details
            .iter()
            .find_map(|detail| detail.retry_delay)
            .map(|seconds| seconds.0)
    }

    /// The reason, finer than the status, where Google gives it.
    pub fn reason(&self) -> Option<&str> {
        self.details
            .iter()
            .find_map(|detail| detail.reason.as_deref())
    }
}

impl Detail {
    /// When to try again.
    pub fn retry_info(delay: Duration) -> Self {
        Self {
            kind: Some("type.googleapis.com/google.rpc.RetryInfo".to_owned()),
            retry_delay: Some(Seconds(delay)),
            ..Self::default()
        }
    }

    /// The reason.
    pub fn error_info(reason: impl Into<String>) -> Self {
        Self {
            kind: Some("type.googleapis.com/google.rpc.ErrorInfo".to_owned()),
            reason: Some(reason.into()),
            domain: Some("googleapis.com".to_owned()),
            ..Self::default()
        }
    }
}

impl From<Status> for ErrorBody {
    fn from(status: Status) -> Self {
        Self {
            error: Some(status),
            ..Self::default()
        }
    }
}
