//! One socket, from its opening to its close.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use engine::{Request, ViewerGuard, origin};
use futures_util::StreamExt;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::Instant;
use tungstenite::error::ProtocolError;
use turn::{ChatId, Principal};
use wire::decode::Problem;
use wire::socket::ClientFrame;

use super::frames::SocketFrames;
use super::outbox::Outbox;
use super::{legacy, official, speech};
use crate::access_log;
use crate::api::Api;
use crate::request_context::RequestId;
use crate::trace_sampler::TraceSampler;

/// One socket: who is at the other end, and what it has open.
pub(super) struct Socket {
    pub(super) api: Api,
    /// The id of the request that opened it.
    pub(super) id: RequestId,
    /// How many of its frames were refused.
    refused: AtomicU64,
    pub(super) principal: Principal,
    /// What is to be sent.
    pub(super) out: Outbox,
    /// The windows that are open, by their requests.
    pub(super) windows: HashMap<String, AbortHandle>,
    /// The chats of the requests, for those that stop them.
    pub(super) chats: HashMap<String, ChatId>,
    /// The chats of this socket: it counts as their viewer.
    viewed: HashMap<ChatId, ViewerGuard>,
    /// The chat whose microphone is open.
    pub(super) microphone: Option<ChatId>,
    pub(super) legacy: legacy::State,
}

/// Why a socket is closed.
type CloseReason = (u16, &'static str);

/// More is held of unfinished frames than may be, the most of it for its principal.
const UNFINISHED: CloseReason = (close_code::AGAIN, "too_many_bytes");

/// Serves a socket until it closes.
pub(super) async fn run(
    socket: WebSocket,
    api: Api,
    (id, principal): (RequestId, Principal),
    frames: &SocketFrames,
) {
    let limits = api.sockets;
    let (sink, mut incoming) = socket.split();
    let (out, mut writer) = Outbox::open(sink, limits.stall);
    let _open = api.metrics.socket();
    let mut closing = api.closing.clone();
    let mut state = Socket {
        api,
        id,
        refused: AtomicU64::new(0),
        principal,
        out,
        windows: HashMap::new(),
        chats: HashMap::new(),
        viewed: HashMap::new(),
        microphone: None,
        legacy: legacy::State::default(),
    };
    let mut ping = tokio::time::interval_at(Instant::now() + limits.ping, limits.ping);
    let mut last_input = Instant::now();
    let mut last_message = Instant::now();
    let (code, reason) = loop {
        tokio::select! {
            message = incoming.next() => match message {
                Some(Ok(message)) => {
                    last_input = Instant::now();
                    // Control frames come between the pieces of another, which stays as it is.
                    if !matches!(message, Message::Ping(_) | Message::Pong(_)) {
                        frames.completed();
                    }
                    if matches!(message, Message::Text(_) | Message::Binary(_)) {
                        last_message = last_input;
                    }
                    let trace = state.api.traces.map(TraceSampler::begin);
                    let origin = state.id.origin(trace);
                    let received = origin::scope(origin, state.receive(message));
                    if let Err(close) = received.await {
                        break close;
                    }
                }
                Some(Err(error)) => break unreadable(error),
                None => break (close_code::NORMAL, ""),
            },
            () = frames.is_cut() => break UNFINISHED,
            // Its client is gone, or does not read.
            _ = &mut writer => break (close_code::NORMAL, ""),
            _ = ping.tick() => {
                state.windows.retain(|_, window| !window.is_finished());
                if last_input.elapsed() > limits.silence {
                    break (close_code::POLICY, "no sign of life");
                }
                if state.windows.is_empty() && last_message.elapsed() > limits.idle {
                    break (close_code::NORMAL, "nothing was said for a while");
                }
                let _ = state.out.send(Message::Ping(Vec::new().into())).await;
            }
            () = shutdown_requested(&mut closing) => {
                break (close_code::AWAY, "the server goes away; come back");
            }
        }
    };
    for window in state.windows.values() {
        window.abort();
    }
    if let Some(refusal) = refusal(code) {
        state.api.metrics.refused("socket", refusal);
    }
    access_log::socket_closed(&state.id, &state.principal, code, reason);
    let close = Message::Close(Some(CloseFrame {
        code,
        reason: state.close_text(code, reason).into(),
    }));
    if (code, reason) == UNFINISHED {
        // Read on, it would hold what it is closed for.
        let _ = state.out.send(close).await;
        let _ = tokio::time::timeout(CLOSE_TIMEOUT / 10, &mut writer).await;
        writer.abort();
        return;
    }
    // A client that is gone, or does not read, gets no close frame. One that still sends may finish: a
    // connection that is dropped with bytes unread is reset, and the close frame with it.
    let closing_handshake = async {
        if !writer.is_finished() {
            let _ = state.out.send(close).await;
            let _ = (&mut writer).await;
        }
        while let Some(Ok(_)) = incoming.next().await {}
        let is_unread = [close_code::SIZE, close_code::PROTOCOL, close_code::INVALID];
        if is_unread.contains(&code) {
            std::future::pending::<()>().await;
        }
    };
    let _ = tokio::time::timeout(CLOSE_TIMEOUT, closing_handshake).await;
    writer.abort();
}

/// What a close counts as, where the client is responsible for it.
fn refusal(code: u16) -> Option<&'static str> {
    Some(match code {
        close_code::NORMAL | close_code::AWAY => return None,
        close_code::PROTOCOL => "close_1002",
        close_code::UNSUPPORTED => "close_1003",
        close_code::INVALID => "close_1007",
        close_code::POLICY => "close_1008",
        close_code::SIZE => "close_1009",
        _ => "close_1013",
    })
}

