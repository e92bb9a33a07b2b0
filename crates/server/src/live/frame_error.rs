//! Why a frame is refused, as its client reads it and as the log has it.

use std::time::Duration;

use engine::EngineError;
use wire::DecodeError;
use wire::decode::Problem as Wrong;

use super::socket::Socket;
use crate::access_log;
use crate::problem::{self, Problem};
use crate::quota::Refusal;

/// Why a frame is refused.
pub(super) struct FrameError {
    /// A stable code.
    code: &'static str,
    text: String,
    /// How long to wait before another try, where that is known.
    wait: Option<Duration>,
}

/// A refusal as its client gets it.
pub(super) struct Reported {
    pub(super) code: &'static str,
    /// What to show, with the id under which the log has it.
    pub(super) text: String,
    pub(super) retry_after_ms: Option<u64>,
}

impl FrameError {
    fn new(code: &'static str, text: impl Into<String>) -> Self {
        Self {
            code,
            text: text.into(),
            wait: None,
        }
    }

    /// The socket has as many windows as it may have.
    pub(super) fn too_many_windows(text: &str) -> Self {
        Self::new("too_many_windows", text)
    }

    /// The frame makes no sense.
    pub(super) fn bad_request(text: impl Into<String>) -> Self {
        Self::new("bad_request", text)
    }

    /// Logs the refusal under an id of its own, and gives what the client gets.
    pub(super) fn report(self, socket: &Socket) -> Reported {
        let id = socket.next_refusal();
        socket.api.metrics.refused("socket", self.code);
        access_log::frame_refused(&id, &socket.id, &socket.principal, self.code);
        let milliseconds = |wait: Duration| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        Reported {
            code: self.code,
            text: format!("{} [{id}]", self.text),
            retry_after_ms: self.wait.map(milliseconds),
        }
    }
}

impl From<Problem> for FrameError {
    fn from(problem: Problem) -> Self {
        Self {
            wait: problem.wait(),
            ..Self::new(problem.code(), problem.error_text())
        }
    }
}

impl From<Refusal> for FrameError {
    fn from(refusal: Refusal) -> Self {
        Self {
            wait: Some(refusal.wait),
            ..Self::new(refusal.code, refusal.error_text())
        }
    }
}

impl From<&EngineError> for FrameError {
    fn from(error: &EngineError) -> Self {
        Self::new(error.code(), problem::error_text(error))
    }
}

impl From<&DecodeError> for FrameError {
    fn from(error: &DecodeError) -> Self {
        let code = error.problem.code();
        match &error.problem {
            // Chats' ids are refused with one code, wherever that shows.
            Wrong::BadChatId(_) => Self::new(code, format!("{code}: {error}")),
            _ => Self::new(code, error.to_string()),
        }
    }
}
