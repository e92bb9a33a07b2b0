//! The WebSocket to Gemini.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use gemini::live::Setup;
use gemini::{ClientMessage, ServerMessage, Status};
use reqwest::Url;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::Request;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error as SocketError, Message};

use super::config::Config;
use crate::error::Error;
use crate::gemini::{Failure, Key};
use crate::tls;

const PATH: &str = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent";

/// How much one message may hold: speech comes in small ones, images in one.
const MESSAGE_BYTES: usize = 64 * 1024 * 1024;

/// How long a session may take to be set up.
const SETUP: Duration = Duration::from_secs(30);

/// Where Gemini is, and with which key it is asked.
#[derive(Clone)]
pub(super) struct Address {
    host: String,
    port: u16,
    tls: Option<TlsConnector>,
    url: String,
    key: Key,
    connect: Duration,
}

impl std::fmt::Debug for Address {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Address")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

impl Address {
    pub(super) fn new(config: &Config) -> Result<Self, Error> {
        let common = &config.common;
        let url = crate::gemini::base_url(&common.base_url)?;
        let is_safe = url.scheme() == "https";
        let host = url.host_str().ok_or(Error::BaseUrl("it names no host"))?;
        let tls = match is_safe {
            true => Some(TlsConnector::from(Arc::new(tls::config()?))),
            false => None,
        };
        // To see now whether it can be sent.
        common.key.header()?;
        Ok(Self {
            port: url
                .port_or_known_default()
                .ok_or(Error::BaseUrl("it names no port"))?,
            url: socket_url(&url, is_safe),
            host: host.trim_matches(['[', ']']).to_owned(),
            tls,
            key: common.key.clone(),
            connect: common.timeouts.connect,
        })
    }

    /// The handshake, with the key in its header.
    fn request(&self) -> Result<Request<()>, Failure> {
        let broken = || Failure::new("agent_bad_request", "The request could not be made.");
        let mut request = self
            .url
            .as_str()
            .into_client_request()
            .map_err(|_| broken())?;
        let key = self.key.header().map_err(|_| broken())?;
        request.headers_mut().insert("x-goog-api-key", key);
        Ok(request)
    }
}

fn socket_url(base: &Url, is_safe: bool) -> String {
    let scheme = if is_safe { "wss" } else { "ws" };
    let rest = base.as_str().split_once("://").map_or("", |(_, rest)| rest);
    format!("{scheme}://{}{PATH}", rest.trim_end_matches('/'))
}

trait Io: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Io for T {}

/// A session that is set up.
pub(super) struct Upstream {
    socket: WebSocketStream<Box<dyn Io>>,
    key: Key,
}

impl Upstream {
    /// Connects, and sets a session up.
    pub(super) async fn open(address: &Address, setup: Setup) -> Result<Self, Failure> {
        let connected = timeout(address.connect, connect(address));
        let socket = connected.await.unwrap_or(Err(Failure::unreachable()))?;
        let mut upstream = Self {
            socket,
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

    /// Why it hung up.
    fn closed(&self, close: Option<CloseFrame>) -> Failure {
        let Some(close) = close else {
            return Failure::cut_off();
        };
        let said = self.key.redact(close.reason.as_str());
        let code = u16::from(close.code);
        tracing::debug!(code, said, "gemini live hangs up");
        Failure::of_close(code, &said)
    }
}

async fn connect(address: &Address) -> Result<WebSocketStream<Box<dyn Io>>, Failure> {
    let request = address.request()?;
    let host = (address.host.as_str(), address.port);
    let stream = TcpStream::connect(host).await;
    let stream = stream.map_err(|_| Failure::unreachable())?;
    let _ = stream.set_nodelay(true);
    let stream: Box<dyn Io> = match &address.tls {
        None => Box::new(stream),
        Some(tls) => {
            let name = ServerName::try_from(address.host.clone());
            let name = name.map_err(|_| Failure::unreachable())?;
            let stream = tls.connect(name, stream).await;
            Box::new(stream.map_err(|error| {
                tracing::warn!(%error, "gemini live can't be trusted");
                Failure::unreachable()
            })?)
        }
    };
    let limits = WebSocketConfig::default()
        .max_message_size(Some(MESSAGE_BYTES))
        .max_frame_size(Some(MESSAGE_BYTES))
        .read_buffer_size(16 * 1024)
        .write_buffer_size(16 * 1024);
    let opened = tokio_tungstenite::client_async_with_config(request, stream, Some(limits)).await;
    match opened {
        Ok((socket, _)) => Ok(socket),
        Err(SocketError::Http(response)) => {
            let status = response.status().as_u16();
            tracing::warn!(status, "gemini live refuses");
            Err(Failure::of_status(status, &Status::default(), ""))
        }
        Err(_) => Err(Failure::unreachable()),
    }
}
