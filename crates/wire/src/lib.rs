//! What travels between adk-stream and a page built on the AI SDK, as types. No I/O, serde only.
//!
//! A request is read within limits, and a stream is written chunk by chunk:
//!
//! ```
//! use adk_stream_wire::{ChatRequest, Chunk, Limits, sse};
//!
//! let body = br#"{"id":"c","trigger":"submit-message","messages":[
//!     {"id":"m","role":"user","parts":[{"type":"text","text":"Hello"}]}]}"#;
//! let request = ChatRequest::from_slice(body, &Limits::default())?;
//! assert_eq!(request.id, "c");
//!
//! let mut stream = Vec::new();
//! for chunk in [
//!     r#"{"type":"start","messageId":"m2"}"#,
//!     r#"{"type":"text-start","id":"0"}"#,
//!     r#"{"type":"text-delta","id":"0","delta":"Hi"}"#,
//!     r#"{"type":"text-end","id":"0"}"#,
//!     r#"{"type":"finish"}"#,
//! ] {
//!     sse::write_chunk(&mut stream, &Chunk::from_slice(chunk.as_bytes())?);
//! }
//! sse::write_done(&mut stream);
//! assert!(stream.starts_with(b"data: {\"type\":\"start\""));
//! # Ok::<(), adk_stream_wire::DecodeError>(())
//! ```
//!
//! **Owns** bytes: every chunk of the UI message stream, every UI message part, the request body,
//! the SSE framing and the WebSocket frames of both dialects, and what the client folds them into.
//!
//! **Does not own** decisions. Whether an approval was asked, answered or forged is decided in `turn`;
//! this crate decodes what a client sent and encodes what it is given.
//!
//! # Layout
//!
//! - [`chunk`]: what a stream is made of; [`profile`]: which releases of the SDK must accept it.
//! - [`message`], [`part`], [`tool_part`]: UI messages as clients hold, send and validate them.
//! - [`answer`]: what a client's message answers: approvals and outputs.
//! - [`reply`]: the bodies that answer an approval, or settle a page's call, without a window.
//! - [`request`]: the body of `POST {api}`, and the [`Limits`] that guard every decoder.
//! - [`sse`]: server-sent events; [`frame`]: the AI SDK's WebSocket frames; [`socket`]: whose frames
//!   a client sends, those or the legacy bridge's.
//! - [`ag_ui`]: AG-UI, the protocol of other agents and applications.
//! - [`legacy`]: the legacy bridge: its frames, and older shapes of messages, read as today's.
//! - [`assembler`]: folds chunks into a message exactly as the client does.
//! - [`prototype`]: keys that no client can parse.
//! - [`decode`]: errors that name the path of what is wrong.
//!
//! Reading is tolerant where a newer client may know more than we do (unknown parts and fields are
//! kept), and strict where a mistake would be dangerous (roles, ids, sizes, nesting). Writing never
//! emits `null` for something that is not there.

pub mod ag_ui;
pub mod answer;
pub mod assembler;
pub mod chunk;
pub mod decode;
pub mod frame;
pub mod legacy;
pub mod message;
pub mod metadata;
mod number;
pub mod part;
mod partial_json;
pub mod profile;
pub mod prototype;
pub mod reply;
pub mod request;
pub mod socket;
pub mod sse;
pub mod tool_part;

pub use answer::Answer;
pub use assembler::Assembler;
pub use chunk::Chunk;
pub use decode::DecodeError;
pub use message::{Message, Role};
pub use metadata::ProviderMetadata;
pub use part::Part;
pub use profile::Profile;
pub use reply::{ApprovalReply, BranchSelection, ChatUpdate, Given, OutputReply};
pub use request::{ChatRequest, Limits, Trigger};
pub use tool_part::{ToolPart, ToolState};
