//! One socket, from its opening to its close.

use std::collections::HashMap;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use engine::engine::{Attending, Request};
use futures_util::StreamExt;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::Instant;
use tungstenite::error::ProtocolError;
use turn::{ChatId, Principal};
use wire::decode::{DecodeError, Problem};
use wire::socket::ClientFrame;

use super::frames::SocketFrames;
use super::outbox::Outbox;
use super::{legacy, official, speech};
use crate::api::Api;

/// One socket: who is at the other end, and what it has open.
pub(super) struct Socket {
    pub(super) api: Api,
    pub(super) principal: Principal,
    /// What is to be sent.
    pub(super) out: Outbox,
    /// The windows that are open, by their requests.
    pub(super) windows: HashMap<String, AbortHandle>,
    /// The chats of the requests, for those that stop them.
    pub(super) chats: HashMap<String, ChatId>,
    /// The chats that were spoken of: somebody is there for them.
    attending: HashMap<ChatId, Attending>,
    /// The chat whose microphone is open.
    pub(super) microphone: Option<ChatId>,
    pub(super) legacy: legacy::State,
}

/// Why a socket is closed.
type Farewell = (u16, &'static str);

/// More is held of unfinished frames than may be, the most of it for its principal.
const UNFINISHED: Farewell = (close_code::AGAIN, "too_many_bytes");

/// Serves a socket until it closes.
pub(super) async fn run(socket: WebSocket, api: Api, principal: Principal, frames: &SocketFrames) {
    let limits = api.sockets;
    let (sink, mut incoming) = socket.split();
    let (out, mut writer) = Outbox::open(sink, limits.stall);
    let mut closing = api.closing.clone();
    let mut state = Socket {
        api,
        principal,
        out,
        windows: HashMap::new(),
        chats: HashMap::new(),
        attending: HashMap::new(),
        microphone: None,
        legacy: legacy::State::default(),
    };
    let mut ping = tokio::time::interval_at(Instant::now() + limits.ping, limits.ping);
    let mut heard = Instant::now();
    let mut spoke = Instant::now();
    let (code, reason) = loop {
        tokio::select! {
            message = incoming.next() => match message {
                Some(Ok(message)) => {
                    heard = Instant::now();
                    // Control frames come between the pieces of another, which stays as it is.
                    if !matches!(message, Message::Ping(_) | Message::Pong(_)) {
                        frames.completed();
                    }
                    if matches!(message, Message::Text(_) | Message::Binary(_)) {
                        spoke = heard;
                    }
                    if let Err(farewell) = state.receive(message).await {
                        break farewell;
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
                if heard.elapsed() > limits.silence {
                    break (close_code::POLICY, "no sign of life");
                }
                if state.windows.is_empty() && spoke.elapsed() > limits.idle {
                    break (close_code::NORMAL, "nothing was said for a while");
                }
                let _ = state.out.send(Message::Ping(Vec::new().into())).await;
            }
            () = told_to_close(&mut closing) => {
                break (close_code::AWAY, "the server goes away; come back");
            }
        }
    };
    for window in state.windows.values() {
        window.abort();
    }
    let close = Message::Close(Some(CloseFrame {
        code,
        reason: reason.into(),
    }));
    if (code, reason) == UNFINISHED {
        // Read on, it would hold what it is closed for.
        let _ = state.out.send(close).await;
        let _ = tokio::time::timeout(FAREWELL / 10, &mut writer).await;
        writer.abort();
        return;
    }
    // Whoever is gone, or does not read, need not be told. Whoever still sends is let finish: a
    // connection that is dropped with bytes unread is reset, and the farewell with it.
    let told = async {
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
    let _ = tokio::time::timeout(FAREWELL, told).await;
    writer.abort();
}

/// Why a socket is closed of which the next frame can't be read.
fn unreadable(error: axum::Error) -> Farewell {
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

/// For how many chats somebody can be there on one socket.
const ATTENDED: usize = 256;

/// How long a client may take to hear why it is closed.
const FAREWELL: Duration = Duration::from_secs(1);

/// Waits until the server goes away; for ever, where nobody will say so.
async fn told_to_close(closing: &mut watch::Receiver<bool>) {
    if closing.wait_for(|closing| *closing).await.is_err() {
        std::future::pending::<()>().await;
    }
}

impl Socket {
    /// Takes a message in, or says why the socket has to be closed.
    async fn receive(&mut self, message: Message) -> Result<(), Farewell> {
        let text = match message {
            Message::Text(text) => text,
            Message::Binary(_) if !self.api.engine.hears() => {
                return Err((close_code::UNSUPPORTED, "this agent takes no binary frames"));
            }
            Message::Binary(pcm) => {
                self.admit_bytes(pcm.len())?;
                speech::hear(self, None, Ok(speech::sound(pcm.to_vec()))).await;
                return Ok(());
            }
            // A close is answered by reading on, until nothing comes any more.
            Message::Ping(_) | Message::Pong(_) | Message::Close(_) => return Ok(()),
        };
        self.admit_bytes(text.len())?;
        let limits = self.api.limits;
        // Whoever does not read what it is answered holds this up: it keeps no more than the answer.
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
            Err((Some(request), _, error)) => official::fail(self, request, told(&error)).await,
            Err((None, true, error)) => legacy::refuse(self, told(&error)).await,
            Err((None, false, error)) => legacy::fail(self, told(&error)).await,
        }
        Ok(())
    }

    /// Sends a text, or lets it be where the socket is gone.
    pub(super) async fn say(&self, text: String) {
        let _ = self.out.say(text).await;
    }

    /// Says that somebody is there for a chat, until the socket closes.
    pub(super) fn attend(&mut self, chat: &ChatId) {
        if self.attending.len() < ATTENDED && !self.attending.contains_key(chat) {
            let attending = self.api.engine.attend(chat);
            self.attending.insert(chat.clone(), attending);
        }
    }

    /// Lets bytes in, as far as quotas go. What they say is not looked at otherwise, so there is no
    /// request to answer to.
    fn admit_bytes(&self, bytes: usize) -> Result<(), Farewell> {
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

/// What is wrong with a frame. Chats' ids are refused with one code, wherever that shows.
fn told(error: &DecodeError) -> String {
    match &error.problem {
        Problem::BadChatId(_) => format!("{}: {error}", error.problem.code()),
        _ => error.to_string(),
    }
}
