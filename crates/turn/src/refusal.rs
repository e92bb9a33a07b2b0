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

crate::codes! {
    /// What kind of refusal it is. Clients read it by its name, which is listed in docs/errors.md.
    pub enum RefusalCode {
        /// The answer was given to something else than what is asked.
        ApprovalChanged = "approval_changed",
        /// The request makes no sense.
        BadRequest = "bad_request",
        /// The call waits for no output.
        CallNotOpen = "call_not_open",
        /// The chat takes no further message.
        ChatTooLarge = "chat_too_large",
        /// The output is of a call that no page runs.
        ForgedOutput = "forged_output",
        /// The input of the answer differs from the input of the question.
        InputChanged = "input_changed",
        /// The input can't be changed.
        InvalidInput = "invalid_input",
        /// The message was withdrawn while it waited.
        MessageWithdrawn = "message_withdrawn",
        /// As many messages of the chat wait as may.
        QueueFull = "queue_full",
        /// The turn of the chat is not over.
        TurnOpen = "turn_open",
        /// The approval does not exist.
        UnknownApproval = "unknown_approval",
        /// The call does not exist.
        UnknownCall = "unknown_call",
        /// There is no such message.
        UnknownMessage = "unknown_message",
    }
}
