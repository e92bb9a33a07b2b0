//! The bodies by which an approval is answered, a page's call is settled, and a chat is named, without a
//! window.
//!
//! They decide what runs, so they are read strictly: an object, each key once, nothing unknown.

use serde_json::Value;

use crate::decode::{ChatId, DecodeError, Fields, Nulls, Path, Problem};
use crate::number::first_rounded;
use crate::request::Limits;

/// How much of a number an error quotes.
const MAX_QUOTED: usize = 40;

/// The body of `POST /api/approvals/{id}`.
#[derive(Debug, Clone, PartialEq)]
pub struct ApprovalReply {
    /// Yes or no.
    pub approved: bool,
    /// Why.
    pub reason: Option<String>,
    /// The input to run in place of the model's.
    pub input: Option<Value>,
    /// The digest of what the person was shown.
    pub digest: Option<String>,
}

impl ApprovalReply {
    /// Decodes a body.
    pub fn from_slice(bytes: &[u8], limits: &Limits) -> Result<Self, DecodeError> {
        let mut fields = Fields::of(limits.json(bytes)?, Path::Root, Nulls::Absent)?;
        let reply = Self {
            approved: fields.take("approved")?,
            reason: fields.take("reason")?,
            input: take_present(&mut fields, "input")?,
            digest: fields.take("digest")?,
        };
        fields.nothing_left()?;
        // What the person wrote is what they consent to.
        if reply.input.is_some()
            && let Some(number) = first_rounded(bytes)
        {
            let number = number.chars().take(MAX_QUOTED).collect();
            return Err(Path::Root
                .key("input")
                .error(Problem::RoundedNumber(number)));
        }
        Ok(reply)
    }
}

/// The body of `PATCH /api/chats/{id}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatUpdate {
    /// What the chat is called from now on.
    pub title: Option<String>,
    /// Whether it is archived from now on.
    pub archived: Option<bool>,
}

impl ChatUpdate {
    /// Decodes a body.
    pub fn from_slice(bytes: &[u8], limits: &Limits) -> Result<Self, DecodeError> {
        let mut fields = Fields::of(limits.json(bytes)?, Path::Root, Nulls::Absent)?;
        let update = Self {
            title: fields.take("title")?,
            archived: fields.take("archived")?,
        };
        fields.nothing_left()?;
        Ok(update)
    }
}

/// The body of `POST /api/calls/{id}`.
#[derive(Debug, Clone, PartialEq)]
pub struct OutputReply {
    /// The outcome of the call.
    pub output: Result<Value, String>,
    /// The chat, where a worker names the call as the agent does.
    pub chat: Option<String>,
}

impl OutputReply {
    /// Decodes a body.
    pub fn from_slice(bytes: &[u8], limits: &Limits) -> Result<Self, DecodeError> {
        let mut fields = Fields::of(limits.json(bytes)?, Path::Root, Nulls::Absent)?;
        let path = fields.path();
        let chat: Option<ChatId> = fields.take("chat")?;
        // An output may well be null.
        let output: Option<Value> = fields.take("output")?;
        let error: Option<String> = fields.take("error")?;
        fields.nothing_left()?;
        let output = match (output, error) {
            (Some(output), None) => Ok(output),
            (None, Some(error)) => Err(error),
            (Some(_), Some(_)) => return Err(path.key("error").error(Problem::UnknownField)),
            (None, None) => return Err(path.key("output").error(Problem::Missing)),
        };
        let chat = chat.map(|chat| chat.0);
        Ok(Self { output, chat })
    }
}

fn take_present(fields: &mut Fields<'_>, key: &'static str) -> Result<Option<Value>, DecodeError> {
    let value: Option<Value> = fields.take(key)?;
    Ok(value.filter(|value| !value.is_null()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn reply(text: &str) -> Result<ApprovalReply, DecodeError> {
        ApprovalReply::from_slice(text.as_bytes(), &Limits::default())
    }

    fn output(text: &str) -> Result<OutputReply, DecodeError> {
        OutputReply::from_slice(text.as_bytes(), &Limits::default())
    }

    #[test]
    fn answer_is_an_object_that_says_everything_once() {
        let read = reply(r#"{"approved":true,"reason":null,"input":{"amount":5},"digest":"ab"}"#);
        let read = read.unwrap();
        assert!(read.approved && read.reason.is_none());
        assert_eq!(read.input, Some(json!({"amount": 5})));
        assert_eq!(read.digest.as_deref(), Some("ab"));

        for (text, code) in [
            ("[true,null,null]", "wrong_type"),
            ("true", "wrong_type"),
            (r#"{"approved":false,"approved":true}"#, "duplicate_key"),
            (
                r#"{"approved":true,"input":{"a":1,"a":2}}"#,
                "duplicate_key",
            ),
            (r#"{"approved":"true"}"#, "wrong_type"),
            (r#"{"approved":1}"#, "wrong_type"),
            (r#"{"approved":true,"aproved":false}"#, "unknown_field"),
            (r#"{"approved":true,"digest":7}"#, "wrong_type"),
            (
                r#"{"approved":true,"input":{"a":[0.10000000000000000001]}}"#,
                "rounded_number",
            ),
            ("{}", "missing_field"),
        ] {
            assert_eq!(reply(text).unwrap_err().problem.code(), code, "{text}");
        }
    }

    #[test]
    fn output_is_one_output_or_one_error() {
        assert_eq!(
            output(r#"{"output":null}"#).unwrap().output,
            Ok(Value::Null)
        );
        let failed = output(r#"{"error":"no GPS","chat":"c"}"#).unwrap();
        assert_eq!(failed.output, Err("no GPS".to_owned()));
        assert_eq!(failed.chat.as_deref(), Some("c"));

        for text in [
            r#"[{"output":1}]"#,
            r#"{"output":1,"output":2}"#,
            r#"{"output":1,"error":"no"}"#,
            r#"{"output":1,"more":2}"#,
            r#"{"error":5}"#,
            "{}",
        ] {
            assert!(output(text).is_err(), "{text}");
        }
    }
}
