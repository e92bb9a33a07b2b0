//! How a socket ends.

use axum::extract::ws::{CloseFrame, Message};

use crate::refusal::{self, Refusal};

/// How a socket ends.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum SessionEnd {
    /// The emulator closes it.
    Close { code: u16, reason: String },
    /// The connection is cut without a close frame.
    Cut,
    /// The client closed it, or is gone.
    Gone { code: Option<u16>, reason: String },
}

impl SessionEnd {
    pub(super) fn close(code: u16, reason: impl Into<String>) -> Self {
        Self::Close {
            code,
            reason: reason.into(),
        }
    }

    /// Something in a frame is wrong.
    pub(super) fn invalid(reason: impl Into<String>) -> Self {
        Self::close(1007, reason)
    }

    pub(super) fn unknown_name(name: &str) -> Self {
        Self::invalid(Refusal::unknown_name(name).message())
    }

    pub(super) fn key() -> Self {
        Self::invalid(refusal::INVALID_KEY)
    }

    pub(super) fn no_model(model: &str, version: &str) -> Self {
        Self::close(
            1008,
            refusal::no_model(model, version, "bidiGenerateContent"),
        )
    }

    /// An error, in Live's form.
    pub(super) fn refused(refusal: &Refusal) -> Self {
        let code = match refusal.code().as_u16() {
            400 => 1007,
            403 | 404 => 1008,
            _ => 1011,
        };
        Self::close(code, refusal.message())
    }

    /// The message that closes the socket.
    pub(super) fn message(code: u16, reason: &str) -> Message {
        Message::Close(Some(CloseFrame {
            code,
            reason: shortened(reason).into(),
        }))
    }
}

/// A close frame holds a reason of at most 123 bytes; Google cuts what is longer.
pub(super) fn shortened(reason: &str) -> &str {
    let mut end = reason.len().min(123);
    while !reason.is_char_boundary(end) {
        end -= 1;
    }
    &reason[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_cut_where_a_frame_ends() {
        assert_eq!(shortened("short"), "short");
        assert_eq!(shortened(&"é".repeat(100)).len(), 122);
    }

    #[test]
    fn errors_have_the_codes_of_live() {
        let code = |status| match SessionEnd::refused(&Refusal::new(status, None)) {
            SessionEnd::Close { code, .. } => code,
            other => panic!("{other:?}"),
        };
        assert_eq!([400, 404, 429, 500].map(code), [1007, 1008, 1011, 1011]);
    }
}
