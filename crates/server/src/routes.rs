//! Which path is answered by whom.

use axum::Router;
use axum::http::{HeaderMap, Method, Uri};
use axum::middleware::{from_fn, from_fn_with_state, map_response};
use axum::response::Response;
use axum::routing::get;
use serde::Serialize;

use crate::api::{Api, fresh, method_not_allowed};
use crate::compression;
use crate::document;
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
        .route("/healthz", get(health))
        // As the legacy bridge has it.
        .route("/health", get(health))
        .route(document::PATH, get(document::answer))
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

/// The process runs.
#[derive(Serialize, utoipa::ToSchema)]
#[schema(as = Health)]
pub(crate) struct Status {
    /// `ok`
    status: &'static str,
}

/// Whether the process runs.
#[utoipa::path(
    get, path = "/healthz", tag = "Server", operation_id = "readHealth",
    responses((status = 200, description = "It runs.", body = Status)),
    security(()),
)]
pub(crate) async fn health() -> Response {
    fresh(Status { status: "ok" })
}
