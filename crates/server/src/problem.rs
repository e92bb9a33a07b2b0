//! An error as a client reads it: a status and `{"error":{"code","message"}}`.

use std::time::Duration;

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use engine::EngineError;
use serde::Serialize;
use store::StoreError;
use tools::answer::FieldError;
use turn::refusal::RefusalCode as TurnRefusal;
use wire::DecodeError;

use crate::access_log::RefusalCode;
use crate::quota::Refusal;
use crate::replies::{Approval, Decision};
use crate::request_context::RequestContext;

/// When it is worth another try to have a message wait, in seconds: a turn has to end first.
const RETRY_QUEUE: u16 = 10;

/// An error as a client reads it. Codes are stable: programs match on them.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    code: &'static str,
    message: String,
    /// What was decided instead.
    decision: Option<Box<Decision>>,
    /// The current question, for an answer to another.
    approval: Option<Box<Approval>>,
    /// What is wrong with an answer, field by field.
    fields: Vec<FieldError>,
    /// When it is worth another try, in seconds.
    retry_after: Option<u16>,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            status,
            code,
            message: message.into(),
            decision: None,
            approval: None,
            fields: Vec::new(),
            retry_after: None,
        }
    }

    /// Nothing is served under this path.
    #[cfg(feature = "cli")]
    pub(crate) fn not_found(path: &str) -> Self {
        let message = format!("nothing is served at {path}");
        Self::new(StatusCode::NOT_FOUND, "not_found", message)
    }

    /// The path exists, and does not take this method.
    pub(crate) fn method_not_allowed(method: &axum::http::Method, path: &str) -> Self {
        let message = format!("{path} does not take {method}");
        Self::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "method_not_allowed",
            message,
        )
    }

    /// The request makes no sense.
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_request", message)
    }

    /// What was sent of a window is not known here any more.
    pub(crate) fn run_lost() -> Self {
        let message = "this server no longer has this run's window; load the chat again";
        Self::new(StatusCode::CONFLICT, "run_lost", message)
    }

    /// The body is larger than allowed.
    pub(crate) fn too_large(limit: usize) -> Self {
        let message = format!("the body is larger than {limit} bytes, or was cut off");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message)
    }

    /// The body comes too slowly, or stopped coming.
    pub(crate) fn body_timeout() -> Self {
        let message = "the body did not come in time";
        Self::new(StatusCode::REQUEST_TIMEOUT, "body_timeout", message)
    }

    /// The body is not JSON by its own account.
    pub(crate) fn unsupported_media_type() -> Self {
        let message = "the body's content-type must be application/json";
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        Self::new(status, "unsupported_media_type", message)
    }

    /// No key, or none that is known.
    pub(crate) fn unauthorized() -> Self {
        let message = "a key is needed: Authorization: Bearer KEY, or X-API-Key: KEY";
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", message)
    }

    /// The metrics have a key of their own.
    #[cfg(feature = "cli")]
    pub(crate) fn metrics_key_needed() -> Self {
        let message = "the key of the metrics is needed: Authorization: Bearer KEY";
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", message)
    }

    /// No keys are configured, and the request comes from another machine.
    pub(crate) fn loopback_only() -> Self {
        let message = "no keys are configured, so only this machine is served";
        Self::new(StatusCode::FORBIDDEN, "loopback_only", message)
    }

    /// The path is a WebSocket, and the request is none.
    pub(crate) fn upgrade_required() -> Self {
        let message = "this path speaks WebSocket";
        Self::new(StatusCode::UPGRADE_REQUIRED, "upgrade_required", message)
    }

    /// A browser reports that the request comes from a site that is not allowed.
    pub(crate) fn foreign_origin() -> Self {
        let message = "requests from this site are not allowed: see --origins";
        Self::new(StatusCode::FORBIDDEN, "foreign_origin", message)
    }

    /// No keys are configured, and the request came through a proxy: it may be anybody's.
    pub(crate) fn proxied_without_keys() -> Self {
        let message = "the request came through a proxy, and no keys are configured: set \
                       ADK_STREAM_KEYS or --keys-file, or start with --insecure to serve everybody";
        Self::new(StatusCode::FORBIDDEN, "proxied_without_keys", message)
    }

    /// The metrics have no key, and the request came through a proxy.
    #[cfg(feature = "cli")]
    pub(crate) fn proxied_metrics() -> Self {
        let message = "the request came through a proxy, and the metrics have no key: set \
                       ADK_STREAM_METRICS_KEY";
        Self::new(StatusCode::FORBIDDEN, "proxied_without_keys", message)
    }

    /// Too many wrong keys came from this address.
    pub(crate) fn too_many_wrong_keys(wait: Duration) -> Self {
        let message = "too many wrong keys from this address";
        Self {
            retry_after: Some(seconds(wait)),
            ..Self::new(
                StatusCode::TOO_MANY_REQUESTS,
                "too_many_wrong_keys",
                message,
            )
        }
    }

    /// The body would take far more memory than its bytes.
    pub(crate) fn too_many_values(limit: usize) -> Self {
        let message = format!("the body holds more than {limit} values");
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message)
    }

    /// Its code.
    pub(crate) fn code(&self) -> &'static str {
        self.code
    }

    /// How long to wait before another try, where that is known.
    pub(crate) fn wait(&self) -> Option<Duration> {
        let seconds = self.retry_after?;
        Some(Duration::from_secs(seconds.into()))
    }

    /// Large bodies hold all the memory that bodies may have.
    pub(crate) fn no_room() -> Self {
        let message = "other requests with large bodies are ahead";
        Self {
            retry_after: Some(1),
            ..Self::new(StatusCode::TOO_MANY_REQUESTS, "too_many_bytes", message)
        }
    }

    /// As a client reads it inside of a stream: its code and its message.
    pub(crate) fn error_text(&self) -> String {
        format!("{}: {}", self.code, self.message)
    }

    /// The approval was decided before.
    pub(crate) fn already_decided(decision: Decision) -> Self {
        let message = "this approval was already decided differently";
        Self {
            decision: Some(Box::new(decision)),
            ..Self::new(StatusCode::CONFLICT, "already_decided", message)
        }
    }

    /// The same, with what is asked.
    pub(crate) fn with_approval(mut self, approval: Approval) -> Self {
        self.approval = Some(Box::new(approval));
        self
    }
}

