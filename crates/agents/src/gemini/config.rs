//! What an operator may say of Gemini.

use std::time::Duration;

use gemini::{SafetySetting, ThinkingConfig};

use super::key::Key;

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
    /// How to think, and whether it is told; nothing is sent, if nothing is said.
    pub thinking: Option<ThinkingConfig>,
    /// What to block; Google's own way, for categories that are not named.
    pub safety: Vec<SafetySetting>,
    /// What the model is told before all.
    pub system_instruction: Option<String>,
    /// How often to ask again.
    pub retries: Retries,
    /// How long to wait.
    pub timeouts: Timeouts,
}

impl Config {
    /// The default model with this key, its thoughts told.
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

/// How often to ask again while nothing has come, and how long to wait before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retries {
    /// How many times to ask again.
    pub limit: u32,
    /// How long to wait before the first time; twice as long before each next.
    pub first: Duration,
    /// How long to wait at most. If Gemini wants more, the step fails at once and says when to come back.
    pub longest: Duration,
}

impl Default for Retries {
    fn default() -> Self {
        Self {
            limit: 3,
            first: Duration::from_millis(500),
            longest: Duration::from_secs(5),
        }
    }
}

/// How long to wait for Gemini.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// Until it is connected.
    pub connect: Duration,
    /// Until the answer begins; a model that thinks in silence takes its time.
    pub first_byte: Duration,
    /// Until more of it comes.
    pub idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(180),
            idle: Duration::from_secs(90),
        }
    }
}
