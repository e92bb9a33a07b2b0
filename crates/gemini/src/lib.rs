//! Gemini's two APIs, generateContent and Live, as types in both directions.
//!
//! **Owns** the shapes of what Gemini says and is told, with unknown fields and unknown part kinds
//! kept, so that the client in `agents` and the server in `emulator` share one truth.
//!
//! **Does not own** any connection, retry or decision, and knows nothing of turns or of the AI SDK.
//!
//! Nothing stands here yet: the types arrive with the Gemini agents.
