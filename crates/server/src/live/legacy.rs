//! The frames of the legacy bridge.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use engine::Request;
use engine::{Dialect, WindowStream};
use serde_json::Value;
use tokio::task::JoinHandle;
use turn::{CallId, ChatId};
use wire::chunk::Error;
use wire::legacy::{ClientFrame, ServerFrame, chunk_text};
use wire::{Chunk, Trigger};

use super::frame_error::FrameError;
use super::outbox::Outbox;
use super::socket::Socket;
use super::speech;
use crate::legacy_chat;

/// What a socket of this dialect remembers.
#[derive(Default)]
pub(super) struct State {
    /// The chat that was spoken of last: frames without an id mean this one.
    chat: Option<ChatId>,
    /// The stream of each chat that was opened last.
    streams: HashMap<ChatId, Stream>,
}

/// What is sent of a turn.
struct Stream {
    /// The id of its message.
    turn: String,
    task: JoinHandle<()>,
    /// Whether the page has closed it. It does so at the step of a question, and opens another when it
    /// sends something: what comes then is read as the answer to that.
    is_left: Arc<AtomicBool>,
}

/// Takes a frame in.
pub(super) async fn receive(socket: &mut Socket, frame: ClientFrame) {
    match frame {
        ClientFrame::Message {
            id,
            messages,
            trigger,
            message_id,
        } => {
            let is_named = id.is_some();
            // Its page has one chat, over this socket, the next and `POST /stream`.
            let id = id.or_else(|| match socket.legacy.chat {
                None => legacy_chat::of_page(&socket.principal, &messages),
                Some(_) => None,
            });
            let mut chat = chat(socket, id);
            if !is_named && legacy_chat::is_legacy(&chat) {
                let engine = &socket.api.engine;
                chat = match legacy_chat::current(engine, chat.as_str()).await {
                    Ok(chat) => chat,
                    Err(error) => return refuse(socket, &error).await,
                };
                socket.legacy.chat = Some(chat.clone());
            }
            let request = Request {
                chat,
                trigger,
                message_id,
                messages,
            };
            send(socket, request).await;
        }
        ClientFrame::ToolResult {
            tool_call_id,
            result,
        } => {
            if let Err(refusal) = socket.api.quotas.admit_frame(&socket.principal) {
                return fail(socket, refusal).await;
            }
            let call = CallId::from(tool_call_id);
            let given = socket
                .api
                .engine
                .output(&socket.principal, &call, Ok(result));
            if let Err(error) = given.await {
                fail(socket, &error).await;
            }
        }
        ClientFrame::Ping { timestamp } => {
            socket.say(ServerFrame::Pong { timestamp }.to_text()).await;
        }
        ClientFrame::Interrupt { .. } => {
            if let Some(chat) = socket.legacy.chat.clone() {
                // A chat that is not there has nothing to be interrupted.
                let _ = socket.api.engine.stop(&socket.principal, &chat).await;
            }
        }
        ClientFrame::AudioControl { id, action } => speech::control(socket, id, action).await,
        ClientFrame::AudioChunk {
            id,
            chunk,
            sample_rate,
            channels,
            bit_depth,
        } => {
            let sound = speech::decode(&chunk, sample_rate, channels, bit_depth);
            speech::push_audio(socket, id, sound).await;
        }
    }
}

/// The chat that a frame is about: the one that it names, the one that was spoken of last, or a new
/// one.
pub(super) fn chat(socket: &mut Socket, id: Option<String>) -> ChatId {
    let chat = match (id, &socket.legacy.chat) {
        (Some(id), _) => ChatId::from(id),
        (None, Some(chat)) => chat.clone(),
        (None, None) => ChatId::from(legacy_chat::of_nobody()),
    };
    socket.legacy.chat = Some(chat.clone());
    chat
}

