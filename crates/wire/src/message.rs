//! A UI message: what a page shows, and what it sends back.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::decode::{DecodeError, Field, Fields, Id, Nulls, Path, names};
use crate::legacy::content;
use crate::part::Part;

names! {
    /// Who a message is from.
    Role, "\"system\", \"user\" or \"assistant\"" {
        /// The application.
        System = "system",
        /// A person.
        User = "user",
        /// The agent.
        Assistant = "assistant",
    }
}

/// A UI message.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Message {
    /// Its id. The AI SDK always sends one; pages of the legacy bridge may not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Who it is from.
    pub role: Role,
    /// What the application keeps with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
    /// What it is made of.
    pub parts: Vec<Part>,
    /// Fields that this crate does not know, as they came.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl Message {
    /// A message without metadata.
    pub fn new(id: impl Into<String>, role: Role, parts: Vec<Part>) -> Self {
        Self {
            id: Some(id.into()),
            role,
            metadata: None,
            parts,
            extra: Map::new(),
        }
    }

    /// Decodes one message, of today's or of an older shape ([`crate::legacy`]).
    pub fn decode(value: Value) -> Result<Self, DecodeError> {
        Self::from_value(value, Path::Root, Nulls::Absent)
    }

    /// The message as every release of the SDK validates it: see [`ToolPart::complete`].
    ///
    /// [`ToolPart::complete`]: crate::ToolPart::complete
    #[must_use]
    pub fn complete(mut self) -> Self {
        let calls = self.parts.iter_mut().filter_map(Part::as_tool_mut);
        calls.for_each(crate::ToolPart::complete);
        self
    }

    /// All its text, joined.
    pub fn text(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        texts.collect()
    }
}

/// Messages are read back from the journal as they are read from a client.
impl<'de> serde::Deserialize<'de> for Message {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Value::deserialize(deserializer)?;
        Self::decode(value).map_err(serde::de::Error::custom)
    }
}

impl Field for Message {
    const EXPECTED: &'static str = "a message";

    fn from_value(value: Value, path: Path<'_>, nulls: Nulls) -> Result<Self, DecodeError> {
        let mut fields = Fields::of(value, path, nulls)?;
        let id = fields.take::<Option<Id>>("id")?.map(|id| id.0);
        let role = fields.take("role")?;
        let metadata = fields.take::<Option<Value>>("metadata")?;
        let parts = match fields.take::<Option<Vec<Part>>>("parts")? {
            Some(parts) => parts,
            None => content::take_content(&mut fields)?,
        };
        Ok(Self {
            id,
            role,
            metadata: metadata.filter(|metadata| !metadata.is_null()),
            parts,
            extra: fields.rest(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool_part::ToolState;
    use serde_json::json;

    #[test]
    fn tool_name_is_taken_from_the_type() {
        let message = Message::decode(json!({
            "id": "m1", "role": "assistant",
            "parts": [{"type": "tool-change_bgm", "toolCallId": "c1", "state": "output-available",
                       "input": {"track": 1}, "output": {"success": true}}],
        }))
        .unwrap();
        let part = message.parts[0].as_tool().unwrap();
        assert_eq!(part.tool_name, "change_bgm");
        assert_eq!(part.state, ToolState::OutputAvailable);
        assert!(!part.dynamic);
    }

    #[test]
    fn unknown_parts_and_fields_come_back_as_they_were() {
        let value = json!({
            "id": "m1", "role": "user",
            "parts": [
                {"type": "hologram", "depth": 3},
                {"type": "text", "text": "hi", "mood": {"x": [1, null]}},
                {"type": "step-start", "cost": 2},
                {"type": "dynamic-tool", "toolName": "t", "toolCallId": "c", "state": "output-denied",
                 "input": null, "approval": {"id": "a", "approved": false, "by": "Ann"}, "dynamic": false},
                {"type": "data-x", "data": 1, "shade": "blue"},
            ],
            "createdAt": "yesterday",
        });
        let message = Message::decode(value.clone()).unwrap();
        assert_eq!(serde_json::to_value(&message).unwrap(), value);
    }

    #[test]
    fn errors_name_the_path() {
        let error = |value| Message::decode(value).unwrap_err().to_string();
        assert_eq!(
            error(json!({"role": "tool", "parts": []})),
            r#"role: expected "system", "user" or "assistant", found "tool""#
        );
        assert_eq!(
            error(json!({"role": "user", "parts": [{"type": "text", "text": 1}]})),
            "parts[0].text: expected a string"
        );
        assert_eq!(
            error(
                json!({"role": "user", "parts": [{"type": "tool-x", "toolCallId": "", "state": "call"}]})
            ),
            "parts[0].toolCallId: not a usable id: it is empty"
        );
        assert_eq!(
            error(json!({"role": "user", "parts": [
                {"type": "tool-x", "toolCallId": "c", "state": "approval-responded", "approval": {"id": "a"}}]})),
            "parts[0].approval.approved: missing"
        );
        assert_eq!(error(json!({"role": "user"})), "parts: missing");
    }
}
