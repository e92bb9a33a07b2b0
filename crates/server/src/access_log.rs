//! The access log: a line for each request, once its response is written, and for each frame and
//! socket that is refused. Its target is `access`, so that `--log` can set its level.
//!
//! What was served is logged at `debug`, what was refused at `info`, and what failed here at `warn`.

#[cfg(feature = "cli")]
use std::net::SocketAddr;

use axum::http::StatusCode;
use axum::response::Response;
use turn::Principal;

use crate::request_context::{RequestContext, RequestId, current_trace_id};

/// The target of its lines.
macro_rules! access {
    ($level:ident, $($fields:tt)*) => { tracing::$level!(target: "access", $($fields)*) };
}

/// The code of an error, as an extension of its response.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RefusalCode(pub(crate) &'static str);

/// A line that is written when this is dropped: once the response was written to its end, or cut.
pub(crate) struct AccessLine {
    context: RequestContext,
    status: StatusCode,
    code: Option<&'static str>,
    bytes: u64,
}

impl AccessLine {
    /// For a response to a request that has an id.
    pub(crate) fn of(response: &mut Response) -> Option<Self> {
        let extensions = response.extensions_mut();
        let context = extensions.remove::<RequestContext>()?;
        let code = extensions.remove::<RefusalCode>();
        Some(Self {
            context,
            code: code.map(|RefusalCode(code)| code),
            status: response.status(),
            bytes: 0,
        })
    }

    /// Counts bytes of the response's body.
    pub(crate) fn sent(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
    }
}

impl Drop for AccessLine {
    fn drop(&mut self) {
        let (context, code, bytes) = (&self.context, self.code, self.bytes);
        let status = self.status.as_u16();
        let request_id = context.id().as_str();
        let (method, path) = (context.method(), context.path());
        let (principal, chat) = (context.principal(), context.chat());
        let (turn, message) = (context.turn(), context.message());
        let ms = u64::try_from(context.began().elapsed().as_millis()).unwrap_or(u64::MAX);
        macro_rules! line {
            ($level:ident, $what:literal) => {
                access!(
                    $level,
                    request_id,
                    method,
                    path,
                    status,
                    code,
                    bytes,
                    ms,
                    principal,
                    chat,
                    turn,
                    message_id = message,
                    trace_id = context.trace_id(),
                    $what
                )
            };
        }
        match status {
            500.. => line!(warn, "request failed"),
            400.. => line!(info, "request refused"),
            _ => line!(debug, "request served"),
        }
    }
}

/// A connection was refused before a request was read, with an error that has this id.
#[cfg(feature = "cli")]
pub(crate) fn connection_refused(id: &RequestId, address: Option<SocketAddr>, code: &str) {
    let address = address.map(tracing::field::display);
    access!(
        info,
        request_id = id.as_str(),
        code,
        address,
        "connection refused"
    );
}

/// A frame of a socket was refused, with an error that has this id.
pub(crate) fn frame_refused(id: &RequestId, socket: &RequestId, principal: &Principal, code: &str) {
    let (request_id, principal) = (id.as_str(), principal.as_str());
    access!(
        info,
        request_id,
        code,
        principal,
        socket = socket.as_str(),
        trace_id = current_trace_id(),
        "frame refused"
    );
}

/// A socket was closed, with a reason that has its id.
pub(crate) fn socket_closed(id: &RequestId, principal: &Principal, close: u16, reason: &str) {
    let (request_id, principal) = (id.as_str(), principal.as_str());
    // What the server does not like has a code from here on; a normal end and a shutdown have not.
    match close {
        1000 | 1001 => access!(debug, request_id, close, reason, principal, "socket closed"),
        _ => access!(info, request_id, close, reason, principal, "socket refused"),
    }
}
