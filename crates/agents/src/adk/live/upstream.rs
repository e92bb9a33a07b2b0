//! The WebSocket to ADK.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use reqwest::Url;
use reqwest::header::HeaderMap;
use serde_json::{Value, json};
use tokio::runtime::Handle;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::{Error as SocketError, Message};

use super::super::config::Config;
use super::super::event::Event;
use super::super::failure;
use super::super::server::headers;
use crate::error::Error;
use crate::gemini::{Failure, base_url};
use crate::gemini_live::Modality;
use crate::socket::{Address, Refused, Socket};

/// How long a server may take to open a socket.
const CONNECT: Duration = Duration::from_secs(10);

/// After how long a silence the connection is probed. A tool that is not async blocks the
/// whole server, so that it is not to be expected to answer at once.
const HEARTBEAT: Duration = Duration::from_secs(60);

/// How long ADK has to end a run by itself.
const CLOSE_GRACE: Duration = Duration::from_millis(500);

/// How long closing a socket may take.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// Where sockets are opened, and how they are to answer.
#[derive(Debug)]
pub(super) struct Endpoint {
    address: Address,
    headers: HeaderMap,
    app: String,
    modality: Modality,
}

impl Endpoint {
    pub(super) fn new(config: &Config, modality: Modality) -> Result<Self, Error> {
        Ok(Self {
            address: Address::new(base_url(&config.url)?)?,
            headers: headers(config)?,
            app: config.app.clone(),
            modality,
        })
    }

    /// Opens a socket for a session.
    pub(super) async fn open(&self, user: &str, session: &str) -> Result<Upstream, Failure> {
        let path = self.path(user, session);
        let opened = self.address.connect(&path, self.headers.clone(), CONNECT);
        match opened.await {
            Ok(socket) => Ok(Upstream {
                socket: Some(socket),
                is_doubtful: false,
            }),
            Err(Refused::Status(status)) => Err(failure::of_status(status, "")),
            Err(Refused::Unreachable | Refused::Request) => Err(failure::unreachable()),
        }
    }

    fn path(&self, user: &str, session: &str) -> String {
        let modality = match self.modality {
            Modality::Audio => "AUDIO",
            Modality::Text => "TEXT",
        };
        let query = [
            ("app_name", self.app.as_str()),
            ("user_id", user),
            ("session_id", session),
            ("modalities", modality),
        ];
        // Only its query is of use.
        let url = Url::parse_with_params("ws://adk/", query);
        let query = url.ok().and_then(|url| url.query().map(str::to_owned));
        format!("/run_live?{}", query.unwrap_or_default())
    }
}

/// A socket.
pub(super) struct Upstream {
    /// Nothing, once it is closed.
    socket: Option<Socket>,
    /// Whether a ping was sent that is not answered yet.
    is_doubtful: bool,
}

impl Upstream {
    pub(super) async fn send(&mut self, frame: &Value) -> Result<(), Failure> {
        let socket = self.socket.as_mut().ok_or_else(failure::cut_off)?;
        let sent = socket.send(Message::text(frame.to_string())).await;
        sent.map_err(|_| failure::cut_off())
    }

    /// The next event. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> Result<Event, Failure> {
        let socket = self.socket.as_mut().ok_or_else(failure::cut_off)?;
        loop {
            let message = match timeout(HEARTBEAT, socket.next()).await {
                Ok(message) => message,
                Err(_) if self.is_doubtful => return Err(failure::cut_off()),
                Err(_) => {
                    self.is_doubtful = true;
                    let asked = socket.send(Message::Ping(Vec::new().into())).await;
                    asked.map_err(|_| failure::cut_off())?;
                    continue;
                }
            };
            self.is_doubtful = false;
            let bytes = match message {
                Some(Ok(Message::Text(text))) => text.as_bytes().to_vec(),
                Some(Ok(Message::Binary(bytes))) => bytes.to_vec(),
                Some(Ok(Message::Close(Some(close)))) => {
                    let (code, detail) = (u16::from(close.code), close.reason.as_str());
                    tracing::warn!(code, detail, "ADK closed the live socket");
                    return Err(failure::of_close(code, detail));
                }
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => continue,
                Some(Err(SocketError::Capacity(_))) => {
                    return Err(failure::unreadable("one of its events is too large"));
                }
                Some(Ok(Message::Close(None)) | Err(_)) | None => return Err(failure::cut_off()),
            };
            let unreadable = |_| failure::unreadable("one of its events is not valid");
            return serde_json::from_slice(&bytes).map_err(unreadable);
        }
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        if let (Some(socket), Ok(runtime)) = (self.socket.take(), Handle::try_current()) {
            runtime.spawn(timeout(CLOSE_TIMEOUT, hang_up(socket)));
        }
    }
}

/// Has ADK end its run, and closes the socket then. Closed at once, ADK breaks the run off wherever it
/// is, and where that is in the middle of writing to its SQLite file, the file stays locked for
/// everybody.
async fn hang_up(mut socket: Socket) {
    let end = json!({"close": true});
    if socket.send(Message::text(end.to_string())).await.is_ok() {
        let drain = async { while let Some(Ok(_)) = socket.next().await {} };
        let _ = timeout(CLOSE_GRACE, drain).await;
    }
    let _ = socket.close(None).await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_the_query_whatever_they_hold() {
        let config = Config::new("http://127.0.0.1:1", "shop");
        let endpoint = Endpoint::new(&config, Modality::Text).unwrap();
        assert_eq!(
            endpoint.path("ann & co", "c~1"),
            "/run_live?app_name=shop&user_id=ann+%26+co&session_id=c%7E1&modalities=TEXT"
        );
    }
}
