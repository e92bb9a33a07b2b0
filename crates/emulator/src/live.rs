//! Live.
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

/// Where Live is.
pub(crate) const PATH: &str =
    "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent";

#[derive(Debug, Clone, Default)]
pub(crate) struct Conversation;

pub(crate) async fn upgrade() -> Response {
    StatusCode::NOT_IMPLEMENTED.into_response()
}
