//! AG-UI, the protocol between agents and applications: the request that begins a run, and the events
//! that answer it. Version 1.0, and what agents and applications of 0.x send.
//!
//! What an agent sends is read leniently: an event or message that is not known, or does not fit its type, is kept
//! whole as `Other`, and fields of events, messages and requests that are not known are kept in `rest`.
//! The caller decides whether that matters. What an application sends is a [`RunRequest`], within limits.
//!
//! ```
//! use adk_stream_wire::ag_ui::Event;
//!
//! let event: Event = serde_json::from_str(
//!     r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"Hi","timestamp":7}"#,
//! )?;
//! let Event::TextMessageContent { delta, common, .. } = &event else {
//!     panic!("{event:?}");
//! };
//! assert_eq!((delta.as_str(), &common.rest["timestamp"]), ("Hi", &7.into()));
//! # Ok::<(), serde_json::Error>(())
//! ```

mod event;
mod input;
mod message;
mod outcome;
mod patch;
mod request;

pub use self::event::{Common, Event};
pub use self::input::{Context, ResumeEntry, ResumeStatus, RunAgentInput, Tool};
pub use self::message::{
    Content, FunctionCall, Message, MessageCommon, Part, Source, ToolCall, ToolCallKind,
};
pub use self::outcome::{Interrupt, Outcome, TokenUsage};
pub use self::patch::{PatchError, apply};
pub use self::request::RunRequest;

/// The version of the protocol that these types are of.
pub const PROTOCOL_VERSION: &str = "1.0";
