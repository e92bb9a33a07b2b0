//! A session with an MCP server: the one module that knows `rmcp`, whose majors come often.

mod handler;
mod http;
mod line;
mod peer;
mod process;
mod session;
mod stdio;

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    ErrorCode, ErrorData, JsonRpcMessage, ProtocolVersion, RequestId, ServerJsonRpcMessage,
};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};

use self::handler::{Handler, OpenCalls};
use self::peer::Sent;
use super::catalog::shorten;
use super::config::{ConfigError, Limits, ServerConfig, Transport};

pub(super) use self::handler::{Elicitation, Elicited, Progress};
pub(super) use self::peer::{Call, CallFailure, Event, Peer};
pub(super) use self::session::{About, Session, SessionEvent};

/// Of an answer that was dropped since it is too large. It is never sent.
const TOO_LARGE: ErrorCode = ErrorCode(-32_950);

/// Of an answer that can't be read. It is never sent.
const UNREADABLE: ErrorCode = ErrorCode(-32_951);

/// Why a session ended or did not begin.
#[derive(Debug, Clone)]
pub(super) struct Failure {
    /// For everybody, the model included.
    pub(super) reason: String,
    /// For the operator.
    pub(super) detail: Option<String>,
}

impl Failure {
    pub(super) fn new(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            detail: None,
        }
    }
}

/// Opens sessions with one server.
pub(super) struct Connector {
    kind: Kind,
    name: String,
    limits: Limits,
    roots: Vec<String>,
    /// The server fails at the question that comes before the handshake of older protocols.
    is_legacy: bool,
}

enum Kind {
    Stdio(stdio::Program),
    Http(http::Endpoint),
}

impl Connector {
    pub(super) fn new(config: &ServerConfig) -> Result<Self, ConfigError> {
        let kind = match &config.transport {
            Transport::Stdio {
                command,
                args,
                env,
                cwd,
            } => Kind::Stdio(stdio::Program {
                server: config.name.clone(),
                command: command.clone(),
                args: args.clone(),
                env: env.clone(),
                cwd: cwd.clone(),
            }),
            Transport::Http { url, headers } => Kind::Http(http::Endpoint::new(url, headers)?),
        };
        Ok(Self {
            kind,
            name: config.name.clone(),
            limits: config.limits,
            roots: config.roots.clone(),
            is_legacy: false,
        })
    }

    /// Opens a session. Dropping the future ends what it has started.
    pub(super) async fn open(&mut self, within: Duration) -> Result<Session, Failure> {
        let (started, was_legacy) = (Instant::now(), self.is_legacy);
        let opened = self.try_open(within).await;
        let left = within.saturating_sub(started.elapsed());
        let is_http = matches!(self.kind, Kind::Http(_));
        match opened {
            // Older servers answer the question that they don't know in any way. By HTTP, another try
            // starts no process.
            Err(failure) if is_http && !was_legacy && !left.is_zero() => {
                self.try_open(left).await.map_err(|_| failure)
            }
            opened => opened,
        }
    }

    async fn try_open(&mut self, within: Duration) -> Result<Session, Failure> {
        let mode = match self.is_legacy {
            true => ClientLifecycleMode::Initialize,
            false => ClientLifecycleMode::Auto {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
                legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
            },
        };
        let sent = Arc::new(Sent::default());
        let open_calls = Arc::new(OpenCalls::default());
        let list_changed = Arc::new(Notify::new());
        let handler = Handler {
            server: self.name.clone(),
            open_calls: open_calls.clone(),
            list_changed: list_changed.clone(),
            roots: self.roots.clone(),
        };
        let mut process = None;
        let opened = match &self.kind {
            Kind::Stdio(program) => {
                let max = self.limits.max_message_bytes;
                let transport = stdio::Stdio::start(program, max, sent.clone())?;
                process = Some(transport.process());
                timeout(within, handler.serve_with_lifecycle(transport, mode)).await
            }
            Kind::Http(endpoint) => {
                let transport = endpoint.transport(&self.limits, sent.clone());
                timeout(within, handler.serve_with_lifecycle(transport, mode)).await
            }
        };
        // Servers that stop at a question that they don't know are asked as older ones are.
        if !matches!(opened, Ok(Ok(_))) {
            self.is_legacy = !self.is_legacy;
        }
        let error = match opened {
            Ok(Ok(service)) => {
                return Ok(Session::new(
                    service,
                    sent,
                    open_calls,
                    list_changed,
                    process,
                ));
            }
            Ok(Err(error)) => Failure {
                reason: "it did not complete the handshake".to_owned(),
                detail: Some(short(&error.to_string())),
            },
            Err(_) => Failure::new(format!(
                "it did not start within {} s",
                within.as_secs_f64()
            )),
        };
        Err(match process {
            Some(process) => process.explain(error),
            None => error,
        })
    }
}

/// The answer of a request whose own answer was dropped.
fn dropped(id: RequestId, size: usize, max: usize) -> ServerJsonRpcMessage {
    let why = format!(
        "The tool ran, and its answer was dropped: it has more than {size} bytes, and the limit is {max}."
    );
    JsonRpcMessage::error(ErrorData::new(TOO_LARGE, why, None), Some(id))
}

/// The answer of a request whose own answer is not one.
fn unreadable(id: RequestId, why: &str) -> ServerJsonRpcMessage {
    let why = format!("The tool ran, and its answer can't be read: {}", short(why));
    JsonRpcMessage::error(ErrorData::new(UNREADABLE, why, None), Some(id))
}

/// A text for a log line or a message.
fn short(text: &str) -> String {
    shorten(text, 500)
}
