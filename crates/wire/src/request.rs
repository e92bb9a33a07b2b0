//! The body of `POST {api}`, and the limits within which anything is read.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::decode::{self, ChatId, DecodeError, Fields, Id, Nulls, Path, Problem, names};
use crate::message::Message;

/// How much a decoder accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a body or a frame.
    pub bytes: usize,
    /// Messages of a request.
    pub messages: usize,
    /// Levels of nesting, at most 127.
    pub depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            bytes: 4 * 1024 * 1024,
            messages: 10_000,
            depth: 64,
        }
    }
}

impl Limits {
    /// Parses what a client sent, within the limits.
    pub(crate) fn json(&self, bytes: &[u8]) -> Result<Value, DecodeError> {
        if bytes.len() > self.bytes {
            return Err(Path::Root.error(Problem::TooLarge { limit: self.bytes }));
        }
        decode::strict_json(bytes, self.depth)
    }

    /// Parses bytes into an object that names each key once, within the limits.
    pub fn object(&self, bytes: &[u8]) -> Result<Map<String, Value>, DecodeError> {
        let fields = Fields::of(self.json(bytes)?, Path::Root, Nulls::Absent)?;
        Ok(fields.rest())
    }

    /// Takes `messages` within the limits.
    pub(crate) fn take_messages(
        &self,
        fields: &mut Fields<'_>,
    ) -> Result<Vec<Message>, DecodeError> {
        if let Some(Value::Array(messages)) = fields.peek("messages")
            && messages.len() > self.messages
        {
            let path = fields.path();
            let limit = self.messages;
            return Err(path.key("messages").error(Problem::TooMany { limit }));
        }
        fields.take("messages")
    }
}

names! {
    /// Why a client sends.
    Trigger, "\"submit-message\" or \"regenerate-message\"" {
        /// A new message, an edit, or a continuation.
        SubmitMessage = "submit-message",
        /// The last answer is to be given again.
        RegenerateMessage = "regenerate-message",
    }
}

/// The body of `POST {api}`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChatRequest {
    /// The chat.
    pub id: String,
    /// The whole history, as the client has it; or the last message alone, where the application sends
    /// no more.
    pub messages: Vec<Message>,
    /// Why it is sent.
    pub trigger: Trigger,
    /// On submit: absent for a new message, a user message's id for an edit, an assistant message's
    /// for a continuation. On regenerate: the message to give again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// What the application adds to its requests.
    #[serde(flatten)]
    pub extra: Map<String, Value>,
}

impl ChatRequest {
    /// Decodes a body.
    pub fn from_slice(bytes: &[u8], limits: &Limits) -> Result<Self, DecodeError> {
        Self::from_slice_or(bytes, limits, |_| None)
    }

    /// Decodes a body that need not name its chat, where the server has a name for a page by the messages
    /// that it sends.
    pub fn from_slice_or(
        bytes: &[u8],
        limits: &Limits,
        name: impl FnOnce(&[Message]) -> Option<String>,
    ) -> Result<Self, DecodeError> {
        let value = limits.json(bytes)?;
        let mut fields = Fields::of(value, Path::Root, Nulls::Absent)?;
        let id = match fields.has("id") {
            true => Some(fields.take::<ChatId>("id")?.0),
            false => None,
        };
        // Hand-written clients leave it out, and mean the ordinary thing.
        let trigger = fields
            .take::<Option<Trigger>>("trigger")?
            .unwrap_or(Trigger::SubmitMessage);
        let path = fields.path();
        let missing = || path.key("id").error(Problem::Missing);
        let messages = match &id {
            Some(_) => take_history(limits, trigger, &mut fields)?,
            // Nothing else is wrong with a body that has neither.
            None => take_history(limits, trigger, &mut fields).map_err(|_| missing())?,
        };
        Ok(Self {
            id: id.or_else(|| name(&messages)).ok_or_else(missing)?,
            messages,
            trigger,
            message_id: fields.take::<Option<Id>>("messageId")?.map(|id| id.0),
            extra: fields.rest(),
        })
    }
}

