//! The AI SDK's WebSocket frames, which v7's `WebSocketChatTransport` uses: JSON text, many
//! requests on one socket.
//!
//! A frame of a wrong shape makes that client fail *all* its requests, so a [`ServerFrame`] can only
//! be built whole, and its sequence is for the sender to keep free of gaps.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::chunk::Chunk;
use crate::decode::{ChatId, DecodeError, Field, Fields, Id, Nulls, Path};
use crate::message::Message;
use crate::request::{Limits, Trigger};

/// What a client sends.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum ClientFrame {
    /// A request, as by `POST {api}`.
    Send(Send),
    /// Asks for the running turn of a chat.
    Resume(Resume),
    /// Closes the window of a request.
    #[serde(rename_all = "camelCase")]
    Abort {
        /// The request.
        request_id: String,
        /// Whether the turn is to be stopped, too. The official client does not say so.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        stop: bool,
        /// The chat, so that its turn is stopped although the window was on a socket that is lost. The
        /// official client does not say so.
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<String>,
    },
}

/// A request, as by `POST {api}`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Send {
    /// The request's id, which every answer carries.
    pub request_id: String,
    /// Whether the client gives each request another id and resumes by sequences. The official client
    /// does not say so.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub resumable: bool,
    /// The chat.
    pub id: String,
    /// Why it is sent.
    pub trigger: Trigger,
    /// As in [`crate::ChatRequest`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// The whole history, as the client has it.
    pub messages: Vec<Message>,
    /// Headers of the application, since a WebSocket has none per request.
    pub headers: Map<String, Value>,
    /// What the application adds to its requests.
    pub body: Map<String, Value>,
    /// What the application passed to its transport.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
}

/// Asks for the running turn of a chat.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Resume {
    /// The request's id, which every answer carries.
    pub request_id: String,
    /// As in [`Send`].
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub resumable: bool,
    /// The chat.
    pub id: String,
    /// The last sequence that the client has; without it, all from the start. The official client never
    /// says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_sequence: Option<u64>,
    /// The assistant message that it is a sequence of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// The sequence at which the client's last step begins, or its window, if that opened later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_sequence: Option<u64>,
    /// A hash of what the client has since then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_hash: Option<u64>,
    /// The approvals that the client shows in that message.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub approvals: Vec<ShownApproval>,
    /// Headers of the application.
    pub headers: Map<String, Value>,
    /// What the application adds to its requests.
    pub body: Map<String, Value>,
    /// What the application passed to its transport.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
}

/// An approval that a client shows, and what it has answered itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ShownApproval {
    /// The approval.
    pub approval_id: String,
    /// The call at which it is shown.
    pub tool_call_id: String,
    /// The answer, if the client gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved: Option<bool>,
}

impl Field for ShownApproval {
    const EXPECTED: &'static str = "an approval";

    fn from_value(value: Value, path: Path<'_>, nulls: Nulls) -> Result<Self, DecodeError> {
        let mut fields = Fields::of(value, path, nulls)?;
        Ok(Self {
            approval_id: fields.take::<Id>("approvalId")?.0,
            tool_call_id: fields.take::<Id>("toolCallId")?.0,
            approved: fields.take("approved")?,
        })
    }
}

/// What a server sends.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(
    tag = "type",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase"
)]
pub enum ServerFrame {
    /// The window of a request is open.
    Start {
        /// The request.
        request_id: String,
    },
    /// A chunk for a request.
    Chunk {
        /// The request.
        request_id: String,
        /// From 0, without gaps.
        sequence: u64,
        /// The chunk.
        chunk: Chunk,
    },
    /// The window is closed: nothing more comes.
    End {
        /// The request.
        request_id: String,
    },
    /// Nothing runs that could be resumed.
    NoActive {
        /// The request.
        request_id: String,
    },
    /// The request failed.
    Error {
        /// The request.
        request_id: String,
        /// The message for the user.
        #[serde(skip_serializing_if = "Option::is_none")]
        error_text: Option<String>,
        /// A stable code, for programs. The official client does not read it.
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<String>,
        /// When to try again, where that is known. The official client does not read it.
        #[serde(skip_serializing_if = "Option::is_none")]
        retry_after_ms: Option<u64>,
    },
}

