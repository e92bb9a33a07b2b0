//! What is said: contents, and their parts.

use serde::ser::SerializeMap;
use serde_json::{Map, Value};

use crate::function::{FunctionCall, FunctionResponse};
use crate::record::{Slot, record, take};
use crate::words::words;

words! {
    /// The role of a content.
    pub enum Role {
        /// The user; also function responses.
        User = "user",
        /// The model.
        Model = "model",
    }
}

record! {
    /// What one side said.
    pub struct Content {
        /// Who.
        role: Option<Role>,
        /// What.
        parts: Vec<Part>,
    }

    /// A part of a content: its data, and what is said of it.
    pub struct Part {
        /// The data.
        data: Data,
        /// Whether it is what the model thought, and no answer.
        thought: Option<bool>,
        /// What the model wants back unchanged with this part, in base64.
        thought_signature: Option<String>,
    }

    /// Bytes inside of a message.
    pub struct Blob {
        /// What they are, such as `image/png` or `audio/pcm;rate=16000`.
        mime_type: Option<String>,
        /// The bytes, in base64 of either alphabet, as they came.
        data: Option<String>,
        /// A name for them.
        display_name: Option<String>,
    }

    /// Bytes that are elsewhere.
    pub struct FileData {
        /// What they are.
        mime_type: Option<String>,
        /// Where they are.
        file_uri: Option<String>,
        /// A name for them.
        display_name: Option<String>,
    }

    /// Code that the model wrote to be run at Google.
    pub struct ExecutableCode {
        /// Its id, where there is one.
        id: Option<String>,
        /// The language, `PYTHON`.
        language: Option<String>,
        /// The code.
        code: Option<String>,
    }

    /// The result of the code.
    pub struct CodeExecutionResult {
        /// The id of the code, where there is one.
        id: Option<String>,
        /// How it went, such as `OUTCOME_OK`.
        outcome: Option<String>,
        /// What it printed.
        output: Option<String>,
    }
}

/// What a part holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Data {
    /// Text; may be empty where the part is there for its signature.
    Text(String),
    /// Bytes.
    InlineData(Blob),
    /// Bytes elsewhere.
    FileData(FileData),
    /// A call.
    FunctionCall(FunctionCall),
    /// A function response.
    FunctionResponse(FunctionResponse),
    /// Code that Google runs.
    ExecutableCode(ExecutableCode),
    /// The result of that code.
    CodeExecutionResult(CodeExecutionResult),
    /// None of these: it is in the part's `rest`, as it came.
    #[default]
    Unknown,
}

impl Slot for Data {
    fn take(map: &mut Map<String, Value>, _: &str) -> Self {
        None.or_else(|| take(map, "text").map(Self::Text))
            .or_else(|| take(map, "inline_data").map(Self::InlineData))
            .or_else(|| take(map, "file_data").map(Self::FileData))
            .or_else(|| take(map, "function_call").map(Self::FunctionCall))
            .or_else(|| take(map, "function_response").map(Self::FunctionResponse))
            .or_else(|| take(map, "executable_code").map(Self::ExecutableCode))
            .or_else(|| take(map, "code_execution_result").map(Self::CodeExecutionResult))
            .unwrap_or_default()
    }

    fn put<M: SerializeMap>(&self, map: &mut M, _: &str) -> Result<(), M::Error> {
        match self {
            Self::Text(text) => map.serialize_entry("text", text),
            Self::InlineData(blob) => map.serialize_entry("inlineData", blob),
            Self::FileData(file) => map.serialize_entry("fileData", file),
            Self::FunctionCall(call) => map.serialize_entry("functionCall", call),
            Self::FunctionResponse(response) => map.serialize_entry("functionResponse", response),
            Self::ExecutableCode(code) => map.serialize_entry("executableCode", code),
            Self::CodeExecutionResult(result) => map.serialize_entry("codeExecutionResult", result),
            Self::Unknown => Ok(()),
        }
    }
}

impl From<Data> for Part {
    fn from(data: Data) -> Self {
        Self {
            data,
            ..Self::default()
        }
    }
}

impl Part {
    /// A part of text.
    pub fn text(text: impl Into<String>) -> Self {
        Data::Text(text.into()).into()
    }

    /// Whether it is what the model thought, and no answer.
    pub fn is_thought(&self) -> bool {
        self.thought == Some(true)
    }
}

impl Content {
    /// A content of the user.
    pub fn user(parts: Vec<Part>) -> Self {
        Self::of(Role::User, parts)
    }

    /// A content of the model.
    pub fn model(parts: Vec<Part>) -> Self {
        Self::of(Role::Model, parts)
    }

    fn of(role: Role, parts: Vec<Part>) -> Self {
        Self {
            role: Some(role),
            parts,
            ..Self::default()
        }
    }
}

impl Blob {
    /// Bytes of a kind, in base64.
    pub fn new(mime_type: impl Into<String>, data: impl Into<String>) -> Self {
        Self {
            mime_type: Some(mime_type.into()),
            data: Some(data.into()),
            ..Self::default()
        }
    }
}
