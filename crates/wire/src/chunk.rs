//! What a stream is made of: one [`Chunk`] for every type of the AI SDK's UI message stream.
//!
//! A chunk is decoded as strictly as the strictest release of the SDK does: what this module reads,
//! every client that knows the type reads too. Which chunks and fields may be *sent* to which client
//! is decided by [`crate::profile`].

mod block_id;
mod content;
mod tool;
mod window;

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

pub use self::block_id::BlockId;
pub use self::content::{
    BlockDelta, BlockStart, Custom, Data, File, ReasoningEnd, SourceDocument, SourceUrl, TextEnd,
};
pub use self::tool::{
    InputEncoding, ToolApprovalRequest, ToolApprovalResponse, ToolInputAvailable, ToolInputDelta,
    ToolInputError, ToolInputStart, ToolOutputAvailable, ToolOutputDenied, ToolOutputError,
};
pub use self::window::{
    Abort, Error, Finish, FinishReason, MessageMetadata, Start, SteeringMessage,
};
use crate::decode::{self, DecodeError, Fields, Nulls, Path};

/// One chunk of a UI message stream.
///
/// A stream is nearly all deltas, and a server keeps thousands of streams: what is larger than a delta
/// is boxed, and made by [`From`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Chunk {
    /// Opens a window.
    Start(Box<Start>),
    /// Opens a step.
    StartStep,
    /// Closes a step.
    FinishStep,
    /// Drops the parts of the open step (7 only).
    ResetStep,
    /// Ends a window.
    Finish(Box<Finish>),
    /// The turn was stopped.
    Abort(Abort),
    /// The window failed.
    Error(Error),
    /// Metadata of the message.
    MessageMetadata(Box<MessageMetadata>),
    /// Opens a text.
    TextStart(BlockStart),
    /// More of a text.
    TextDelta(BlockDelta),
    /// Closes a text.
    TextEnd(Box<TextEnd>),
    /// Opens a reasoning.
    ReasoningStart(BlockStart),
    /// More of a reasoning.
    ReasoningDelta(BlockDelta),
    /// Closes a reasoning.
    ReasoningEnd(ReasoningEnd),
    /// A file of the reasoning (7 only).
    ReasoningFile(Box<File>),
    /// Content of one provider (7 only).
    Custom(Custom),
    /// A page that the answer rests on.
    SourceUrl(Box<SourceUrl>),
    /// A document that the answer rests on.
    SourceDocument(Box<SourceDocument>),
    /// A file that the model made.
    File(Box<File>),
    /// A user message within the turn (7 only).
    SteeringMessage(Box<SteeringMessage>),
    /// A call begins.
    ToolInputStart(Box<ToolInputStart>),
    /// More of a call's input.
    ToolInputDelta(Box<ToolInputDelta>),
    /// A call's whole input.
    ToolInputAvailable(Box<ToolInputAvailable>),
    /// A call whose input is invalid.
    ToolInputError(Box<ToolInputError>),
    /// Asks for an approval.
    ToolApprovalRequest(Box<ToolApprovalRequest>),
    /// Reports an approval's answer (7 only).
    ToolApprovalResponse(Box<ToolApprovalResponse>),
    /// A call's output.
    ToolOutputAvailable(Box<ToolOutputAvailable>),
    /// A call that failed.
    ToolOutputError(Box<ToolOutputError>),
    /// A call that was refused.
    ToolOutputDenied(ToolOutputDenied),
    /// `data-NAME`: data for the page.
    #[serde(untagged)]
    Data(Box<Data>),
}

/// Makes a chunk of what is boxed in it.
macro_rules! boxed {
    ($($name:ident),* $(,)?) => {
        $(
            impl From<$name> for Chunk {
                fn from(content: $name) -> Self {
                    Self::$name(Box::new(content))
                }
            }
        )*
    };
}