impl ClientFrame {
    /// Whether a frame's `type` belongs to this dialect.
    pub(crate) fn knows(kind: &str) -> bool {
        matches!(kind, "send" | "resume" | "abort")
    }

    /// Decodes a frame.
    pub fn from_slice(bytes: &[u8], limits: &Limits) -> Result<Self, DecodeError> {
        let fields = Fields::of(limits.json(bytes)?, Path::Root, Nulls::Absent)?;
        Self::take(fields, limits)
    }

    pub(crate) fn take(mut fields: Fields<'_>, limits: &Limits) -> Result<Self, DecodeError> {
        let kind: String = fields.take("type")?;
        let request_id = fields.take::<Id>("requestId")?.0;
        Ok(match kind.as_str() {
            "send" => Self::Send(Send {
                request_id,
                resumable: take_flag(&mut fields, "resumable")?,
                id: fields.take::<ChatId>("id")?.0,
                trigger: fields.take("trigger")?,
                message_id: fields.take::<Option<Id>>("messageId")?.map(|id| id.0),
                messages: limits.take_messages(&mut fields)?,
                headers: take_headers(&mut fields)?,
                body: take_map(&mut fields, "body")?,
                metadata: fields.take("metadata")?,
            }),
            "resume" => Self::Resume(Resume {
                request_id,
                resumable: take_flag(&mut fields, "resumable")?,
                id: fields.take::<ChatId>("id")?.0,
                last_sequence: fields.take("lastSequence")?,
                message_id: fields.take::<Option<Id>>("messageId")?.map(|id| id.0),
                step_sequence: fields.take("stepSequence")?,
                step_hash: fields.take("stepHash")?,
                approvals: fields.take::<Option<_>>("approvals")?.unwrap_or_default(),
                headers: take_headers(&mut fields)?,
                body: take_map(&mut fields, "body")?,
                metadata: fields.take("metadata")?,
            }),
            "abort" => Self::Abort {
                request_id,
                stop: take_flag(&mut fields, "stop")?,
                id: fields.take::<Option<ChatId>>("id")?.map(|id| id.0),
            },
            _ => {
                let expected = "\"send\", \"resume\" or \"abort\"";
                return Err(Path::Root.key("type").unknown(&kind, expected));
            }
        })
    }

    /// The request that the frame is about.
    pub fn request_id(&self) -> &str {
        match self {
            Self::Send(send) => &send.request_id,
            Self::Resume(resume) => &resume.request_id,
            Self::Abort { request_id, .. } => request_id,
        }
    }
}

fn take_flag(fields: &mut Fields<'_>, key: &'static str) -> Result<bool, DecodeError> {
    Ok(fields.take::<Option<bool>>(key)?.unwrap_or_default())
}

fn take_map(fields: &mut Fields<'_>, key: &'static str) -> Result<Map<String, Value>, DecodeError> {
    Ok(fields.take::<Option<_>>(key)?.unwrap_or_default())
}

fn take_headers(fields: &mut Fields<'_>) -> Result<Map<String, Value>, DecodeError> {
    let path = fields.path();
    let headers = take_map(fields, "headers")?;
    match headers.iter().find(|(_, value)| !value.is_string()) {
        Some((name, _)) => Err(path.key("headers").key(name).expected("a string")),
        None => Ok(headers),
    }
}

/// The text of a [`ServerFrame::Chunk`], for a chunk that is shared.
#[inline]
pub fn chunk_text(request_id: &str, sequence: u64, chunk: &Chunk) -> String {
    write_chunk(request_id, sequence, b"", chunk)
}

/// The same for a chunk whose sequence a client can't foresee: see [`extent`].
pub fn unforeseen_chunk_text(request_id: &str, sequence: u64, chunk: &Chunk) -> String {
    write_chunk(request_id, sequence, b",\"gap\":true", chunk)
}

