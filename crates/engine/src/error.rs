//! Why something can't be done.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use store::StoreError;
use turn::GateId;
use turn::refusal::Refusal;

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
    /// What a page gave is not what its tool declares to give.
    InvalidOutput(String),
    /// A chat can't be opened under this id.
    InvalidChatId(&'static str),
    /// The agent does not understand speech.
    AudioUnsupported,
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
            Self::InvalidOutput(_) => "invalid_output",
            Self::InvalidChatId(_) => "invalid_chat_id",
            Self::AudioUnsupported => "audio_unsupported",
            Self::Conflict | Self::Elsewhere(_) | Self::OwnerAway => "owner_away",
            Self::Store(StoreError::Moved { .. }) => "store_moved",
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
            Self::InvalidOutput(why) => {
                write!(out, "The output is not one that the tool declares: {why}")
            }
            Self::InvalidChatId(why) => write!(out, "No chat can be opened under this id: {why}"),
            Self::AudioUnsupported => out.write_str("This agent does not understand speech."),
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

/// An error as one server tells it to another.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Told {
    code: String,
    message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    approval_id: Option<GateId>,
}

impl Serialize for EngineError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let refusal = match self {
            Self::Refused(refusal) => Some(refusal),
            _ => None,
        };
        let message = match self {
            Self::InvalidInput(why) | Self::InvalidOutput(why) => why.clone(),
            _ => self.to_string(),
        };
        let told = Told {
            code: self.code().to_owned(),
            message,
            approval_id: refusal.and_then(|refusal| refusal.approval.clone()),
        };
        told.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for EngineError {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let told = Told::deserialize(deserializer)?;
        let message = told.message;
        Ok(match told.code.as_str() {
            "unknown_chat" => Self::UnknownChat,
            "unknown_approval" => Self::UnknownApproval,
            "unknown_call" => Self::UnknownCall,
            "invalid_input" => Self::InvalidInput(message),
            "invalid_output" => Self::InvalidOutput(message),
            "invalid_chat_id" => Self::InvalidChatId("another server refuses it"),
            "audio_unsupported" => Self::AudioUnsupported,
            "shutting_down" => Self::Closed,
            code => match Refusal::code_of(code) {
                Some(code) => Self::Refused(Refusal {
                    code,
                    message,
                    approval: told.approval_id,
                }),
                // The other server's store is its own affair.
                None => Self::OwnerAway,
            },
        })
    }
}
