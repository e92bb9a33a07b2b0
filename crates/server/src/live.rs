//! The WebSocket: one socket, many chats, two dialects.

mod frame_error;
mod frames;
mod legacy;
mod official;
mod outbox;
mod socket;
mod speech;

use std::time::Duration;

use axum::extract::State;
use axum::extract::ws::WebSocketUpgrade;
use axum::http::HeaderValue;
use axum::http::header::{ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_ORIGIN, ORIGIN};
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use turn::Principal;

pub use self::frames::Frames;
use crate::api::{Api, fresh};
use crate::caller::Caller;
use crate::connection::Metered;
use crate::problem::Problem;
use crate::replies::Ticket;
use crate::request_context::{RequestContext, RequestId, note_principal};
use crate::ticket;

/// The subprotocol by which a page may bring a ticket: `adk-stream.ticket.TICKET`.
pub(crate) const TICKET_PROTOCOL: &str = "adk-stream.ticket.";

/// What a socket holds for reading and for writing, in bytes: most of its frames are far smaller, and
/// there may be thousands of sockets.
const BUFFER: usize = 8 * 1024;

/// What an `abort` frame does to the turn behind the window that it closes.
///
/// AI SDK 7's `useChat` sends one also when a page is left, so the turn is left alone unless the
/// operator knows better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnAbort {
    /// It continues.
    #[default]
    Leave,
    /// It is stopped.
    Stop,
}

impl std::str::FromStr for OnAbort {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "leave" => Ok(Self::Leave),
            "stop" => Ok(Self::Stop),
            _ => Err(format!("`{text}` is neither leave nor stop")),
        }
    }
}

/// How a socket is kept, and when it is given up.
#[derive(Debug, Clone, Copy)]
pub struct SocketLimits {
    /// How often the client is asked for a sign of life.
    pub ping: Duration,
    /// How long it may give none.
    pub silence: Duration,
    /// How long a socket may have no window and no message.
    pub idle: Duration,
    /// How long a client may take to read what it is sent.
    pub stall: Duration,
    /// How many windows it may have open at once.
    pub windows: usize,
}

impl Default for SocketLimits {
    fn default() -> Self {
        Self {
            ping: Duration::from_secs(20),
            silence: Duration::from_secs(60),
            idle: Duration::from_secs(600),
            stall: Duration::from_secs(30),
            windows: 64,
        }
    }
}

/// Opens a WebSocket.
///
/// A browser does not tell a page why a socket was refused. So a plain request is refused for the same
/// reasons, in the same order, and only then for being plain: a page whose socket does not open can ask.
#[cfg_attr(feature = "cli", utoipa::path(
    get, path = "/api/chat/live", tag = "WebSocket", operation_id = "openWebSocket",
    responses(
        (status = 101, description = "The WebSocket is open."),
        (status = 426, description = "upgrade_required"),
    ),
    security(("bearer" = []), ("apiKey" = []), ("ticket" = [])),
))]
pub(crate) async fn open(
    State(api): State<Api>,
    request: Parts,
    upgrade: Result<WebSocketUpgrade, axum::extract::ws::rejection::WebSocketUpgradeRejection>,
) -> Result<Response, Problem> {
    if !api.origins.allow(&request.headers) {
        return Ok(refuse_origin(&request));
    }
    let (principal, protocol) = admit(&api, &request).await?;
    note_principal(&principal);
    let in_flight = api.quotas.admit(&principal)?;
    let upgrade = upgrade.map_err(|_| Problem::upgrade_required())?;
    // The socket outlives the request, and what goes wrong on it has the request's id.
    let id = RequestContext::current_id().unwrap_or_else(RequestId::fresh);
    let bytes = api.limits.bytes;
    let upgrade = upgrade
        .max_message_size(bytes)
        .max_frame_size(bytes)
        .read_buffer_size(BUFFER)
        .write_buffer_size(BUFFER);
    let upgrade = match protocol {
        Some(protocol) => upgrade.protocols([protocol]),
        None => upgrade,
    };
    let frames = api.frames.of_socket(&principal);
    if let Some(metered) = request.extensions.get::<Metered>() {
        let frames = frames.clone();
        metered.count(move |bytes| frames.received(bytes));
    }
    Ok(upgrade.on_upgrade(async move |socket| {
        socket::run(socket, api, (id, principal), &frames).await;
        drop(in_flight);
    }))
}

/// Refuses a page of another site, which may read that: it is all that the answer says.
fn refuse_origin(request: &Parts) -> Response {
    let mut response = Problem::foreign_origin().into_response();
    if let Some(origin) = request.headers.get(ORIGIN) {
        let headers = response.headers_mut();
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        headers.insert(
            ACCESS_CONTROL_ALLOW_CREDENTIALS,
            HeaderValue::from_static("true"),
        );
    }
    response
}

/// Who opens it: by a header, by a ticket in the query, or by one in a subprotocol, which is then to
/// be chosen.
async fn admit(api: &Api, request: &Parts) -> Result<(Principal, Option<String>), Problem> {
    let query = request.uri.query().unwrap_or_default().split('&');
    let in_query = query.filter_map(|pair| pair.strip_prefix("ticket=")).next();
    let protocols = request.headers.get("sec-websocket-protocol");
    let protocols = protocols
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let mut protocols = protocols.split(',').map(str::trim);
    let in_protocol = protocols.find(|name| name.starts_with(TICKET_PROTOCOL));
    let ticket =
        in_query.or_else(|| in_protocol.and_then(|name| name.strip_prefix(TICKET_PROTOCOL)));
    let principal = match ticket {
        Some(ticket) => {
            let redeemed = api.secret.redeem(ticket, api.engine.now(), &*api.nonces);
            let redeemed = redeemed.await?;
            redeemed.ok_or_else(Problem::unauthorized)?
        }
        None => api.identity.identify(request).await?,
    };
    Ok((principal, in_protocol.map(str::to_owned)))
}

/// A ticket that opens one WebSocket, once.
#[cfg_attr(feature = "cli", utoipa::path(
    post, path = "/api/ticket", tag = "WebSocket", operation_id = "issueTicket",
    responses((status = 200, description = "The ticket.", body = Ticket)),
))]
pub(crate) async fn issue(State(api): State<Api>, Caller(principal): Caller) -> Response {
    fresh(Ticket {
        ticket: api.secret.issue(&principal, api.engine.now()),
        expires_in: ticket::LIFE.as_secs(),
    })
}
