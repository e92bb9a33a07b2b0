//! How a turn is shown, pure: from what it has said to one client's stream.
//!
//! ```
//! use adk_stream_view::ShownChat;
//! use turn::input::Ids;
//! use turn::message::{Message, Part};
//! use turn::{At, Input, Principal};
//!
//! let mut chat = ShownChat::default();
//! let message = Input::Message {
//!     message: Message::new("m", vec![Part::text("Hello")]),
//!     principal: Principal::from("ann"),
//!     after: None,
//!     page_tools: Vec::new(),
//!     request: None,
//!     ids: Ids { turn: "t".into(), message: "a".to_owned() },
//! };
//! chat.handle(message, At(0));
//! // As a page that loads the chat gets it.
//! assert_eq!(chat.messages()[0].id.as_deref(), Some("m"));
//! ```
//!
//! (`turn` is the crate `adk-stream-turn`.)
//!
//! **Owns** everything that is there because a client behaves oddly: in which step a question is asked,
//! which calls are asked about again, what a client that has seen half of it is sent, and what is new in
//! the history that it sends back.
//!
//! **Does not own** decisions (`turn`), bytes (`wire`), or when something is sent (`engine`).
//!
//! # Layout
//!
//! - `ai_sdk`: the message as AI SDK clients hold it; its windows.
//! - `ag_ui`: AG-UI's events and messages, and what its clients send.
//! - `legacy`: the same in the order of the legacy bridge.
//! - `shown`: a chat together with what clients are shown of it.
//! - `intake`: what is new in what a client sends, and what is refused.

mod ag_ui;
mod ai_sdk;
mod intake;
mod legacy;
mod shown;
mod weight;

pub use ag_ui::{AgUiWindow, ClientRun, Run};
pub use ai_sdk::{Closing, Line, NumberedWindow, ResumePoint, Transcript, Window};
pub use intake::{Intake, may_open_turn};
pub use legacy::{LegacyWindow, legacy_client_position};
pub use shown::{Branch, ShownChat};
