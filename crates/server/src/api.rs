//! The API: chats, and outputs of page calls.

use std::sync::Arc;

use axum::Json;
use axum::Router;
use axum::extract::{FromRef, Request, State};
use axum::http::header::CACHE_CONTROL;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, patch, post};
use engine::command::View;
use engine::{Dialect, Engine};
use serde::Serialize;
use store::memory::MemoryJournal;
use store::{Location, Nonces};
use tokio::net::TcpListener;
use tokio::sync::watch;
use turn::event::End;
use turn::{CallId, ChatId, Principal};
use wire::{ChatRequest, DecodeError, Limits, OutputReply, Profile};

use crate::ag_ui;
use crate::approvals;
use crate::asks;
use crate::body::{Bodies, Labelled, read, read_chat};
use crate::caller::{Caller, admit};
use crate::chats;
use crate::cluster;
use crate::connection::{self, ConnectionLimits};
use crate::cors;
#[cfg(feature = "cli")]
use crate::document::{ChatPath, ProfileHeader, Profiles, ResumeQuery};
use crate::event_stream;
use crate::events::{self, EventHub};
use crate::guard::{self, Guard};
use crate::history;
use crate::identity::{AnyIdentity, Identity, KeyIdentity};
use crate::legacy_chat;
use crate::live::{self, Frames, OnAbort, SocketLimits};
use crate::metrics::Metrics;
use crate::origin::Origins;
use crate::paging;
use crate::path_id::PathId;
use crate::problem::Problem;
use crate::quota::{QuotaLimits, Quotas};
use crate::reads::Reads;
use crate::replies::{Chat, Info, OutputTaken, QueuedMessage, Stopped, TurnError};
use crate::request_context::{self, note_chat, note_window};
use crate::shared_key::SharedKey;
use crate::ticket::Secret;
use crate::trace_sampler::TraceSampler;
use crate::while_running;
use crate::workflow_run::{self, WorkflowRuns};

/// What the API serves.
#[derive(Clone)]
pub struct Api {
    /// The engine that runs the turns.
    pub engine: Engine,
    /// Who sends a request.
    pub identity: AnyIdentity,
    /// Whether everybody is served as one principal, which pages then show.
    pub insecure: bool,
    /// How much a request may hold.
    pub limits: Limits,
    /// How many connections there may be, and how long each may take.
    pub connections: ConnectionLimits,
    /// How much one principal may have open and send.
    pub quotas: Quotas,
    /// The memory that bodies of requests share.
    pub bodies: Bodies,
    /// The memory that frames of sockets share while they come.
    pub frames: Frames,
    /// Whose turn it is to be given what may be large.
    pub reads: Reads,
    /// What streams of events are fed with.
    pub events: EventHub,
    /// Windows of clients that count the chunks which they have got.
    pub workflow_runs: WorkflowRuns,
    /// How sockets are kept.
    pub sockets: SocketLimits,
    /// What an `abort` frame does to the turn.
    pub on_abort: OnAbort,
    /// Sites that may change something or open a socket, besides the one that is served here.
    pub origins: Arc<Origins>,
    /// What is counted.
    pub metrics: Metrics,
    /// Which requests are traced; nothing is, without it.
    pub traces: Option<TraceSampler>,
    /// What tickets are signed with.
    pub secret: Secret,
    /// Which tickets were used.
    pub nonces: Arc<dyn Nonces>,
    /// What other servers over the same store are known by, where there are any.
    pub cluster: Option<SharedKey>,
    /// Where the journals are: servers over one PostgreSQL tell each other of a failover.
    pub location: Location,
    /// What the agent's side is known by, where its tools may ask people and pages, and its workers
    /// bring results of calls.
    pub agent_key: Option<SharedKey>,
    /// Becomes true when the server shuts down: sockets then ask their clients to reconnect.
    pub closing: watch::Receiver<bool>,
}

impl Api {
    /// An API over an engine, for this machine only.
    pub fn new(engine: Engine) -> Self {
        Self {
            events: EventHub::new(engine.clone()),
            engine,
            identity: KeyIdentity::default().into(),
            insecure: false,
            limits: Limits::default(),
            connections: ConnectionLimits::default(),
            quotas: Quotas::new(QuotaLimits::default(), Limits::default().bytes),
            bodies: Bodies::default(),
            frames: Frames::default(),
            reads: Reads::default(),
            workflow_runs: WorkflowRuns::default(),
            sockets: SocketLimits::default(),
            on_abort: OnAbort::default(),
            origins: Arc::default(),
            metrics: Metrics::new(),
            traces: None,
            secret: Secret::fresh(),
            nonces: Arc::new(MemoryJournal::default()),
            cluster: None,
            location: Location::Memory,
            agent_key: None,
            closing: watch::channel(false).1,
        }
    }

