//! A window as an SSE response.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::response::{IntoResponse, Response};
use engine::WindowStream;
use futures_core::Stream;
use tokio::sync::mpsc;
use wire::sse;

/// How long a window may be silent: proxies close connections that are.
const SILENCE: Duration = Duration::from_secs(15);

/// The response of a window. The client may leave at any time; the turn goes on.
pub(crate) fn response(window: WindowStream) -> Response {
    // A client that does not read holds up this window, and nothing else.
    let (sender, receiver) = mpsc::channel(4);
    tokio::spawn(write(window, sender));
    let headers = sse::HEADERS.into_iter();
    // What is said hop by hop is for the HTTP library to say.
    let mut response = Body::from_stream(Events(receiver)).into_response();
    for (name, value) in headers.filter(|(name, _)| *name != "connection") {
        let value = axum::http::HeaderValue::from_static(value);
        response.headers_mut().insert(name, value);
    }
    response
}

async fn write(mut window: WindowStream, sender: mpsc::Sender<Bytes>) {
    let mut is_open = true;
    while is_open {
        let mut bytes = Vec::new();
        tokio::select! {
            chunks = window.next() => match chunks {
                Some(chunks) => chunks.iter().for_each(|chunk| sse::write_chunk(&mut bytes, chunk)),
                None => {
                    sse::write_done(&mut bytes);
                    is_open = false;
                }
            },
            () = tokio::time::sleep(SILENCE) => sse::write_comment(&mut bytes, "still here"),
            () = sender.closed() => return,
        }
        if sender.send(bytes.into()).await.is_err() {
            return;
        }
    }
}

struct Events(mpsc::Receiver<Bytes>);

impl Stream for Events {
    type Item = Result<Bytes, std::convert::Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(context).map(|bytes| bytes.map(Ok))
    }
}
