//! Which pages of other sites may read what is answered here.
//!
//! A browser sends a request of another site's page, but shows the answer to that page only if the
//! answer names the site. Sites that the operator named in `--origins` are named; others are not.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE,
    ACCESS_CONTROL_REQUEST_HEADERS, ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::origin::Origins;
use crate::problem::Problem;

/// The methods of the routes.
const METHODS: HeaderValue = HeaderValue::from_static("GET, POST, PATCH, DELETE");

/// What a page may read besides the headers that every page may.
const EXPOSED: HeaderValue = HeaderValue::from_static(
    "retry-after, x-request-id, x-vercel-ai-ui-message-stream, x-workflow-run-id",
);

/// How long a browser keeps the answer to a preflight: an hour.
const MAX_AGE: HeaderValue = HeaderValue::from_static("3600");

/// Answers preflights, and names the site in the answer where the operator named it.
pub(crate) async fn apply(
    State(origins): State<Arc<Origins>>,
    request: Request,
    next: Next,
) -> Response {
    let origin = request.headers().get(ORIGIN).cloned();
    let named = origin.filter(|origin| origin.to_str().is_ok_and(|it| origins.names(it)));
    let mut response = match is_preflight(&request) {
        true => preflight(request.headers(), named.is_some()),
        false => next.run(request).await,
    };
    let headers = response.headers_mut();
    headers.append(VARY, HeaderValue::from_static("origin"));
    if let Some(origin) = named {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        // The page's cookies, where an application mounts the routes with sessions of its own.
        headers.insert(
            ACCESS_CONTROL_ALLOW_CREDENTIALS,
            HeaderValue::from_static("true"),
        );
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    }
    response
}

/// Whether a browser asks for another site's page whether a request may be sent.
fn is_preflight(request: &Request) -> bool {
    let headers = request.headers();
    request.method() == Method::OPTIONS
        && headers.contains_key(ORIGIN)
        && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
}

fn preflight(request: &HeaderMap, is_named: bool) -> Response {
    if !is_named {
        return Problem::foreign_origin().into_response();
    }
    let mut response = StatusCode::NO_CONTENT.into_response();
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    headers.insert(ACCESS_CONTROL_MAX_AGE, MAX_AGE);
    // A page may send headers of its own, which a proxy in front of this server reads.
    if let Some(wanted) = request.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, wanted.clone());
    }
    response
}
