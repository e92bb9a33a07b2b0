//! The legacy bridge: what pages send and are sent that were written for the system before this one.
//!
//! Its WebSocket frames are here: commands as JSON text, flat or under `data`; answers as text frames
//! that look like server-sent events, `data: {…}\n\n`. [`confirmation`] reads answers that come as outputs, `content` older shapes of messages.

pub mod confirmation;
pub(crate) mod content;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::chunk::Chunk;
use crate::decode::{ChatId, DecodeError, Fields, Id, Nulls, Path, names};
use crate::message::Message;
use crate::request::{Limits, Trigger};
use crate::sse;

/// What a page sends.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(
    tag = "type",
    rename_all = "snake_case",
    rename_all_fields = "camelCase"
)]
pub enum ClientFrame {
    /// A new message, answers to approvals, or outputs; later ones may hold only the answer.
    Message {
        /// The chat, where the page names it.
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// The messages.
        messages: Vec<Message>,
        /// Why it is sent.
        trigger: Trigger,
        /// As in [`crate::ChatRequest`].
        #[serde(skip_serializing_if = "Option::is_none")]
        message_id: Option<String>,
    },
    /// The output of a call that the page ran; `{}` is one too.
    ToolResult {
        /// The call.
        tool_call_id: String,
        /// Its output.
        result: Value,
    },
    /// Asks for a [`ServerFrame::Pong`].
    Ping {
        /// Sent back as it came.
        timestamp: Value,
    },
    /// Stops what is being generated.
    Interrupt {
        /// `user_abort`, `timeout`, `error`, or a text of the page's own.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The microphone was opened or closed.
    AudioControl {
        /// The chat, where the page names it.
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// Which.
        action: AudioAction,
    },
    /// Speech.
    AudioChunk {
        /// The chat, where the page names it.
        #[serde(skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// PCM, signed 16 bits, little-endian, in base64.
        chunk: String,
        /// Samples a second.
        sample_rate: u64,
        /// How many channels.
        channels: u64,
        /// How many bits a sample has.
        bit_depth: u64,
    },
}

names! {
    /// The state of the microphone.
    AudioAction, "\"start\" or \"stop\"" {
        /// It was opened.
        Start = "start",
        /// It was closed.
        Stop = "stop",
    }
}

/// What a server sends.
#[derive(Debug, Clone, PartialEq)]
pub enum ServerFrame {
    /// A chunk, as `data: {…}\n\n`.
    Chunk(Chunk),
    /// The end of a turn, `data: [DONE]\n\n`, once.
    Done,
    /// The answer to a ping, as plain JSON.
    Pong {
        /// As it came.
        timestamp: Value,
    },
}

impl ClientFrame {
    /// Whether a frame's `type` belongs to this dialect.
    pub(crate) fn knows(kind: &str) -> bool {
        matches!(
            kind,
            "message" | "tool_result" | "ping" | "interrupt" | "audio_control" | "audio_chunk"
        )
    }

    /// Decodes a frame.
    pub fn from_slice(bytes: &[u8], limits: &Limits) -> Result<Self, DecodeError> {
        let fields = Fields::of(limits.json(bytes)?, Path::Root, Nulls::Absent)?;
        Self::take(fields, limits)
    }

    pub(crate) fn take(mut envelope: Fields<'_>, limits: &Limits) -> Result<Self, DecodeError> {
        let kind: String = envelope.take("type")?;
        let root = envelope.path();
        let data = root.key("data");
        // Some pages wrap the fields; a ping keeps its timestamp outside all the same.
        let timestamp = envelope.peek("timestamp").cloned();
        let mut fields = match envelope.peek("data") {
            Some(Value::Object(_)) => Fields::of(envelope.take("data")?, data, Nulls::Absent)?,
            _ => envelope,
        };
        Ok(match kind.as_str() {
            "message" => Self::Message {
                id: fields.take::<Option<ChatId>>("id")?.map(|id| id.0),
                messages: limits.take_messages(&mut fields)?,
                trigger: fields
                    .take::<Option<Trigger>>("trigger")?
                    .unwrap_or(Trigger::SubmitMessage),
                message_id: fields.take::<Option<Id>>("messageId")?.map(|id| id.0),
            },
            "tool_result" => Self::ToolResult {
                tool_call_id: fields.take::<Id>("toolCallId")?.0,
                result: fields.take::<Option<Value>>("result")?.unwrap_or_default(),
            },
            "ping" => Self::Ping {
                timestamp: fields
                    .take::<Option<Value>>("timestamp")?
                    .or(timestamp)
                    .unwrap_or_default(),
            },
            "interrupt" => Self::Interrupt {
                reason: fields.take("reason")?,
            },
            "audio_control" => Self::AudioControl {
                id: fields.take::<Option<ChatId>>("id")?.map(|id| id.0),
                action: fields.take("action")?,
            },
            "audio_chunk" => Self::AudioChunk {
                id: fields.take::<Option<ChatId>>("id")?.map(|id| id.0),
                chunk: fields.take("chunk")?,
                sample_rate: fields.take::<Option<_>>("sampleRate")?.unwrap_or(16_000),
                channels: fields.take::<Option<_>>("channels")?.unwrap_or(1),
                bit_depth: fields.take::<Option<_>>("bitDepth")?.unwrap_or(16),
            },
            _ => return Err(root.key("type").unknown(&kind, "a frame type")),
        })
    }
}

/// The text of a [`ServerFrame::Chunk`], for a chunk that is shared.
pub fn chunk_text(chunk: &Chunk) -> String {
    let mut out = Vec::with_capacity(128);
    sse::write_chunk(&mut out, chunk);
    // JSON is text.
    String::from_utf8(out).unwrap_or_default()
}

impl ServerFrame {
    /// The frame as text.
    pub fn to_text(&self) -> String {
        match self {
            Self::Chunk(chunk) => chunk_text(chunk),
            Self::Done => format!("data: {}\n\n", sse::DONE),
            Self::Pong { timestamp } => {
                let mut pong = Map::new();
                pong.insert("type".to_owned(), "pong".into());
                pong.insert("timestamp".to_owned(), timestamp.clone());
                Value::Object(pong).to_string()
            }
        }
    }