    /// The same, with another way to know who sends a request.
    #[must_use]
    pub fn with_identity(self, identity: impl Identity) -> Self {
        Self {
            identity: identity.into(),
            ..self
        }
    }

    /// Its routes. They may be nested under a path of an application's own router.
    pub fn router(self) -> Router {
        let observers = (self.metrics.clone(), self.traces);
        self.router_with(Router::new())
            .layer(from_fn_with_state(observers, request_context::apply))
    }

    /// Its routes, and others behind the same guard, with the same principal.
    pub(crate) fn router_with(self, others: Router<Self>) -> Router {
        let origins = self.origins.clone();
        let guard = Guard::new(origins.clone());
        Router::new()
            .route("/api/chat", post(send))
            .route("/stream", post(send_of_legacy_page))
            .route("/clear-sessions", post(legacy_chat::clear_sessions))
            .route("/api/chats", get(chats::list))
            .route(
                "/api/chats/{id}",
                patch(chats::update).delete(chats::delete),
            )
            .route("/api/chat/{id}", get(view).delete(chats::delete))
            .route("/api/ag-ui", post(ag_ui::run))
            .route("/api/ag-ui/connect", post(ag_ui::connect))
            .route("/api/chat/{id}/stream", get(resume))
            .route("/api/chat/{id}/stop", post(stop))
            .route("/api/chat/{id}/journal", get(history::journal))
            .route("/api/chat/{id}/recording", get(history::recording))
            .route(
                "/api/chat/{id}/branches",
                get(history::branches).post(history::select_branch),
            )
            .route("/api/chat/live", get(live::open))
            .route("/live", get(live::open))
            .route("/api/ticket", post(live::issue))
            .route("/api/events", get(events::stream))
            .route("/api/approvals", get(approvals::list))
            .route(
                "/api/approvals/{id}",
                get(approvals::one).post(approvals::answer),
            )
            .route("/api/calls/{id}", post(output))
            .route("/api/info", get(info))
            .route("/api/agent/asks", post(asks::ask))
            .route(cluster::PATH, post(cluster::receive))
            .route(cluster::LINEAGE_PATH, get(cluster::compare))
            .merge(others)
            // Before the layers: one that is set after them would pass them by.
            .method_not_allowed_fallback(method_not_allowed)
            .layer(from_fn_with_state(guard, guard::check))
            // Outside of the guard, so that a page can read why it was refused.
            .layer(from_fn_with_state(origins, cors::apply))
            .with_state(self)
    }
}

impl Api {
    /// Serves the routes on a listener, until it fails. For more than that, take the
    /// [`Api::router`] and serve it with [`serve`](crate::serve()), or with
    /// `into_make_service_with_connect_info::<SocketAddr>()`: without keys, the API must know who is
    /// at the other end.
    pub async fn serve(self, listener: TcpListener) -> std::io::Result<()> {
        let limits = self.connections;
        connection::serve(listener, self.router(), limits, std::future::pending()).await
    }
}

impl FromRef<Api> for Engine {
    fn from_ref(api: &Api) -> Self {
        api.engine.clone()
    }
}

impl FromRef<Api> for Reads {
    fn from_ref(api: &Api) -> Self {
        api.reads.clone()
    }
}

/// Which releases of the SDK the client speaks for: `x-adk-stream-profile: v7`, or `?profile=v7`.
pub(crate) struct RequestedProfile(pub(crate) Profile);

impl RequestedProfile {
    pub(crate) fn of(headers: &HeaderMap, uri: &Uri) -> Result<Self, Problem> {
        let header = headers.get("x-adk-stream-profile");
        // One that is no text is none of those below.
        let header = header.map(|value| value.to_str().unwrap_or_default());
        let query = uri.query().unwrap_or_default().split('&');
        let query = query
            .filter_map(|pair| pair.strip_prefix("profile="))
            .next();
        let named = |name: Option<&str>| match name {
            None => Ok(None),
            Some("shared") => Ok(Some(Profile::Shared)),
            Some("v7") => Ok(Some(Profile::V7)),
            Some(_) => Err(Problem::bad_request(
                "profile: expected \"shared\" or \"v7\"",
            )),
        };
        // Also where the header decides: what is misspelled is not what was meant.
        let (header, query) = (named(header)?, named(query)?);
        Ok(Self(header.or(query).unwrap_or(Profile::Shared)))
    }
}

