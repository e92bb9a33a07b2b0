//! A WebSocket to someone outside.

use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Error as SocketError;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::http::HeaderMap;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

use crate::error::Error;
use crate::tls;

/// How much one message may hold: speech comes in small ones, images in one.
const MESSAGE_BYTES: usize = 64 * 1024 * 1024;

/// A WebSocket, over TLS or not.
pub(crate) type Socket = WebSocketStream<Box<dyn Io>>;

pub(crate) trait Io: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Io for T {}

/// Where somebody is.
#[derive(Clone)]
pub(crate) struct Address {
    host: String,
    port: u16,
    tls: Option<TlsConnector>,
    /// As it was given, but for its scheme.
    base: Url,
}

/// Why there is no socket.
#[derive(Debug)]
pub(crate) enum Refused {
    /// There is no server, or it is not trusted.
    Unreachable,
    /// An HTTP status stands in place of a socket.
    Status(u16),
    /// What was to be asked is no request.
    Request,
}

impl std::fmt::Debug for Address {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Address")
            .field("base", &self.base.as_str())
            .finish_non_exhaustive()
    }
}

impl Address {
    /// The host of a URL of `http` or `https`.
    pub(crate) fn new(base: Url) -> Result<Self, Error> {
        let host = base.host_str().ok_or(Error::BaseUrl("it names no host"))?;
        let tls = match base.scheme() {
            "https" => Some(TlsConnector::from(Arc::new(tls::config()?))),
            _ => None,
        };
        let port = base.port_or_known_default();
        Ok(Self {
            host: host.trim_matches(['[', ']']).to_owned(),
            port: port.ok_or(Error::BaseUrl("it names no port"))?,
            tls,
            base,
        })
    }

    /// Connects to a path below the base, which may have a query.
    pub(crate) async fn connect(
        &self,
        path: &str,
        headers: HeaderMap,
        time_limit: Duration,
    ) -> Result<Socket, Refused> {
        let connected = timeout(time_limit, self.open(path, headers)).await;
        connected.unwrap_or(Err(Refused::Unreachable))
    }

    async fn open(&self, path: &str, headers: HeaderMap) -> Result<Socket, Refused> {
        let url = self.url(path);
        let request = url.as_str().into_client_request();
        let mut request = request.map_err(|_| Refused::Request)?;
        request.headers_mut().extend(headers);
        let stream = TcpStream::connect((self.host.as_str(), self.port)).await;
        let stream = stream.map_err(|_| Refused::Unreachable)?;
        let _ = stream.set_nodelay(true);
        let stream: Box<dyn Io> = match &self.tls {
            None => Box::new(stream),
            Some(tls) => {
                let name = ServerName::try_from(self.host.clone());
                let name = name.map_err(|_| Refused::Unreachable)?;
                let stream = tls.connect(name, stream).await;
                Box::new(stream.map_err(|error| {
                    tracing::warn!(%error, "TLS handshake with the agent failed");
                    Refused::Unreachable
                })?)
            }
        };
        let limits = WebSocketConfig::default()
            .max_message_size(Some(MESSAGE_BYTES))
            .max_frame_size(Some(MESSAGE_BYTES))
            .read_buffer_size(16 * 1024)
            .write_buffer_size(16 * 1024);
        match tokio_tungstenite::client_async_with_config(request, stream, Some(limits)).await {
            Ok((socket, _)) => Ok(socket),
            Err(SocketError::Http(response)) => {
                let status = response.status().as_u16();
                tracing::warn!(status, "agent refused the WebSocket");
                Err(Refused::Status(status))
            }
            Err(_) => Err(Refused::Unreachable),
        }
    }

    fn url(&self, path: &str) -> String {
        let scheme = if self.tls.is_some() { "wss" } else { "ws" };
        let base = self.base.as_str().split_once("://");
        let rest = base.map_or("", |(_, rest)| rest).trim_end_matches('/');
        format!("{scheme}://{rest}{path}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_stands_below_the_base() {
        for (base, url) in [
            ("http://127.0.0.1:80/", "ws://127.0.0.1/live?a=b"),
            ("https://a.test/below/", "wss://a.test/below/live?a=b"),
        ] {
            let address = Address::new(Url::parse(base).unwrap()).unwrap();
            assert_eq!(address.url("/live?a=b"), url);
        }
    }
}