/// Takes `messages`; or `message`, which applications send that leave the history to the server; or
/// nothing, where the answer to a message that the server has is to be given again.
fn take_history(
    limits: &Limits,
    trigger: Trigger,
    fields: &mut Fields<'_>,
) -> Result<Vec<Message>, DecodeError> {
    if fields.has("messages") {
        return limits.take_messages(fields);
    }
    let path = fields.path();
    match fields.take::<Option<Message>>("message")? {
        // Without its place in a history, an id is all that tells a new message from one sent again.
        Some(message) if message.id.is_none() => {
            Err(path.key("message").key("id").error(Problem::Missing))
        }
        Some(message) => Ok(vec![message]),
        None if trigger == Trigger::RegenerateMessage => Ok(Vec::new()),
        None => limits.take_messages(fields),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ChatRequest, DecodeError> {
        ChatRequest::from_slice(text.as_bytes(), &Limits::default())
    }

    #[test]
    fn body_of_an_approvals_continuation_as_the_client_sends_it() {
        let body = r#"{"id":"chat-1","messages":[{"parts":[{"type":"text","text":"hi"}],"id":"gen-1","role":"user"},{"id":"srv-1","role":"assistant","parts":[{"type":"step-start"},{"type":"tool-deleteFile","toolCallId":"call_1","state":"approval-responded","input":{"path":"a.txt"},"approval":{"id":"appr_1","approved":true,"reason":"ok by me"}}]}],"trigger":"submit-message","messageId":"srv-1","tenant":"acme"}"#;
        let request = read(body).unwrap();
        assert_eq!(request.messages[0].text(), "hi");
        assert_eq!(request.messages[1].answers().len(), 1);
        assert_eq!(request.message_id.as_deref(), Some("srv-1"));
        assert_eq!(request.extra["tenant"], "acme");
        let again = serde_json::to_string(&request).unwrap();
        assert_eq!(read(&again).unwrap(), request);
    }

    #[test]
    fn last_message_alone_is_a_history_of_one() {
        let request = read(r#"{"id":"c","message":{"id":"u1","role":"user","parts":[]}}"#).unwrap();
        assert_eq!(request.messages.len(), 1);
        assert_eq!(request.messages[0].id.as_deref(), Some("u1"));
        let body = r#"{"id":"c","trigger":"regenerate-message","messageId":"a1"}"#;
        assert_eq!(read(body).unwrap().messages, []);
        let error = |text: &str| {
            let error = read(text).unwrap_err();
            (error.path, error.problem.code())
        };
        let without_id = r#"{"id":"c","message":{"role":"user","parts":[]}}"#;
        assert_eq!(
            error(without_id),
            ("message.id".to_owned(), "missing_field")
        );
        assert_eq!(
            error(r#"{"id":"c"}"#),
            ("messages".to_owned(), "missing_field")
        );
    }

    #[test]
    fn limits_are_kept_and_named() {
        let limits = Limits {
            bytes: 100,
            messages: 1,
            depth: 4,
        };
        let read = |text: &str| {
            let error = ChatRequest::from_slice(text.as_bytes(), &limits).unwrap_err();
            (error.path, error.problem.code())
        };
        assert_eq!(read(&" ".repeat(101)), (String::new(), "too_large"));
        let two =
            r#"{"id":"c","messages":[{"role":"user","content":""},{"role":"user","content":""}]}"#;
        assert_eq!(read(two), ("messages".to_owned(), "too_many"));
        let deep = r#"{"id":"c","messages":[{"parts":[[1]]}]}"#;
        assert_eq!(read(deep), ("messages[0].parts[0]".to_owned(), "too_deep"));
    }

    #[test]
    fn errors_name_the_path_in_the_body() {
        let error = read(
            r#"{"id":"c","messages":[
                {"role":"user","parts":[]}, {"role":"user","parts":[]},
                {"role":"assistant","parts":[{"type":"tool-x","toolCallId":"c","state":"finished"}]}]}"#,
        )
        .unwrap_err();
        assert_eq!(
            error.to_string(),
            r#"messages[2].parts[0].state: expected a tool state, found "finished""#
        );
        assert_eq!(read("{").unwrap_err().problem.code(), "not_json");
        assert_eq!(read("[]").unwrap_err().problem.code(), "wrong_type");
        assert_eq!(read(r#"{"messages":[]}"#).unwrap_err().path, "id");
    }
}
