//! Several servers over one store: how they reach each other.
//!
//! An errand is one `POST /internal/errand` with the cluster's key. It is answered by one JSON
//! object, or where a window was opened by lines of JSON: its message, then what is read, as it is
//! read, and at the end that it was the end. A server that is not the owner (any more) answers 421,
//! and has done nothing.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use engine::engine::View;
use engine::errand::{Deciding, Done, Errand};
use engine::replica::{Carried, Peers};
use engine::{EngineError, WindowStream};
use futures_util::stream::unfold;
use reqwest::Client;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use turn::intake::Refusal;
use wire::Chunk;
use wire::chunk::Error as ErrorChunk;

use crate::api::Api;
use crate::problem::Problem;
use crate::shared_key::SharedKey;

/// Where errands are brought to.
pub(crate) const PATH: &str = "/internal/errand";

/// The header that holds the cluster's key.
const HEADER: &str = "x-adk-stream-cluster";

/// How long a server may take to answer an errand, or say more of a window. A window that has
/// nothing to say says so more often.
const SILENCE: Duration = Duration::from_secs(20);

/// How often a window that has nothing to say says so.
const PULSE: Duration = Duration::from_secs(5);

/// Takes an errand in from another server.
pub(crate) async fn receive(
    State(api): State<Api>,
    headers: HeaderMap,
    Json(errand): Json<Errand>,
) -> Result<Response, Problem> {
    let (key, given) = (api.cluster.as_ref(), headers.get(HEADER));
    if !given.is_some_and(|given| key.is_some_and(|key| key.is(given.as_bytes()))) {
        return Err(Problem::unauthorized());
    }
    Ok(match api.engine.run_here(errand).await {
        Ok(Done::Window(Some(window))) => lines(window),
        Ok(Done::Window(None)) => Json(json!({"window": null})).into_response(),
        Ok(Done::Stopped(was_open)) => Json(json!({"stopped": was_open})).into_response(),
        Ok(Done::View(view)) => Json(json!({"view": view})).into_response(),
        Ok(Done::Asked(deciding)) => {
            let decided = deciding.within(PULSE).await;
            Json(json!({"asked": decided})).into_response()
        }
        Ok(Done::Taken(taken)) => Json(json!({"taken": taken})).into_response(),
        // Whoever asked reads in the journal what was decided.
        Ok(Done::Done | Done::Closed(_)) => Json(json!({"done": true})).into_response(),
        // One that leaves is not the owner for long.
        Err(EngineError::Elsewhere(_) | EngineError::Closed) => {
            StatusCode::MISDIRECTED_REQUEST.into_response()
        }
        Err(error) => {
            let told = json!({"error": {"code": error.code(), "message": error.to_string()}});
            (StatusCode::CONFLICT, Json(told)).into_response()
        }
    })
}

/// A window, line by line.
fn lines(window: WindowStream) -> Response {
    let first = line(&json!({"window": window.message_id()}));
    let rest = unfold((Some(window), Some(first)), async |(window, first)| {
        if let Some(first) = first {
            return Some((Ok::<_, std::convert::Infallible>(first), (window, None)));
        }
        let mut window = window?;
        let next = tokio::time::timeout(PULSE, window.next()).await;
        Some(match next {
            Ok(Some(chunks)) => {
                let chunks: Vec<&Chunk> = chunks.iter().map(|chunk| &**chunk).collect();
                (Ok(line(&json!(chunks))), (Some(window), None))
            }
            Ok(None) => (Ok(line(&json!("end"))), (None, None)),
            Err(_) => (Ok(line(&json!([]))), (Some(window), None)),
        })
    });
    Body::from_stream(rest).into_response()
}

fn line(value: &Value) -> Bytes {
    format!("{value}\n").into()
}

/// The other servers, by HTTP.
pub(crate) struct HttpPeers {
    client: Client,
    key: SharedKey,
}

impl HttpPeers {
    /// For servers of one's own: without proxies, and with patience for none.
    pub(crate) fn new(key: SharedKey) -> Result<Self, String> {
        let tls = agents::tls_config().map_err(|error| error.to_string())?;
        let client = Client::builder()
            .tls_backend_preconfigured(tls)
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(Duration::from_secs(2))
            .no_proxy()
            .tcp_nodelay(true);
        let client = client.build().map_err(|error| error.to_string())?;
        Ok(Self { client, key })
    }

