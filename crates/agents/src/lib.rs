//! Who answers: Gemini, Gemini Live, a model of OpenAI's or Anthropic's API, a remote ADK server, a
//! route of the AI SDK's, an agent that speaks AG-UI.
//!
//! An agent gets everything that was said, and streams one step:
//!
//! ```
//! use adk_stream_agents::{Agent, AgentStream};
//! use turn::agent::{AgentEvent, StepRequest};
//! use turn::event::Finish;
//!
//! struct Greeter;
//!
//! impl Agent for Greeter {
//!     fn name(&self) -> &str {
//!         "greeter"
//!     }
//!
//!     fn step(&self, request: StepRequest) -> AgentStream {
//!         let greeting = AgentEvent::Text {
//!             delta: format!("Hello, {}.", request.principal),
//!             provider_metadata: None,
//!         };
//!         let end = AgentEvent::Ended(Finish::Stop);
//!         Box::pin(futures_util::stream::iter([greeting, end]))
//!     }
//! }
//! ```
//!
//! (`turn` is the crate `adk-stream-turn`.)
//!
//! **Owns** the conversation with someone outside: each agent turns bytes into agent events, and
//! turns messages and tool results into bytes.
//!
//! **Does not own** what is done with an event (`turn`), nor when to run it again (`engine`).
//!
//! # Layout
//!
//! - [`adk`]: a remote ADK server, by its stream of events or live.
//! - [`ag_ui`]: an agent that speaks AG-UI.
//! - [`ai_sdk`]: a route that answers with the AI SDK's UI message stream.
//! - [`agent`]: what every agent is to the engine.
//! - [`gemini`]: Gemini, by generateContent; [`gemini_live`]: Gemini, by Live.
//! - [`openai`]: a model that speaks OpenAI's API; [`anthropic`]: one that speaks Anthropic's; `model`:
//!   what these and Gemini have in common.
//! - `session_conversation`: an agent's session for one chat; `event_sender`: a stream of events that an
//!   async function sends; `question`: what a person is asked about a call; `speech`: sound, as pages get
//!   it; `upstream`: agents that answer a POST with a stream; `socket`: a WebSocket to someone outside.
//! - [`error`]: why an agent can't be made; `tls`: the certificates that are trusted.

#[cfg(feature = "remote")]
pub mod adk;
#[cfg(feature = "remote")]
pub mod ag_ui;
pub mod agent;
#[cfg(feature = "remote")]
pub mod ai_sdk;
#[cfg(feature = "remote")]
pub mod anthropic;
pub mod error;
#[cfg(feature = "remote")]
mod event_sender;
#[cfg(feature = "remote")]
pub mod gemini;
#[cfg(feature = "remote")]
pub mod gemini_live;
#[cfg(feature = "remote")]
mod model;
#[cfg(feature = "remote")]
pub mod openai;
#[cfg(feature = "remote")]
mod question;
#[cfg(feature = "remote")]
mod session_conversation;
#[cfg(feature = "remote")]
mod socket;
#[cfg(feature = "remote")]
mod speech;
#[cfg(feature = "tls")]
mod tls;
#[cfg(feature = "remote")]
mod upstream;

pub use agent::{Agent, AgentStream, AudioInput, Conversation};
pub use error::Error;
#[cfg(feature = "tls")]
pub use tls::config as tls_config;

#[cfg(feature = "remote")]
pub use self::adk::{Adk, AdkLive};
#[cfg(feature = "remote")]
pub use self::ag_ui::AgUi;
#[cfg(feature = "remote")]
pub use self::ai_sdk::AiSdk;
#[cfg(feature = "remote")]
pub use self::anthropic::Anthropic;
#[cfg(feature = "remote")]
pub use self::gemini::Gemini;
#[cfg(feature = "remote")]
pub use self::gemini_live::GeminiLive;
#[cfg(feature = "remote")]
pub use self::openai::OpenAi;
