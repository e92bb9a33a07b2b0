//! Gemini's two APIs, generateContent and Live, as types in both directions.
//!
//! **Owns** the shapes of Gemini's requests and responses, with unknown fields and unknown part kinds
//! kept, so that the client in `agents` and the server in `emulator` share one truth.
//!
//! **Does not own** any connection, retry or decision, and knows nothing of turns or of the AI SDK.
//!
//! # How it reads and writes
//!
//! Every type is a record that reads any JSON object and loses nothing:
//!
//! - A known field is found under its camelCase name or its snake_case name, since Google's own
//!   clients send both.
//! - What is not known, or is known and does not fit its type, stays in `rest`, under its name, as
//!   it came. A server that wants to be strict looks there.
//! - A known field that is `null` is absent, and so is an empty list: protobuf makes no difference.
//! - Whole numbers may come as strings. Bytes stay the base64 that they were, of either alphabet.
//! - A word that is not in its enum is kept in the enum's `Unknown`.
//!
//! It is written back in camelCase, known fields first, and what is absent is left out.
//!
//! ```
//! # use adk_stream_gemini as gemini;
//! let part: gemini::Part = serde_json::from_str(
//!     r#"{"function_call":{"name":"get_weather"},"thought_signature":"c2ln","vendor":1}"#,
//! )?;
//! assert!(matches!(&part.data, gemini::Data::FunctionCall(call) if call.args.is_none()));
//! assert_eq!(
//!     serde_json::to_string(&part)?,
//!     r#"{"functionCall":{"name":"get_weather"},"thoughtSignature":"c2ln","vendor":1}"#,
//! );
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! # Layout
//!
//! - [`content`]: what is said, part by part.
//! - [`function`]: tools, calls and their responses.
//! - [`generation`]: how to answer: sampling, thinking, safety, speech.
//! - [`generate`]: generateContent's request and the chunks of its answer.
//! - [`grounding`]: what an answer rests on.
//! - [`usage`]: what it cost, in tokens.
//! - [`status`]: what went wrong.
//! - [`live`]: the messages of Live, of the client and of the server.
//! - [`seconds`]: durations as protobuf writes them.

mod record;
mod words;

pub mod content;
pub mod function;
pub mod generate;
pub mod generation;
pub mod grounding;
pub mod live;
pub mod seconds;
pub mod status;
pub mod usage;

pub use content::{Blob, CodeExecutionResult, Content, Data, ExecutableCode, FileData, Part, Role};
pub use function::{
    Behavior, FunctionCall, FunctionCallingConfig, FunctionCallingMode, FunctionDeclaration,
    FunctionResponse, Scheduling, Tool, ToolConfig,
};
pub use generate::{
    BlockReason, Candidate, FinishReason, GenerateContentRequest, GenerateContentResponse,
    PromptFeedback, SafetyRating,
};
pub use generation::{
    GenerationConfig, PrebuiltVoiceConfig, SafetySetting, SpeechConfig, ThinkingConfig, VoiceConfig,
};
pub use grounding::{CitationMetadata, CitationSource, GroundingChunk, GroundingMetadata, Source};
pub use live::{ClientMessage, ServerMessage};
pub use seconds::Seconds;
pub use status::{Detail, ErrorBody, Status};
pub use usage::{ModalityTokenCount, UsageMetadata};
