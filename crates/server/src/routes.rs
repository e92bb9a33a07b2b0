//! Which path is answered by whom.

use axum::http::{HeaderMap, Method, Uri, header};
use axum::middleware::{from_fn, from_fn_with_state, map_response};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde::Serialize;

use crate::api::{Api, method_not_allowed};
use crate::compression;
use crate::headers::SecurityHeaders;
use crate::page::{self, Page};
use crate::readiness::Readiness;
use crate::request_context;

/// Every route of the server.
pub(crate) fn router(
    api: Api,
    others: Router<Api>,
    readiness: Readiness,
    page: Page,
    headers: SecurityHeaders,
) -> Router {
    let observers = (api.metrics.clone(), api.traces);
    api.router_with(others)
        .route("/healthz", get(async || status("ok")))
        // As the legacy bridge has it.
        .route("/health", get(async || status("ok")))
        .route("/readyz", get(async move || readiness.answer().await))
        .method_not_allowed_fallback(method_not_allowed)
        .fallback(async move |method: Method, uri: Uri, headers: HeaderMap| {
            page::answer(&page, &method, &uri, &headers)
        })
        .layer(from_fn(compression::compress))
        .layer(map_response(move |response: Response| {
            std::future::ready(headers.apply(response))
        }))
        .layer(from_fn_with_state(observers, request_context::apply))
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