/// By how much the sequence of a resumable request grows with a chunk, unless its frame says `gap`: a
/// delta counts its bytes, what no message keeps counts nothing, and everything else one.
pub fn extent(chunk: &Chunk) -> u64 {
    match chunk {
        Chunk::TextDelta(delta) | Chunk::ReasoningDelta(delta) => delta.delta.len() as u64,
        Chunk::Start(_) | Chunk::ResetStep => 0,
        Chunk::Data(data) if data.transient == Some(true) => 0,
        Chunk::ToolOutputAvailable(output) if output.preliminary == Some(true) => 0,
        _ => 1,
    }
}

#[inline]
fn write_chunk(request_id: &str, sequence: u64, gap: &[u8], chunk: &Chunk) -> String {
    let mut out = Vec::with_capacity(128);
    out.extend_from_slice(b"{\"type\":\"chunk\",\"requestId\":");
    // Writing to memory can't fail.
    let _ = serde_json::to_writer(&mut out, request_id);
    out.extend_from_slice(b",\"sequence\":");
    let _ = serde_json::to_writer(&mut out, &sequence);
    out.extend_from_slice(gap);
    out.extend_from_slice(b",\"chunk\":");
    chunk.write_json(&mut out);
    out.push(b'}');
    // JSON is text.
    String::from_utf8(out).unwrap_or_default()
}

impl ServerFrame {
    /// Decodes a frame, as strictly as the client does.
    pub fn from_slice(bytes: &[u8], limits: &Limits) -> Result<Self, DecodeError> {
        let mut fields = Fields::of(limits.json(bytes)?, Path::Root, Nulls::Refused)?;
        let kind: String = fields.take("type")?;
        let request_id: String = fields.take("requestId")?;
        Ok(match kind.as_str() {
            "start" => Self::Start { request_id },
            "chunk" => Self::Chunk {
                request_id,
                sequence: fields.take("sequence")?,
                chunk: Chunk::decode(fields.take("chunk")?).map_err(|error| DecodeError {
                    path: match error.path.as_str() {
                        "" => "chunk".to_owned(),
                        path => format!("chunk.{path}"),
                    },
                    ..error
                })?,
            },
            "end" => Self::End { request_id },
            "no-active" => Self::NoActive { request_id },
            "error" => Self::Error {
                request_id,
                error_text: fields.take("errorText")?,
                code: fields.take("code")?,
                retry_after_ms: fields.take("retryAfterMs")?,
            },
            _ => return Err(Path::Root.key("type").unknown(&kind, "a server frame")),
        })
    }

