//! Several servers over one store: how they reach each other.
//!
//! A command is one `POST /internal/command` with the cluster's key. It is answered by one JSON
//! object, or where a window was opened by lines of JSON: its message, then what is read, as it is
//! read, and at the end that it was the end. A server that is not the owner (any more) answers 421,
//! and has done nothing.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use engine::command::{Command, Deciding, Reply, View};
use engine::replica::{NotForwarded, Peers};
use engine::{EngineError, WindowStream};
use futures_util::stream::unfold;
use reqwest::Client;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use turn::gate::Decision;
use wire::Chunk;
use wire::chunk::Error as ErrorChunk;

use crate::api::Api;
use crate::problem::Problem;
use crate::shared_key::SharedKey;

/// Where commands are forwarded to.
pub(crate) const PATH: &str = "/internal/command";

/// The header that holds the cluster's key.
pub(crate) const HEADER: &str = "x-adk-stream-cluster";

/// How much larger a command may be than what a client sent: text is escaped anew.
const ENVELOPE: usize = 2;

/// How long a server may take to answer a command, or say more of a window. A window that has
/// nothing to say says so more often.
const IDLE_TIMEOUT: Duration = Duration::from_secs(20);

/// How often a window that has nothing to say says so.
const PULSE: Duration = Duration::from_secs(5);

/// Takes in a command from another server.
pub(crate) async fn receive(State(api): State<Api>, request: Request) -> Result<Response, Problem> {
    // Whoever has no key is not listened to.
    let (key, given) = (api.cluster.as_ref(), request.headers().get(HEADER));
    if !given.is_some_and(|given| key.is_some_and(|key| key.is(given.as_bytes()))) {
        return Err(Problem::unauthorized());
    }
    let limit = ENVELOPE * api.limits.bytes;
    let body = to_bytes(request.into_body(), limit).await;
    let body = body.map_err(|_| Problem::too_large(limit))?;
    let command: Command =
        serde_json::from_slice(&body).map_err(|error| Problem::bad_request(error.to_string()))?;
    let told = match api.engine.run_here(command).await {
        Ok(Reply::Window(Some(window))) => return Ok(lines(window)),
        // One that leaves is not the owner for long.
        Err(EngineError::Elsewhere(_) | EngineError::Closed) => {
            return Ok(StatusCode::MISDIRECTED_REQUEST.into_response());
        }
        Ok(Reply::Window(None)) => Told::Window(None),
        Ok(Reply::Stopped(was_open)) => Told::Stopped(was_open),
        Ok(Reply::View(view)) => Told::View(view),
        Ok(Reply::Asked(deciding)) => Told::Asked(deciding.within(PULSE).await),
        Ok(Reply::Taken(taken)) => Told::Taken(taken),
        // Whoever asked reads in the journal what was decided.
        Ok(Reply::Done | Reply::Closed(_)) => Told::Done,
        Err(error) => Told::Failed(error),
    };
    Ok(Json(told).into_response())
}

/// A reply, as one server tells it to another.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Told {
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
    let first = line(&json!(Told::Window(Some(window.message_id().to_owned()))));
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
    /// For servers of one's own: without proxies, and with short timeouts.
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

    async fn send(&self, address: &str, command: &Command) -> Result<Reply, NotForwarded> {
        let url = format!("{}{PATH}", address.trim_end_matches('/'));
        let sent = self.client.post(url).header(HEADER, self.key.as_str());
        let sent = sent.header("content-type", "application/json");
        let body = serde_json::to_vec(command).map_err(|_| NotForwarded::Nowhere)?;
        let sent = tokio::time::timeout(IDLE_TIMEOUT, sent.body(body).send()).await;
        let mut answer = match sent {
            Ok(Ok(answer)) => answer,
            // If it was done all the same, the journal says so when it is done again.
            Ok(Err(_)) | Err(_) => return Err(NotForwarded::Nowhere),
        };
        let status = answer.status().as_u16();
        if status != 200 {
            if status != 421 {
                tracing::warn!(status, address, "another server does not take a command");
            }
            return Err(NotForwarded::Nowhere);
        }
        let mut lines = Lines::default();
        let first = lines.next(&mut answer).await.ok_or(NotForwarded::Nowhere)?;
        let told = serde_json::from_value(first).map_err(|_| NotForwarded::Nowhere)?;
        Ok(match told {
            Told::Window(Some(message_id)) => {
                let (sender, chunks) = mpsc::channel(16);
                tokio::spawn(pass_on(answer, lines, sender));
                Reply::Window(Some(WindowStream::elsewhere(message_id, chunks)))
            }
            Told::Window(None) => Reply::Window(None),
            Told::Stopped(was_open) => Reply::Stopped(was_open),
            Told::View(view) => Reply::View(view),
            Told::Asked(Some(decision)) => Reply::Asked(Deciding::Decided(decision)),
            Told::Asked(None) => Reply::Asked(Deciding::Open(oneshot::channel().1)),
            Told::Taken(taken) => Reply::Taken(taken),
            Told::Done => Reply::Done,
            Told::Failed(error) => return Err(NotForwarded::Refused(error)),
        })
    }
}

impl Peers for HttpPeers {
    fn forward<'a>(
        &'a self,
        address: &'a str,
        command: &'a Command,
    ) -> Pin<Box<dyn Future<Output = Result<Reply, NotForwarded>> + Send + 'a>> {
        Box::pin(self.send(address, command))
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
            match tokio::time::timeout(IDLE_TIMEOUT, answer.chunk()).await {
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