    async fn bring(&self, address: &str, errand: &Errand) -> Result<Done, Carried> {
        let url = format!("{}{PATH}", address.trim_end_matches('/'));
        let sent = self.client.post(url).header(HEADER, self.key.as_str());
        let sent = sent.header("content-type", "application/json");
        let body = serde_json::to_vec(errand).map_err(|_| Carried::Nowhere)?;
        let sent = tokio::time::timeout(SILENCE, sent.body(body).send()).await;
        let mut answer = match sent {
            Ok(Ok(answer)) => answer,
            // If it was done all the same, the journal says so when it is done again.
            Ok(Err(_)) | Err(_) => return Err(Carried::Nowhere),
        };
        let status = answer.status().as_u16();
        if !matches!(status, 200 | 409) {
            if status != 421 {
                tracing::warn!(status, address, "another server does not take an errand");
            }
            return Err(Carried::Nowhere);
        }
        let mut lines = Lines::default();
        let first = lines.next(&mut answer).await.ok_or(Carried::Nowhere)?;
        if let Some(error) = first.get("error") {
            return Err(Carried::Refused(refusal(error)));
        }
        Ok(match first.get("window") {
            Some(Value::String(message_id)) => {
                let (sender, chunks) = mpsc::channel(16);
                tokio::spawn(pass_on(answer, lines, sender));
                Done::Window(Some(WindowStream::elsewhere(message_id.clone(), chunks)))
            }
            Some(_) => Done::Window(None),
            None if first.get("taken").is_some() => Done::Taken(first["taken"] == true),
            None if first.get("asked").is_some() => Done::Asked(deciding(&first["asked"])),
            None => match (first.get("stopped"), first.get("view")) {
                (Some(stopped), _) => Done::Stopped(stopped.as_bool().unwrap_or_default()),
                (_, Some(view)) => Done::View(self::view(view).ok_or(Carried::Nowhere)?),
                _ => Done::Done,
            },
        })
    }
}

impl Peers for HttpPeers {
    fn carry<'a>(
        &'a self,
        address: &'a str,
        errand: &'a Errand,
    ) -> Pin<Box<dyn Future<Output = Result<Done, Carried>> + Send + 'a>> {
        Box::pin(self.bring(address, errand))
    }
}

/// Passes on what another server reads of a window, until it ends or is cut.
async fn pass_on(
    mut answer: reqwest::Response,
    mut lines: Lines,
    sender: mpsc::Sender<Vec<Arc<Chunk>>>,
) {
    loop {
        let line = tokio::select! {
            line = lines.next(&mut answer) => line,
            () = sender.closed() => return,
        };
        let chunks = match line {
            Some(Value::Array(chunks)) => chunks,
            Some(_) => return,
            None => {
                let error_text = "moved: The server that has this chat is gone; come back to it.";
                let error_text = error_text.to_owned();
                let _ = sender
                    .send(vec![Arc::new(Chunk::Error(ErrorChunk { error_text }))])
                    .await;
                return;
            }
        };
        let chunks = chunks.into_iter().map(Chunk::decode);
        // Both ends are of one version, or nearly: what one does not know it leaves out.
        let chunks: Vec<_> = chunks.filter_map(Result::ok).map(Arc::new).collect();
        if !chunks.is_empty() && sender.send(chunks).await.is_err() {
            return;
        }
    }
}

/// Lines of JSON, as they come.
#[derive(Default)]
struct Lines(Vec<u8>);

impl Lines {
    async fn next(&mut self, answer: &mut reqwest::Response) -> Option<Value> {
        loop {
            if let Some(end) = self.0.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.0.drain(..=end).collect();
                return serde_json::from_slice(&line).ok();
            }
            match tokio::time::timeout(SILENCE, answer.chunk()).await {
                Ok(Ok(Some(bytes))) => self.0.extend_from_slice(&bytes),
                Ok(Ok(None)) if !self.0.is_empty() => {
                    let line = std::mem::take(&mut self.0);
                    return serde_json::from_slice(&line).ok();
                }
                _ => return None,
            }
        }
    }
}

/// What was decided elsewhere; where nothing was yet, it is asked again.
fn deciding(decision: &Value) -> Deciding {
    match serde_json::from_value(decision.clone()) {
        Ok(decision) => Deciding::Decided(decision),
        Err(_) => Deciding::Open(oneshot::channel().1),
    }
}

fn view(view: &Value) -> Option<View> {
    serde_json::from_value(view.clone()).ok()
}

/// Why another server refused, as if it had been refused here.
fn refusal(error: &Value) -> EngineError {
    let code = error
        .get("code")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let message = error.get("message").and_then(Value::as_str);
    let message = message.unwrap_or_default().to_owned();
    match code {
        "unknown_chat" => EngineError::UnknownChat,
        "unknown_approval" => EngineError::UnknownApproval,
        "unknown_call" => EngineError::UnknownCall,
        "invalid_input" => EngineError::InvalidInput(message),
        "agent_is_deaf" => EngineError::Deaf,
        "shutting_down" => EngineError::Closed,
        code => match Refusal::code_of(code) {
            Some(code) => EngineError::Refused(Refusal { code, message }),
            None => EngineError::OwnerAway,
        },
    }
}
