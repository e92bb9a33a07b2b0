//! Who answers: Gemini, Gemini Live, a remote ADK server, an OpenAI-compatible model, the demo.
//!
//! **Owns** the conversation with someone outside: each agent turns bytes into agent events, and
//! turns messages and tool results into bytes.
//!
//! **Does not own** what is done with an event (`turn`), nor when to run it again (`engine`).
//!
//! Nothing stands here yet: the demo agent comes first, with the turn.