/// Answers a method that a route does not have.
pub(crate) async fn method_not_allowed(method: Method, uri: Uri) -> Problem {
    Problem::method_not_allowed(&method, uri.path())
}

/// Sends what a page of `useChat` has, and opens a window on the turn.
#[cfg_attr(feature = "cli", utoipa::path(
    post, path = "/api/chat", tag = "Chats", operation_id = "sendMessage",
    params(Profiles, ProfileHeader),
    request_body(content = ref("#/components/schemas/ChatRequest"), content_type = "application/json"),
    responses(
        (status = 200, description = "A window on the turn, in the AI SDK's protocol.",
         content_type = "text/event-stream", body = String),
        (status = 400, description = "bad_request, invalid_answer, invalid_chat_id, invalid_input, invalid_output, invalid_page_tool"),
        (status = 404, description = "unknown_approval, unknown_chat, unknown_message"),
        (status = 409, description = "approval_changed, call_not_open, forged_output, input_changed, message_withdrawn, unknown_approval, unknown_call"),
        (status = 410, description = "chat_deleted"),
        (status = 413, description = "chat_too_large, too_large"),
        (status = 429, description = "queue_full, too_many_open_approvals, too_many_open_chats"),
        (status = 503, description = "audio_unsupported"),
    )
))]
pub(crate) async fn send(
    State(api): State<Api>,
    Caller(principal): Caller,
    request: Request,
) -> Result<Response, Problem> {
    let caller = principal.clone();
    // `WorkflowChatTransport` sends neither a type nor the chat's id.
    let may_name_none = Labelled::of(request.headers()) == Labelled::Text;
    let parse = move |bytes: &[u8], limits: &Limits| match may_name_none {
        true => parse_unnamed(&caller, bytes, limits),
        false => Ok((ChatRequest::from_slice(bytes, limits)?, NamedBy::Client)),
    };
    send_parsed(api, principal, request, parse).await
}

/// Who gave a chat its id.
enum NamedBy {
    Client,
    /// This server, since the body has none: the page may have begun a new chat since.
    Server,
}

/// The same, for pages of the legacy bridge, which need not name their chat.
#[cfg_attr(feature = "cli", utoipa::path(
    post, path = "/stream", tag = "Chats", operation_id = "sendMessageOfLegacyPage",
    params(Profiles, ProfileHeader),
    request_body(content = ref("#/components/schemas/LegacyChatRequest"), content_type = "application/json"),
    responses(
        (status = 200, description = "A window on the turn, in the AI SDK's protocol.",
         content_type = "text/event-stream", body = String),
        (status = 400, description = "bad_request, invalid_answer, invalid_chat_id, invalid_input, invalid_output, invalid_page_tool"),
        (status = 404, description = "unknown_approval, unknown_chat, unknown_message"),
        (status = 409, description = "approval_changed, call_not_open, forged_output, input_changed, message_withdrawn, unknown_approval, unknown_call"),
        (status = 410, description = "chat_deleted"),
        (status = 413, description = "chat_too_large, too_large"),
        (status = 429, description = "queue_full, too_many_open_approvals, too_many_open_chats"),
        (status = 503, description = "audio_unsupported"),
    )
))]
pub(crate) async fn send_of_legacy_page(
    State(api): State<Api>,
    Caller(principal): Caller,
    request: Request,
) -> Result<Response, Problem> {
    if Labelled::of(request.headers()) != Labelled::Json {
        return Err(Problem::unsupported_media_type());
    }
    let caller = principal.clone();
    let parse = move |bytes: &[u8], limits: &Limits| parse_unnamed(&caller, bytes, limits);
    send_parsed(api, principal, request, parse).await
}

