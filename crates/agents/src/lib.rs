//! Who answers: Gemini, Gemini Live, a remote ADK server, an OpenAI-compatible model.
//!
//! **Owns** the conversation with someone outside: each agent turns bytes into agent events, and
//! turns messages and tool results into bytes.
//!
//! **Does not own** what is done with an event (`turn`), nor when to run it again (`engine`).
//!
//! # Layout
//!
//! - [`adk`]: a remote ADK server, by its stream of events or live.
//! - [`agent`]: what every agent is to the engine.
//! - [`gemini`]: Gemini, by generateContent; [`gemini_live`]: Gemini, by Live.
//! - `talk`: a conversation with one chat; `event_sender`: a stream of events that an async function
//!   tells; `speech`: sound, as a page is told
//!   of it; `socket`: a WebSocket to someone outside.
//! - [`error`]: why an agent can't be made; `tls`: whom those that talk to someone outside trust.

pub mod adk;
pub mod agent;
pub mod error;
mod event_sender;
pub mod gemini;
pub mod gemini_live;
mod socket;
mod speech;
mod talk;
mod tls;

pub use agent::{Agent, AgentStream, Conversation, Heard};
pub use error::Error;
pub use tls::config as tls_config;

pub use self::adk::{Adk, AdkLive};
pub use self::gemini::Gemini;
pub use self::gemini_live::GeminiLive;
