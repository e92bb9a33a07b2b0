//! The socket, as frames come and go.

use std::time::Duration;

use axum::extract::ws::{Message, WebSocket};
use gemini::Seconds;
use gemini::live::{ClientMessage, GoAway, ServerMessage};
use serde_json::{Value, json};

use super::session_end::{SessionEnd, shortened};
use crate::core::Exchange;
use crate::log::{Happening, json_or_text, without_media};
use crate::options::Frames;

/// How long a client may take to answer a close frame.
const PARTING: Duration = Duration::from_secs(1);

/// Fields of a message that are not in its type.
const KNOWN: [&str; 2] = ["contextUpdate", "context_update"];

/// The socket, as frames come and go.
pub(super) struct Wire {
    socket: WebSocket,
    exchange: Exchange,
    frames: Frames,
}

impl Wire {
    pub(super) fn new(socket: WebSocket, exchange: &Exchange, frames: Frames) -> Self {
        Self {
            socket,
            exchange: exchange.clone(),
            frames,
        }
    }

    /// The next message of the client. Dropping the future loses nothing.
    pub(super) async fn receive(&mut self) -> Result<ClientMessage, SessionEnd> {
        let gone = |code, reason| Err(SessionEnd::Gone { code, reason });
        let bytes = loop {
            match self.socket.recv().await {
                Some(Ok(Message::Text(text))) => break text.as_bytes().to_vec(),
                Some(Ok(Message::Binary(bytes))) => break bytes.to_vec(),
                Some(Ok(Message::Close(Some(frame)))) => {
                    return gone(Some(frame.code), frame.reason.to_string());
                }
                Some(Ok(Message::Close(None))) => return gone(Some(1005), String::new()),
                Some(Ok(_)) => {}
                Some(Err(error)) => return gone(None, error.to_string()),
                None => return gone(None, String::new()),
            }
        };
        self.exchange.write(Happening::Received {
            data: json_or_text(&bytes),
        });
        let message: ClientMessage = serde_json::from_slice(&bytes).map_err(|error| {
            SessionEnd::invalid(format!("Invalid JSON payload received. {error}"))
        })?;
        let stranger = message
            .rest
            .keys()
            .find(|key| !KNOWN.contains(&key.as_str()));
        match stranger {
            Some(name) => Err(SessionEnd::unknown_name(name)),
            None => Ok(message),
        }
    }

    /// Sends a frame; a string verbatim.
    pub(super) async fn send(&mut self, frame: Value) -> Result<(), SessionEnd> {
        let text = match &frame {
            Value::String(text) => text.clone(),
            frame => frame.to_string(),
        };
        self.exchange.write(Happening::Sent {
            data: without_media(frame),
        });
        let message = match self.frames {
            Frames::Binary => Message::Binary(text.into_bytes().into()),
            Frames::Text => Message::Text(text.into()),
        };
        self.socket
            .send(message)
            .await
            .map_err(|error| SessionEnd::Gone {
                code: None,
                reason: error.to_string(),
            })
    }

    /// Announces that the connection will be closed.
    pub(super) async fn go_away(&mut self, time_left: Duration) -> Result<(), SessionEnd> {
        let go_away = GoAway {
            time_left: Some(Seconds(time_left)),
            ..GoAway::default()
        };
        let message = ServerMessage {
            go_away: Some(go_away),
            ..ServerMessage::default()
        };
        self.send(json!(message)).await
    }

    /// Ends the socket, as it is to end.
    pub(super) async fn end(mut self, end: SessionEnd) {
        let (code, reason, by_emulator) = match &end {
            SessionEnd::Close { code, reason } => (Some(*code), shortened(reason), true),
            SessionEnd::Cut => (None, "", true),
            SessionEnd::Gone { code, reason } => (*code, reason.as_str(), false),
        };
        self.exchange.write(Happening::Closed {
            code,
            reason: reason.to_owned(),
            by_emulator,
        });
        let message = match end {
            SessionEnd::Close { code, reason } => Some(SessionEnd::message(code, &reason)),
            // The client waits for its own end to come back, which goes out as one reads on.
            SessionEnd::Gone { code: Some(_), .. } => None,
            SessionEnd::Gone { .. } | SessionEnd::Cut => return,
        };
        let parting = async {
            if let Some(message) = message
                && self.socket.send(message).await.is_err()
            {
                return;
            }
            // What the client still sends is read: else the system would break the connection off,
            // and the client might never see why.
            while let Some(Ok(_)) = self.socket.recv().await {}
        };
        let _ = tokio::time::timeout(PARTING, parting).await;
    }
}
