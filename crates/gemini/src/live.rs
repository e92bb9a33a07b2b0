//! The messages of Live (`BidiGenerateContent`): one JSON object a frame.
//!
//! One of a message's fields is there, by Google's definition; `usageMetadata` may come with it.
//! They are read as separate fields, so that a frame that holds more is not cut short.

mod client;
mod server;

pub use client::{
    Activity, AudioTranscriptionConfig, AutomaticActivityDetection, ClientContent, ClientMessage,
    ContextWindowCompression, RealtimeInput, RealtimeInputConfig, SessionResumption, Setup,
    SlidingWindow, ToolResponse,
};
pub use server::{
    GoAway, ServerContent, ServerMessage, SessionResumptionUpdate, SetupComplete, ToolCall,
    ToolCallCancellation, Transcription,
};
