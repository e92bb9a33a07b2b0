//! AG-UI's endpoint: a run is a window on a turn, as an event stream.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use std::vec;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::HeaderValue;
use axum::response::{IntoResponse, Response};
use engine::{Dialect, SendOptions, WindowStream};
use futures_util::stream::unfold;
use serde_json::Value;
use turn::{ChatId, Principal};
use view::{ClientRun, Run};
use wire::ag_ui::RunRequest;
use wire::{Chunk, sse};

use crate::api::Api;
use crate::approvals;
use crate::body::read;
use crate::caller::Caller;
use crate::metrics::GaugeGuard;
use crate::problem::Problem;
use crate::request_context::{note_chat, note_window};

/// How long a run may be silent: proxies close connections that are.
const KEEPALIVE: Duration = Duration::from_secs(15);

/// About how many bytes are written at once. A client that does not read has as many made for it, and
/// not a whole turn.
const BATCH: usize = 64 * 1024;

/// Begins a run for clients of AG-UI: takes in what is new in its messages and answers, and follows the turn.
#[cfg_attr(feature = "cli", utoipa::path(
    post, path = "/api/ag-ui", tag = "Chats", operation_id = "runAgUi",
    request_body(content = ref("#/components/schemas/RunRequest"), content_type = "application/json"),
    responses(
        (status = 200, description = "The events of the run.", content_type = "text/event-stream", body = String),
        (status = 400, description = "bad_request, invalid_answer, invalid_chat_id, invalid_input, invalid_output, invalid_page_tool"),
        (status = 404, description = "unknown_approval, unknown_chat, unknown_message"),
        (status = 409, description = "approval_changed, call_not_open, forged_output, input_changed, unknown_approval, unknown_call"),
        (status = 410, description = "chat_deleted"),
        (status = 413, description = "chat_too_large, too_large"),
        (status = 429, description = "too_many_open_approvals, too_many_open_chats"),
        (status = 503, description = "audio_unsupported"),
    )
))]
pub(crate) async fn run(
    State(api): State<Api>,
    Caller(principal): Caller,
    request: Request,
) -> Result<Response, Problem> {
    let request = parse(&api, &principal, request).await?;
    match ClientRun::of(&request).map_err(Problem::bad_request)? {
        ClientRun::Connect => follow(&api, &principal, &request).await,
        ClientRun::Send {
            trigger,
            message_id,
            messages,
        } => {
            let run = Run::of(&request);
            let sent = engine::Request {
                chat: ChatId::from(request.thread_id),
                trigger,
                message_id,
                messages,
            };
            api.quotas
                .admit_turn(&api.engine, &principal, &sent)
                .await?;
            let options = SendOptions {
                page_tools: request.tools,
                body: request.forwarded_props,
                ..SendOptions::default()
            };
            let window = api
                .engine
                .send_with(&principal, sent, options, Dialect::AgUi);
            match window.await {
                Ok(window) => {
                    note_window(&window);
                    Ok(response(run, Some((window, api.metrics.window("sse")))))
                }
                Err(error) => Err(approvals::explain(&api.engine, &principal, error).await),
            }
        }
    }
}

/// Shows a chat to a client of AG-UI, and follows its turn, whatever messages the request brings.
#[cfg_attr(feature = "cli", utoipa::path(
    post, path = "/api/ag-ui/connect", tag = "Chats", operation_id = "connectAgUi",
    request_body(content = ref("#/components/schemas/ConnectRequest"), content_type = "application/json"),
    responses(
        (status = 200, description = "The events of the run.", content_type = "text/event-stream", body = String),
        (status = 400, description = "bad_request, invalid_chat_id"),
    )
))]
pub(crate) async fn connect(
    State(api): State<Api>,
    Caller(principal): Caller,
    request: Request,
) -> Result<Response, Problem> {
    let request = parse(&api, &principal, request).await?;
    follow(&api, &principal, &request).await
}

async fn parse(api: &Api, principal: &Principal, request: Request) -> Result<RunRequest, Problem> {
    let (parts, body) = request.into_parts();
    let body = read(api, Some(principal), &parts.headers, body).await?;
    let limits = api.limits;
    let parse = move |bytes: &[u8]| Ok(RunRequest::from_slice(bytes, &limits)?);
    let (request, _room) = body.parse(parse).await?;
    note_chat(&ChatId::from(request.thread_id.as_str()));
    Ok(request)
}

/// The chat as it is, and its turn to the end of this window. A chat that does not exist is empty.
async fn follow(
    api: &Api,
    principal: &Principal,
    request: &RunRequest,
) -> Result<Response, Problem> {
    let chat = ChatId::from(request.thread_id.as_str());
    let window = api
        .engine
        .resume_after(principal, &chat, Dialect::AgUi, Some(0));
    let window = window.await?;
    if let Some(window) = &window {
        note_window(window);
    }
    let window = window.map(|window| (window, api.metrics.window("sse")));
    Ok(response(Run::of(request), window))
}

/// What is left of a run's response.
enum Rest {
    /// It begins.
    Start(Option<(WindowStream, GaugeGuard)>),
    /// Its window continues.
    Window(Box<Following>),
}

/// A run's window, and what was read of it and is not written yet.
struct Following {
    window: WindowStream,
    ready: vec::IntoIter<Arc<Chunk>>,
    _open: GaugeGuard,
}

fn response(run: Run, window: Option<(WindowStream, GaugeGuard)>) -> Response {
    let state = Some((run, Rest::Start(window)));
    let events = unfold(state, async |state| {
        let (run, rest) = state?;
        let (bytes, rest) = next(run, rest).await;
        Some((Ok::<_, Infallible>(bytes), rest))
    });
    let mut response = Body::from_stream(events).into_response();
    let headers = sse::HEADERS.into_iter();
    let headers = headers.filter(|(name, _)| {
        // Hop-by-hop headers are the HTTP library's, and the stream is not the AI SDK's.
        !matches!(*name, "connection" | "x-vercel-ai-ui-message-stream")
    });
    for (name, value) in headers {
        let value = HeaderValue::from_static(value);
        response.headers_mut().insert(name, value);
    }
    response
}

/// What is to be written next, and what follows it.
async fn next(mut run: Run, rest: Rest) -> (Bytes, Option<(Run, Rest)>) {
    let mut bytes = Vec::new();
    let mut following = match rest {
        Rest::Start(window) => {
            sse::write_value(&mut bytes, &run.start());
            let rest = match window {
                Some((window, open)) => {
                    let following = Following {
                        window,
                        ready: Vec::new().into_iter(),
                        _open: open,
                    };
                    Some((run, Rest::Window(Box::new(following))))
                }
                None => {
                    write(&mut bytes, run.nothing());
                    None
                }
            };
            return (bytes.into(), rest);
        }
        Rest::Window(following) => following,
    };
    if following.ready.len() == 0 {
        match tokio::time::timeout(KEEPALIVE, following.window.next()).await {
            Ok(Some(chunks)) => following.ready = chunks.into_iter(),
            Ok(None) => {
                write(&mut bytes, run.cut());
                return (bytes.into(), None);
            }
            Err(_) => sse::write_comment(&mut bytes, "still here"),
        }
    }
    for chunk in following.ready.by_ref() {
        write(&mut bytes, run.event(&chunk));
        if bytes.len() >= BATCH {
            break;
        }
    }
    (bytes.into(), Some((run, Rest::Window(following))))
}

fn write(bytes: &mut Vec<u8>, events: impl IntoIterator<Item = Value>) {
    for event in events {
        sse::write_value(bytes, &event);
    }
}
