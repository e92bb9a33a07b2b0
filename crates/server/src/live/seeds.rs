//! The seeds' frames.

use axum::extract::ws::Message;
use engine::engine::Request;
use engine::{Speech, WindowStream};
use tokio::sync::mpsc;
use turn::{CallId, ChatId};
use wire::chunk::Error;
use wire::seeds::{ClientFrame, ServerFrame};
use wire::{Chunk, Trigger};

use super::socket::Socket;
use crate::problem;

/// What a socket of this dialect remembers.
#[derive(Default)]
pub(super) struct State {
    /// The chat that was spoken of last: frames without an id mean this one.
    chat: Option<ChatId>,
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
            let chat = match (id, &socket.seeds.chat) {
                (Some(id), _) => ChatId::from(id),
                (None, Some(chat)) => chat.clone(),
                (None, None) => ChatId::from(crate::demo::random("chat_")),
            };
            socket.seeds.chat = Some(chat.clone());
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
            let call = CallId::from(tool_call_id);
            let given = socket
                .api
                .engine
                .output(&socket.principal, &call, Ok(result));
            if let Err(error) = given.await {
                fail(socket, problem::told(&error)).await;
            }
        }
        ClientFrame::Ping { timestamp } => {
            socket.say(ServerFrame::Pong { timestamp }.to_text()).await;
        }
        ClientFrame::Interrupt { .. } => {
            if let Some(chat) = socket.seeds.chat.clone() {
                // A chat that is not there has nothing to be interrupted.
                let _ = socket.api.engine.stop(&socket.principal, &chat).await;
            }
        }
        // Only a live agent hears.
        ClientFrame::AudioControl { .. } | ClientFrame::AudioChunk { .. } => {}
    }
}

async fn send(socket: &mut Socket, mut request: Request) {
    if !socket.has_room() {
        return fail(socket, "too many turns are open on this socket".to_owned()).await;
    }
    // These pages name the message that they answer only where they regenerate it.
    if request.trigger == Trigger::SubmitMessage {
        request.message_id = None;
    }
    let sent = socket
        .api
        .engine
        .send(&socket.principal, request, Speech::Seeds);
    match sent.await {
        Ok(window) => {
            let turn = window.message_id().to_owned();
            // One stream lasts for the whole turn: an answer opens no other.
            if !socket.windows.contains_key(&turn) {
                let task = tokio::spawn(forward(window, socket.out.clone()));
                socket.windows.insert(turn, task.abort_handle());
            }
        }
        Err(error) => fail(socket, problem::told(&error)).await,
    }
}

/// Tells the page that something went wrong.
pub(super) async fn fail(socket: &Socket, error_text: String) {
    let chunk = Chunk::Error(Error { error_text });
    socket.say(ServerFrame::Chunk(chunk).to_text()).await;
}

async fn forward(mut window: WindowStream, out: mpsc::Sender<Message>) {
    while let Some(chunks) = window.next().await {
        for chunk in chunks {
            let text = ServerFrame::Chunk(chunk).to_text();
            if out.send(Message::Text(text.into())).await.is_err() {
                return;
            }
        }
    }
    let done = ServerFrame::Done.to_text();
    let _ = out.send(Message::Text(done.into())).await;
}