/// A request that need not name its chat.
fn parse_unnamed(
    caller: &Principal,
    bytes: &[u8],
    limits: &Limits,
) -> Result<(ChatRequest, NamedBy), DecodeError> {
    let mut named_by = NamedBy::Client;
    let request = ChatRequest::from_slice_or(bytes, limits, |messages| {
        named_by = NamedBy::Server;
        legacy_chat::of_page(caller, messages)
    })?;
    Ok((request, named_by))
}

async fn send_parsed(
    api: Api,
    principal: Principal,
    request: Request,
    parse: impl FnOnce(&[u8], &Limits) -> Result<(ChatRequest, NamedBy), DecodeError> + Send + 'static,
) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    let RequestedProfile(profile) = RequestedProfile::of(&parts.headers, &parts.uri)?;
    let is_workflow = Labelled::of(&parts.headers) == Labelled::Text;
    let body = read_chat(&api, Some(&principal), &parts.headers, body).await?;
    let limits = api.limits;
    let parsed = body.parse(move |bytes| Ok(parse(bytes, &limits)?)).await?;
    let ((request, named_by), _room) = parsed;
    let chat = match named_by {
        NamedBy::Client => ChatId::from(request.id),
        NamedBy::Server => legacy_chat::current(&api.engine, &request.id).await?,
    };
    let mut extra = request.extra;
    let options = while_running::options(&mut extra).map_err(Problem::bad_request)?;
    let request = engine::Request {
        chat,
        trigger: request.trigger,
        message_id: request.message_id,
        messages: request.messages,
    };
    note_chat(&request.chat);
    api.quotas
        .admit_turn(&api.engine, &principal, &request)
        .await?;
    let dialect = Dialect::Sdk(profile);
    let sent = api.engine.send_with(&principal, request, options, dialect);
    let window = match sent.await {
        Ok(window) => window,
        Err(error) => return Err(approvals::explain(&api.engine, &principal, error).await),
    };
    note_window(&window);
    // The agent's first output is then written at once, with the start of the window.
    tokio::task::yield_now().await;
    let open = api.metrics.window("sse");
    Ok(match is_workflow {
        true => api.workflow_runs.begin(&principal, window, open),
        false => event_stream::response(window, open),
    })
}

/// Resumes a chat: the whole current message from its start, then live.
#[cfg_attr(feature = "cli", utoipa::path(
    get, path = "/api/chat/{id}/stream", tag = "Chats", operation_id = "resumeChat",
    params(ChatPath, ResumeQuery, ProfileHeader),
    responses(
        (status = 200, description = "A window on the last turn.", content_type = "text/event-stream", body = String),
        (status = 204, description = "The last turn is over, or the chat is unknown."),
        (status = 400, description = "bad_request"),
        (status = 409, description = "run_lost"),
    )
))]
pub(crate) async fn resume(
    State(api): State<Api>,
    Caller(principal): Caller,
    PathId(id): PathId,
    headers: HeaderMap,
    uri: Uri,
) -> Result<Response, Problem> {
    let RequestedProfile(profile) = RequestedProfile::of(&headers, &uri)?;
    let after = paging::after(&uri)?;
    let start = paging::start_index(&uri)?;
    if let Some(start) = start {
        match api.workflow_runs.resume(&id, &principal, start).await {
            Some(resumed) => return resumed,
            None if start > 0 => return Err(Problem::run_lost()),
            None => {}
        }
    }
    let chat = ChatId::from(id);
    note_chat(&chat);
    let window = api
        .engine
        .resume_after(&principal, &chat, Dialect::Sdk(profile), after);
    let window = window.await?;
    Ok(match window {
        Some(window) => {
            note_window(&window);
            let open = api.metrics.window("sse");
            match start {
                Some(_) => api.workflow_runs.begin_as(chat, &principal, window, open),
                None => event_stream::response(window, open),
            }
        }
        None if start.is_some() => workflow_run::nothing(),
        None => StatusCode::NO_CONTENT.into_response(),
    })
}

/// Stops the turn.
#[cfg_attr(feature = "cli", utoipa::path(
    post, path = "/api/chat/{id}/stop", tag = "Chats", operation_id = "stopChat",
    params(ChatPath),
    responses(
        (status = 200, description = "Whether there was a turn to stop.", body = Stopped),
        (status = 404, description = "unknown_chat"),
    )
))]
pub(crate) async fn stop(
    State(engine): State<Engine>,
    Caller(principal): Caller,
    PathId(id): PathId,
) -> Result<Response, Problem> {
    let stopped = engine.stop(&principal, &ChatId::from(id)).await?;
    Ok(fresh(Stopped { stopped }))
}

