//! What an operator may say of Gemini.

use gemini::{SafetySetting, ThinkingConfig};

pub use crate::model::{Key, Retries, Timeouts};

/// Google's own service.
pub const DEFAULT_BASE_URL: &str = "https://generativelanguage.googleapis.com";

/// Google's name for the newest flash model that is stable.
pub const DEFAULT_MODEL: &str = "gemini-flash-latest";

/// Who is asked, with which key, and how it is to answer.
#[derive(Debug, Clone)]
pub struct Config {
    /// The key.
    pub key: Key,
    /// Where Gemini is, before `/v1beta`.
    pub base_url: String,
    /// The model.
    pub model: String,
    /// How freely to answer; the model's own way, if nothing is said.
    pub temperature: Option<f64>,
    /// How long an answer may be, thoughts included.
    pub max_output_tokens: Option<u64>,
    /// How to think, and whether thoughts are returned; if it is not set, nothing is sent.
    pub thinking: Option<ThinkingConfig>,
    /// What to block; Google's own way, for categories that are not named.
    pub safety: Vec<SafetySetting>,
    /// The system instruction of the model.
    pub system_instruction: Option<String>,
    /// How often to ask again.
    pub retries: Retries,
    /// How long to wait.
    pub timeouts: Timeouts,
}

impl Config {
    /// The default model with this key, its thoughts included.
    pub fn new(key: Key) -> Self {
        Self {
            key,
            base_url: DEFAULT_BASE_URL.to_owned(),
            model: DEFAULT_MODEL.to_owned(),
            temperature: None,
            max_output_tokens: None,
            thinking: Some(ThinkingConfig {
                include_thoughts: Some(true),
                ..ThinkingConfig::default()
            }),
            safety: Vec::new(),
            system_instruction: None,
            retries: Retries::default(),
            timeouts: Timeouts::default(),
        }
    }
}
