//! A window as an SSE response.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::response::{IntoResponse, Response};
use engine::WindowStream;
use futures_util::stream::unfold;
use wire::sse;

/// How long a window may be silent: proxies close connections that are.
const SILENCE: Duration = Duration::from_secs(15);

/// About how many bytes a chunk takes. Most are deltas.
const CHUNK: usize = 80;

/// The response of a window. The client may leave at any time; the turn goes on.
///
/// The connection itself asks for what comes next, once it has written what came before: a client
/// that does not read holds up this window, and nothing else.
pub(crate) fn response(window: WindowStream) -> Response {
    let events = unfold(Some(window), async |window| {
        let mut window = window?;
        let (bytes, is_open) = next(&mut window).await;
        Some((Ok::<_, Infallible>(bytes), is_open.then_some(window)))
    });
    let headers = sse::HEADERS.into_iter();
    // What is said hop by hop is for the HTTP library to say.
    let mut response = Body::from_stream(events).into_response();
    for (name, value) in headers.filter(|(name, _)| *name != "connection") {
        let value = axum::http::HeaderValue::from_static(value);
        response.headers_mut().insert(name, value);
    }
    response
}

/// What is to be written next, and whether anything follows. What is ready at the same moment is
/// written at once, each chunk as an event of its own.
async fn next(window: &mut WindowStream) -> (Bytes, bool) {
    let mut bytes = Vec::new();
    match tokio::time::timeout(SILENCE, window.next()).await {
        Ok(Some(chunks)) => {
            bytes.reserve(chunks.len() * CHUNK);
            for chunk in chunks {
                sse::write_chunk(&mut bytes, &chunk);
            }
            return (bytes.into(), true);
        }
        Ok(None) => sse::write_done(&mut bytes),
        Err(_) => {
            sse::write_comment(&mut bytes, "still here");
            return (bytes.into(), true);
        }
    }
    (bytes.into(), false)
}
