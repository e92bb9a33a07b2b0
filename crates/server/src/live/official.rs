//! The AI SDK's own frames.

use engine::origin;
use engine::{Dialect, Request, SendOptions, WindowStream};
use serde_json::{Map, Value};
use turn::ChatId;
use view::ResumePoint;
use wire::frame::{ClientFrame, ServerFrame, chunk_text, extent, unforeseen_chunk_text};
use wire::{Chunk, Profile};

use super::OnAbort;
use super::frame_error::FrameError;
use super::outbox::Outbox;
use super::socket::Socket;
use crate::trace_sampler::TraceSampler;
use crate::while_running;

/// How long the id of a request may be: it is in every frame of its answer.
const REQUEST_ID: usize = 256;

/// Why no further window is opened.
const TOO_MANY: &str = "too many requests are open on this socket";

/// Takes a frame in, at the place in a trace that its headers name, if they do.
pub(super) async fn receive(socket: &mut Socket, frame: ClientFrame) {
    let headers = match &frame {
        ClientFrame::Send(send) => Some(&send.headers),
        ClientFrame::Resume(resume) => Some(&resume.headers),
        ClientFrame::Abort { .. } => None,
    };
    let headers = headers.filter(|_| socket.api.traces.is_some());
    match headers.and_then(TraceSampler::place_frame) {
        Some(trace) => {
            let origin = socket.id.origin(Some(trace));
            origin::scope(origin, carry_out(socket, frame)).await;
        }
        None => carry_out(socket, frame).await,
    }
}

async fn carry_out(socket: &mut Socket, frame: ClientFrame) {
    match frame {
        ClientFrame::Send(wire::frame::Send { request_id, .. })
        | ClientFrame::Resume(wire::frame::Resume { request_id, .. })
            if request_id.len() > REQUEST_ID =>
        {
            let problem = format!("a requestId has at most {REQUEST_ID} bytes");
            fail(socket, request_id, FrameError::bad_request(problem)).await;
        }
        ClientFrame::Send(mut send) => {
            if !socket.has_room() {
                let problem = FrameError::too_many_windows(TOO_MANY);
                return fail(socket, send.request_id, problem).await;
            }
            let dialect = dialect(&send.body);
            let options = match while_running::options(&mut send.body) {
                Ok(options) => options,
                Err(problem) => {
                    let problem = FrameError::bad_request(problem);
                    return fail(socket, send.request_id, problem).await;
                }
            };
            let request = Request {
                chat: ChatId::from(send.id),
                trigger: send.trigger,
                message_id: send.message_id,
                messages: send.messages,
            };
            if let Err(problem) = socket.admit_turn(&request).await {
                return fail(socket, send.request_id, problem).await;
            }
            let (engine, principal) = (&socket.api.engine, &socket.principal);
            let chat = request.chat.clone();
            let options = SendOptions {
                request_id: send.resumable.then(|| send.request_id.as_str().into()),
                ..options
            };
            let sent = engine.send_with(principal, request, options, dialect);
            let numbers = Numbers::new(send.resumable, None);
            match sent.await {
                Ok(window) => watch(socket, send.request_id, chat, window, numbers),
                Err(error) => fail(socket, send.request_id, &error).await,
            }
        }
        ClientFrame::Resume(mut resume) => {
            if !socket.has_room() {
                let problem = FrameError::too_many_windows(TOO_MANY);
                return fail(socket, resume.request_id, problem).await;
            }
            if let Err(refusal) = socket.api.quotas.admit_frame(&socket.principal) {
                return fail(socket, resume.request_id, refusal).await;
            }
            let after = match after(&resume.body) {
                Ok(after) => after,
                Err(problem) => return fail(socket, resume.request_id, problem).await,
            };
            let point = resume_point(&mut resume);
            let numbers = Numbers::new(resume.resumable, point.as_ref());
            let chat = ChatId::from(resume.id);
            let (engine, principal) = (&socket.api.engine, &socket.principal);
            let dialect = dialect(&resume.body);
            let window = match resume.resumable {
                true => {
                    let window = engine.resume_from(principal, &chat, dialect, after, point);
                    window.await
                }
                false => engine.resume_after(principal, &chat, dialect, after).await,
            };
            match window {
                Ok(Some(window)) => watch(socket, resume.request_id, chat, window, numbers),
                Ok(None) => {
                    let request_id = resume.request_id;
                    socket
                        .say(ServerFrame::NoActive { request_id }.to_json())
                        .await;
                }
                Err(error) => fail(socket, resume.request_id, &error).await,
            }
        }
        ClientFrame::Abort {
            request_id,
            stop,
            id,
        } => {
            if let Some(window) = socket.windows.remove(&request_id) {
                window.abort();
            }
            // The window may have been on a socket that is lost.
            let quotas = &socket.api.quotas;
            let named = id.filter(|_| stop && quotas.admit_frame(&socket.principal).is_ok());
            let named = named.map(ChatId::from);
            if let Some(chat) = socket.chats.remove(&request_id).or(named)
                && (stop || socket.api.on_abort == OnAbort::Stop)
            {
                // A turn that is over has nothing left to be stopped.
                let _ = socket.api.engine.stop(&socket.principal, &chat).await;
            }
        }
    }
}

