//! `GET /api/events`: what changes in a principal's lists, as server-sent events.
//!
//! The first event of a stream is `reset`, which asks the client to read its lists; so is every later
//! one where changes may have been missed. A client that comes back soon to the same server, with the
//! id of the last event that it got, gets those that came since instead.

mod event;
mod hub;
mod log;

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream::unfold;
use tokio::sync::watch;
use wire::sse;

pub use self::hub::EventHub;
use self::hub::Subscription;
use crate::api::Api;
use crate::caller::Caller;
use crate::problem::Problem;
use crate::quota::EventStream;

/// How long a stream may be silent: proxies close connections that are.
const KEEPALIVE: Duration = Duration::from_secs(15);

/// How long a client should wait before it comes back, in milliseconds.
const RETRY: &str = "retry: 2000\n\n";

/// What changes in the chats and approvals of the principal, from now on or from the last event that the
/// client got.
#[cfg_attr(feature = "cli", utoipa::path(
    get, path = "/api/events", tag = "Chats", operation_id = "streamEvents",
    params(("last-event-id" = Option<String>, Header, description = "The id of the last event that the client got.")),
    responses(
        (status = 200, description = "Server-sent events, until the server shuts down.",
         content_type = "text/event-stream", body = String),
        (status = 429, description = "too_many_event_streams"),
    )
))]
pub(crate) async fn stream(
    State(api): State<Api>,
    Caller(principal): Caller,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let permit = api.quotas.admit_event_stream(&principal)?;
    let last = headers.get("last-event-id");
    let last = last.and_then(|last| last.to_str().ok());
    let subscription = api.events.subscribe(&principal, last).await?;
    let writing = Writing {
        subscription,
        closing: api.closing.clone(),
        greeting: Some(RETRY),
        _permit: permit,
    };
    let events = unfold(writing, async |mut writing| {
        let bytes = writing.next().await?;
        Some((Ok::<_, Infallible>(bytes), writing))
    });
    let mut response = Body::from_stream(events).into_response();
    let headers = response.headers_mut();
    let value = HeaderValue::from_static;
    headers.insert(header::CONTENT_TYPE, value("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, value("no-store"));
    headers.insert("x-accel-buffering", value("no"));
    Ok(response)
}

/// A stream that is being written.
struct Writing {
    subscription: Subscription,
    closing: watch::Receiver<bool>,
    greeting: Option<&'static str>,
    _permit: EventStream,
}

/// Waits until the server shuts down. An application that embeds the routes may not say when.
async fn closed(closing: &mut watch::Receiver<bool>) {
    if closing.wait_for(|is_closing| *is_closing).await.is_err() {
        std::future::pending().await
    }
}

impl Writing {
    /// What is to be written next; nothing when the server shuts down. The connection asks for it once
    /// it has written what came before, so a client that does not read holds up nothing else.
    async fn next(&mut self) -> Option<Bytes> {
        if let Some(greeting) = self.greeting.take() {
            return Some(Bytes::from_static(greeting.as_bytes()));
        }
        tokio::select! {
            events = self.subscription.next() => {
                let mut events = events?;
                match events.len() {
                    1 => events.pop(),
                    _ => Some(events.concat().into()),
                }
            }
            () = closed(&mut self.closing) => None,
            () = tokio::time::sleep(KEEPALIVE) => {
                let mut bytes = Vec::new();
                sse::write_comment(&mut bytes, "still here");
                Some(bytes.into())
            }
        }
    }
}
