//! One socket, from its opening to its close.

use std::collections::HashMap;
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message, WebSocket, close_code};
use tokio::sync::{mpsc, watch};
use tokio::task::AbortHandle;
use tokio::time::Instant;
use turn::Principal;
use wire::decode::Problem;
use wire::socket::ClientFrame;

use super::{official, seeds};
use crate::api::Api;

/// One socket: who is at the other end, and what it has open.
pub(super) struct Socket {
    pub(super) api: Api,
    pub(super) principal: Principal,
    /// What is to be sent. It has a bound: a client that does not read holds up its windows, and
    /// never a turn.
    pub(super) out: mpsc::Sender<Message>,
    /// The windows that are open, by their requests.
    pub(super) windows: HashMap<String, AbortHandle>,
    pub(super) seeds: seeds::State,
}

/// Why a socket is closed.
type Farewell = (u16, &'static str);

/// Serves a socket until it closes.
pub(super) async fn run(mut socket: WebSocket, api: Api, principal: Principal) {
    let limits = api.sockets;
    let (out, mut outgoing) = mpsc::channel(64);
    let mut closing = api.closing.clone();
    let mut state = Socket {
        api,
        principal,
        out,
        windows: HashMap::new(),
        seeds: seeds::State::default(),
    };
    let mut ping = tokio::time::interval(limits.ping);
    let mut heard = Instant::now();
    let mut spoke = Instant::now();
    let farewell = loop {
        tokio::select! {
            message = socket.recv() => match message {
                Some(Ok(message)) => {
                    heard = Instant::now();
                    if matches!(message, Message::Text(_) | Message::Binary(_)) {
                        spoke = heard;
                    }
                    if let Err(farewell) = state.receive(message).await {
                        break farewell;
                    }
                }
                // Too large a frame, or no WebSocket at all: the library has said so.
                Some(Err(_)) => break (close_code::SIZE, "a frame that is too large, or none at all"),
                None => break (close_code::NORMAL, ""),
            },
            Some(message) = outgoing.recv() => {
                match tokio::time::timeout(limits.stall, socket.send(message)).await {
                    Ok(Ok(())) => {}
                    Ok(Err(_)) => break (close_code::NORMAL, ""),
                    Err(_) => break (close_code::POLICY, "you do not read what you are sent"),
                }
            }
            _ = ping.tick() => {
                state.windows.retain(|_, window| !window.is_finished());
                if heard.elapsed() > limits.silence {
                    break (close_code::POLICY, "no sign of life");
                }
                if state.windows.is_empty() && spoke.elapsed() > limits.idle {
                    break (close_code::NORMAL, "nothing was said for a while");
                }
                let ping = socket.send(Message::Ping(Vec::new().into()));
                if tokio::time::timeout(limits.stall, ping).await.is_err() {
                    break (close_code::POLICY, "you do not read what you are sent");
                }
            }
            () = told_to_close(&mut closing) => {
                break (close_code::AWAY, "the server goes away; come back");
            }
        }
    };
    for window in state.windows.values() {
        window.abort();
    }
    let (code, reason) = farewell;
    let reason = reason.into();
    let close = socket.send(Message::Close(Some(CloseFrame { code, reason })));
    // Whoever is gone need not be told.
    let _ = tokio::time::timeout(Duration::from_secs(1), close).await;
}

/// Waits until the server goes away; for ever, where nobody will say so.
async fn told_to_close(closing: &mut watch::Receiver<bool>) {
    if closing.wait_for(|closing| *closing).await.is_err() {
        std::future::pending::<()>().await;
    }
}

impl Socket {
    /// Takes a message in, or says why the socket has to be closed.
    async fn receive(&mut self, message: Message) -> Result<(), Farewell> {
        let text = match &message {
            Message::Text(text) => text.as_str(),
            Message::Binary(_) => {
                return Err((close_code::UNSUPPORTED, "this agent takes no binary frames"));
            }
            Message::Ping(_) | Message::Pong(_) => return Ok(()),
            Message::Close(_) => return Err((close_code::NORMAL, "")),
        };
        match ClientFrame::from_slice(text.as_bytes(), &self.api.limits) {
            Ok(ClientFrame::Official(frame)) => official::receive(self, frame).await,
            Ok(ClientFrame::Seeds(frame)) => seeds::receive(self, frame).await,
            Err(error) if matches!(error.problem, Problem::NotJson(_)) => {
                return Err((close_code::PROTOCOL, "not valid JSON"));
            }
            // A frame of a request is answered to that request; any other answer would make the
            // official client give up all that it has open.
            Err(error) => match official::request_of(text) {
                Some(request) => official::fail(self, request, error.to_string()).await,
                None => seeds::fail(self, error.to_string()).await,
            },
        }
        Ok(())
    }

    /// Sends a text, or lets it be where the socket is gone.
    pub(super) async fn say(&self, text: String) {
        let _ = self.out.send(Message::Text(text.into())).await;
    }

    /// Whether one more window may be opened.
    pub(super) fn has_room(&mut self) -> bool {
        self.windows.retain(|_, window| !window.is_finished());
        self.windows.len() < self.api.sockets.windows
    }
}