    /// The frame as JSON text.
    pub fn to_json(&self) -> String {
        // Strings, numbers and a chunk: see `Chunk::to_json`.
        serde_json::to_string(self).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::chunk::Start;

    fn read(text: &str) -> Result<ClientFrame, DecodeError> {
        ClientFrame::from_slice(text.as_bytes(), &Limits::default())
    }

    #[test]
    fn send_as_the_official_transport_writes_it() {
        let frame = read(
            r#"{"type":"send","requestId":"r1","id":"chat-1","trigger":"submit-message","messages":[{"id":"m1","role":"user","parts":[{"type":"text","text":"hi"}]}],"headers":{"x-tenant":"acme"},"body":{}}"#,
        )
        .unwrap();
        let ClientFrame::Send(send) = &frame else {
            panic!("{frame:?}")
        };
        assert_eq!(send.messages[0].text(), "hi");
        assert_eq!(send.headers["x-tenant"], "acme");
        assert_eq!(
            read(&serde_json::to_string(&frame).unwrap()).unwrap(),
            frame
        );
    }

    #[test]
    fn resume_and_abort() {
        let frame = read(
            r#"{"type":"resume","requestId":"r","id":"c","lastSequence":4,"headers":{},"body":{}}"#,
        );
        assert!(matches!(
            frame,
            Ok(ClientFrame::Resume(Resume {
                last_sequence: Some(4),
                resumable: false,
                ..
            }))
        ));
        let text = r#"{"type":"resume","requestId":"r","resumable":true,"id":"c","lastSequence":9,"messageId":"m","stepSequence":4,"stepHash":4294967295,"approvals":[{"approvalId":"g","toolCallId":"t"},{"approvalId":"h","toolCallId":"u","approved":false}],"headers":{},"body":{}}"#;
        assert_eq!(serde_json::to_string(&read(text).unwrap()).unwrap(), text);
        for text in [
            r#"{"type":"abort","requestId":"r"}"#,
            r#"{"type":"abort","requestId":"r","stop":true}"#,
            r#"{"type":"abort","requestId":"r","stop":true,"id":"c"}"#,
        ] {
            let frame = read(text).unwrap();
            assert_eq!(frame.request_id(), "r");
            assert_eq!(serde_json::to_string(&frame).unwrap(), text);
        }
    }

    #[test]
    fn errors_name_the_path() {
        let path = |text| read(text).unwrap_err().path;
        assert_eq!(path(r#"{"type":"abort"}"#), "requestId");
        assert_eq!(path(r#"{"type":"stop","requestId":"r"}"#), "type");
        assert_eq!(
            path(r#"{"type":"resume","requestId":"r","id":"c","headers":{"a":1},"body":{}}"#),
            "headers.a"
        );
        assert_eq!(
            path(r#"{"type":"resume","requestId":"r","id":"c","lastSequence":-1}"#),
            "lastSequence"
        );
    }

    #[test]
    fn sequences_of_resumable_requests_count_what_a_message_keeps() {
        let extents = [
            (json!({"type": "start", "messageId": "m"}), 0),
            (json!({"type": "start-step"}), 1),
            (json!({"type": "text-start", "id": "1"}), 1),
            (json!({"type": "text-delta", "id": "1", "delta": "ü😀"}), 6),
            (
                json!({"type": "reasoning-delta", "id": "1", "delta": "abc"}),
                3,
            ),
            (json!({"type": "data-x", "data": 1, "transient": true}), 0),
            (json!({"type": "data-x", "data": 1}), 1),
            (
                json!({"type": "tool-output-available", "toolCallId": "c", "output": 1, "preliminary": true}),
                0,
            ),
            (
                json!({"type": "tool-output-available", "toolCallId": "c", "output": 1}),
                1,
            ),
            (json!({"type": "reset-step"}), 0),
            (json!({"type": "finish"}), 1),
        ];
        for (chunk, expected) in extents {
            assert_eq!(
                extent(&Chunk::decode(chunk.clone()).unwrap()),
                expected,
                "{chunk}"
            );
        }
        let text = unforeseen_chunk_text("r", 7, &Chunk::StartStep);
        assert_eq!(
            text,
            r#"{"type":"chunk","requestId":"r","sequence":7,"gap":true,"chunk":{"type":"start-step"}}"#
        );
    }

    #[test]
    fn server_frames_keep_their_order_of_keys() {
        let frame = ServerFrame::Chunk {
            request_id: "r1".into(),
            sequence: 0,
            chunk: Chunk::from(Start::default()),
        };
        let text = frame.to_json();
        assert_eq!(
            text,
            r#"{"type":"chunk","requestId":"r1","sequence":0,"chunk":{"type":"start"}}"#
        );
        let limits = Limits::default();
        assert_eq!(
            ServerFrame::from_slice(text.as_bytes(), &limits).unwrap(),
            frame
        );
        let error = ServerFrame::Error {
            request_id: "r1".into(),
            error_text: None,
            code: None,
            retry_after_ms: None,
        };
        assert_eq!(error.to_json(), r#"{"type":"error","requestId":"r1"}"#);
        let text = r#"{"type":"error","requestId":"r1","errorText":"too_many_requests: Wait.","code":"too_many_requests","retryAfterMs":1500}"#;
        let error = ServerFrame::from_slice(text.as_bytes(), &limits).unwrap();
        assert_eq!(error.to_json(), text);
    }
}
