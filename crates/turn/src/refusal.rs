//! Why a request is refused.

use crate::id::GateId;

/// Why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What kind of refusal it is.
    pub code: RefusalCode,
    /// What to tell the client.
    pub message: String,
    /// The approval that it is about, where the client is to be shown it again.
    pub approval: Option<GateId>,
}

impl Refusal {
    /// A refusal.
    pub fn new(code: RefusalCode, message: impl Into<String>) -> Self {
        let message = message.into();
        Self {
            code,
            message,
            approval: None,
        }
    }
}

/// What kind of refusal it is. Clients read it by its name, which is listed in docs/errors.md.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefusalCode {
    /// The answer was given to something else than what is asked.
    ApprovalChanged,
    /// The request makes no sense.
    BadRequest,
    /// The call waits for no output.
    CallNotOpen,
    /// The chat takes no further message.
    ChatTooLarge,
    /// The output is of a call that no page runs.
    ForgedOutput,
    /// The answer names another input than the one that was asked about.
    InputChanged,
    /// The input can't be changed.
    InvalidInput,
    /// The message was withdrawn while it waited.
    MessageWithdrawn,
    /// As many messages of the chat wait as may.
    QueueFull,
    /// The turn of the chat is not over.
    TurnOpen,
    /// Nobody asked for the approval.
    UnknownApproval,
    /// Nobody made the call.
    UnknownCall,
    /// There is no such message.
    UnknownMessage,
}

impl RefusalCode {
    /// Every code with its name.
    const NAMES: [(Self, &'static str); 13] = [
        (Self::ApprovalChanged, "approval_changed"),
        (Self::BadRequest, "bad_request"),
        (Self::CallNotOpen, "call_not_open"),
        (Self::ChatTooLarge, "chat_too_large"),
        (Self::ForgedOutput, "forged_output"),
        (Self::InputChanged, "input_changed"),
        (Self::InvalidInput, "invalid_input"),
        (Self::MessageWithdrawn, "message_withdrawn"),
        (Self::QueueFull, "queue_full"),
        (Self::TurnOpen, "turn_open"),
        (Self::UnknownApproval, "unknown_approval"),
        (Self::UnknownCall, "unknown_call"),
        (Self::UnknownMessage, "unknown_message"),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize].1
    }

    /// The code of a name, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        let mut names = Self::NAMES.into_iter();
        names.find_map(|(code, known)| (known == name).then_some(code))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_name_of_its_own() {
        for (code, name) in RefusalCode::NAMES {
            assert_eq!(code.name(), name);
            assert_eq!(RefusalCode::named(name), Some(code));
        }
        assert_eq!(RefusalCode::named("no_such_code"), None);
    }
}
