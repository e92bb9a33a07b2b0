//! The request that begins a run, as an application sends it to this server: within limits, with errors
//! that name the path.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::input::{ResumeEntry, ResumeStatus};
use super::message::Message;
use crate::decode::{ChatId, DecodeError, Field, Fields, Id, Nulls, Path, Problem};
use crate::request::Limits;

/// The request that begins a run, as far as this server reads it.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRequest {
    /// The conversation: a chat.
    pub thread_id: String,
    /// The run, by the application's name for it.
    pub run_id: String,
    /// The version of the protocol that the application speaks; those before 1.0 do not say.
    pub protocol_version: Option<String>,
    /// The whole history, as the application has it.
    pub messages: Vec<Message>,
    /// The tools that the application runs, as it sent them.
    pub tools: Value,
    /// Answers to the interrupts of the run before.
    pub resume: Vec<ResumeEntry>,
    /// What the application adds.
    pub forwarded_props: Map<String, Value>,
}

impl RunRequest {
    /// Decodes a body.
    pub fn from_slice(bytes: &[u8], limits: &Limits) -> Result<Self, DecodeError> {
        let mut fields = Fields::of(limits.json(bytes)?, Path::Root, Nulls::Absent)?;
        let thread_id = fields.take::<ChatId>("threadId")?.0;
        let run_id = fields.take::<Id>("runId")?.0;
        let messages: Option<Vec<Value>> = fields.take("messages")?;
        let messages = messages.unwrap_or_default();
        if messages.len() > limits.messages {
            let limit = limits.messages;
            let path = Path::Root;
            return Err(path.key("messages").error(Problem::TooMany { limit }));
        }
        let resume: Option<Vec<ResumeEntry>> = fields.take("resume")?;
        Ok(Self {
            thread_id,
            run_id,
            protocol_version: fields.take("protocolVersion")?,
            messages: messages.into_iter().map(message).collect(),
            tools: fields.take::<Option<Value>>("tools")?.unwrap_or_default(),
            resume: resume.unwrap_or_default(),
            // Frameworks put anything there: only an object says something here.
            forwarded_props: match fields.take::<Option<Value>>("forwardedProps")? {
                Some(Value::Object(props)) => props,
                _ => Map::new(),
            },
        })
    }
}

/// A message; whole, if it is not known.
fn message(value: Value) -> Message {
    match Message::deserialize(&value) {
        Ok(message) => message,
        Err(_) => Message::Other(match value {
            Value::Object(fields) => fields,
            _ => Map::new(),
        }),
    }
}

impl Field for ResumeEntry {
    const EXPECTED: &'static str = "an object";

    fn from_value(value: Value, path: Path<'_>, nulls: Nulls) -> Result<Self, DecodeError> {
        let mut fields = Fields::of(value, path, nulls)?;
        let interrupt_id = fields.take::<Id>("interruptId")?.0;
        let status: String = fields.take("status")?;
        let status = match status.as_str() {
            "resolved" => ResumeStatus::Resolved,
            "cancelled" => ResumeStatus::Cancelled,
            other => {
                let expected = "\"resolved\" or \"cancelled\"";
                return Err(path.key("status").unknown(other, expected));
            }
        };
        Ok(Self {
            interrupt_id,
            status,
            payload: fields.take("payload")?,
            // As with `forwardedProps`, only an object says something.
            metadata: match fields.take::<Option<Value>>("metadata")? {
                Some(Value::Object(metadata)) => Some(metadata),
                _ => None,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<RunRequest, DecodeError> {
        RunRequest::from_slice(text.as_bytes(), &Limits::default())
    }

    #[test]
    fn body_of_a_resumed_run_as_the_client_sends_it() {
        let body = r#"{"threadId":"t","runId":"r","protocolVersion":"1.0","tools":[{"name":"pick","description":"","parameters":{}}],"context":[],"forwardedProps":{"trigger":"submit-message"},"state":{},"messages":[{"id":"u","role":"user","content":"Pay"}],"resume":[{"interruptId":"g","status":"resolved","payload":{"approved":true}}]}"#;
        let request = read(body).unwrap();
        assert_eq!(request.protocol_version.as_deref(), Some("1.0"));
        assert!(matches!(&request.messages[..], [Message::User { id, .. }] if id == "u"));
        assert_eq!(request.resume[0].interrupt_id, "g");
        assert_eq!(request.forwarded_props["trigger"], "submit-message");
        assert_eq!(request.tools[0]["name"], "pick");
    }

    #[test]
    fn errors_name_the_path_and_nothing_unknown_is_one() {
        let error = |text: &str| {
            let error = read(text).unwrap_err();
            (error.path, error.problem.code())
        };
        let path = |path: &str, code| (path.to_owned(), code);
        assert_eq!(error(r#"{"runId":"r"}"#), path("threadId", "missing_field"));
        assert_eq!(
            error(r#"{"threadId":"","runId":"r"}"#),
            path("threadId", "invalid_chat_id")
        );
        assert_eq!(
            error(r#"{"threadId":"t","runId":"r","resume":[{"interruptId":"g","status":"no"}]}"#),
            path("resume[0].status", "unknown_value")
        );
        let odd = read(
            r#"{"threadId":"t","runId":"r","messages":[5,{"role":"oracle"}],"forwardedProps":5}"#,
        );
        assert_eq!(odd.unwrap().messages.len(), 2);
    }
}
