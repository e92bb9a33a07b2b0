//! Why a request is refused.

use crate::id::GateId;

/// Why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// A stable code, listed in docs/errors.md.
    pub code: &'static str,
    /// What to tell the client.
    pub message: String,
    /// The approval that it is about, where the client is to be shown it again.
    pub approval: Option<GateId>,
}

impl Refusal {
    /// The code of this name, if there is one.
    pub fn code_of(name: &str) -> Option<&'static str> {
        let codes = [
            "approval_changed",
            "bad_request",
            "call_not_open",
            "chat_too_large",
            "forged_output",
            "input_changed",
            "invalid_input",
            "unknown_approval",
            "unknown_call",
            "unknown_message",
        ];
        codes.into_iter().find(|code| *code == name)
    }

    /// A refusal.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            code,
            message,
            approval: None,
        }
    }
}