boxed!(
    Start,
    Finish,
    MessageMetadata,
    TextEnd,
    SourceUrl,
    SourceDocument,
    File,
    SteeringMessage,
    ToolInputStart,
    ToolInputDelta,
    ToolInputAvailable,
    ToolInputError,
    ToolApprovalRequest,
    ToolApprovalResponse,
    ToolOutputAvailable,
    ToolOutputError,
    Data,
);

impl Chunk {
    /// Decodes one chunk from JSON.
    pub fn from_slice(bytes: &[u8]) -> Result<Self, DecodeError> {
        // A chunk's payload may be as deep as the parser allows; clients have no limit of their own.
        Self::decode(decode::json(bytes, usize::MAX)?)
    }

    /// Decodes one chunk from a JSON value.
    pub fn decode(value: Value) -> Result<Self, DecodeError> {
        let mut fields = Fields::of(value, Path::Root, Nulls::Refused)?;
        let kind: String = fields.take("type")?;
        let chunk = match kind.as_str() {
            "start" => Start::take(&mut fields)?.into(),
            "start-step" => Self::StartStep,
            "finish-step" => Self::FinishStep,
            "reset-step" => Self::ResetStep,
            "finish" => Finish::take(&mut fields)?.into(),
            "abort" => Self::Abort(Abort::take(&mut fields)?),
            "error" => Self::Error(Error::take(&mut fields)?),
            "message-metadata" => MessageMetadata::take(&mut fields)?.into(),
            "text-start" => Self::TextStart(BlockStart::take(&mut fields)?),
            "text-delta" => Self::TextDelta(BlockDelta::take(&mut fields)?),
            "text-end" => TextEnd::take(&mut fields)?.into(),
            "reasoning-start" => Self::ReasoningStart(BlockStart::take(&mut fields)?),
            "reasoning-delta" => Self::ReasoningDelta(BlockDelta::take(&mut fields)?),
            "reasoning-end" => Self::ReasoningEnd(ReasoningEnd::take(&mut fields)?),
            "reasoning-file" => Self::ReasoningFile(Box::new(File::take(&mut fields)?)),
            "custom" => Self::Custom(Custom::take(&mut fields)?),
            "source-url" => SourceUrl::take(&mut fields)?.into(),
            "source-document" => SourceDocument::take(&mut fields)?.into(),
            "file" => File::take(&mut fields)?.into(),
            "steering-message" => SteeringMessage::take(&mut fields)?.into(),
            "tool-input-start" => ToolInputStart::take(&mut fields)?.into(),
            "tool-input-delta" => ToolInputDelta::take(&mut fields)?.into(),
            "tool-input-available" => ToolInputAvailable::take(&mut fields)?.into(),
            "tool-input-error" => ToolInputError::take(&mut fields)?.into(),
            "tool-approval-request" => ToolApprovalRequest::take(&mut fields)?.into(),
            "tool-approval-response" => ToolApprovalResponse::take(&mut fields)?.into(),
            "tool-output-available" => ToolOutputAvailable::take(&mut fields)?.into(),
            "tool-output-error" => ToolOutputError::take(&mut fields)?.into(),
            "tool-output-denied" => Self::ToolOutputDenied(ToolOutputDenied::take(&mut fields)?),
            _ => match kind.strip_prefix("data-") {
                Some(name) => Data::take(name, &mut fields)?.into(),
                None => return Err(Path::Root.key("type").unknown(&kind, "a chunk type")),
            },
        };
        fields.nothing_left()?;
        if let Self::SteeringMessage(steering) = &chunk {
            steering.check()?;
        }
        Ok(chunk)
    }

