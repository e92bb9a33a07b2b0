//! The parts of a UI message.
//!
//! Fields and whole parts that this crate does not know are kept: a page may be newer than its
//! server, and what it sends comes back to it unharmed.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::{Map, Value};

use crate::decode::{DecodeError, Field, Fields, Id, Nulls, Path, names, record};
use crate::metadata::{Citation, ProviderMetadata};
use crate::tool_part::ToolPart;

/// One part of a UI message.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum Part {
    /// Text.
    Text(Text),
    /// What the model thought.
    Reasoning(Reasoning),
    /// A page that the answer rests on.
    SourceUrl(SourceUrl),
    /// A document that the answer rests on.
    SourceDocument(SourceDocument),
    /// A file.
    File(File),
    /// A file of the reasoning (7 only).
    ReasoningFile(ReasoningFile),
    /// Content of one provider (7 only).
    Custom(Custom),
    /// A user message within the turn (7 only).
    SteeringMessage(SteeringMessage),
    /// Where a step starts.
    StepStart(StepStart),
    /// A call, `tool-NAME` or `dynamic-tool`.
    #[serde(untagged)]
    Tool(Box<ToolPart>),
    /// `data-NAME`: data for the page.
    #[serde(untagged)]
    Data(Data),
    /// An output in the older form, `tool-result`.
    #[serde(untagged)]
    ToolResult(ToolResult),
    /// A part of a type that this crate does not know, as it came.
    #[serde(untagged)]
    Unknown(Map<String, Value>),
}

names! {
    /// Whether a text or a reasoning is still being written.
    BlockState, "\"streaming\" or \"done\"" {
        /// More may come.
        Streaming = "streaming",
        /// It is whole.
        Done = "done",
    }
}

record! {
    /// Text.
    Text {
        /// The text.
        text: String = "text",
        /// What supports the text (7 only).
        citations: Option<Vec<Citation>> = "citations",
        /// Whether it is whole.
        state: Option<BlockState> = "state",
        /// The provider's metadata.
        provider_metadata: Option<ProviderMetadata> = "providerMetadata",
        ..
    }
}

record! {
    /// What the model thought.
    Reasoning {
        /// The block's id in the stream; newer clients keep it.
        id: Option<String> = "id",
        /// The text.
        text: String = "text",
        /// Whether it is whole.
        state: Option<BlockState> = "state",
        /// The provider's metadata.
        provider_metadata: Option<ProviderMetadata> = "providerMetadata",
        ..
    }
}

record! {
    /// A page that the answer rests on.
    SourceUrl {
        /// The source's id.
        source_id: String = "sourceId",
        /// Its address.
        url: String = "url",
        /// Its title.
        title: Option<String> = "title",
        /// The provider's metadata.
        provider_metadata: Option<ProviderMetadata> = "providerMetadata",
        ..
    }
}

record! {
    /// A document that the answer rests on.
    SourceDocument {
        /// The source's id.
        source_id: String = "sourceId",
        /// Its media type.
        media_type: String = "mediaType",
        /// Its title.
        title: String = "title",
        /// Its file name.
        filename: Option<String> = "filename",
        /// The provider's metadata.
        provider_metadata: Option<ProviderMetadata> = "providerMetadata",
        ..
    }
}

record! {
    /// A file, of the user or of the model.
    File {
        /// What it is.
        media_type: String = "mediaType",
        /// Its name.
        filename: Option<String> = "filename",
        /// Where it is, often a data URL.
        url: String = "url",
        /// The file's name at each provider that has it (7 only).
        provider_reference: Option<Map<String, Value>> = "providerReference",
        /// The provider's metadata.
        provider_metadata: Option<ProviderMetadata> = "providerMetadata",
        ..
    }
}

record! {
    /// A file of the reasoning (7 only).
    ReasoningFile {
        /// What it is.
        media_type: String = "mediaType",
        /// Where it is, often a data URL.
        url: String = "url",
        /// The provider's metadata.
        provider_metadata: Option<ProviderMetadata> = "providerMetadata",
        ..
    }
}

record! {
    /// Content that only its provider understands (7 only).
    Custom {
        /// `provider.type`.
        kind: String = "kind",
        /// The provider's metadata.
        provider_metadata: Option<ProviderMetadata> = "providerMetadata",
        ..
    }
}

