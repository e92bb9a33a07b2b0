//! Why something can't be done.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use store::StoreError;
use tools::answer::FieldError;
use turn::GateId;
use turn::refusal::{Refusal, RefusalCode};

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
    /// What a person answered is not what was asked for: what is wrong, field by field.
    InvalidAnswer(Vec<FieldError>),
    /// A tool that the page declares is one that the agent takes by its name, and is not declared right.
    InvalidPageTool(String),
    /// The chat was deleted, and no other is opened under its id.
    ChatDeleted,
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
        let code = match self {
            Self::Refused(refusal) => return refusal.code.name(),
            Self::UnknownChat => Code::UnknownChat,
            Self::UnknownApproval => Code::UnknownApproval,
            Self::UnknownCall => Code::UnknownCall,
            Self::ChatDeleted => Code::ChatDeleted,
            Self::InvalidInput(_) => Code::InvalidInput,
            Self::InvalidOutput(_) => Code::InvalidOutput,
            Self::InvalidAnswer(_) => Code::InvalidAnswer,
            Self::InvalidPageTool(_) => Code::InvalidPageTool,
            Self::InvalidChatId(_) => Code::InvalidChatId,
            Self::AudioUnsupported => Code::AudioUnsupported,
            Self::Conflict | Self::Elsewhere(_) | Self::OwnerAway => Code::OwnerUnreachable,
            Self::Store(StoreError::Moved { .. }) => Code::StoreMoved,
            Self::Store(_) => Code::StoreUnavailable,
            Self::Closed => Code::ShuttingDown,
        };
        code.name()
    }
}

turn::codes! {
    /// The codes of errors. Those of refusals are in `turn`.
    enum Code {
        AudioUnsupported = "audio_unsupported",
        InvalidAnswer = "invalid_answer",
        ChatDeleted = "chat_deleted",
        InvalidChatId = "invalid_chat_id",
        InvalidInput = "invalid_input",
        InvalidOutput = "invalid_output",
        InvalidPageTool = "invalid_page_tool",
        OwnerUnreachable = "owner_unreachable",
        ShuttingDown = "shutting_down",
        StoreMoved = "store_moved",
        StoreUnavailable = "store_unavailable",
        UnknownApproval = "unknown_approval",
        UnknownCall = "unknown_call",
        UnknownChat = "unknown_chat",
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownChat => out.write_str("There is no such chat."),
            Self::UnknownApproval => out.write_str("There is no such approval."),
            Self::UnknownCall => out.write_str("There is no such call."),
            Self::ChatDeleted => out.write_str("This chat was deleted."),
            Self::Refused(refusal) => out.write_str(&refusal.message),
            Self::InvalidInput(why) => {
                write!(out, "The tool does not accept this input: {why}")
            }
            Self::InvalidOutput(why) => {
                write!(out, "The tool does not accept this output: {why}")
            }
            Self::InvalidAnswer(errors) => {
                out.write_str("The answer does not fit the question's schema: ")?;
                for (n, error) in errors.iter().enumerate() {
                    let comma = if n > 0 { "; " } else { "" };
                    write!(out, "{comma}{error}")?;
                }
                Ok(())
            }
            Self::InvalidPageTool(why) => {
                write!(out, "The page declares a tool that can't be used: {why}")
            }
            Self::InvalidChatId(why) => write!(out, "No chat can be opened under this id: {why}"),
            Self::AudioUnsupported => out.write_str("This agent does not accept audio."),
            Self::Conflict | Self::Elsewhere(_) | Self::OwnerAway => {
                out.write_str("The server that has this chat can't be reached at the moment.")
            }
            Self::Store(error) => write!(out, "The journal can't be reached: {error}"),
            Self::Closed => out.write_str("The server is shutting down."),
        }
    }
}

impl std::error::Error for EngineError {}

impl From<StoreError> for EngineError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::ChatDeleted { .. } => Self::ChatDeleted,
            error => Self::Store(error),
        }
    }
}

impl From<Refusal> for EngineError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// An error as one server forwards it to another.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Forwarded {
    code: String,
    message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    approval_id: Option<GateId>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    fields: Vec<FieldError>,
}

impl Serialize for EngineError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let refusal = match self {
            Self::Refused(refusal) => Some(refusal),
            _ => None,
        };
        let message = match self {
            Self::InvalidInput(why) | Self::InvalidOutput(why) | Self::InvalidPageTool(why) => {
                why.clone()
            }
            _ => self.to_string(),
        };
        let forwarded = Forwarded {
            code: self.code().to_owned(),
            message,
            approval_id: refusal.and_then(|refusal| refusal.approval.clone()),
            fields: match self {
                Self::InvalidAnswer(errors) => errors.clone(),
                _ => Vec::new(),
            },
        };
        forwarded.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for EngineError {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let forwarded = Forwarded::deserialize(deserializer)?;
        let message = forwarded.message;
        Ok(match Code::named(&forwarded.code) {
            Some(Code::UnknownChat) => Self::UnknownChat,
            Some(Code::UnknownApproval) => Self::UnknownApproval,
            Some(Code::UnknownCall) => Self::UnknownCall,
            Some(Code::InvalidInput) => Self::InvalidInput(message),
            Some(Code::InvalidOutput) => Self::InvalidOutput(message),
            Some(Code::InvalidAnswer) => Self::InvalidAnswer(forwarded.fields),
            Some(Code::InvalidPageTool) => Self::InvalidPageTool(message),
            Some(Code::InvalidChatId) => Self::InvalidChatId("another server refuses it"),
            Some(Code::AudioUnsupported) => Self::AudioUnsupported,
            Some(Code::ChatDeleted) => Self::ChatDeleted,
            Some(Code::ShuttingDown) => Self::Closed,
            // The other server's store is its own affair.
            Some(Code::OwnerUnreachable | Code::StoreMoved | Code::StoreUnavailable) => {
                Self::OwnerAway
            }
            None => match RefusalCode::named(&forwarded.code) {
                Some(code) => Self::Refused(Refusal {
                    code,
                    message,
                    approval: forwarded.approval_id,
                }),
                // Of a newer version.
                None => Self::OwnerAway,
            },
        })
    }
}
