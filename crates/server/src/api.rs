//! The API: chats, approvals and the demo's wallet.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Json;
use axum::Router;
use axum::body::Body;
use axum::extract::{FromRef, Path, Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::serve::ListenerExt;
use engine::engine::Answered;
use engine::{Engine, Speech};
use futures_util::StreamExt;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use store::{Ledger, OpenGate};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use turn::call::Place;
use turn::event::End;
use turn::gate::{Decision, GateKind};
use turn::{CallId, ChatId, GateId, Status};
use wire::{ChatRequest, Limits, Profile};

use crate::asks;
use crate::cluster;
use crate::event_stream;
use crate::history;
use crate::keys::Keys;
use crate::live::{self, OnAbort, SocketLimits};
use crate::origin::Origins;
use crate::problem::Problem;
use crate::shared_key::SharedKey;
use crate::speaker::{Speaker, identify};
use crate::ticket::Secret;

/// What the API serves.
#[derive(Clone)]
pub struct Api {
    /// The engine that runs the turns.
    pub engine: Engine,
    /// Who may speak.
    pub keys: Arc<Keys>,
    /// How much a request may hold.
    pub limits: Limits,
    /// The demo's wallets, where the demo is served.
    pub ledger: Option<Arc<dyn Ledger>>,
    /// How sockets are kept.
    pub sockets: SocketLimits,
    /// What an `abort` frame does to the turn.
    pub on_abort: OnAbort,
    /// Sites that may open a socket, besides the one that is served here.
    pub origins: Arc<Origins>,
    /// What tickets are signed with.
    pub secret: Secret,
    /// What other servers over the same store are known by, where there are any.
    pub cluster: Option<SharedKey>,
    /// What the agent's side is known by, where its tools may ask people and pages, and its workers
    /// bring what came of calls.
    pub agent_key: Option<SharedKey>,
    /// Becomes true when the server goes away: sockets then tell their clients to come back.
    pub closing: watch::Receiver<bool>,
}

impl Api {
    /// An API over an engine, for this machine only.
    pub fn new(engine: Engine) -> Self {
        Self {
            engine,
            keys: Arc::default(),
            limits: Limits::default(),
            ledger: None,
            sockets: SocketLimits::default(),
            on_abort: OnAbort::default(),
            origins: Arc::default(),
            secret: Secret::fresh(),
            cluster: None,
            agent_key: None,
            closing: watch::channel(false).1,
        }
    }

    /// Its routes.
    pub fn router(self) -> Router {
        Router::new()
            .route("/api/chat", post(send))
            .route("/stream", post(send))
            .route("/api/chat/{id}", get(view).delete(forget))
            .route("/api/chat/{id}/stream", get(resume))
            .route("/api/chat/{id}/stop", post(stop))
            .route("/api/chat/{id}/journal", get(history::journal))
            .route("/api/chat/{id}/recording", get(history::recording))
            .route("/api/chat/live", get(live::open))
            .route("/live", get(live::open))
            .route("/api/ticket", post(live::issue))
            .route("/api/approvals", get(approvals))
            .route("/api/approvals/{id}", post(answer))
            .route("/api/calls/{id}", post(output))
            .route("/api/wallet", get(wallet))
            .route("/api/info", get(info))
            .route("/api/agent/asks", post(asks::ask))
            .route(cluster::PATH, post(cluster::receive))
            .with_state(self)
    }
}

impl Api {
    /// Serves the routes on a listener, until it fails. For more than that, take the
    /// [`Api::router`] and serve it with `into_make_service_with_connect_info::<SocketAddr>()`:
    /// without keys, the API must know who is at the other end.
    pub async fn serve(self, listener: TcpListener) -> std::io::Result<()> {
        let service = self.router();
        let service = service.into_make_service_with_connect_info::<SocketAddr>();
        axum::serve(listener.tap_io(without_delay), service).await
    }
}

/// Deltas are small and must leave at once: held back until the client has acknowledged what came
/// before, one client alone would wait forty milliseconds in every turn.
pub(crate) fn without_delay(stream: &mut TcpStream) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::warn!("can't set TCP_NODELAY: {error}");
    }
}

impl FromRef<Api> for Engine {
    fn from_ref(api: &Api) -> Self {
        api.engine.clone()
    }
}

/// Which releases of the SDK the client speaks for: `x-adk-stream-profile: v7`, or `?profile=v7`.
pub(crate) struct Asked(pub(crate) Profile);

impl Asked {
    pub(crate) fn of(headers: &HeaderMap, uri: &Uri) -> Result<Self, Problem> {
        let header = headers.get("x-adk-stream-profile");
        let header = header.and_then(|value| value.to_str().ok());
        let query = uri.query().unwrap_or_default().split('&');
        let query = query
            .filter_map(|pair| pair.strip_prefix("profile="))
            .next();
        match header.or(query) {
            None | Some("shared") => Ok(Self(Profile::Shared)),
            Some("v7") => Ok(Self(Profile::V7)),
            Some(_) => Err(Problem::bad_request(
                "profile: expected \"shared\" or \"v7\"",
            )),
        }
    }
}

