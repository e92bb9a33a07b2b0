//! Which of the two dialects a client uses on a WebSocket, by each frame's `type`.

use serde_json::Value;

use crate::decode::{DecodeError, Fields, Nulls, Path};
use crate::request::Limits;
use crate::{frame, legacy};

/// A frame of either dialect.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "a frame is written or read once, and boxing it would cost more than moving it"
)]
pub enum ClientFrame {
    /// The AI SDK's own.
    Official(frame::ClientFrame),
    /// The legacy bridge's.
    Legacy(legacy::ClientFrame),
}

impl ClientFrame {
    /// Decodes a frame of either dialect.
    ///
    /// An error whose path is `type` is a frame of a kind that neither knows.
    pub fn from_slice(bytes: &[u8], limits: &Limits) -> Result<Self, DecodeError> {
        let fields = Fields::of(limits.json(bytes)?, Path::Root, Nulls::Absent)?;
        let kind = fields.peek("type").and_then(Value::as_str);
        if kind.is_some_and(frame::ClientFrame::knows) {
            frame::ClientFrame::take(fields, limits).map(Self::Official)
        } else if kind.is_none_or(legacy::ClientFrame::knows) {
            // A frame without a type gets the same error from either.
            legacy::ClientFrame::take(fields, limits).map(Self::Legacy)
        } else {
            let kind = kind.unwrap_or_default();
            Err(Path::Root.key("type").unknown(kind, "a frame type"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ClientFrame, DecodeError> {
        ClientFrame::from_slice(text.as_bytes(), &Limits::default())
    }

    #[test]
    fn type_tells_the_dialect() {
        let frame = read(r#"{"type":"abort","requestId":"r"}"#);
        assert!(matches!(frame, Ok(ClientFrame::Official(_))));
        let frame = read(r#"{"type":"interrupt"}"#);
        assert!(matches!(frame, Ok(ClientFrame::Legacy(_))));
    }

    #[test]
    fn unknown_and_missing_types_are_distinct_from_bad_json() {
        assert_eq!(read(r#"{"type":"dance"}"#).unwrap_err().path, "type");
        assert_eq!(read("{}").unwrap_err().path, "type");
        assert_eq!(read("{").unwrap_err().problem.code(), "not_json");
    }
}