/// A chat with its messages.
#[cfg_attr(feature = "cli", utoipa::path(
    get, path = "/api/chat/{id}", tag = "Chats", operation_id = "readChat",
    params(ChatPath),
    responses(
        (status = 200, description = "The chat.", body = Chat),
        (status = 404, description = "unknown_chat"),
    )
))]
pub(crate) async fn view(
    State(engine): State<Engine>,
    State(reads): State<Reads>,
    Caller(principal): Caller,
    PathId(id): PathId,
) -> Result<Response, Problem> {
    let _turn = reads.turn(&principal).await?;
    let view = engine.view(&principal, &ChatId::from(id.as_str())).await?;
    Ok(fresh(shown(id, view)))
}

/// A chat as a page shows it.
pub(crate) fn shown(id: String, view: View) -> Chat {
    let error = match view.end {
        Some(End::Failed {
            code,
            message,
            retry_after_ms,
        }) => Some(TurnError {
            code,
            message,
            retry_after_ms,
        }),
        _ => None,
    };
    let queued = view.queued.into_iter();
    Chat {
        id,
        status: view.status.into(),
        messages: view.messages,
        seq: view.seq,
        error,
        queued: queued
            .map(|(while_running, message)| QueuedMessage {
                while_running: while_running.into(),
                message,
            })
            .collect(),
    }
}

/// Settles a call that a page runs, from anywhere.
#[cfg_attr(feature = "cli", utoipa::path(
    post, path = "/api/calls/{id}", tag = "Approvals and calls", operation_id = "settleCall",
    params(("id" = String, Path, description = "The call: its `toolCallId`.")),
    request_body(content = ref("#/components/schemas/CallOutput"), content_type = "application/json"),
    responses(
        (status = 200, description = "Whether this output counts.", body = OutputTaken),
        (status = 400, description = "bad_request, invalid_answer, invalid_chat_id, invalid_output"),
        (status = 404, description = "unknown_call, unknown_chat"),
        (status = 409, description = "call_not_open, forged_output"),
    ),
    security(("bearer" = []), ("apiKey" = []), ("agentKey" = [])),
))]
pub(crate) async fn output(
    State(api): State<Api>,
    PathId(id): PathId,
    request: Request,
) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    // A worker of the agent's need not know whose chat it is.
    let principal = match asks::is_agent(&api, &parts.headers) {
        true => None,
        false => Some(api.identity.identify(&parts).await?),
    };
    if let Some(principal) = &principal {
        admit(&api, principal, &parts.extensions)?;
    }
    let body = read(&api, principal.as_ref(), &parts.headers, body).await?;
    let limits = api.limits;
    let parse = move |bytes: &[u8]| Ok(OutputReply::from_slice(bytes, &limits)?);
    let (reply, _room) = body.parse(parse).await?;
    let OutputReply {
        output: given,
        chat,
    } = reply;
    if principal.is_some() && chat.is_some() {
        return Err(Problem::bad_request("chat: only the agent's side names it"));
    }
    // It may name the call as the agent does, and then has to name the chat.
    let chat = chat.map(ChatId::from);
    let engine = &api.engine;
    let taken = match principal {
        Some(principal) => {
            engine
                .output(&principal, &CallId::from(id.as_str()), given)
                .await?
        }
        None => engine.output_of_agent(chat, &id, given).await?,
    };
    Ok(fresh(OutputTaken {
        tool_call_id: id,
        taken,
    }))
}

/// What a page has to know of the server before anything is said.
#[cfg_attr(feature = "cli", utoipa::path(
    get, path = "/api/info", tag = "Server", operation_id = "readInfo",
    responses((status = 200, description = "The server.", body = Info)),
))]
pub(crate) async fn info(State(api): State<Api>, Caller(principal): Caller) -> Response {
    fresh(Info {
        agent: api.engine.agent_name().to_owned(),
        audio_input: api.engine.supports_audio(),
        principal: principal.to_string(),
        version: env!("CARGO_PKG_VERSION"),
        insecure: api.insecure.then_some(true),
    })
}

/// A state of this moment, which no cache may keep.
pub(crate) fn fresh(value: impl Serialize) -> Response {
    ([(CACHE_CONTROL, "no-store")], Json(value)).into_response()
}