async fn send(
    State(api): State<Api>,
    Speaker(principal): Speaker,
    request: Request,
) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    let Asked(profile) = Asked::of(&parts.headers, &parts.uri)?;
    let bytes = read(&parts.headers, body, api.limits.bytes).await?;
    let request = ChatRequest::from_slice(&bytes, &api.limits)?;
    let request = engine::engine::Request {
        chat: ChatId::from(request.id),
        trigger: request.trigger,
        message_id: request.message_id,
        messages: request.messages,
    };
    let window = api
        .engine
        .send(&principal, request, Speech::Sdk(profile))
        .await?;
    // What the agent says at once is then written at once, with the start of the window.
    tokio::task::yield_now().await;
    Ok(event_stream::response(window))
}

async fn resume(
    State(engine): State<Engine>,
    Speaker(principal): Speaker,
    Path(id): Path<String>,
    headers: HeaderMap,
    uri: Uri,
) -> Result<Response, Problem> {
    let Asked(profile) = Asked::of(&headers, &uri)?;
    let window = engine
        .resume(&principal, &ChatId::from(id), Speech::Sdk(profile))
        .await?;
    Ok(match window {
        Some(window) => event_stream::response(window),
        None => StatusCode::NO_CONTENT.into_response(),
    })
}

async fn stop(
    State(engine): State<Engine>,
    Speaker(principal): Speaker,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let stopped = engine.stop(&principal, &ChatId::from(id)).await?;
    Ok(fresh(json!({"stopped": stopped})))
}

async fn view(
    State(engine): State<Engine>,
    Speaker(principal): Speaker,
    Path(id): Path<String>,
) -> Result<Response, Problem> {
    let view = engine.view(&principal, &ChatId::from(id.as_str())).await?;
    let status = match view.status {
        Status::Running => "running",
        Status::Parked => "parked",
        Status::Finished => "finished",
        Status::Failed => "failed",
        Status::Stopped => "stopped",
    };
    let mut body = json!({"id": id, "status": status, "messages": view.messages});
    if let Some(End::Failed {
        code,
        message,
        retry_after_ms,
    }) = view.end
    {
        body["error"] = json!({"code": code, "message": message});
        if let Some(milliseconds) = retry_after_ms {
            body["error"]["retryAfterMs"] = milliseconds.into();
        }
    }
    Ok(fresh(body))
}

async fn forget(
    State(engine): State<Engine>,
    Speaker(principal): Speaker,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    engine.forget(&principal, &ChatId::from(id)).await?;
    Ok(StatusCode::NO_CONTENT)
}

async fn approvals(
    State(engine): State<Engine>,
    Speaker(principal): Speaker,
) -> Result<Response, Problem> {
    let waiting = engine.approvals(&principal).await?;
    let waiting: Vec<Value> = waiting.iter().map(approval).collect();
    Ok(fresh(json!({"approvals": waiting})))
}

fn approval(open: &OpenGate) -> Value {
    let question = match &open.gate.kind {
        GateKind::Approval { question, .. } => question.as_str(),
        GateKind::ClientCall => "",
    };
    let mut approval = json!({
        "approvalId": open.gate.id,
        "chatId": open.chat,
        "toolCallId": open.call.id,
        "toolName": open.call.tool,
        "input": open.call.input,
        "question": question,
        "askedAt": open.asked,
        // An agent that asks takes no other input than the one that it asks about.
        "editable": open.call.place != Place::Agent && open.gate.token.is_none(),
    });
    if let Some(expires) = open.gate.expires {
        approval["expiresAt"] = json!(expires);
    }
    approval
}

/// An answer to an approval, from anywhere.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnswerBody {
    approved: bool,
    reason: Option<String>,
    input: Option<Value>,
}

async fn answer(
    State(api): State<Api>,
    Speaker(principal): Speaker,
    Path(id): Path<String>,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    let bytes = read(&headers, body, api.limits.bytes).await?;
    let body: AnswerBody =
        serde_json::from_slice(&bytes).map_err(|error| Problem::bad_request(error.to_string()))?;
    if !body.approved && body.input.is_some() {
        return Err(Problem::bad_request(
            "input: only an approval can change it",
        ));
    }
    let decision = if body.approved {
        Decision::Approved {
            reason: body.reason,
            input: body.input,
        }
    } else {
        Decision::Denied {
            reason: body.reason,
        }
    };
    let gate = GateId::from(id);
    let answered = api.engine.answer(&principal, &gate, decision).await?;
    let told = decided(&gate, &answered);
    Ok(if answered.agrees {
        fresh(told)
    } else {
        Problem::already_decided(told).into_response()
    })
}