/// Which releases the client is for. The official transport came with 7, and yet 6 may use it.
fn dialect(body: &Map<String, Value>) -> Dialect {
    let profile = body.get("profile").and_then(Value::as_str);
    Dialect::Sdk(match profile {
        Some("v7") => Profile::V7,
        _ => Profile::Shared,
    })
}

/// The place in the journal up to which a client that resumes has the chat. It is in the body,
/// where every client can put it.
fn after(body: &Map<String, Value>) -> Result<Option<u64>, FrameError> {
    match body.get("after") {
        None | Some(Value::Null) => Ok(None),
        Some(after) => match after.as_u64() {
            None => Err(FrameError::bad_request("body.after: expected a number")),
            after => Ok(after),
        },
    }
}

/// Fails one request.
pub(super) async fn fail(socket: &Socket, request_id: String, problem: impl Into<FrameError>) {
    let reported = problem.into().report(socket);
    let frame = ServerFrame::Error {
        request_id,
        error_text: Some(reported.text),
        code: Some(reported.code.to_owned()),
        retry_after_ms: reported.retry_after_ms,
    };
    socket.say(frame.to_json()).await;
}

/// The request that a frame which could not be read is about.
pub(super) fn request_of(text: &[u8]) -> Option<String> {
    let frame: Value = serde_json::from_slice(text).ok()?;
    frame.get("requestId")?.as_str().map(str::to_owned)
}

/// Where a client is that resumes by sequences, if it says all that this takes.
fn resume_point(resume: &mut wire::frame::Resume) -> Option<ResumePoint> {
    Some(ResumePoint {
        last_sequence: resume.last_sequence?,
        step_sequence: resume.step_sequence?,
        step_hash: resume.step_hash?,
        approvals: std::mem::take(&mut resume.approvals),
        message_id: resume.message_id.take()?,
    })
}

/// How the chunks of a request are numbered.
enum Numbers {
    /// From 0, one by one, as the official client demands: the next one.
    Counted(u64),
    /// As the window numbers them: the last one.
    Windowed(u64),
}

impl Numbers {
    fn new(resumable: bool, point: Option<&ResumePoint>) -> Self {
        match resumable {
            true => Self::Windowed(point.map_or(0, |point| point.last_sequence)),
            false => Self::Counted(0),
        }
    }

    /// The frame of the next chunk, which has this sequence if its window has any.
    fn frame(&mut self, request_id: &str, chunk: &Chunk, sequence: Option<u64>) -> String {
        match self {
            Self::Counted(next) => {
                let sequence = *next;
                *next += 1;
                chunk_text(request_id, sequence, chunk)
            }
            Self::Windowed(last) => {
                // The notice that a server is gone has none, and does not advance a client's position.
                let sequence = sequence.unwrap_or(*last);
                let is_foreseen = sequence == *last + extent(chunk);
                *last = sequence;
                match is_foreseen {
                    true => chunk_text(request_id, sequence, chunk),
                    false => unforeseen_chunk_text(request_id, sequence, chunk),
                }
            }
        }
    }
}

/// Opens a window for a request.
fn watch(
    socket: &mut Socket,
    request_id: String,
    chat: ChatId,
    window: WindowStream,
    numbers: Numbers,
) {
    socket.register_viewer(&chat);
    socket.chats.insert(request_id.clone(), chat);
    let task = {
        let (request_id, out) = (request_id.clone(), socket.out.clone());
        let open = socket.api.metrics.window("socket");
        tokio::spawn(async move {
            forward(window, request_id, out, numbers).await;
            drop(open);
        })
    };
    // The same id again is the client's mistake; the older window is the one to go.
    if let Some(old) = socket.windows.insert(request_id, task.abort_handle()) {
        old.abort();
    }
}

async fn forward(mut window: WindowStream, request_id: String, out: Outbox, mut numbers: Numbers) {
    let start = ServerFrame::Start {
        request_id: request_id.clone(),
    };
    if out.say(start.to_json()).await.is_err() {
        return;
    }
    while let Some(chunks) = window.next().await {
        let sequences = window.sequences();
        let frames = chunks.iter().enumerate().map(|(place, chunk)| {
            let sequence = sequences.get(place).copied();
            numbers.frame(&request_id, chunk, sequence)
        });
        if out.say_all(frames).await.is_err() {
            return;
        }
    }
    let _ = out.say(ServerFrame::End { request_id }.to_json()).await;
}