/// Whole seconds, at least one.
fn seconds(wait: Duration) -> u16 {
    let seconds = wait.as_millis().div_ceil(1000).max(1);
    u16::try_from(seconds).unwrap_or(u16::MAX)
}

impl From<DecodeError> for Problem {
    fn from(error: DecodeError) -> Self {
        let (status, code) = match error.problem.code() {
            "too_large" => (StatusCode::PAYLOAD_TOO_LARGE, "too_large"),
            "invalid_chat_id" => (StatusCode::BAD_REQUEST, "invalid_chat_id"),
            _ => (StatusCode::BAD_REQUEST, "bad_request"),
        };
        Self::new(status, code, error.to_string())
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        Self {
            retry_after: Some(seconds(refusal.wait)),
            ..Self::new(StatusCode::TOO_MANY_REQUESTS, refusal.code, refusal.message)
        }
    }
}

impl From<EngineError> for Problem {
    fn from(error: EngineError) -> Self {
        let status = match &error {
            EngineError::UnknownChat | EngineError::UnknownApproval | EngineError::UnknownCall => {
                StatusCode::NOT_FOUND
            }
            EngineError::Refused(refusal) => match refusal.code {
                TurnRefusal::BadRequest | TurnRefusal::InvalidInput => StatusCode::BAD_REQUEST,
                TurnRefusal::UnknownMessage => StatusCode::NOT_FOUND,
                TurnRefusal::ChatTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
                TurnRefusal::QueueFull => StatusCode::TOO_MANY_REQUESTS,
                _ => StatusCode::CONFLICT,
            },
            EngineError::InvalidInput(_)
            | EngineError::InvalidOutput(_)
            | EngineError::InvalidAnswer(_)
            | EngineError::InvalidPageTool(_)
            | EngineError::InvalidChatId(_) => StatusCode::BAD_REQUEST,
            EngineError::ChatDeleted => StatusCode::GONE,
            _ => StatusCode::SERVICE_UNAVAILABLE,
        };
        let mut problem = Self::new(status, error.code(), message(&error));
        if status == StatusCode::TOO_MANY_REQUESTS {
            problem.retry_after = Some(RETRY_QUEUE);
        }
        if let EngineError::InvalidAnswer(fields) = error {
            problem.fields = fields;
        }
        problem
    }
}

