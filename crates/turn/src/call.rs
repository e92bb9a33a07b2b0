//! A call: one use of a tool by the model, and what became of it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::CallId;

/// One use of a tool, with the input that the model gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Call {
    /// Its id.
    pub id: CallId,
    /// The id that the provider gave it, if any, to be sent back with the result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
    /// The tool.
    pub tool: String,
    /// The input.
    pub input: Value,
    /// Where it runs.
    pub place: Place,
    /// The call inside of which a tool asked for this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<CallId>,
    /// What the provider says of it, to be sent back unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_metadata: Option<Value>,
}

impl Call {
    /// Why a page would not show its input as it runs, if so.
    pub(crate) fn unshowable(&self) -> Option<&'static str> {
        match &self.input {
            // Nothing is shown as nothing.
            Value::Null => None,
            Value::Object(_) if has_hidden_key(&self.input) => {
                Some("its input holds keys that pages can't show, such as __proto__")
            }
            Value::Object(_) => None,
            _ => Some("its input is not an object with named fields"),
        }
    }
}

/// Whether a value has a key, anywhere in it, that JavaScript takes for a prototype: pages drop it.
fn has_hidden_key(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_hidden_key),
        Value::Object(map) => map.iter().any(|(key, value)| {
            key == "__proto__"
                || key == "constructor" && value.get("prototype").is_some()
                || has_hidden_key(value)
        }),
        _ => false,
    }
}

/// Where a call runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Place {
    /// Here.
    Server,
    /// In a page: a client call.
    Client,
    /// At the agent, which runs it by itself and says what came of it.
    Agent,
}

/// What became of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum Outcome {
    /// It has an output.
    Output {
        /// The output.
        output: Value,
    },
    /// It failed.
    Error {
        /// Why.
        error: String,
    },
    /// The model's input was not one that the tool takes.
    Invalid {
        /// What is wrong with it.
        error: String,
    },
    /// It was refused.
    Denied {
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// It was started, and nobody knows what came of it.
    Unknown,
    /// It goes on by itself, and its result will open a turn of its own.
    Pending {
        /// What to tell the model meanwhile.
        output: Value,
    },
}
