//! Chunks about the window and the message as a whole.

use serde_json::Value;

use crate::decode::{DecodeError, Path, names, record};
use crate::part::Part;

record! {
    /// Opens a window. Every window of a turn carries the same `messageId`.
    Start {
        /// The assistant message that the chunks belong to.
        message_id: Option<String> = "messageId",
        /// Merged into the message's metadata.
        message_metadata: Option<Value> = "messageMetadata",
    }
}

record! {
    /// Ends a window.
    Finish {
        /// Why the model stopped.
        finish_reason: Option<FinishReason> = "finishReason",
        /// Merged into the message's metadata.
        message_metadata: Option<Value> = "messageMetadata",
    }
}

record! {
    /// The turn was stopped. Clients ignore it.
    Abort {
        /// Why (7 only).
        reason: Option<String> = "reason",
    }
}

record! {
    /// The window failed. Clients drop what follows and show the text.
    Error {
        /// The message for the user.
        error_text: String = "errorText",
    }
}

record! {
    /// Metadata in the middle of a window.
    MessageMetadata {
        /// Merged into the message's metadata.
        message_metadata: Value = "messageMetadata",
    }
}

record! {
    /// A user message that joined the running turn (7 only).
    SteeringMessage {
        /// The message's id.
        id: String = "id",
        /// Its text and file parts.
        parts: Vec<Part> = "parts",
    }
}

impl SteeringMessage {
    /// The schema knows text and files here, and nothing else.
    pub(super) fn check(&self) -> Result<(), DecodeError> {
        let is_known = |part: &Part| matches!(part, Part::Text(_) | Part::File(_));
        match self.parts.iter().position(|part| !is_known(part)) {
            Some(index) => {
                let parts = Path::Root.key("parts");
                Err(parts.index(index).expected("a text or a file part"))
            }
            None => Ok(()),
        }
    }
}

names! {
    /// Why the model stopped.
    FinishReason, "a finish reason" {
        /// It was done.
        Stop = "stop",
        /// It ran out of tokens.
        Length = "length",
        /// A filter stopped it.
        ContentFilter = "content-filter",
        /// It waits for calls.
        ToolCalls = "tool-calls",
        /// It failed.
        Error = "error",
        /// It was interrupted (7.0.149 and later; sent as `other` to the rest).
        Interrupted = "interrupted",
        /// Anything else.
        Other = "other",
    }
}
