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
    /// What is answered.
    pub given: Given,
    /// The digest of what the person was shown.
    pub digest: Option<String>,
}

/// What a person answers.
#[derive(Debug, Clone, PartialEq)]
pub enum Given {
    /// Yes.
    Approved {
        /// Why.
        reason: Option<String>,
        /// The input to run in place of the model's.
        input: Option<Value>,
    },
    /// No.
    Denied {
        /// Why.
        reason: Option<String>,
    },
    /// The data that was asked for.
    Answer(Value),
    /// That the data that was asked for is not given.
    Declined {
        /// Why.
        reason: Option<String>,
    },
}

impl ApprovalReply {
    /// Decodes a body.
    pub fn from_slice(bytes: &[u8], limits: &Limits) -> Result<Self, DecodeError> {
        let mut fields = Fields::of(limits.json(bytes)?, Path::Root, Nulls::Absent)?;
        let digest = fields.take("digest")?;
        let (given, written) = if fields.has("answer") {
            let answer: Value = fields.take("answer")?;
            (Given::Answer(answer), Some("answer"))
        } else if fields.has("declined") {
            let declined: bool = fields.take("declined")?;
            if !declined {
                let path = fields.path();
                let path = path.key("declined");
                return Err(path.expected("true: who does not decline gives an answer"));
            }
            let reason = fields.take("reason")?;
            (Given::Declined { reason }, None)
        } else {
            let approved: bool = fields.take("approved")?;
            let reason = fields.take("reason")?;
            let input = take_present(&mut fields, "input")?;
            match (approved, input) {
                (true, input) => {
                    let written = input.is_some().then_some("input");
                    (Given::Approved { reason, input }, written)
                }
                (false, None) => (Given::Denied { reason }, None),
                (false, Some(_)) => {
                    let path = fields.path();
                    let path = path.key("input");
                    return Err(path.expected("nothing: only an approval can change it"));
                }
            }
        };
        fields.nothing_left()?;
        // What the person wrote is what they consent to.
        if let (Some(key), Some(number)) = (written, first_rounded(bytes)) {
            let number = number.chars().take(MAX_QUOTED).collect();
            return Err(Path::Root.key(key).error(Problem::RoundedNumber(number)));
        }
        Ok(Self { given, digest })
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

/// The body of `POST /api/chat/{id}/branches`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchSelection {
    /// A message of the branch.
    pub message_id: String,
}

impl BranchSelection {
    /// Decodes a body.
    pub fn from_slice(bytes: &[u8], limits: &Limits) -> Result<Self, DecodeError> {
        let mut fields = Fields::of(limits.json(bytes)?, Path::Root, Nulls::Absent)?;
        let message_id = fields.take("messageId")?;
        fields.nothing_left()?;
        Ok(Self { message_id })
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
        let input = Some(json!({"amount": 5}));
        let reason = None;
        assert_eq!(read.given, Given::Approved { reason, input });
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
            (
                r#"{"answer":{"a":0.10000000000000000001}}"#,
                "rounded_number",
            ),
            (r#"{"approved":false,"input":{}}"#, "wrong_type"),
            (r#"{"answer":1,"approved":true}"#, "unknown_field"),
            (r#"{"answer":1,"declined":true}"#, "unknown_field"),
            (r#"{"answer":1,"reason":"so"}"#, "unknown_field"),
            (r#"{"declined":false}"#, "wrong_type"),
            ("{}", "missing_field"),
        ] {
            assert_eq!(reply(text).unwrap_err().problem.code(), code, "{text}");
        }
    }

    #[test]
    fn data_is_given_or_declined() {
        let given = |text| reply(text).unwrap().given;
        assert_eq!(given(r#"{"answer":null}"#), Given::Answer(Value::Null));
        let answer = Given::Answer(json!({"people": 4}));
        assert_eq!(given(r#"{"answer":{"people":4},"digest":"ab"}"#), answer);
        let reason = Some("not now".to_owned());
        let declined = given(r#"{"declined":true,"reason":"not now"}"#);
        assert_eq!(declined, Given::Declined { reason });
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