/// Sends a request, and opens a window on its turn unless there is one.
pub(super) async fn send(socket: &mut Socket, mut request: Request) {
    if !socket.has_room() {
        let problem = FrameError::too_many_windows("too many turns are open on this socket");
        return refuse(socket, problem).await;
    }
    // These pages name the message that they answer only where they regenerate it.
    if request.trigger == Trigger::SubmitMessage {
        request.message_id = None;
    }
    if let Err(problem) = socket.admit_turn(&request).await {
        return refuse(socket, problem).await;
    }
    let chat = request.chat.clone();
    let answers = request.messages.last().map(wire::Message::answers);
    let is_new = answers.is_none_or(|answers| answers.is_empty());
    // These pages need not give their messages ids, and yet no client takes a message without one. With a
    // history, its id follows from its place, as over HTTP. Most of these pages send their last message
    // alone, and so the same frame for a person who says the same thing twice: those are two turns.
    let is_alone = request.messages.len() == 1;
    if let Some(said) = request.messages.last_mut().filter(|_| is_new && is_alone) {
        said.id
            .get_or_insert_with(|| crate::random_id::random_id("message_"));
    }
    let stream = socket.legacy.streams.get(&chat);
    let is_left = stream.is_some_and(|stream| stream.is_left.swap(false, Ordering::Relaxed));
    if is_left && is_new {
        leave(socket, &chat).await;
    }
    let sent = socket
        .api
        .engine
        .send(&socket.principal, request, Dialect::Legacy);
    match sent.await {
        Ok(window) => {
            socket.register_viewer(&chat);
            let turn = window.message_id().to_owned();
            // One stream lasts for the whole turn: an answer opens no other.
            if !socket.windows.contains_key(&turn) {
                // Frames name no turn: one that the page still reads is sent to its end before the next.
                let streams = &mut socket.legacy.streams;
                streams.retain(|_, stream| !stream.task.is_finished());
                let before = streams.remove(&chat).filter(|_| is_new);
                let out = socket.out.clone();
                let is_left = Arc::new(AtomicBool::new(false));
                let left = is_left.clone();
                let open = socket.api.metrics.window("socket");
                let task = tokio::spawn(async move {
                    if let Some(before) = before {
                        let _ = before.task.await;
                    }
                    forward(window, out, &left).await;
                    drop(open);
                });
                socket.windows.insert(turn.clone(), task.abort_handle());
                let stream = Stream {
                    turn,
                    task,
                    is_left,
                };
                socket.legacy.streams.insert(chat, stream);
            }
        }
        Err(error) => refuse(socket, &error).await,
    }
}

/// Sends the page an error.
pub(super) async fn fail(socket: &Socket, problem: impl Into<FrameError>) {
    let error_text = problem.into().report(socket).text;
    let chunk = Chunk::Error(Error { error_text });
    socket.say(ServerFrame::Chunk(chunk).to_text()).await;
}

/// Sends the page why its message opens no stream. It waits for the end of one all the same.
pub(super) async fn refuse(socket: &Socket, problem: impl Into<FrameError>) {
    fail(socket, problem).await;
    socket.say(ServerFrame::Done.to_text()).await;
}

/// Whether a frame that can't be read is a message.
pub(super) fn is_message(text: &[u8]) -> bool {
    let frame: Option<Value> = serde_json::from_slice(text).ok();
    frame.is_some_and(|frame| frame["type"] == "message")
}

/// Ends a stream that the page has closed: more of it would be read as part of the next.
async fn leave(socket: &mut Socket, chat: &ChatId) {
    if let Some(stream) = socket.legacy.streams.remove(chat) {
        stream.task.abort();
        let _ = stream.task.await;
        socket.windows.remove(&stream.turn);
    }
}

async fn forward(mut window: WindowStream, out: Outbox, is_left: &AtomicBool) {
    while let Some(chunks) = window.next().await {
        if window.asks() {
            is_left.store(true, Ordering::Relaxed);
        }
        let texts = chunks.iter().map(|chunk| chunk_text(chunk));
        if out.say_all(texts).await.is_err() {
            return;
        }
    }
    let _ = out.say(ServerFrame::Done.to_text()).await;
}