record! {
    /// A user message that joined the running turn (7 only).
    SteeringMessage {
        /// The message's id.
        id: String = "id",
        /// Its text and file parts.
        parts: Vec<Part> = "parts",
        ..
    }
}

/// Where a step starts.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct StepStart {
    /// Fields that this crate does not know, as they came.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

/// `data-NAME`: data for the page.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Data {
    /// What follows `data-` in the type.
    pub name: String,
    /// A later chunk with the same name and id replaces the data.
    pub id: Option<String>,
    /// The data.
    pub data: Value,
    /// Fields that this crate does not know, as they came.
    pub extra: Map<String, Value>,
}

/// An output in the older form: `{"type": "tool-result", "toolCallId", "result"}`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ToolResult {
    /// The call.
    pub tool_call_id: String,
    /// The tool, where the client names it.
    pub tool_name: Option<String>,
    /// The output, or `{approved, user_message}` where the call waits for an approval.
    pub result: Value,
    /// Fields that this crate does not know, as they came.
    pub extra: Map<String, Value>,
}

impl Serialize for Data {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", &format_args!("data-{}", self.name))?;
        if let Some(id) = &self.id {
            map.serialize_entry("id", id)?;
        }
        map.serialize_entry("data", &self.data)?;
        for (key, value) in &self.extra {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl Serialize for ToolResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", "tool-result")?;
        map.serialize_entry("toolCallId", &self.tool_call_id)?;
        if let Some(name) = &self.tool_name {
            map.serialize_entry("toolName", name)?;
        }
        map.serialize_entry("result", &self.result)?;
        for (key, value) in &self.extra {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl Part {
    /// Plain text, complete.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(Text {
            text: text.into(),
            ..Text::default()
        })
    }

    /// The tool part, if it is one.
    pub fn as_tool(&self) -> Option<&ToolPart> {
        match self {
            Self::Tool(part) => Some(part),
            _ => None,
        }
    }

    /// The call that it is, if it is one.
    pub fn as_tool_mut(&mut self) -> Option<&mut ToolPart> {
        match self {
            Self::Tool(part) => Some(part),
            _ => None,
        }
    }
}

impl Field for Part {
    const EXPECTED: &'static str = "a message part";

    fn from_value(value: Value, path: Path<'_>, nulls: Nulls) -> Result<Self, DecodeError> {
        let mut fields = Fields::of(value, path, nulls)?;
        let kind: String = fields.take("type")?;
        Ok(match kind.as_str() {
            "text" => Self::Text(Text::take(fields)?),
            "reasoning" => Self::Reasoning(Reasoning::take(fields)?),
            "source-url" => Self::SourceUrl(SourceUrl::take(fields)?),
            "source-document" => Self::SourceDocument(SourceDocument::take(fields)?),
            "file" => Self::File(File::take(fields)?),
            "reasoning-file" => Self::ReasoningFile(ReasoningFile::take(fields)?),
            "custom" => Self::Custom(Custom::take(fields)?),
            "steering-message" => Self::SteeringMessage(SteeringMessage::take(fields)?),
            "step-start" => Self::StepStart(StepStart {
                extra: fields.rest(),
            }),
            // A tool may itself be called `result`; only the older form has no state.
            "tool-result" if !fields.has("state") => Self::ToolResult(ToolResult {
                tool_call_id: fields.take::<Id>("toolCallId")?.0,
                tool_name: fields.take("toolName")?,
                result: fields.take::<Option<Value>>("result")?.unwrap_or_default(),
                extra: fields.rest(),
            }),
            "dynamic-tool" => Self::Tool(Box::new(ToolPart::take_dynamic(fields)?)),
            _ => {
                if let Some(name) = kind.strip_prefix("tool-") {
                    Self::Tool(Box::new(ToolPart::take_static(name.to_owned(), fields)?))
                } else if let Some(name) = kind.strip_prefix("data-") {
                    Self::Data(Data {
                        name: name.to_owned(),
                        id: fields.take("id")?,
                        data: fields.take::<Option<Value>>("data")?.unwrap_or_default(),
                        extra: fields.rest(),
                    })
                } else {
                    let mut whole = Map::new();
                    whole.insert("type".to_owned(), Value::String(kind));
                    whole.extend(fields.rest());
                    Self::Unknown(whole)
                }
            }
        })
    }
}
