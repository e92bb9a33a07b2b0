//! What travels between adk-stream and a page built on the AI SDK, as types. No I/O, serde only.
//!
//! **Owns** bytes: every chunk of the UI message stream, every UI message part, the request body,
//! the SSE framing and the WebSocket frames of both dialects, and what the client folds them into.
//!
//! **Does not own** decisions. That an approval was asked, answered or forged is for `turn` to say;
//! this crate reports what a client sent and writes what it is told.
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
//! - [`legacy`]: the legacy bridge: its frames, and older shapes of messages, read as today's.
//! - [`assembler`]: folds chunks into a message exactly as the client does.
//! - [`prototype`]: keys that no client can parse.
//! - [`decode`]: errors that name the path of what is wrong.
//!
//! Reading is tolerant where a newer client may know more than we do (unknown parts and fields are
//! kept), and strict where a mistake would be dangerous (roles, ids, sizes, nesting). Writing never
//! emits `null` for something that is not there.

pub mod answer;
pub mod assembler;
pub mod chunk;
pub mod decode;
pub mod frame;
pub mod legacy;
pub mod message;
pub mod metadata;
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
pub use reply::{ApprovalReply, OutputReply};
pub use request::{ChatRequest, Limits, Trigger};
pub use tool_part::{ToolPart, ToolState};