fn decided(gate: &GateId, answered: &Answered) -> Value {
    let closed = &answered.closed;
    let mut told = json!({"approvalId": gate, "decidedBy": closed.by, "decidedAt": closed.at});
    match &closed.decision {
        Decision::Approved { reason, input } => {
            told["approved"] = true.into();
            if let Some(reason) = reason {
                told["reason"] = reason.as_str().into();
            }
            if let Some(input) = input {
                told["input"] = input.clone();
            }
        }
        Decision::Denied { reason } => {
            told["approved"] = false.into();
            if let Some(reason) = reason {
                told["reason"] = reason.as_str().into();
            }
        }
        Decision::TimedOut => told["decision"] = "timed-out".into(),
        Decision::Superseded => told["decision"] = "superseded".into(),
        _ => told["decision"] = "cancelled".into(),
    }
    told
}

/// What came of a page's call, from anywhere.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum OutputBody {
    Output(Value),
    Error(String),
}

async fn output(
    State(api): State<Api>,
    Path(id): Path<String>,
    request: Request,
) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    // A worker of the agent's need not know whose chat it is.
    let principal = match asks::is_agent(&api, &parts.headers) {
        true => None,
        false => Some(identify(&api, &parts.headers, &parts.extensions)?),
    };
    let bytes = read(&parts.headers, body, api.limits.bytes).await?;
    let bad = |error: serde_json::Error| Problem::bad_request(error.to_string());
    let mut body: Map<String, Value> = serde_json::from_slice(&bytes).map_err(bad)?;
    // It may name the call as the agent does, and then has to say in which chat.
    let chat = match principal {
        Some(_) => None,
        None => body.remove("chat"),
    };
    let chat: Option<ChatId> = chat.map(serde_json::from_value).transpose().map_err(bad)?;
    let given = match serde_json::from_value(Value::Object(body)).map_err(bad)? {
        OutputBody::Output(output) => Ok(output),
        OutputBody::Error(error) => Err(error),
    };
    let engine = &api.engine;
    let taken = match principal {
        Some(principal) => {
            engine
                .output(&principal, &CallId::from(id.as_str()), given)
                .await?
        }
        None => engine.output_of_agent(chat, &id, given).await?,
    };
    Ok(fresh(json!({"toolCallId": id, "taken": taken})))
}

/// What a page has to know of the server before anything is said.
async fn info(State(engine): State<Engine>, Speaker(principal): Speaker) -> Response {
    fresh(json!({
        "agent": engine.agent_name(),
        "hears": engine.hears(),
        "principal": principal,
        "version": env!("CARGO_PKG_VERSION"),
    }))
}

async fn wallet(State(api): State<Api>, Speaker(principal): Speaker) -> Result<Response, Problem> {
    let Some(ledger) = &api.ledger else {
        return Ok(StatusCode::NO_CONTENT.into_response());
    };
    let wallet = ledger.wallet(&principal).await?;
    let payments = wallet.payments.iter().map(|payment| {
        json!({
            "transactionId": payment.transaction,
            "toolCallId": payment.call,
            "amount": dollars(payment.cents),
            "recipient": payment.recipient,
            "description": payment.description,
            "at": payment.at,
        })
    });
    Ok(fresh(json!({
        "balance": dollars(wallet.balance_cents),
        "currency": "USD",
        "payments": payments.collect::<Vec<_>>(),
    })))
}

/// Cents as dollars: a number that JSON prints as people write it.
pub(crate) fn dollars(cents: u64) -> Value {
    if cents.is_multiple_of(100) {
        json!(cents / 100)
    } else {
        // Amounts of money are far below what a double holds exactly.
        #[expect(
            clippy::cast_precision_loss,
            reason = "wallets hold less than 2^53 cents"
        )]
        let dollars = cents as f64 / 100.0;
        json!(dollars)
    }
}

/// Reads a JSON body, no larger than the limit.
///
/// The type must be JSON: a form of another site can't send that without asking first.
async fn read(headers: &HeaderMap, body: Body, limit: usize) -> Result<Vec<u8>, Problem> {
    let kind = headers
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok());
    let kind = kind
        .unwrap_or_default()
        .split(';')
        .next()
        .unwrap_or_default();
    if !kind.trim().eq_ignore_ascii_case("application/json") {
        return Err(Problem::unsupported_media_type());
    }
    let mut stream = body.into_data_stream();
    let (mut bytes, mut seen) = (Vec::new(), 0);
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|_| Problem::bad_request("the body was cut off"))?;
        seen += chunk.len();
        if seen <= limit {
            bytes.extend_from_slice(&chunk);
        } else if seen > limit + DRAIN {
            break;
        }
    }
    if seen > limit {
        return Err(Problem::too_large(limit));
    }
    Ok(bytes)
}

/// How much of a body that is too large is read all the same: a client that is still sending when
/// the connection closes may never see why.
const DRAIN: usize = 16 * 1024 * 1024;

/// A state of this moment, which no cache may keep.
pub(crate) fn fresh(value: Value) -> Response {
    ([(CACHE_CONTROL, "no-store")], Json(value)).into_response()
}