    /// Decodes a frame.
    pub fn from_text(text: &str) -> Result<Self, DecodeError> {
        match text.strip_prefix("data:").map(str::trim) {
            Some(sse::DONE) => Ok(Self::Done),
            Some(json) => Chunk::from_slice(json.as_bytes()).map(Self::Chunk),
            None => {
                let value = Limits::default().json(text.as_bytes())?;
                let mut fields = Fields::of(value, Path::Root, Nulls::Absent)?;
                let kind: String = fields.take("type")?;
                if kind != "pong" {
                    return Err(Path::Root.key("type").unknown(&kind, "\"pong\""));
                }
                Ok(Self::Pong {
                    timestamp: fields
                        .take::<Option<Value>>("timestamp")?
                        .unwrap_or_default(),
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: Value) -> Result<ClientFrame, DecodeError> {
        ClientFrame::from_slice(value.to_string().as_bytes(), &Limits::default())
    }

    #[test]
    fn flat_and_wrapped_frames_are_the_same() {
        let flat = read(json!({"type": "tool_result", "toolCallId": "c1", "result": {}})).unwrap();
        let wrapped = read(
            json!({"type": "tool_result", "data": {"toolCallId": "c1", "result": {}}, "version": "1.0"}),
        );
        assert_eq!(wrapped.unwrap(), flat);
    }

    #[test]
    fn message_without_an_id_of_its_own() {
        let frame = read(json!({
            "type": "message", "trigger": "submit-message",
            "messages": [{"role": "user", "parts": [{"type": "text", "text": "Process a payment of $100 to Alice"}]}],
        }));
        let Ok(ClientFrame::Message {
            id: None, messages, ..
        }) = &frame
        else {
            panic!("{frame:?}")
        };
        assert_eq!(messages[0].id, None);
    }

    #[test]
    fn ping_is_answered_with_its_timestamp() {
        for frame in [
            json!({"type": "ping", "timestamp": 1_734_000_000_123_u64}),
            json!({"type": "ping", "data": {}, "timestamp": 1_734_000_000_123_u64}),
            json!({"type": "ping", "data": {"timestamp": 1_734_000_000_123_u64}}),
        ] {
            let Ok(ClientFrame::Ping { timestamp }) = read(frame) else {
                panic!("not a ping")
            };
            let pong = ServerFrame::Pong { timestamp };
            assert_eq!(
                pong.to_text(),
                r#"{"type":"pong","timestamp":1734000000123}"#
            );
        }
    }

    #[test]
    fn audio_has_defaults() {
        let frame = read(json!({"type": "audio_chunk", "chunk": "AAA="})).unwrap();
        let defaults = ClientFrame::AudioChunk {
            id: None,
            chunk: "AAA=".into(),
            sample_rate: 16_000,
            channels: 1,
            bit_depth: 16,
        };
        assert_eq!(frame, defaults);
        let error = read(json!({"type": "audio_control", "data": {"action": "pause"}}));
        assert_eq!(error.unwrap_err().path, "data.action");
    }

    #[test]
    fn chunks_are_framed_as_events() {
        let frame = ServerFrame::Chunk(Chunk::FinishStep);
        assert_eq!(frame.to_text(), "data: {\"type\":\"finish-step\"}\n\n");
        assert_eq!(ServerFrame::from_text(&frame.to_text()).unwrap(), frame);
        assert_eq!(
            ServerFrame::from_text("data: [DONE]\n\n").unwrap(),
            ServerFrame::Done
        );
    }
}
