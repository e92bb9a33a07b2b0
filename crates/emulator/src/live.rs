//! Live: a conversation over a WebSocket.
//!
//! # Layout
//!
//! - `session`: a socket from its setup to its end; `input`: the client's messages; `output`: the model's
//!   answers.
//! - `conversation`: the contents and the open calls.
//! - `session_config`: how a session was set up; `answer`: an answer that is being given.
//! - `speech_detector`: start and end of speech; `voice`: text to speech.
//! - `wire`: frames as they come and go; `session_end`: how a socket ends.

mod answer;
mod conversation;
mod input;
mod output;
mod session;
mod session_config;
mod session_end;
mod speech_detector;
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
/// A key that is not valid is reported on the socket, as Google does, since a browser sees nothing of a
/// refused upgrade but the refusal.
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
