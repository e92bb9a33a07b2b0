//! A chat with Gemini.

use std::time::Duration;

use adk_stream_agents::gemini::{Config, Gemini, Key, Retries};
use serde_json::{Value, json};

pub(crate) use crate::scripted::{Dialogue, KEY, failure, next};
use crate::server::Server;

pub(crate) fn config(server: &Server) -> Config {
    Config {
        base_url: server.url.clone(),
        model: "gemini-x".to_owned(),
        thinking: None,
        retries: Retries {
            first: Duration::from_millis(1),
            ..Retries::default()
        },
        ..Config::new(Key::new(KEY).unwrap())
    }
}

impl Dialogue {
    pub(crate) fn with(config: Config) -> Self {
        Self::new(Gemini::new(config).unwrap())
    }

    /// A chat that opens with a prompt.
    pub(crate) fn of(server: &Server, prompt: &str) -> Self {
        let mut dialogue = Self::with(config(server));
        dialogue.say(prompt);
        dialogue
    }
}

/// A chunk with these parts.
pub(crate) fn parts(parts: Value) -> Value {
    json!({"candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}]})
}

/// The last chunk, with these parts.
pub(crate) fn last(parts: Value) -> Value {
    ended(parts, "STOP")
}

pub(crate) fn ended(parts: Value, reason: &str) -> Value {
    json!({
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": reason, "index": 0}],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 17, "thoughtsTokenCount": 2},
        "modelVersion": "gemini-x-001",
    })
}
