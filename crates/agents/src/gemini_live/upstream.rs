//! The WebSocket to Gemini.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use gemini::live::Setup;
use gemini::{ClientMessage, ServerMessage, Status};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::http::HeaderMap;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::{Error as SocketError, Message};

use super::config::Config;
use crate::error::Error;
use crate::gemini::{Failure, Key};
use crate::socket::{self, Refused, Socket};

const PATH: &str = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent";

/// How long a session may take to be set up.
const SETUP: Duration = Duration::from_secs(30);

/// The address of Gemini, and the key.
#[derive(Clone)]
pub(super) struct Address {
    address: socket::Address,
    key: Key,
    connect: Duration,
}

impl std::fmt::Debug for Address {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.address.fmt(out)
    }
}

impl Address {
    pub(super) fn new(config: &Config) -> Result<Self, Error> {
        let common = &config.common;
        // To see now whether it can be sent.
        common.key.header()?;
        Ok(Self {
            address: socket::Address::new(crate::gemini::base_url(&common.base_url)?)?,
            key: common.key.clone(),
            connect: common.timeouts.connect,
        })
    }

    /// The handshake, with the key in its header.
    async fn connect(&self) -> Result<Socket, Failure> {
        let broken = || Failure::new("agent_bad_request", "The request could not be made.");
        let key = self.key.header().map_err(|_| broken())?;
        let mut headers = HeaderMap::new();
        headers.insert("x-goog-api-key", key);
        let opened = self.address.connect(PATH, headers, self.connect).await;
        opened.map_err(|refused| match refused {
            Refused::Unreachable => Failure::unreachable(),
            Refused::Status(status) => Failure::of_status(status, &Status::default(), ""),
            Refused::Request => broken(),
        })
    }
}

/// A session that is set up.
pub(super) struct Upstream {
    socket: Socket,
    key: Key,
}

impl Upstream {
    /// Connects, and sets a session up.
    pub(super) async fn open(address: &Address, setup: Setup) -> Result<Self, Failure> {
        let mut upstream = Self {
            socket: address.connect().await?,
            key: address.key.clone(),
        };
        let first = ClientMessage {
            setup: Some(setup),
            ..ClientMessage::default()
        };
        upstream.send(&first).await?;
        let complete = async {
            loop {
                let message = upstream.next().await?;
                if message.setup_complete.is_some() {
                    return Ok(());
                }
            }
        };
        match timeout(SETUP, complete).await {
            Ok(complete) => complete.map(|()| upstream),
            Err(_) => Err(Failure::timed_out()),
        }
    }

    pub(super) async fn send(&mut self, message: &ClientMessage) -> Result<(), Failure> {
        // Maps with text for keys can always be written.
        let text = serde_json::to_string(message).unwrap_or_default();
        let sent = self.socket.send(Message::text(text)).await;
        sent.map_err(|_| Failure::cut_off())
    }

    /// The next message. What can't be read is passed over.
    pub(super) async fn next(&mut self) -> Result<ServerMessage, Failure> {
        loop {
            let bytes = match self.socket.next().await {
                Some(Ok(Message::Text(text))) => text.as_bytes().to_vec(),
                Some(Ok(Message::Binary(bytes))) => bytes.to_vec(),
                Some(Ok(Message::Close(close))) => return Err(self.closed(close)),
                Some(Ok(_)) => continue,
                Some(Err(SocketError::Capacity(_))) => {
                    return Err(Failure::unreadable("a message of it is too large"));
                }
                Some(Err(_)) | None => return Err(Failure::cut_off()),
            };
            match serde_json::from_slice(&bytes) {
                Ok(message) => return Ok(message),
                Err(_) => return Err(Failure::unreadable("a message of it is not JSON")),
            }
        }
    }

    /// Why the socket was closed.
    fn closed(&self, close: Option<CloseFrame>) -> Failure {
        let Some(close) = close else {
            return Failure::cut_off();
        };
        let detail = self.key.redact(close.reason.as_str());
        let code = u16::from(close.code);
        tracing::debug!(code, detail, "gemini live socket closed");
        Failure::of_close(code, &detail)
    }
}
