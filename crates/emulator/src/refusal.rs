//! Errors, in Google's form.

use std::time::Duration;

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use gemini::{Detail, ErrorBody, Status};
use serde_json::{Map, json};

/// Why a request is not answered.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Refusal(Box<Status>);

/// Google's usual message for a status.
fn usual_message(code: u16) -> &'static str {
    match code {
        400 => "Request contains an invalid argument.",
        401 => "Request had invalid authentication credentials.",
        403 => "The caller does not have permission",
        404 => "Requested entity was not found.",
        429 => {
            "You exceeded your current quota, please check your plan and billing details. \
             For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits."
        }
        500 => "An internal error has occurred. Please retry.",
        503 => "The model is overloaded. Please try again later.",
        504 => "The request timed out. Please try again.",
        _ => "The request failed.",
    }
}

/// The name of a status.
fn word(code: u16) -> &'static str {
    match code {
        400 => "INVALID_ARGUMENT",
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        409 => "ABORTED",
        429 => "RESOURCE_EXHAUSTED",
        499 => "CANCELLED",
        501 => "UNIMPLEMENTED",
        503 => "UNAVAILABLE",
        504 => "DEADLINE_EXCEEDED",
        500.. => "INTERNAL",
        _ => "FAILED_PRECONDITION",
    }
}

impl Refusal {
    /// A status, with Google's usual message or with this one.
    pub(crate) fn new(code: u16, message: Option<&str>) -> Self {
        Self(Box::new(Status {
            code: Some(code.into()),
            message: Some(message.unwrap_or(usual_message(code)).to_owned()),
            status: Some(word(code).to_owned()),
            ..Status::default()
        }))
    }

    /// The request is wrong.
    pub(crate) fn invalid(message: impl AsRef<str>) -> Self {
        Self::new(400, Some(message.as_ref()))
    }

    /// The key is missing, or is none.
    pub(crate) fn key() -> Self {
        let mut refusal = Self::invalid(INVALID_KEY);
        let service = json!({"service": "generativelanguage.googleapis.com"});
        refusal.0.details = vec![
            Detail {
                metadata: service.as_object().cloned(),
                ..Detail::error_info("API_KEY_INVALID")
            },
            Detail {
                kind: Some("type.googleapis.com/google.rpc.LocalizedMessage".to_owned()),
                rest: Map::from_iter([
                    ("locale".to_owned(), json!("en-US")),
                    ("message".to_owned(), json!(INVALID_KEY)),
                ]),
                ..Detail::default()
            },
        ];
        refusal
    }

    /// There is no such model.
    pub(crate) fn no_model(model: &str, version: &str, method: &str) -> Self {
        Self::new(404, Some(&no_model(model, version, method)))
    }

    /// The request has a field that there is not.
    pub(crate) fn unknown_name(name: &str) -> Self {
        Self::invalid(format!(
            "Invalid JSON payload received. Unknown name \"{name}\": Cannot find field."
        ))
    }

    /// Adds when to try again.
    #[must_use]
    pub(crate) fn retry_after(mut self, delay: Option<Duration>) -> Self {
        self.0.details.extend(delay.map(Detail::retry_info));
        self
    }

    /// The message.
    pub(crate) fn message(&self) -> &str {
        self.0.message.as_deref().unwrap_or_default()
    }

    /// The HTTP status.
    pub(crate) fn code(&self) -> StatusCode {
        let code = self.0.code.and_then(|code| u16::try_from(code).ok());
        code.and_then(|code| StatusCode::from_u16(code).ok())
            .unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// The body, as JSON.
    pub(crate) fn body(&self) -> serde_json::Value {
        json!(ErrorBody::from((*self.0).clone()))
    }
}

/// The message for an invalid key.
pub(crate) const INVALID_KEY: &str = "API key not valid. Please pass a valid API key.";

/// The message for an unknown model.
pub(crate) fn no_model(model: &str, version: &str, method: &str) -> String {
    format!(
        "models/{model} is not found for API version {version}, or is not supported for {method}. \
         Call ListModels to see the list of available models and their supported methods."
    )
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let kind = [(header::CONTENT_TYPE, "application/json; charset=UTF-8")];
        (self.code(), kind, format!("{:#}", self.body())).into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_key_gets_googles_error() {
        let body = Refusal::key().body();
        assert_eq!(body["error"]["code"], 400);
        assert_eq!(body["error"]["status"], "INVALID_ARGUMENT");
        assert_eq!(body["error"]["details"][0]["reason"], "API_KEY_INVALID");
        assert_eq!(body["error"]["details"][1]["locale"], "en-US");
    }

    #[test]
    fn a_delay_is_in_seconds() {
        let refusal = Refusal::new(429, None).retry_after(Some(Duration::from_secs(17)));
        assert_eq!(refusal.code(), StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(refusal.body()["error"]["details"][0]["retryDelay"], "17s");
    }
}