/// Why a socket closes whose next frame can't be read.
fn unreadable(error: axum::Error) -> CloseReason {
    let error = error.into_inner();
    match error.downcast_ref::<tungstenite::Error>() {
        Some(tungstenite::Error::Capacity(_)) => (close_code::SIZE, "a frame that is too large"),
        Some(tungstenite::Error::Utf8(_)) => (close_code::INVALID, "a text that is not UTF-8"),
        Some(tungstenite::Error::Protocol(ProtocolError::ResetWithoutClosingHandshake)) => {
            (close_code::NORMAL, "")
        }
        Some(tungstenite::Error::Protocol(_)) => (close_code::PROTOCOL, "not a WebSocket frame"),
        // The connection is gone.
        _ => (close_code::NORMAL, ""),
    }
}

/// Of how many chats one socket can be a viewer.
const MAX_VIEWED_CHATS: usize = 256;

/// How many bytes a close frame holds besides its code.
const CLOSE_REASON: usize = 123;

/// How long a client may take to read the close frame.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// Waits until the server shuts down; for ever, where it never will.
async fn shutdown_requested(closing: &mut watch::Receiver<bool>) {
    if closing.wait_for(|closing| *closing).await.is_err() {
        std::future::pending::<()>().await;
    }
}

impl Socket {
    /// Takes a message, or returns why the socket has to be closed.
    async fn receive(&mut self, message: Message) -> Result<(), CloseReason> {
        let text = match message {
            Message::Text(text) => text,
            Message::Binary(_) if !self.api.engine.supports_audio() => {
                return Err((close_code::UNSUPPORTED, "this agent takes no binary frames"));
            }
            Message::Binary(pcm) => {
                self.admit_bytes(pcm.len())?;
                speech::push_audio(self, None, Ok(speech::sound(pcm.to_vec()))).await;
                return Ok(());
            }
            // A close is answered by reading on, until nothing comes any more.
            Message::Ping(_) | Message::Pong(_) | Message::Close(_) => return Ok(()),
        };
        self.admit_bytes(text.len())?;
        let limits = self.api.limits;
        // A client that does not read its responses holds this up: no more than one response is kept for it.
        let read = self.api.bodies.parse(Bytes::from(text), move |text| {
            let frame = ClientFrame::from_slice(text, &limits);
            // A frame of a request is answered to that request; any other answer would make the
            // official client give up all that it has open.
            frame.map_err(|error| (official::request_of(text), legacy::is_message(text), error))
        });
        let (frame, _large) = read.await.map_err(|problem| match problem.code() {
            "too_large" => (close_code::SIZE, "a frame with too many values"),
            code => (close_code::AGAIN, code),
        })?;
        match frame {
            Ok(ClientFrame::Official(frame)) => official::receive(self, frame).await,
            Ok(ClientFrame::Legacy(frame)) => legacy::receive(self, frame).await,
            Err((_, _, error)) if matches!(error.problem, Problem::NotJson(_)) => {
                return Err((close_code::PROTOCOL, "not valid JSON"));
            }
            Err((Some(request), _, error)) => official::fail(self, request, &error).await,
            Err((None, true, error)) => legacy::refuse(self, &error).await,
            Err((None, false, error)) => legacy::fail(self, &error).await,
        }
        Ok(())
    }

    /// The id of the next refusal of a frame.
    pub(super) fn next_refusal(&self) -> RequestId {
        self.id
            .part(self.refused.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// The reason of a close, with the socket's id where the client is at fault and the frame can hold it.
    fn close_text(&self, code: u16, reason: &str) -> String {
        let text = format!("{reason} [{}]", self.id);
        match [close_code::NORMAL, close_code::AWAY].contains(&code) || text.len() > CLOSE_REASON {
            true => reason.to_owned(),
            false => text,
        }
    }

    /// Sends a text, or lets it be where the socket is gone.
    pub(super) async fn say(&self, text: String) {
        let _ = self.out.say(text).await;
    }

    /// Registers a viewer of a chat, until the socket closes.
    pub(super) fn register_viewer(&mut self, chat: &ChatId) {
        if self.viewed.len() < MAX_VIEWED_CHATS && !self.viewed.contains_key(chat) {
            let viewer = self.api.engine.register_viewer(chat);
            self.viewed.insert(chat.clone(), viewer);
        }
    }

    /// Counts bytes, as far as quotas go. They are not parsed here, so there is no
    /// request to answer to.
    fn admit_bytes(&self, bytes: usize) -> Result<(), CloseReason> {
        let within = self.api.quotas.admit_bytes(&self.principal, bytes);
        within.map_err(|refusal| (close_code::POLICY, refusal.code))
    }

    /// Lets a request in, as far as quotas go.
    pub(super) async fn admit_turn(
        &self,
        request: &Request,
    ) -> Result<(), crate::problem::Problem> {
        let quotas = &self.api.quotas;
        quotas.admit_frame(&self.principal)?;
        let engine = &self.api.engine;
        quotas.admit_turn(engine, &self.principal, request).await
    }

    /// Whether one more window may be opened.
    pub(super) fn has_room(&mut self) -> bool {
        self.windows.retain(|_, window| !window.is_finished());
        self.chats
            .retain(|request, _| self.windows.contains_key(request));
        self.windows.len() < self.api.sockets.windows
    }
}
