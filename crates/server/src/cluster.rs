//! Several servers over one store: how they reach each other.
//!
//! A command is one `POST /internal/command` with the cluster's key. It is answered by one JSON
//! object, or where a window was opened by lines of JSON: its message, then what is read, as it is
//! read, and at the end that it was the end. A server that is not the owner (any more) answers 421,
//! and has done nothing. Request and response both say which history of the database their server has
//! seen, so that a failover which one has noticed keeps the others from the former primary. So that no
//! command has to happen for that, servers also ask each other by `GET /internal/lineage`.

#[cfg(feature = "cluster")]
mod http_peers;

use std::time::Duration;

use axum::Json;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use engine::command::{Command, Reply, View};
use engine::{EngineError, WindowStream};
use futures_util::stream::unfold;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::Location;
use turn::TurnId;
use turn::gate::Decision;
use wire::Chunk;

use crate::api::Api;
use crate::problem::Problem;
use crate::request_context;

#[cfg(feature = "cluster")]
pub use self::http_peers::HttpPeers;

/// Where commands are forwarded to.
pub(crate) const PATH: &str = "/internal/command";

/// Where servers ask each other what they have seen of the database, and nothing else.
pub(crate) const LINEAGE_PATH: &str = "/internal/lineage";

/// The header that holds the cluster's key.
pub(crate) const HEADER: &str = "x-adk-stream-cluster";

/// The header that holds the newest history of the database that a server has seen.
pub(crate) const LINEAGE: &str = "x-adk-stream-lineage";

/// The header of a window's reply that holds the turn that it is on.
pub(crate) const TURN: HeaderName = HeaderName::from_static("x-adk-stream-turn");

/// How much larger a command may be than the client's body: text is escaped again.
const ENVELOPE: usize = 2;

/// How often a silent window sends a keepalive: the server that reads it looks for the owner's lease after
/// two seconds without one.
const PULSE: Duration = Duration::from_secs(1);

/// How long a question waits for its decision before it is asked again.
const ASKED: Duration = Duration::from_secs(5);

/// Takes in a command from another server.
pub(crate) async fn receive(State(api): State<Api>, request: Request) -> Result<Response, Problem> {
    // Checked before anything is parsed.
    admit(&api, request.headers())?;
    observe(&api.location, request.headers());
    let mut response = carry_out(&api, request).await?;
    tell(&api.location, response.headers_mut());
    Ok(response)
}

/// Compares what was seen of the database with another server.
pub(crate) async fn compare(
    State(api): State<Api>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    admit(&api, &headers)?;
    observe(&api.location, &headers);
    let mut response = StatusCode::NO_CONTENT.into_response();
    tell(&api.location, response.headers_mut());
    Ok(response)
}

/// Lets servers of this cluster through.
fn admit(api: &Api, headers: &HeaderMap) -> Result<(), Problem> {
    let (key, given) = (api.cluster.as_ref(), headers.get(HEADER));
    match given.is_some_and(|given| key.is_some_and(|key| key.is(given.as_bytes()))) {
        true => Ok(()),
        false => Err(Problem::unauthorized()),
    }
}

/// Says what this server has seen of the database.
fn tell(location: &Location, headers: &mut HeaderMap) {
    let newest = location.newest_lineage();
    if let Some(newest) = newest.and_then(|newest| HeaderValue::try_from(newest).ok()) {
        headers.insert(LINEAGE, newest);
    }
}

/// Takes note of what another server has seen of the database.
fn observe(location: &Location, headers: &HeaderMap) {
    let seen = headers.get(LINEAGE).and_then(|seen| seen.to_str().ok());
    if let Some(seen) = seen {
        location.observe_lineage(seen);
    }
}

async fn carry_out(api: &Api, request: Request) -> Result<Response, Problem> {
    let limit = ENVELOPE * api.limits.bytes;
    let body = to_bytes(request.into_body(), limit).await;
    let body = body.map_err(|_| Problem::too_large(limit))?;
    let command: Command =
        serde_json::from_slice(&body).map_err(|error| Problem::bad_request(error.to_string()))?;
    if let Some(trace) = &command.trace {
        request_context::note_trace(trace);
    }
    let reply = match api.engine.run_here(command).await {
        Ok(Reply::Window(Some(window))) => return Ok(lines(window)),
        // One that leaves is not the owner for long.
        Err(EngineError::Elsewhere(_) | EngineError::Closed) => {
            return Ok(StatusCode::MISDIRECTED_REQUEST.into_response());
        }
        Ok(Reply::Window(None)) => WireReply::Window(None),
        Ok(Reply::Stopped(was_open)) => WireReply::Stopped(was_open),
        Ok(Reply::View(view)) => WireReply::View(view),
        Ok(Reply::Asked(deciding)) => WireReply::Asked(deciding.within(ASKED).await),
        Ok(Reply::Taken(taken)) => WireReply::Taken(taken),
        // The caller reads the decision in the journal.
        Ok(Reply::Closed(_)) => WireReply::Taken(true),
        Ok(Reply::Done) => WireReply::Done,
        Err(error) => WireReply::Failed(error),
    };
    Ok(Json(reply).into_response())
}

/// A reply, as one server sends it to another.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum WireReply {
    /// The message of a window whose lines follow; none, where there is nothing to see.
    Window(Option<String>),
    Stopped(bool),
    View(View),
    /// What was decided; where nothing was yet, it is asked again.
    Asked(Option<Decision>),
    Taken(bool),
    Done,
    Failed(EngineError),
}

/// A window, line by line.
fn lines(window: WindowStream) -> Response {
    let turn = window.turn().map(TurnId::as_str);
    let turn = turn.and_then(|turn| HeaderValue::from_str(turn).ok());
    let first = line(&json!(WireReply::Window(Some(
        window.message_id().to_owned()
    ))));
    let rest = unfold((Some(window), Some(first)), async |(window, first)| {
        if let Some(first) = first {
            return Some((Ok::<_, std::convert::Infallible>(first), (window, None)));
        }
        let mut window = window?;
        let next = tokio::time::timeout(PULSE, window.next()).await;
        Some(match next {
            Ok(Some(chunks)) => {
                let chunks: Vec<&Chunk> = chunks.iter().map(|chunk| &**chunk).collect();
                let read = match window.sequences() {
                    [] if !window.asks() => json!(chunks),
                    sequences => {
                        json!({"chunks": chunks, "sequences": sequences, "asks": window.asks()})
                    }
                };
                (Ok(line(&read)), (Some(window), None))
            }
            Ok(None) => (Ok(line(&json!("end"))), (None, None)),
            Err(_) => (Ok(line(&json!([]))), (Some(window), None)),
        })
    });
    let mut response = Body::from_stream(rest).into_response();
    response.headers_mut().extend(turn.map(|turn| (TURN, turn)));
    response
}

fn line(value: &Value) -> Bytes {
    format!("{value}\n").into()
}
