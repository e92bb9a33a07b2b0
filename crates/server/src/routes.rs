//! Which path is answered by whom.

use axum::http::{HeaderMap, Method, Uri, header};
use axum::middleware::map_response;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde::Serialize;

use crate::api::Api;
use crate::headers::SecurityHeaders;
use crate::page::{self, Page};
use crate::problem::Problem;
use crate::readiness::Readiness;

/// Every route of the server.
pub(crate) fn router(
    api: Api,
    others: Router<Api>,
    readiness: Readiness,
    page: Page,
    headers: SecurityHeaders,
) -> Router {
    api.router_with(others)
        .route("/healthz", get(async || status("ok")))
        .route("/readyz", get(async move || readiness.answer().await))
        .method_not_allowed_fallback(async |method: Method, uri: Uri| {
            Problem::method_not_allowed(&method, uri.path())
        })
        .fallback(async move |method: Method, uri: Uri, headers: HeaderMap| {
            page::answer(&page, &method, &uri, &headers)
        })
        .layer(map_response(move |response: Response| {
            std::future::ready(headers.apply(response))
        }))
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
