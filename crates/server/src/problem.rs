//! An error as a client reads it: a status and `{"error":{"code","message"}}`.

use axum::Json;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// An error as a client reads it. Codes are stable: programs match on them.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    code: &'static str,
    message: String,
}

impl Problem {
    /// Nothing is served under this path.
    pub(crate) fn not_found(path: &str) -> Self {
        Self {
            status: StatusCode::NOT_FOUND,
            code: "not_found",
            message: format!("nothing is served at {path}"),
        }
    }

    /// The path exists, and does not take this method.
    pub(crate) fn method_not_allowed(method: &Method, path: &str) -> Self {
        Self {
            status: StatusCode::METHOD_NOT_ALLOWED,
            code: "method_not_allowed",
            message: format!("{path} does not take {method}"),
        }
    }
}

#[derive(Serialize)]
struct Body {
    error: Detail,
}

#[derive(Serialize)]
struct Detail {
    code: &'static str,
    message: String,
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let error = Detail {
            code: self.code,
            message: self.message,
        };
        (self.status, Json(Body { error })).into_response()
    }
}
