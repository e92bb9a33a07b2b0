//! Why something can't be done.

use std::fmt;

use store::StoreError;
use turn::intake::Refusal;

/// Why something can't be done.
#[derive(Debug)]
#[non_exhaustive]
pub enum EngineError {
    /// There is no such chat, or it is somebody else's: the two look the same from outside.
    UnknownChat,
    /// There is no such approval, or it is somebody else's.
    UnknownApproval,
    /// There is no such call, or it is somebody else's.
    UnknownCall,
    /// The request contradicts the journal.
    Refused(Refusal),
    /// An edited input is not one that the tool takes.
    InvalidInput(String),
    /// The agent does not understand speech.
    Deaf,
    /// Somebody else wrote to the chat at the same moment, again and again.
    Conflict,
    /// Another server has the chat, at this address.
    Elsewhere(String),
    /// Another server has the chat, and can't be reached.
    OwnerAway,
    /// The journal can't be read or written.
    Store(StoreError),
    /// The engine is shutting down.
    Closed,
}

impl EngineError {
    /// A stable code, listed in docs/errors.md.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnknownChat => "unknown_chat",
            Self::UnknownApproval => "unknown_approval",
            Self::UnknownCall => "unknown_call",
            Self::Refused(refusal) => refusal.code,
            Self::InvalidInput(_) => "invalid_input",
            Self::Deaf => "agent_is_deaf",
            Self::Conflict | Self::Elsewhere(_) | Self::OwnerAway => "owner_away",
            Self::Store(_) => "store_unavailable",
            Self::Closed => "shutting_down",
        }
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownChat => out.write_str("There is no such chat."),
            Self::UnknownApproval => out.write_str("There is no such approval."),
            Self::UnknownCall => out.write_str("There is no such call."),
            Self::Refused(refusal) => out.write_str(&refusal.message),
            Self::InvalidInput(why) => {
                write!(out, "The input is not one that the tool takes: {why}")
            }
            Self::Deaf => out.write_str("This agent does not understand speech."),
            Self::Conflict | Self::Elsewhere(_) | Self::OwnerAway => {
                out.write_str("The server that has this chat can't be reached just now.")
            }
            Self::Store(error) => write!(out, "The journal can't be reached: {error}"),
            Self::Closed => out.write_str("The server is shutting down."),
        }
    }
}

impl std::error::Error for EngineError {}

impl From<StoreError> for EngineError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<Refusal> for EngineError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}