/// An error as a client reads it inside of a stream: its code and its message.
pub(crate) fn error_text(error: &EngineError) -> String {
    format!("{}: {}", error.code(), message(error))
}

fn message(error: &EngineError) -> String {
    match error {
        // The store's own error is for the operator.
        EngineError::Store(StoreError::Moved { .. }) => {
            let request_id = RequestContext::current_id().map(tracing::field::display);
            tracing::error!(%error, request_id, "store file moved");
            "The file of the journal is gone. Nothing is stored until it is back.".to_owned()
        }
        EngineError::Store(cause) => {
            let request_id = RequestContext::current_id().map(tracing::field::display);
            tracing::warn!(error = %cause, request_id, "store request failed");
            "The journal can't be reached. Try again in a moment.".to_owned()
        }
        error => error.to_string(),
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        EngineError::from(error).into()
    }
}

/// Why a request was refused.
#[derive(Serialize)]
#[cfg_attr(feature = "cli", derive(utoipa::ToSchema))]
pub(crate) struct ErrorBody {
    error: ErrorDetail,
    /// What was decided before.
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<Box<Decision>>,
    /// The digest of the current question.
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    /// The current question.
    #[serde(skip_serializing_if = "Option::is_none")]
    approval: Option<Box<Approval>>,
}

/// The error itself.
#[derive(Serialize)]
#[cfg_attr(feature = "cli", derive(utoipa::ToSchema))]
pub(crate) struct ErrorDetail {
    /// For programs: it never changes its meaning.
    code: &'static str,
    /// For people: it may change at any time.
    message: String,
    /// The id by which the log names the request, also in the header `x-request-id`.
    #[serde(rename = "requestId", skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
    /// What is wrong with an answer, field by field.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "cli", schema(required = false, value_type = Vec<crate::document::WrongField>))]
    fields: Vec<FieldError>,
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let error = ErrorDetail {
            code: self.code,
            message: self.message,
            request_id: RequestContext::current_id().map(|id| id.to_string()),
            fields: self.fields,
        };
        let approval = self.approval.as_ref();
        let body = ErrorBody {
            error,
            decision: self.decision,
            digest: approval.and_then(|approval| approval.digest.clone()),
            approval: self.approval,
        };
        let mut response = (self.status, Json(body)).into_response();
        response.extensions_mut().insert(RefusalCode(self.code));
        let headers = response.headers_mut();
        match self.status {
            StatusCode::UNAUTHORIZED => {
                let scheme = HeaderValue::from_static("Bearer");
                headers.insert(header::WWW_AUTHENTICATE, scheme);
            }
            StatusCode::SERVICE_UNAVAILABLE => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            _ => {}
        }
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_store_that_is_away_is_worth_another_try_and_says_nothing_of_where_it_is() {
        let problem = "chats at 10.0.0.7:5432: Connection refused".to_owned();
        let problem = Problem::from(StoreError::Unavailable { problem });
        let response = problem.into_response();
        assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(response.headers()[header::RETRY_AFTER], "1");
        let body = axum::body::to_bytes(response.into_body(), 4096)
            .await
            .unwrap();
        let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(body["error"]["code"], "store_unavailable");
        assert!(!body.to_string().contains("10.0.0.7"), "{body}");
    }
}
