//! Which path is answered by whom.

use axum::http::{HeaderMap, Method, Uri, header};
use axum::response::IntoResponse;
use axum::routing::get;
use axum::{Json, Router};
use serde::Serialize;

use crate::api::Api;
use crate::page::{self, Page};
use crate::problem::Problem;

/// Every route of the server.
pub(crate) fn router(api: Api, page: Page) -> Router {
    api.router()
        .route("/healthz", get(async || status("ok")))
        .route("/readyz", get(async || status("ready")))
        .method_not_allowed_fallback(async |method: Method, uri: Uri| {
            Problem::method_not_allowed(&method, uri.path())
        })
        .fallback(async move |method: Method, uri: Uri, headers: HeaderMap| {
            page::answer(&page, &method, &uri, &headers)
        })
}

#[derive(Serialize)]
struct Status {
    status: &'static str,
}

/// A state of this moment, which no cache may keep.
fn status(status: &'static str) -> impl IntoResponse {
    (
        [(header::CACHE_CONTROL, "no-store")],
        Json(Status { status }),
    )
}
