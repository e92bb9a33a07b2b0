//! A plain WebSocket client, as a page of the legacy bridge or a test has it.

use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;
use tungstenite::client::IntoClientRequest;
use tungstenite::http::{HeaderName, HeaderValue, Response};
use tungstenite::{Error, Message, WebSocket};

use crate::process::Server;

pub(crate) struct Client(WebSocket<TcpStream>);

/// Why a socket was closed: its code and its reason.
pub(crate) type Closed = (u16, String);

impl Server {
    pub(crate) fn connect(&self, path: &str) -> Client {
        self.try_connect(path, &[]).expect("the socket opens")
    }

    /// Opens a socket, or gives the status with which it was refused.
    pub(crate) fn try_connect(
        &self,
        path: &str,
        headers: &[(&'static str, &str)],
    ) -> Result<Client, u16> {
        connect(self.address, path, headers)
    }
}

/// Opens a socket to a server.
pub(crate) fn connect(
    address: SocketAddr,
    path: &str,
    headers: &[(&'static str, &str)],
) -> Result<Client, u16> {
    let stream = TcpStream::connect(address).unwrap();
    // A test that waits in vain fails, and does not hang.
    stream
        .set_read_timeout(Some(Duration::from_secs(20)))
        .unwrap();
    let url = format!("ws://{address}{path}");
    let mut request = url.into_client_request().unwrap();
    for (name, value) in headers {
        let value = HeaderValue::from_str(value).unwrap();
        request
            .headers_mut()
            .insert(HeaderName::from_static(name), value);
    }
    match tungstenite::client(request, stream) {
        Ok((socket, _)) => Ok(Client(socket)),
        Err(tungstenite::HandshakeError::Failure(Error::Http(response))) => {
            let response: &Response<_> = &response;
            Err(response.status().as_u16())
        }
        Err(error) => panic!("{error}"),
    }
}

impl Client {
    pub(crate) fn send(&mut self, frame: &Value) {
        self.send_text(&frame.to_string());
    }

    pub(crate) fn send_text(&mut self, text: &str) {
        self.0.send(Message::text(text)).unwrap();
    }

    pub(crate) fn send_binary(&mut self, bytes: Vec<u8>) {
        // The server may close before it has read it all.
        let _ = self.0.send(Message::binary(bytes));
    }

    /// The next text, or why there will be none.
    pub(crate) fn next(&mut self) -> Result<String, Closed> {
        loop {
            match self.0.read() {
                Ok(Message::Text(text)) => return Ok(text.to_string()),
                Ok(Message::Close(Some(frame))) => {
                    return Err((frame.code.into(), frame.reason.to_string()));
                }
                Ok(Message::Close(None)) | Err(Error::ConnectionClosed) => {
                    return Err((1005, String::new()));
                }
                Ok(_) => {}
                Err(Error::Io(error)) if error.kind() != std::io::ErrorKind::WouldBlock => {
                    return Err((1006, error.to_string()));
                }
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// The next frame of the AI SDK's dialect.
    pub(crate) fn frame(&mut self) -> Value {
        serde_json::from_str(&self.next().unwrap()).unwrap()
    }

    /// Frames of the AI SDK's dialect until one of a type.
    pub(crate) fn frames_until(&mut self, kind: &str) -> Vec<Value> {
        let mut frames = Vec::new();
        loop {
            let frame = self.frame();
            let is_last = frame["type"] == kind;
            frames.push(frame);
            if is_last {
                return frames;
            }
        }
    }
}
