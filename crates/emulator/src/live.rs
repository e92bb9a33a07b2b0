//! Live: a conversation over a WebSocket.
//!
//! # Layout
//!
//! - `session`: a socket from its setup to its end; `input`: what a client says; `output`: what the
//!   model says.
//! - `conversation`: what was said, and which calls are open.
//! - `manner`: how a session was set up; `speaking`: an answer that is being given.
//! - `hearing`: who speaks when; `voice`: words as sound.
//! - `wire`: frames as they come and go; `farewell`: how a socket ends.

mod conversation;
mod farewell;
mod hearing;
mod input;
mod manner;
mod output;
mod session;
mod speaking;
mod voice;
mod wire;

pub(crate) use conversation::Conversation;

use std::sync::Arc;

use axum::extract::{Path, State, WebSocketUpgrade};
use axum::http::{HeaderMap, Uri};
use axum::response::{IntoResponse, Response};

use crate::core::{Core, Exchange};
use crate::log::{self, Happening};
use crate::refusal::Refusal;
use crate::routes;

/// Where Live is.
pub(crate) const PATH: &str =
    "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent";

/// Opens a socket.
///
/// A key that is not taken is told in the socket, as Google does, since a browser hears no more of a
/// refused upgrade than that it was refused.
pub(crate) async fn upgrade(
    State(core): State<Arc<Core>>,
    Path(service): Path<String>,
    uri: Uri,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response {
    let version = service
        .strip_prefix("google.ai.generativelanguage.")
        .and_then(|rest| rest.strip_suffix(".GenerativeService.BidiGenerateContent"));
    let Some(version @ ("v1beta" | "v1alpha" | "v1")) = version else {
        return Refusal::new(404, None).into_response();
    };
    let version = version.to_owned();
    let exchange = Exchange::new(&core);
    exchange.write(Happening::Opened {
        path: uri.path().to_owned(),
        query: log::query(uri.query()),
        headers: log::headers(&headers),
    });
    let is_admitted = core.options.keys.take(routes::key(&headers, &uri));
    let open = core.counters.socket();
    upgrade
        .max_message_size(64 << 20)
        .max_frame_size(64 << 20)
        .on_upgrade(async move |socket| {
            session::run(&core, &exchange, socket, &version, is_admitted).await;
            drop(open);
        })
}