    /// The chunk's `type` on the wire.
    pub fn type_name(&self) -> Cow<'static, str> {
        match self {
            Self::Start(_) => "start".into(),
            Self::StartStep => "start-step".into(),
            Self::FinishStep => "finish-step".into(),
            Self::ResetStep => "reset-step".into(),
            Self::Finish(_) => "finish".into(),
            Self::Abort(_) => "abort".into(),
            Self::Error(_) => "error".into(),
            Self::MessageMetadata(_) => "message-metadata".into(),
            Self::TextStart(_) => "text-start".into(),
            Self::TextDelta(_) => "text-delta".into(),
            Self::TextEnd(_) => "text-end".into(),
            Self::ReasoningStart(_) => "reasoning-start".into(),
            Self::ReasoningDelta(_) => "reasoning-delta".into(),
            Self::ReasoningEnd(_) => "reasoning-end".into(),
            Self::ReasoningFile(_) => "reasoning-file".into(),
            Self::Custom(_) => "custom".into(),
            Self::SourceUrl(_) => "source-url".into(),
            Self::SourceDocument(_) => "source-document".into(),
            Self::File(_) => "file".into(),
            Self::SteeringMessage(_) => "steering-message".into(),
            Self::ToolInputStart(_) => "tool-input-start".into(),
            Self::ToolInputDelta(_) => "tool-input-delta".into(),
            Self::ToolInputAvailable(_) => "tool-input-available".into(),
            Self::ToolInputError(_) => "tool-input-error".into(),
            Self::ToolApprovalRequest(_) => "tool-approval-request".into(),
            Self::ToolApprovalResponse(_) => "tool-approval-response".into(),
            Self::ToolOutputAvailable(_) => "tool-output-available".into(),
            Self::ToolOutputError(_) => "tool-output-error".into(),
            Self::ToolOutputDenied(_) => "tool-output-denied".into(),
            Self::Data(data) => format!("data-{}", data.name).into(),
        }
    }

    /// Appends the chunk as JSON text.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        let (kind, delta) = match self {
            Self::TextDelta(delta) => (&b"text-delta"[..], delta),
            Self::ReasoningDelta(delta) => (&b"reasoning-delta"[..], delta),
            chunk => {
                // Writing to memory can't fail, and neither can a chunk: see `Chunk::to_json`.
                let _ = serde_json::to_writer(&mut *out, chunk);
                return;
            }
        };
        // A stream is nearly all deltas: what never changes in them is not worked out again.
        out.extend_from_slice(b"{\"type\":\"");
        out.extend_from_slice(kind);
        out.extend_from_slice(b"\",\"id\":");
        delta.id.write_json(out);
        out.extend_from_slice(b",\"delta\":");
        let _ = serde_json::to_writer(&mut *out, &delta.delta);
        if let Some(metadata) = &delta.provider_metadata {
            out.extend_from_slice(b",\"providerMetadata\":");
            let _ = serde_json::to_writer(&mut *out, metadata);
        }
        out.push(b'}');
    }

    /// The chunk as JSON text.
    pub fn to_json(&self) -> String {
        // A chunk is made of strings, booleans and JSON values with string keys: nothing in it can
        // fail to serialize.
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::Chunk;
    use serde_json::json;

    #[test]
    fn what_is_written_is_what_is_serialized() {
        for kind in ["text-delta", "reasoning-delta", "text-end", "data-note"] {
            for delta in ["", "plain", "a \"quote\"\n\u{1}\u{7f} é 京 \\"] {
                for metadata in [None, Some(json!({"adkStream": {"a": [1, "\t"]}}))] {
                    let mut value = json!({"type": kind, "id": "é\"1"});
                    match kind {
                        "data-note" => value["data"] = json!(delta),
                        "text-end" => {}
                        _ => value["delta"] = json!(delta),
                    }
                    if let Some(metadata) = metadata.filter(|_| kind != "data-note") {
                        value["providerMetadata"] = metadata;
                    }
                    let chunk = Chunk::decode(value).unwrap();
                    let mut written = Vec::new();
                    chunk.write_json(&mut written);
                    assert_eq!(String::from_utf8(written).unwrap(), chunk.to_json());
                }
            }
        }
    }

    /// A turn keeps every delta as a chunk, and a server thousands of turns.
    #[test]
    fn a_chunk_is_not_large() {
        let bytes = size_of::<Chunk>();
        assert!(bytes <= 48, "a chunk takes {bytes} bytes");
    }
}
