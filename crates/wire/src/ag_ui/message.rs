//! The messages of a conversation.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What every message may have.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MessageCommon {
    /// Something that only the agent understands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encrypted_value: Option<String>,
    /// The invocation of the subagent that it is of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent_run_id: Option<String>,
    /// All other fields.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// A message of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "role",
    rename_all = "lowercase",
    rename_all_fields = "camelCase"
)]
pub enum Message {
    /// A person's.
    User {
        /// Its id.
        id: String,
        /// What was said.
        content: Content,
        /// What every message may have.
        #[serde(flatten)]
        common: MessageCommon,
    },
    /// The agent's.
    Assistant {
        /// Its id.
        id: String,
        /// What was said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<String>,
        /// The calls that it makes.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall>,
        /// What every message may have.
        #[serde(flatten)]
        common: MessageCommon,
    },
    /// What came of a call.
    Tool {
        /// Its id.
        id: String,
        /// What came of it.
        content: Content,
        /// The call.
        tool_call_id: String,
        /// Why it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        /// What every message may have.
        #[serde(flatten)]
        common: MessageCommon,
    },
    /// What the agent thought.
    Reasoning {
        /// Its id.
        id: String,
        /// The words.
        content: String,
        /// What every message may have.
        #[serde(flatten)]
        common: MessageCommon,
    },
    /// Progress that is no part of the conversation.
    Activity {
        /// Its id.
        id: String,
        /// What kind of activity it is.
        activity_type: String,
        /// What it shows.
        content: Value,
        /// What every message may have.
        #[serde(flatten)]
        common: MessageCommon,
    },
    /// The application's.
    System {
        /// Its id.
        id: String,
        /// The words.
        content: String,
        /// What every message may have.
        #[serde(flatten)]
        common: MessageCommon,
    },
    /// The application developer's.
    Developer {
        /// Its id.
        id: String,
        /// The words.
        content: String,
        /// What every message may have.
        #[serde(flatten)]
        common: MessageCommon,
    },
    /// A message that is not known, or does not fit its role, whole.
    #[serde(untagged)]
    Other(Map<String, Value>),
}

/// What a person says or a tool gives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Content {
    /// Words.
    Text(String),
    /// Words, files, and parts that are not known.
    Parts(Vec<Part>),
}

/// A part of what a person says or a tool gives.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Part {
    /// Words.
    Text {
        /// The words.
        text: String,
    },
    /// An image.
    Image {
        /// Where it is.
        source: Source,
    },
    /// Sound.
    Audio {
        /// Where it is.
        source: Source,
    },
    /// A video.
    Video {
        /// Where it is.
        source: Source,
    },
    /// Another file.
    Document {
        /// Where it is.
        source: Source,
    },
    /// A part that is not known, whole.
    #[serde(untagged)]
    Other(Value),
}

/// Where a file is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "lowercase",
    rename_all_fields = "camelCase"
)]
pub enum Source {
    /// Here, in base64.
    Data {
        /// The bytes.
        value: String,
        /// What it is.
        mime_type: String,
    },
    /// At an address.
    Url {
        /// The address.
        value: String,
        /// What it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
    },
    /// Elsewhere, whole.
    #[serde(untagged)]
    Other(Value),
}

/// A call that a message makes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// Its id.
    pub id: String,
    /// What it calls.
    #[serde(rename = "type", default)]
    pub kind: ToolCallKind,
    /// The tool, and its arguments.
    pub function: FunctionCall,
    /// Something that only the agent understands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encrypted_value: Option<String>,
    /// All other fields.
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

/// What a call calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolCallKind {
    /// A function: there is nothing else.
    #[default]
    Function,
}

/// A tool, and its arguments.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FunctionCall {
    /// The tool.
    pub name: String,
    /// The arguments, as JSON text.
    pub arguments: String,
}
